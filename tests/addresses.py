"""Every page of the hub, read from the URLconf, so that no test about pages can forget a new one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from django.http import Http404
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

ROOMS = ("banks.web.", "memories.web.")
ACCOUNTS = {"account_login", "account_logout", "account_change_password"}
#: Besides the plain address, by the name of the page: what a query can make of it.
VARIANTS: dict[str, Sequence[str]] = {
    "memories": ("?q={query}", "?status=any&archived=any", "?q=none", "?q=bank:work+-tag:tmp+banc:x+%22open"),
    "recall": ("?q={query}", "?q={query}&top_k=x&other.top_k=2"),
    "bank": (),
    "retention": ("?look=1",),
    "plan": ("?view=alike",),
    "review": ("?source_kind=agent_inferred",),
    "session": ("?max_rounds=x",),
    "sessions": ("?user_id=nobody",),
}
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def patterns(resolver: URLResolver | None = None, before: str = "") -> Iterator[tuple[str, str]]:
    """(name, route) of everything people may open in a browser."""
    for one in (resolver or get_resolver()).url_patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from patterns(one, route)
        elif _is_for_people(one):
            yield str(one.name), route


def _is_for_people(pattern: URLPattern) -> bool:
    module = getattr(pattern.callback, "__module__", "")
    return module.startswith(ROOMS) or pattern.name in ACCOUNTS


def addresses(
    ids: Mapping[str, Sequence[str]], query: str = "sentence", *, partly: bool = False
) -> dict[str, list[str]]:
    """Name of each route → its addresses with every one of the ``ids``, then those a query makes of the first.

    Ids are named by their parameter, or ``route.parameter`` where a route wants others. A parameter that is unknown is
    a KeyError: tell ``tests.fullvault`` what may stand there; or, ``partly``, its routes are left out.
    """
    found: dict[str, list[str]] = {}
    for name, route in patterns():
        names = _PARAMETER.findall(route)
        if partly and not ids.keys() >= {*names}:
            continue
        known = [ids.get(f"{name}.{parameter}") or ids[parameter] for parameter in names]
        filled = [_filled(route, dict(zip(names, values, strict=True))) for values in product(*known)]
        asked = [filled[0] + variant.format(query=query) for variant in VARIANTS.get(name, ())]
        found[name] = [f"/{path}" for path in [*filled, *asked]]
    return found


def _filled(route: str, values: Mapping[str, str]) -> str:
    return _PARAMETER.sub(lambda found: values[found[1]], route)


def pages(
    client: Client, ids: Mapping[str, Sequence[str]], query: str = "sentence", *, partly: bool = False
) -> list[str]:
    """Addresses that answer GET with a page; those that take forms only, or lead elsewhere, are none."""
    every = addresses(ids, query, partly=partly).values()
    return [path for paths in every for path in paths if _is_page(client, path)]


def _is_page(client: Client, path: str) -> bool:
    try:
        answer = client.get(path)
    except Http404:
        return True
    return answer.status_code not in {301, 302, 303, 405}
