"""Figure 12 of hamalainen2014: how often it is balanced after a heavy sphere, against samples and greedy share.

A sphere of three times the own mass is thrown from a random side; success is to be balanced 5 s later (scenario
`dodge`), by dodging or by getting up in time. Left: samples a frame N. ST, the standard setup: light body, 2 s ahead.
ST+ML, the same with 3 plans of the nearest stored situations as guesses, from a file that gather.py made and that
stays as it is (--learned). HV: heavy torso, all else as ST. HV2: heavy torso, rolling off the back is worth something,
3.5 s ahead, judged 8 s later. Right: the greedy share N_g / N of ST at N = 25 (the paper does not say at which N).
Bars are Wilson's 95 % intervals. One should see, as the paper says: success rises with N; ST+ML is above ST where N is
small; HV is far below ST there, HV2 above HV; best at 25 to 50 % greedy samples. The paper has no numbers in its text.

100 throws a point, each a trial of its own (seeds 0 to 99). At 70 ms a frame for N = 25 and 2 s on one core, two
cores take about 110 minutes each for ST, ST+ML and HV, 290 for HV2 (of which N = 100 are 110) and 55 for the right
panel: 11 hours. --quick (N = 10, seeds 0 and 1, without ST+ML) under a minute. Every finished trial is stored at
once, and the next run goes on with what is missing: seed by seed, cheap points first. Ctrl-C stops and draws what
there is.

    python figure12.py --curves ST HV --largest 50 --repetitions 40
    python figure12.py --learned results/dodge.experience            # goes on from there
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report import BLUE, GREEN, INK, RED, picture, place
from trials import Point, checked, conclude, markdown, measure, options, rate, script, tell_readme, verdict

from tumble.errors import UserError
from tumble.planners import SMCSettings

SAMPLES = (10, 25, 50, 75, 100)
SHARES = (0.0, 0.125, 0.25, 0.5, 0.75, 0.9)
USUAL, USUAL_SHARE = 25, SMCSettings.greedy  # section 5: samples a frame; our N_g, 0.5 (section 5.2: 0.25)
CURVES = {  # scenario, character, horizon in s, learned; colour
    "ST": (("dodge", "humanoid-light", 2.0, False), BLUE),
    "ST+ML": (("dodge", "humanoid-light", 2.0, True), GREEN),
    "HV": (("dodge", "humanoid-heavy", 2.0, False), RED),
    "HV2": (("dodge-heavy", "humanoid-heavy", 3.5, False), INK),
}
PANELS = ("left", "right")


def main() -> None:
    chosen = arguments()
    path = place("figure12", chosen.quick)
    complete = chosen.draw or measure(path, {"figure": 12}, wanted(chosen), chosen, chosen.learned)

    def tell(data: Any) -> None:
        picture(path, draw)
        tell_readme("figure12", text(data), chosen.quick)

    conclude(path, complete, tell)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = options(__doc__, 100)
    known.add_argument("--panels", nargs="+", choices=PANELS, default=list(PANELS), help="which to measure")
    known.add_argument("--curves", nargs="+", choices=CURVES, help="of the left panel; default: all it can")
    known.add_argument("--smallest", type=int, default=0, metavar="N", help="skip points with fewer samples than N")
    known.add_argument("--largest", type=int, default=100, metavar="N", help="skip points with more samples than N")
    known.add_argument("--learned", type=Path, metavar="FILE", help="experience for ST+ML, from gather.py")
    chosen = checked(known)
    if chosen.curves is None:
        chosen.curves = [curve for curve in CURVES if curve != "ST+ML" or chosen.learned is not None]
        if chosen.learned is None and not chosen.draw:
            print("without ST+ML: it needs a file of experience (gather.py, then --learned FILE)", flush=True)
    if "ST+ML" in chosen.curves and chosen.learned is None and not chosen.draw:
        raise UserError("ST+ML needs a file of experience: make one with gather.py, then --learned FILE")
    chosen.largest = min(chosen.largest, 10) if chosen.quick else chosen.largest
    return chosen


def point(curve: str, samples: int, share: float = USUAL_SHARE) -> Point:
    """Of a curve."""
    (scenario, body, horizon, learned), _ = CURVES[curve]
    return Point(scenario, body, "smc", (("samples", samples), ("horizon", horizon), ("greedy", share)), learned)


def wanted(chosen: argparse.Namespace) -> list[Point]:
    """All points asked for."""
    points = []
    if "left" in chosen.panels:
        wanted = [samples for samples in SAMPLES if chosen.smallest <= samples <= chosen.largest]
        points += [point(curve, samples) for curve in chosen.curves for samples in wanted]
    if "right" in chosen.panels and chosen.largest >= USUAL:
        points += [point("ST", USUAL, share) for share in SHARES]
    return points


def draw(data: Any) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.0), sharey=True, layout="constrained")
    for i, (curve, (_, colour)) in enumerate(CURVES.items()):
        line(left, data, [point(curve, samples) for samples in SAMPLES], (curve, colour), 0.06 * (i - 1.5))
    line(right, data, [point("ST", USUAL, share) for share in SHARES], ("ST", BLUE), 0.0)
    left.set_xticks(range(len(SAMPLES)), [str(samples) for samples in SAMPLES])
    left.set(xlabel="samples a frame N", ylabel="balanced after the throw", ylim=(-0.03, 1.03))
    right.set_xticks(range(len(SHARES)), [f"{100 * share:g} %" for share in SHARES])
    right.set(xlabel=f"greedy samples $N_g$ / N, at N = {USUAL}")
    for axes in (left, right):
        axes.grid(axis="y", color="#eeeeee")
    if left.get_legend_handles_labels()[0]:
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def line(axes: Axes, data: Any, points: list[Point], look: tuple[str, str], shift: float) -> None:
    """A curve: rates where there are trials, their intervals, and how many trials there are."""
    label, colour = look
    rates = [rate(data, one) for one in points]
    there = [i for i, one in enumerate(rates) if one.runs]
    if not there:
        return
    runs = sorted({rates[i].runs for i in there})
    label += f" ({' to '.join(str(some) for some in dict.fromkeys((runs[0], runs[-1])))} throws)"
    axes.plot([i + shift for i in there], [rates[i].share for i in there], "o-", color=colour, ms=4.5, label=label)
    for i in there:
        axes.plot([i + shift] * 2, rates[i].interval, color=colour, lw=1.2, alpha=0.55)


def text(data: Any) -> str:
    """For the README: what the paper says against what was measured, then all rates."""

    def pooled(curve: str, *samples: int) -> Any:
        return rate(data, *(point(curve, one) for one in samples))

    def shares(*some: float) -> Any:
        return rate(data, *(point("ST", USUAL, share) for share in some))

    both = [n for n in SAMPLES if pooled("HV", n).runs and pooled("HV2", n).runs]
    sweet = shares(0.25, 0.5)
    claims = [
        ("fewer samples are unreliable: ST, N = 100 over N = 10", pooled("ST", 100), pooled("ST", 10)),
        ("ST+ML over ST at low budgets: N = 10 and 25", pooled("ST+ML", 10, 25), pooled("ST", 10, 25)),
        ("HV abysmal at low budgets: ST over HV, N = 10 and 25", pooled("ST", 10, 25), pooled("HV", 10, 25)),
        ("HV2 over HV, all N", pooled("HV2", *both), pooled("HV", *both)),
        ("25 to 50 % greedy over none", sweet, shares(0.0)),
        ("25 to 50 % greedy over 75 and 90 %", sweet, shares(0.75, 0.9)),
    ]
    first = [(what, f"{more} against {less}", verdict(more, less)) for what, more, less in claims]
    second = [(curve, *(pooled(curve, n) for n in SAMPLES)) for curve in CURVES]
    third = [("ST", *(shares(share) for share in SHARES))]
    marks = {data["points"].get(point("ST+ML", n).name, {}).get("settings") for n in SAMPLES} - {None}
    memory = "; ".join(data["settings"][mark]["experience"].split(",")[0] for mark in sorted(marks))
    note = f"ST+ML guessed from {memory}.\n\n" if memory else ""
    return (
        f"{markdown(('figure 12, theirs', 'ours', 'verdict (difference)'), first)}\n\n"
        f"{markdown(('curve', *(f'N = {n}' for n in SAMPLES)), second)}\n\n{note}"
        f"{markdown((f'N = {USUAL}', *(f'{100 * share:g} % greedy' for share in SHARES)), third)}"
    )


if __name__ == "__main__":
    script(main)
