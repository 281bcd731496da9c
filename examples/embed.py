"""Embed: a session inside a loop of one's own, as a game or a robot's program has one, in real time.

python examples/embed.py           # 5 s; a number says how many seconds instead
"""

import sys
import time

from tumble import Go, Scene, Session, Walker, biped

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
scene = Scene(biped())
session = Session(scene, Walker(scene), scene.state("rest"), Go(speed=0.0, heading=0.0))
bodies = [scene.model.body(i).name for i in range(1, scene.model.nbody)]


def keys(now: float) -> tuple[float, float]:
    """What a player presses: speed and heading; here a figure of eight."""
    return 0.8, 0.5 * now if now < seconds / 2 else -0.5 * now


def draw(session: Session) -> None:
    """What an engine wants to know of every body, m and quaternions (w, x, y, z), z up."""
    places, turns = session.world.view("xpos")[0], session.world.view("xquat")[0]
    x, y, z = places[1]
    if session.index % 15 == 0:
        print(f"{session.time:4.1f} s  {bodies[0]} at ({x:+.2f}, {y:+.2f}, {z:.2f}), turned {turns[1].round(2)}")


session.step()  # the first frame compiles what was never used; later runs find it on disk
began = time.perf_counter()
while session.time < seconds:
    speed, heading = keys(session.time)
    session.send(Go(speed=speed, heading=heading))
    session.step()  # as fast as it can; whoever wants real time waits
    draw(session)
    time.sleep(max(0.0, began + session.time - time.perf_counter()))
