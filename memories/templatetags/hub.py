"""What every page draws the same way: icons, times, bank colours, importance."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zlib import crc32

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from memories.rules.plotscales import milliseconds
from memoryhub.lib.clock import now

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from banks.models import Bank

register = template.Library()
register.filter("took", milliseconds)

HUES = 15
# With this seed the banks a vault starts with all get a colour of their own, none of them near that of errors.
_HUE_SEED = 279986


@register.simple_tag
def icon(name: str) -> SafeString:
    """One symbol of the sprite, drawn in the colour of the text; always beside words that say the same."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons/lucide.svg"), name
    )


@register.filter
def hue(bank: Bank) -> str:
    """The CSS class of a bank's colour: grey for the default bank, otherwise always the same one for its slug."""
    return "hue-0" if bank.is_default else f"hue-{1 + crc32(bank.slug.encode(), _HUE_SEED) % HUES}"


@register.filter
def when(moment: dt.datetime | None) -> SafeString | str:
    """A <time>: near ones relative, far ones as a date, the exact one in UTC on hover."""
    if moment is None:
        return ""
    exact = moment.astimezone(dt.UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        exact.strftime("%-d %B %Y, %H:%M UTC"),
        spoken(moment, now()),
    )


def spoken(moment: dt.datetime, today: dt.datetime) -> str:
    """``3 h ago``, ``in a moment``, ``in 2 d``, ``12 Mar``, ``12 Mar 2024``."""
    seconds = (today - moment).total_seconds()
    away = abs(seconds)
    if away < 45:
        return "just now" if seconds > -5 else "in a moment"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if away >= size or unit == "min":
            amount = f"{max(1, round(away / size))} {unit}"
            break
    if away < 7 * 86_400:
        return f"{amount} ago" if seconds > 0 else f"in {amount}"
    local = timezone.localtime(moment)
    return local.strftime("%-d %b" if local.year == today.year else "%-d %b %Y")


@register.filter
def rank(value: int) -> SafeString:
    """Importance or confidence as five small bars and its number in words."""
    bars = format_html_join("", '<i class="{}"></i>', (("on" if step <= value else "",) for step in range(1, 6)))
    return format_html(
        '<span class="rank" title="{} of 5">{}<span class="vh">{} of 5</span></span>', value, bars, value
    )


@register.filter
def words(value: str | None) -> str:
    """``user_profile`` → ``User profile``."""
    text = str(value or "").replace("_", " ")
    return text.upper() if text == "ai" else text[:1].upper() + text[1:]
