"""Carving: gaps and stones that people set and take away in a scene while a character goes in it.

    props, ground = carved(scene.props, scene.ground, (2.1, 0.0, 0.0), width=0.3, taken=(-0.1, 0.6))
    session.enter(Scene(scene.character, props, ground, list(scene.drives)))

`tumble.live.commands.Carve` does this. What lies at the place is taken away: a gap is filled, a stone vanishes. Where
nothing lies, a stone is set in a scene that has stones, else a gap across the way, along y. Stones keep their order
along x; in space they lie on either side in turn, so that those behind one that comes or goes change sides.
"""

from collections.abc import Sequence
from dataclasses import replace

from tumble.errors import UserError, check_number
from tumble.stepping.planning import FAR
from tumble.stepping.terrain import AFTER, BEHIND, DEPTH, WIDE, footing_in
from tumble.world.props import Box, Prop, Stone
from tumble.world.scene import Ground

WIDTHS = (0.05, 3.0)  # m of gaps that may be set; ours
CLEAR = 0.05  # m kept from where feet are or will land, about as much as they miss by (section 3.6: 5 cm); ours
LEAST = 0.05  # m of ground that stays between two gaps; ours
CLOSEST = 0.1  # m between two stones, the shortest step of section 3.3
ASIDE = 1.0  # m from the row of stones, within which one is set; ours
SLACK = 0.05  # m beside a narrow stone that still mean it; ours
LEVEL = 50.0  # m of ground to both sides of the first gap in a plane that had none; ours

Place = tuple[float, float, float]


def carved(
    props: Sequence[Prop], ground: Ground, at: Place, width: float, taken: tuple[float, float], widest: float = FAR,
    planar: bool = False,
) -> tuple[list[Prop], Ground]:  # fmt: skip
    """Props and ground after a gap or a stone at a place was taken away, or else set.

    Args:
      at: m.
      width: m of a gap that is set, half of it to either side.
      taken: m from where to where along x feet stand, or land before anything else can be planned.
      widest: m of a gap that can be crossed.
      planar: whether all are in a plane, so that it does not matter how far aside the place is from a stone.
    """
    check_number("width of a gap", width, *WIDTHS)
    if ground.slope:
        raise UserError("gaps and stones lie on level ground, and this one slopes; choose a scenario of level ground")
    footing, x = footing_in(props, ground), at[0]
    low, high = float(footing.ground[0, 0]), float(footing.ground[-1, 1])
    if not low < x < high or abs(at[1]) > WIDE:
        raise UserError(f"no ground at x = {x:.2f} m, y = {at[1]:.2f} m; there is, from x = {low:.2f} to {high:.2f} m")
    for gap in footing.gaps:
        if gap[0] < x < gap[1]:
            _check_free(taken, float(gap[0]), float(gap[1]))
            return _filled(props, float(gap[0]), float(gap[1])), ground
    if len(footing.stones):
        return _stones(props, at, taken, planar), ground
    start, end = x - 0.5 * width, x + 0.5 * width
    _check_free(taken, start, end)
    if width > widest:
        raise UserError(f"no step that it knows crosses a gap of {width:.2f} m, but at most one of {widest:.2f} m")
    for edges in footing.gaps:
        if start < edges[1] + LEAST and edges[0] - LEAST < end:
            raise UserError(
                f"a gap from {start:.2f} to {end:.2f} m leaves less than {LEAST:g} m of ground beside the one from"
                f" {edges[0]:.2f} to {edges[1]:.2f} m; click farther away, or make it narrower"
            )
    return _dug(props, ground, start, end, taken), replace(ground, depth=ground.depth or DEPTH)


def _check_free(taken: tuple[float, float], low: float, high: float) -> None:
    """Refuse what is under the feet."""
    if low < taken[1] + CLEAR and taken[0] - CLEAR < high:
        raise UserError(
            f"from {low:.2f} to {high:.2f} m is under the feet, which stand or land from {taken[0]:.2f} to"
            f" {taken[1]:.2f} m; click farther ahead"
        )


def _slabs(props: Sequence[Prop]) -> list[Box]:
    """What feet stand on beside the plane."""
    return [prop for prop in props if isinstance(prop, Box) and prop.ground]


def _ends(slab: Box) -> tuple[float, float]:
    """m along x."""
    return slab.middle[0] - slab.half[0], slab.middle[0] + slab.half[0]


def _slab(like: Box, low: float, high: float, name: str = "") -> Box:
    """One with other ends, and perhaps another name."""
    (_, y, z), (_, wide, thick) = like.middle, like.half
    middle, half = (0.5 * (low + high), y, z), (0.5 * (high - low), wide, thick)
    return replace(like, name=name or like.name, middle=middle, half=half)


