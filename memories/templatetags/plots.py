"""The readouts of a plot, one for each of its steps. A template takes ten times as long for these many small parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from typing import Any

register = template.Library()


@register.simple_tag
def readouts(plot: Any) -> SafeString:
    """What shows when somebody points at a step; two of them can be reached with the keyboard, the table has all."""
    bottom, top = plot.bottom, plot.top
    return mark_safe("".join(_readout(column, top, bottom) for column in plot.columns))


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
