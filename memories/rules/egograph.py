"""Where the memories around one memory stand in a drawing: the centre, and a ring for each way they hang together.

Pure geometry: what is tied to the centre comes in, points and lines come out. No ring is fuller than its circle, so
nothing overlaps; what does not fit is counted, not squeezed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import cos, pi, sin

#: With the centre (UX §2.4): more cannot be told apart.
NODES_MAX = 60
RADIUS = 13.0
#: From the middle of one circle to the next on the same ring, and from one ring to the next.
APART, BETWEEN = 38.0, 48.0
FIRST_RING = 74.0
MARGIN = 26.0
_GOLDEN = pi * (3 - 5**0.5)


class TieKind(StrEnum):
    """How two memories hang together, in the order of their rings: the closest first."""

    SUPERSEDES = "supersedes"
    REFINES = "refines"
    DERIVED_FROM = "derived_from"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    SOURCE = "source"
    PAIR = "pair"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class Spoke:
    """One memory tied to another by ``kind``; ``parent`` of None means the centre."""

    key: str
    kind: TieKind
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A memory in the drawing: its number in the table beside it, and where it stands."""

    key: str
    number: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """A tie between two circles, from edge to edge."""

    kind: TieKind
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """A square of ``size``, the centre in its middle, and the radii of its rings; who found no room is counted."""

    size: float
    points: list[Point]
    lines: list[Line]
    rings: list[float]
    left_out: int

    @property
    def middle(self) -> float:
        """Where the centre stands, both ways."""
        return self.size / 2


def draw(spokes: Sequence[Spoke], most: int = NODES_MAX) -> Drawing:
    """The drawing of at most ``most`` memories with the centre. One that is tied in several ways stands once."""
    once = _once(spokes)
    kept = once[: most - 1]
    placed: dict[str, tuple[float, float]] = {}
    radii: list[float] = []
    for ring, group in enumerate(_rings(kept)):
        radius = FIRST_RING + ring * BETWEEN
        radii.append(radius)
        placed |= _around(group, radius, ring)
    half = (radii[-1] if radii else FIRST_RING / 2) + RADIUS + MARGIN
    at = {key: (_near(half + x), _near(half + y)) for key, (x, y) in placed.items()}
    lines = [
        line
        for spoke in spokes
        if spoke.key in at and (spoke.parent is None or spoke.parent in at)
        if (line := _line(spoke.kind, at.get(spoke.parent or "", (half, half)), at[spoke.key])) is not None
    ]
    points = [Point(spoke.key, number, *at[spoke.key]) for number, spoke in enumerate(kept, start=1)]
    return Drawing(_near(2 * half), points, lines, radii, len(once) - len(kept))


def _once(spokes: Iterable[Spoke]) -> list[Spoke]:
    """Each memory by its closest tie to the centre, the closest kinds first; those a step further away come last."""
    order = list(TieKind)
    ranked = sorted(spokes, key=lambda spoke: (spoke.parent is not None, order.index(spoke.kind)))
    return list({spoke.key: spoke for spoke in reversed(ranked)}.values())[::-1]


def _rings(kept: Sequence[Spoke]) -> list[list[Spoke]]:
    """A ring for each kind, and as many more as it takes; the second step stands outside of all."""
    groups: dict[tuple[bool, str], list[Spoke]] = {}
    for spoke in kept:
        far = spoke.parent is not None
        groups.setdefault((far, "" if far else spoke.kind.value), []).append(spoke)
    rings: list[list[Spoke]] = []
    for group in groups.values():
        rest = group
        while rest:
            room = int(2 * pi * (FIRST_RING + len(rings) * BETWEEN) // APART)
            rings.append(rest[:room])
            rest = rest[room:]
    return rings


def _around(group: Sequence[Spoke], radius: float, ring: int) -> dict[str, tuple[float, float]]:
    """Evenly around the circle; each ring begins elsewhere, so that lines to it pass between the inner ones."""
    step, start = 2 * pi / len(group), -pi / 2 + ring * _GOLDEN
    return {
        spoke.key: (radius * cos(start + place * step), radius * sin(start + place * step))
        for place, spoke in enumerate(group)
    }


def _line(kind: TieKind, begin: tuple[float, float], end: tuple[float, float]) -> Line | None:
    (x1, y1), (x2, y2) = begin, end
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if length <= 2 * RADIUS:
        return None
    dx, dy = (x2 - x1) / length * RADIUS, (y2 - y1) / length * RADIUS
    return Line(kind, _near(x1 + dx), _near(y1 + dy), _near(x2 - dx), _near(y2 - dy))


def _near(value: float) -> float:
    return round(value, 1)
