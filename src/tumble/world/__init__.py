"""The physical world: a Scene is compiled once, Sims simulate it many times over, props and grips are in it.

    scene = Scene(humanoid(), [Ball()])
    sims = Sims(scene, nsim=8)
    sims.load(scene.state("rest"))
    sims.act(np.zeros((8, scene.drive.size)))

The only importer of mujoco.batch. Nothing here knows what anybody wants, or who acts.
"""
