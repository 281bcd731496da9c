"""Attraction trees (alborno2016): the states from which a controller succeeds, grown offline, asked live.

A tree leads to one goal by splines of references under PD control; `growing` makes it larger, `store` keeps it in a
file, `Attracted` is the controller that follows it. Systems say what is simulated, sampled and reached: a body that
comes to stand, a pendulum. Nothing here plans online but the hybrid, and nothing knows of scenarios.
"""
