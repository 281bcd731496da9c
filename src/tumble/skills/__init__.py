"""Skills: what a walker can do with its hands and feet, and scripts of them (coros2010 section 5.5.4).

    performer.want(sims, Do("lift crate, then carry it to 3 1"))

`script` reads texts into acts, `check` refuses what the body cannot do, and `performer` does the rest by calling one
function of `approach`, `holding` or `hauling` a frame. These see the world through an `actor` and act by wishes of a
walker alone: no torque is chosen here. What must outlive a frame is in the state (`memory`).
"""
