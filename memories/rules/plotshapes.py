"""Shapes of plots: stacked areas and bars, lines with gaps, strips of states; numbers in, coordinates out; pure.

Across, everything is a share of the width (0…1), so a plot fits any screen; down, a share of the height from the top.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memories.rules.plotscales import Scale, linear

type Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """A state that held from one moment to another, as far as it lies in the picture."""

    x: float
    width: float
    label: str
    since: dt.datetime
    until: dt.datetime


def middle(place: int, count: int) -> float:
    """The middle of a step."""
    return (place + 0.5) / count


def stacked_areas(layers: Sequence[Sequence[float]], scale: Scale) -> list[tuple[Points, Points]]:
    """For each layer, bottom first, its upper edge and its whole outline. A single step is as wide as the picture."""
    floor = [0.0] * (len(layers[0]) if layers else 0)
    found = []
    for layer in layers:
        ceiling = [low + value for low, value in zip(floor, layer, strict=True)]
        upper, lower = _edge(ceiling, scale), _edge(floor, scale)
        found.append((upper, [*upper, *reversed(lower)]))
        floor = ceiling
    return found


def _edge(values: Sequence[float], scale: Scale) -> Points:
    count = len(values)
    inner = [(middle(place, count), 1 - scale.place(value)) for place, value in enumerate(values)]
    return [(0.0, inner[0][1]), *inner, (1.0, inner[-1][1])] if inner else []


def stacked_bars(layers: Sequence[Sequence[float]], scale: Scale, gap: float = 0.24) -> list[list[Box | None]]:
    """For each layer, bottom first, its box in each step; None where there is nothing. ``gap``: share of a step."""
    count = len(layers[0]) if layers else 0
    floor = [0.0] * count
    found = []
    for layer in layers:
        boxes: list[Box | None] = []
        for place, value in enumerate(layer):
            low, high = scale.place(floor[place]), scale.place(floor[place] + value)
            box = Box((place + gap / 2) / count, 1 - high, (1 - gap) / count, high - low)
            boxes.append(box if value > 0 else None)
            floor[place] += value
        found.append(boxes)
    return found


def line(values: Sequence[float | None], scale: Scale) -> list[Points]:
    """Runs of neighbouring values; a value that is missing is a gap and never drawn over."""
    runs: list[Points] = [[]]
    for place, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((middle(place, len(values)), 1 - scale.place(value)))
    return [run for run in runs if run]


def path(points: Iterable[tuple[float, float]], width: float, height: float, *, closed: bool = False) -> str:
    """An SVG path through points, in a picture of that size."""
    steps = [f"{x * width:.5g},{y * height:.5g}" for x, y in points]
    return f"M{' '.join(steps)}{'Z' if closed else ''}" if steps else ""


def stretches(
    states: Iterable[tuple[str, dt.datetime, dt.datetime]], since: dt.datetime, until: dt.datetime, least: float = 0.004
) -> list[Stretch]:
    """States as parts of a strip, cut off at its ends; a very short one is widened to ``least`` so that it is seen."""
    whole = (until - since).total_seconds()
    found = []
    for label, begins, ends in states:
        start, end = max(begins, since), min(ends, until)
        if end <= start:
            continue
        width = max((end - start).total_seconds() / whole, least)
        x = min((start - since).total_seconds() / whole, 1 - width)
        found.append(Stretch(x, width, label, begins, ends))
    return found


def shares(values: Sequence[int]) -> list[float]:
    """Each as a share of the greatest, for horizontal bars."""
    most = max([1, *values])
    return [value / most for value in values]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A curve in a line of text; the words say it without the curve."""

    said: str
    path: str
    area: str


def sparkline(values: Sequence[float], said: str) -> Sparkline | None:
    """None of nothing."""
    if not any(values):
        return None
    scale = linear(max(values))
    ((upper, outline),) = stacked_areas([values], scale)
    return Sparkline(said, path(upper, 100, 22), path(outline, 100, 22, closed=True))
