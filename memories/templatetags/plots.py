"""Parts of plots: the readouts, which a template would take ten times as long for, and the curves of banks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from memories.rules.plotshapes import Sparkline, sparkline
from memories.rules.rollups import Metric, Period
from memories.search.statistics import read_statistics

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from django.template import Context

    from banks.models import Bank

register = template.Library()


@register.simple_tag
def readouts(plot: Any) -> SafeString:
    """What shows when somebody points at a step; two of them can be reached with the keyboard, the table has all."""
    bottom, top = plot.bottom, plot.top
    return mark_safe("".join(_readout(column, top, bottom) for column in plot.columns))


@register.simple_tag(takes_context=True)
def bank_curves(context: Context) -> dict[UUID, Sparkline]:
    """Bank → what came into it in the last 30 days; nothing for those without."""
    found = read_statistics(context["request"].access, Period.MONTH, [Metric.CREATED])
    curves = {}
    for bank_id in {one.bank_id for one in found.counts if one.bank_id is not None}:
        flows = found.flow(Metric.CREATED, bank_id)
        values = [sum(column) for column in zip(*flows.values(), strict=True)]
        if curve := sparkline(values, f"{sum(values):,} stored in the last 30 days"):
            curves[bank_id] = curve
    return curves


@register.filter
def of_bank(curves: dict[UUID, Sparkline], bank: Bank) -> Sparkline | None:
    """One bank's curve."""
    return curves.get(bank.pk)


def _readout(column: Any, top: int, bottom: int) -> str:
    spoken = f'tabindex="0" role="img" aria-label="{escape(column.said)}"' if column.focusable else 'aria-hidden="true"'
    lines = "".join(
        f'<tspan x="{column.text_x}" y="{line.y}">'
        + (f'<tspan class="{line.tone} bullet">■</tspan> ' if line.tone else "")
        + f"{escape(line.text)}</tspan>"
        for line in column.lines
    )
    return (
        f'<g class="step" {spoken}>'
        f'<rect class="hit" x="{column.x}" y="0" width="{column.width}" height="{bottom}"/>'
        f'<line class="cursor" x1="{column.middle}" x2="{column.middle}" y1="{top}" y2="{bottom}"/>'
        f'<svg class="tip" x="{column.middle}" y="4" overflow="visible">'
        f'<rect x="{column.tip_x}" width="{column.tip_width}" height="{column.tip_height}" rx="6"/>'
        f"<text>{lines}</text></svg></g>"
    )
