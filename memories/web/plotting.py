"""Plots as templates/plots/ draw them: every coordinate and every word settled here, nothing left for a browser.

Across, everything is in percent, so one picture fits every screen; down, it is in pixels. Colour is never alone: each
series has a pattern, a dash or a shape of its own. Beside the picture stands the same as a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memories.rules.plotscales import Scale, durations, linear, short_number, spoken_step, time_ticks
from memories.rules.plotshapes import line, middle, path, stacked_areas, stacked_bars

if TYPE_CHECKING:
    from collections.abc import Callable

    from memories.rules.rollups import Grid

HEIGHT, TOP, BOTTOM = 208, 14, 26
#: What paths are drawn in; the browser stretches it to the plot.
WIDE, HIGH = 1000, 1000
_LETTER, _LINE = 6.3, 17

type Value = float | None


@dataclass(frozen=True, slots=True)
class Series:
    """One row of numbers: its name, how it looks (``tone`` is a class of plots.css), one value for each step."""

    name: str
    tone: str
    values: Sequence[Value]

    @property
    def numbers(self) -> list[float]:
        """What is missing counts as nothing."""
        return [value or 0 for value in self.values]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle, with x and width in percent and the rest in pixels."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class Layer:
    """What one series draws: an area (``clip`` within its box and ``edge``), bars, or lines with marks."""

    tone: str
    clip: str = ""
    edge: str = ""
    bars: tuple[Rect, ...] = ()
    lines: tuple[str, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """Words on an axis; ``minor`` ones are left out where it is narrow."""

    at: str
    text: str
    minor: bool = False


@dataclass(frozen=True, slots=True)
class TipLine:
    """One line of a readout."""

    y: int
    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One step of the plot: what shows when somebody points at it, or comes to it with the keyboard."""

    x: str
    width: str
    middle: str
    said: str
    lines: tuple[TipLine, ...]
    tip_x: str
    text_x: str
    tip_width: str
    tip_height: str
    focusable: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The plot in numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Legend:
    """What a tone means, and a number worth knowing."""

    name: str
    tone: str
    value: str = ""
    shape: str = "box"


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture. ``key`` is its id on the page; an empty one has no layers and says why in ``description``."""

    key: str
    title: str
    description: str
    legend: tuple[Legend, ...] = ()
    layers: tuple[Layer, ...] = ()
    grid: tuple[Label, ...] = ()
    axis: tuple[Label, ...] = ()
    columns: tuple[Column, ...] = ()
    table: Table = field(default_factory=lambda: Table((), ()))
    height: int = HEIGHT
    top: int = TOP
    deep: int = HEIGHT - TOP - BOTTOM
    """How many pixels the area between the axes has."""

    @property
    def bottom(self) -> int:
        """Where the axis lies."""
        return self.top + self.deep

    @property
    def tones(self) -> list[str]:
        """Those with a pattern to define."""
        return list(dict.fromkeys(layer.tone for layer in self.layers if layer.clip or layer.bars))


@dataclass(frozen=True)
class Canvas:
    """A plot being put together: what it is about and how its numbers are written."""

    key: str
    title: str
    grid: Grid
    written: Callable[[Value], str] = lambda value: "–" if value is None else f"{value:,.0f}"
    marked: Callable[[float], str] = short_number

    def empty(self, why: str) -> Plot:
        """A plot of nothing."""
        return Plot(self.key, self.title, why)

    def areas(self, series: Sequence[Series], description: str) -> Plot:
        """Stacked areas, the first at the bottom."""
        scale = linear(max(_sums(series)))
        layers = [
            Layer(one.tone, clip=path(outline, 1, 1, closed=True), edge=path(upper, WIDE, HIGH))
            for one, (upper, outline) in zip(series, stacked_areas([one.numbers for one in series], scale), strict=True)
        ]
        legend = [Legend(one.name, one.tone, self.written(one.values[-1])) for one in series]
        return self._finished(series, layers, scale, legend, description)

    def bars(self, series: Sequence[Series], description: str, lines: Sequence[Series] = ()) -> Plot:
        """Stacked bars, the first at the bottom, and lines over them on the same scale."""
        scale = linear(max([*_sums(series), *(value for one in lines for value in one.numbers)]))
        layers = self._bar_layers(series, scale) + [self._line_layer(one, scale) for one in lines]
        legend = [Legend(one.name, one.tone, self.written(sum(one.numbers))) for one in series]
        legend += [Legend(one.name, one.tone, shape="line") for one in lines]
        return self._finished([*series, *lines], layers, scale, legend, description)

    def lines(
        self, series: Sequence[Series], description: str, *, behind: Series | None = None, log: bool = False
    ) -> Plot:
        """Lines with gaps; ``behind`` are quiet bars on a scale of their own, to see how much each point rests on."""
        known = [value for one in series for value in one.values if value is not None]
        scale = durations(min(known), max(known)) if log else linear(max(known), whole=False)
        layers = self._volume(behind) if behind else []
        layers += [self._line_layer(one, scale) for one in series]
        legend = [Legend(one.name, one.tone, shape="line") for one in series]
        shown = [*series, behind] if behind else series
        if behind:
            legend.append(Legend(behind.name, behind.tone, f"{sum(behind.numbers):,.0f}"))
        return self._finished(shown, layers, scale, legend, description)

    def _bar_layers(self, series: Sequence[Series], scale: Scale) -> list[Layer]:
        boxes = stacked_bars([one.numbers for one in series], scale)
        return [
            Layer(one.tone, bars=tuple(_rect(box.x, box.y, box.width, box.height) for box in row if box))
            for one, row in zip(series, boxes, strict=True)
        ]

    def _volume(self, behind: Series) -> list[Layer]:
        scale = linear(3.5 * max(behind.numbers))
        return self._bar_layers([behind], scale)

    def _line_layer(self, one: Series, scale: Scale) -> Layer:
        runs = line(one.values, scale)
        deep = HEIGHT - TOP - BOTTOM
        # Marks on every point crowd a long line; now and then they tell its shape, and a lone point has nothing else.
        every = 1 if len(one.values) <= 12 else max(4, len(one.values) // 8)
        marks = [point for run in runs for point in (run[len(run) % every :: every] or run[-1:])]
        return Layer(
            one.tone,
            lines=tuple(path(run, WIDE, HIGH) for run in runs if len(run) > 1),
            marks=tuple((_percent(x), f"{TOP + y * deep:.1f}") for x, y in marks),
        )

    def _finished(
        self, shown: Sequence[Series], layers: list[Layer], scale: Scale, legend: list[Legend], description: str
    ) -> Plot:
        deep = HEIGHT - TOP - BOTTOM
        return Plot(
            key=self.key,
            title=self.title,
            description=description,
            legend=tuple(legend),
            layers=tuple(layers),
            grid=tuple(Label(f"{TOP + (1 - scale.place(tick)) * deep:.1f}", self.marked(tick)) for tick in scale.ticks),
            axis=tuple(
                Label(_percent(tick.at), tick.label, tick.minor)
                for tick in time_ticks(self.grid.starts, self.grid.step)
            ),
            columns=self._columns(shown),
            table=self._table(shown),
        )

    def _columns(self, shown: Sequence[Series]) -> tuple[Column, ...]:
        count = len(self.grid.starts)
        totals = _sums(shown)
        keys = {totals.index(max(totals)), count - 1} if any(totals) else {count - 1}
        return tuple(self._column(place, count, shown, place in keys) for place in range(count))

    def _column(self, place: int, count: int, shown: Sequence[Series], focusable: bool) -> Column:
        when = spoken_step(self.grid.starts[place], self.grid.step)
        said = [(f"{one.name} {self._written(one, place)}", one.tone) for one in shown if one.values[place] is not None]
        lines = [TipLine(_LINE, when)] + [TipLine(_LINE * (n + 2), text, tone) for n, (text, tone) in enumerate(said)]
        wide = 26 + _LETTER * max(len(one.text) + (2 if one.tone else 0) for one in lines)
        x = -wide - 10 if middle(place, count) > 0.5 else 10
        return Column(
            x=_percent(place / count),
            width=_percent(1 / count),
            middle=_percent(middle(place, count)),
            said=f"{when}: {', '.join(text for text, _ in said) or 'nothing'}",
            lines=tuple(lines),
            tip_x=f"{x:.0f}",
            text_x=f"{x + 12:.0f}",
            tip_width=f"{wide:.0f}",
            tip_height=f"{_LINE * len(lines) + 10}",
            focusable=focusable,
        )

    def _written(self, one: Series, place: int) -> str:
        """Quiet bars behind lines are counts, whatever the lines are."""
        value = one.values[place]
        return f"{value or 0:,.0f}" if one.tone == QUIET else self.written(value)

    def _table(self, shown: Sequence[Series]) -> Table:
        rows = [
            (spoken_step(start, self.grid.step), *(self._written(one, place) for one in shown))
            for place, start in enumerate(self.grid.starts)
        ]
        return Table(("When (UTC)", *(one.name for one in shown)), tuple(reversed(rows)))


QUIET = "tone-quiet"


def chosen(flows: Mapping[str, Sequence[int]], looks: Mapping[str, tuple[str, str]]) -> list[Series]:
    """Series of those labels that have anything to show, in the order and with the looks given."""
    return [Series(name, tone, flows[label]) for label, (name, tone) in looks.items() if any(flows.get(label, ()))]


def _sums(series: Sequence[Series]) -> list[float]:
    return [sum(values) for values in zip(*(one.numbers for one in series), strict=True)]


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"


def _rect(x: float, y: float, width: float, height: float) -> Rect:
    deep = HEIGHT - TOP - BOTTOM
    tall = max(height * deep, 1.0)  # what is there is seen
    return Rect(_percent(x), f"{TOP + (y + height) * deep - tall:.1f}", _percent(width), f"{tall:.1f}")