def _free(names: set[str], word: str) -> str:
    """WORD-N that nobody has."""
    name = next(name for i in range(len(names) + 1) if (name := f"{word}-{i}") not in names)
    names.add(name)
    return name


def _filled(props: Sequence[Prop], low: float, high: float) -> list[Prop]:
    """With ground from one end of a gap to the other: the slab before it goes on, as far as the next of its height."""
    before = min(_slabs(props), key=lambda slab: abs(_ends(slab)[1] - low))
    after = min(_slabs(props), key=lambda slab: abs(_ends(slab)[0] - high))
    alike = (before.middle[1:], before.half[1:]) == (after.middle[1:], after.half[1:])
    longer = _slab(before, _ends(before)[0], _ends(after)[1] if alike else high)
    return [longer if prop is before else prop for prop in props if prop is not after or not alike]


def _dug(given: Sequence[Prop], ground: Ground, low: float, high: float, taken: tuple[float, float]) -> list[Prop]:
    """With a gap, which cuts slabs in two; ground goes on behind it for as long as behind any other."""
    props, names = list(given), {prop.name for prop in given}
    if not ground.depth:
        level = Box("", (0.0, 0.0, -0.5 * DEPTH), (1.0, WIDE, 0.5 * DEPTH), ground=True)
        props.append(_slab(level, min(taken[0], low) - LEVEL, high + LEVEL, _free(names, "slab")))
    first, last = (find(end for slab in _slabs(props) for end in _ends(slab)) for find in (min, max))
    found = list[Prop]()
    for prop in props:
        if not isinstance(prop, Box) or not prop.ground:
            found.append(prop)
            continue
        start, end = _ends(prop)
        start = min(start, low - BEHIND) if start == first else start
        end = max(end, high + AFTER) if end == last else end
        pieces = [(a, b) for a, b in ((start, min(end, low)), (max(start, high), end)) if b > a]
        found += [_slab(prop, *piece, _free(names, "slab") if i else "") for i, piece in enumerate(pieces)]
    return found


def _stones(props: Sequence[Prop], at: Place, taken: tuple[float, float], planar: bool) -> list[Prop]:
    """Without the stone at a place, or with one more; those behind it change sides."""
    stones = [prop for prop in props if isinstance(prop, Stone)]
    y = [stone.place[1] for stone in stones]
    middle = 0.5 * (min(y) + max(y))
    i = next((i for i, stone in enumerate(stones) if _meant(stone, at, planar)), None)
    if i is not None:
        _check_ahead(stones[i], taken)
        return _others(props, [*stones[:i], *_mirrored(stones[i + 1 :], middle)])
    if not min(y) - ASIDE <= at[1] <= max(y) + ASIDE:
        raise UserError(f"a stone is set within {ASIDE:g} m of the way, y = {middle:.2f} m, got y = {at[1]:.2f} m")
    i = next((i for i, stone in enumerate(stones) if stone.place[0] > at[0]), len(stones))
    like = stones[i] if i < len(stones) else _mirrored(stones[-1:], middle)[0]
    name = _free({prop.name for prop in props}, "stone")
    stone = replace(like, name=name, place=(at[0], *like.place[1:]))
    _check_ahead(stone, taken)
    for one in stones:
        if abs(one.place[0] - at[0]) < CLOSEST:
            raise UserError(
                f"a stone at {at[0]:.2f} m is less than {CLOSEST:g} m, the shortest step, from the one at"
                f" {one.place[0]:.2f} m; click farther away, or on that one to take it away"
            )
    return _others(props, [*stones[:i], stone, *_mirrored(stones[i:], middle)])


def _meant(stone: Stone, at: Place, planar: bool) -> bool:
    """Whether a place is on a stone; in the plane across does not matter."""
    ahead, aside = abs(at[0] - stone.place[0]), abs(at[1] - stone.place[1])
    return ahead <= stone.half[0] and (planar or aside <= stone.half[1] + SLACK)


def _check_ahead(stone: Stone, taken: tuple[float, float]) -> None:
    """Refuse a stone that is under the feet, or behind them."""
    x, half = stone.place[0], stone.half[0]
    _check_free(taken, x - half, x + half)
    if x < taken[0]:
        raise UserError(f"a stone at {x:.2f} m is behind the feet, which are at {taken[0]:.2f} m; click ahead of them")


def _mirrored(stones: Sequence[Stone], middle: float) -> list[Stone]:
    """On the other side of the way, for the other feet."""
    return [replace(stone, place=(stone.place[0], 2 * middle - stone.place[1], stone.place[2])) for stone in stones]


def _others(props: Sequence[Prop], stones: list[Stone]) -> list[Prop]:
    """All that is no stone, then the stones in their order."""
    return [*(prop for prop in props if not isinstance(prop, Stone)), *stones]
