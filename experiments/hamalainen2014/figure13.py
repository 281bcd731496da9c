"""Figure 13 of hamalainen2014: how often it is balanced after a heavy sphere, against samples and planning horizon.

The setup ST of figure 12 (light body, judged 5 s after the throw) at N = 10 to 100 samples a frame and 0.5 to 4 s
ahead, as a heat map. One should see, as the paper says, that 2 s are a reasonable default and that longer horizons
gain little; with less than that, or few samples, it should fail more often. The paper's text has neither its rates
nor the horizons it tried; these are ours.

100 throws a point (seeds 0 to 99): at 70 ms a frame for N = 25 and 2 s on one core, 410 minutes on two cores, half of
it for N = 100. Trials that figure12.json has already (2 s ahead: 80 minutes) are taken over where settings and code
are the same. --quick (N = 10, up to 2 s, seeds 0 and 1) under a minute. Stored, resumed and stopped as figure 12.

    python figure13.py --largest 50 --repetitions 30
    python figure13.py                       # goes on from there
"""

import argparse
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from report import picture, place
from trials import Point, Rate, checked, conclude, markdown, measure, options, rate, script, tell_readme, verdict

from tumble.planners import SMCSettings

SAMPLES = (10, 25, 50, 100)
HORIZONS = (0.5, 1.0, 2.0, 3.0, 4.0)  # s
CONSIDERABLE = 0.1  # "longer horizons do not produce considerable benefit"; what that is, is ours


def main() -> None:
    chosen = arguments()
    path = place("figure13", chosen.quick)
    complete = chosen.draw or measure(path, {"figure": 13}, wanted(chosen), chosen)

    def tell(data: Any) -> None:
        picture(path, draw)
        tell_readme("figure13", text(data), chosen.quick)

    conclude(path, complete, tell)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = options(__doc__, 100)
    known.add_argument("--largest", type=int, default=100, metavar="N", help="skip points with more samples than N")
    known.add_argument("--longest", type=float, default=4.0, metavar="S", help="skip horizons longer than S seconds")
    chosen = checked(known)
    if chosen.quick:
        chosen.largest, chosen.longest = min(chosen.largest, 10), min(chosen.longest, 2.0)
    return chosen


def point(samples: int, horizon: float) -> Point:
    """As in figure 12, so that trials can be shared."""
    settings = (("samples", samples), ("horizon", horizon), ("greedy", SMCSettings.greedy))
    return Point("dodge", "humanoid-light", "smc", settings)


def wanted(chosen: argparse.Namespace) -> list[Point]:
    """All points asked for."""
    return [point(n, s) for n in SAMPLES for s in HORIZONS if n <= chosen.largest and s <= chosen.longest]


def draw(data: Any) -> Figure:
    rates = [[rate(data, point(n, s)) for s in HORIZONS] for n in SAMPLES]
    shares = np.array([[one.share if one.runs else np.nan for one in row] for row in rates])
    figure, axes = plt.subplots(figsize=(6.0, 4.4), layout="constrained")
    image = axes.imshow(shares, origin="lower", aspect="auto", cmap="viridis", vmin=0, vmax=1)
    for i, row in enumerate(rates):
        for j, one in enumerate(row):
            label = "{:.2f}\n[{:.2f}, {:.2f}]\n{} throws".format(one.share, *one.interval, one.runs) if one.runs else ""
            colour = "black" if not one.runs or one.share > 0.6 else "white"
            axes.text(j, i, label, ha="center", va="center", fontsize=7.5, color=colour)
    axes.set_xticks(range(len(HORIZONS)), [f"{s:g}" for s in HORIZONS])
    axes.set_yticks(range(len(SAMPLES)), [str(n) for n in SAMPLES])
    axes.set(xlabel="planning horizon, s", ylabel="samples a frame N")
    figure.colorbar(image, label="balanced 5 s after the throw")
    return figure


def text(data: Any) -> str:
    """For the README: what the paper says against what was measured, then all rates."""
    complete = [n for n in SAMPLES if all(rate(data, point(n, s)).runs for s in HORIZONS)]

    def pooled(*horizons: float) -> Rate:
        return rate(data, *(point(n, s) for n in complete for s in horizons))

    few, many = (rate(data, point(n, 2.0)) for n in (SAMPLES[0], SAMPLES[-1]))
    usual, short, long = pooled(2.0), pooled(0.5, 1.0), pooled(3.0, 4.0)
    claims = [
        ("2 s are a reasonable default: over 0.5 and 1 s", f"{usual} against {short}", verdict(usual, short)),
        (
            f"longer gains little: 3 and 4 s over 2 s by less than {CONSIDERABLE:g}",
            f"{long} against {usual}",
            verdict(long, usual, CONSIDERABLE),
        ),
        ("fewer samples are unreliable: N = 100 over N = 10 at 2 s", f"{many} against {few}", verdict(many, few)),
    ]
    rows = [(f"N = {n}", *(rate(data, point(n, s)) for s in HORIZONS)) for n in SAMPLES]
    which = ", ".join(str(n) for n in complete) or "none yet"
    return (
        f"{markdown(('figure 13, theirs', 'ours', 'verdict (difference)'), claims)}\n\n"
        f"Rates of several horizons are pooled over those N that have all of them: {which}.\n\n"
        f"{markdown(('', *(f'{s:g} s' for s in HORIZONS)), rows)}"
    )


if __name__ == "__main__":
    script(main)
