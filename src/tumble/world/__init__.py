"""The physical world: a Scene is compiled once, Sims simulate it many times over, props and grips are in it.

The only importer of mujoco.batch. Nothing here knows what anybody wants, or who acts.
"""
