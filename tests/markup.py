"""What a strict content security policy forbids in HTML, found by reading it: in answers and in templates."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser
from urllib.parse import urlsplit

ADDRESSES = {"action", "data", "formaction", "href", "poster", "src", "srcset"}
#: Attributes of htmx whose value is, or may be, a program: `hx-on*` aside.
PROGRAMS = {"hx-vars", "data-hx-vars"}


class _Reader(HTMLParser):
    """Notes each start tag that breaks the policy; ``own`` are the origins an address may have."""

    def __init__(self, own: Sequence[str]) -> None:
        super().__init__()
        self.own = own
        self.breaches: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        wrong = [
            *(["an inline script"] if tag == "script" and "src" not in named and not _is_data(named) else []),
            *(["an inline style sheet"] if tag == "style" else []),
            *(["a frame or a plug-in"] if tag in {"iframe", "frame", "object", "embed", "base"} else []),
            *(f"{name} is inline script" for name in named if name.startswith(("on", "hx-on", "data-hx-on"))),
            *(f"{name} is evaluated" for name in named if name in PROGRAMS),
            *(["style is an inline style"] if "style" in named else []),
            *self._foreign(named),
            *self._evaluated(named),
        ]
        self.breaches += [f"line {self.getpos()[0]}, <{tag}>: {each}" for each in wrong]

    def _foreign(self, named: dict[str, str]) -> list[str]:
        """Addresses of other machines, and those that are programs."""
        wrong = []
        for name in ADDRESSES & named.keys():
            address = urlsplit(named[name].strip())
            if address.scheme in {"javascript", "vbscript", "data", "blob"}:
                wrong.append(f"{name} has the scheme {address.scheme}:")
            elif address.netloc and f"{address.scheme}://{address.netloc}" not in self.own:
                wrong.append(f"{name} leads to {address.netloc}")
        return wrong

    def _evaluated(self, named: dict[str, str]) -> list[str]:
        """Attributes of htmx that need ``eval``: conditions of triggers, and values that begin with js:."""
        condition = "[" in named.get("hx-trigger", "")
        values = [
            name for name in ("hx-vals", "hx-headers") if named.get(name, "").strip().startswith(("js:", "javascript:"))
        ]
        return [*(["hx-trigger has a condition"] if condition else []), *(f"{name} is evaluated" for name in values)]


def _is_data(named: dict[str, str]) -> bool:
    """Whether a script element only holds data, which no browser runs."""
    return named.get("type") == "application/json"


def breaches(html: str, own: Sequence[str] = ()) -> list[str]:
    """What in ``html`` the policy forbids; ``own`` are the hub's origins."""
    reader = _Reader(own)
    reader.feed(html)
    reader.close()
    return reader.breaches
