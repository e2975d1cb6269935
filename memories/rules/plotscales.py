"""Scales of plots: where a value lies, which values are worth a line, and how numbers and times are written; pure."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

_NICE = (1, 2, 5, 10)
#: From so many times the least on, a plot from 0 shows nothing of it.
_FAR = 12
_HOUR, _DAY = dt.timedelta(hours=1), dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, 0…1 from its beginning, and what is written there. ``minor``: left out where it is narrow."""

    at: float
    label: str
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """From 0 to ``top`` in equal steps, or by powers of ten where ``floor`` is given."""

    top: float
    ticks: tuple[float, ...]
    floor: float | None = None

    def place(self, value: float) -> float:
        """0…1 from the bottom."""
        if self.floor is None:
            return min(max(value / self.top, 0.0), 1.0)
        least = max(value, self.floor)
        return min(math.log(least / self.floor) / math.log(self.top / self.floor), 1.0)


def linear(most: float, *, whole: bool = True, wanted: int = 4) -> Scale:
    """0 up to a round number not below ``most``, with about ``wanted`` lines; of counts only whole ones."""
    if most <= 0:
        return Scale(1.0, (0.0, 1.0))
    rough = most / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(nice * power for nice in _NICE if nice * power >= rough * 0.999999)
    if whole:
        step = max(1.0, math.ceil(step))
    count = math.ceil(most / step - 1e-9)
    return Scale(step * count, tuple(step * number for number in range(count + 1)))


def durations(least: float, most: float) -> Scale:
    """From 0 where all are of one size; by 1, 2, 5, 10 … where the greatest is many times the least."""
    if most < _FAR * least:
        return linear(most, whole=False, wanted=3)
    low = _round(max(least, 1e-3), down=True)
    high = _round(most, down=False)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    lines = [nice * 10.0**power for power in powers for nice in (1, 2, 5)]
    within = [each for each in lines if low * 0.999 <= each <= high * 1.001]
    return Scale(high, tuple(within[:: math.ceil(len(within) / 5)]), low)


def _round(value: float, *, down: bool) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    steps = [nice * power for nice in _NICE]
    return (
        max(each for each in steps if each <= value * 1.000001)
        if down
        else min(each for each in steps if each >= value * 0.999999)
    )


def time_ticks(starts: Sequence[dt.datetime], step: dt.timedelta) -> list[Tick]:
    """Where a plot of these steps is labelled: the hours of a day, midnights, or every so many days; in UTC.

    A label stands at the middle of its step. Every second one is minor; the first and the last lie off the edges.
    """
    total = len(starts)
    if step < 6 * _HOUR:
        chosen = [place for place, start in enumerate(starts) if start.hour % 4 == 0]
    elif step < _DAY:
        chosen = [place for place, start in enumerate(starts) if start.hour == 0]
    else:
        every = max(1, math.ceil(total / 6))
        chosen = list(range(total - 1, -1, -every))[::-1]
    kept = [place for place in chosen if 0.02 < (place + 0.5) / total < 0.985] or chosen[-1:]
    return [
        Tick((place + 0.5) / total, _written(starts[place], step), minor=number % 2 == 1)
        for number, place in enumerate(kept)
    ]


def _written(start: dt.datetime, step: dt.timedelta) -> str:
    if step < 6 * _HOUR and start.hour:
        return f"{start:%H:%M}"
    return f"{start.day} {start:%b}"


def spoken_step(start: dt.datetime, step: dt.timedelta) -> str:
    """One step in words, for readouts and tables: ``12 Nov``, ``12 Nov, 06:00 to 12:00``."""
    day = f"{start.day} {start:%b}"
    if step >= _DAY:
        return day
    end = start + step
    return f"{day}, {start:%H:%M} to {end:%H:%M}"


def short_number(value: float) -> str:
    """``950``, ``1.2k``, ``34k``, ``1.5M``."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            scaled = value / size
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 10 or scaled == int(scaled) else f"{scaled:.1f}{unit}"
    return f"{value:g}" if value == int(value) else f"{value:.1f}"


def milliseconds(value: float | None) -> str:
    """``0.4 ms``, ``12 ms``, ``1.2 s``; a dash for nothing."""
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 9.95 or value == 0 else f"{value:.1f} ms"


def percent(value: float | None) -> str:
    """``12 %``, ``0.4 %``; a dash for nothing."""
    if value is None:
        return "–"
    return f"{value:.1f} %" if 0 < value < 9.95 else f"{value:.0f} %"
