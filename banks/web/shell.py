"""The frame around every page: navigation, vault switcher, account menu, theme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.urls import NoReverseMatch, reverse
from django.utils.functional import SimpleLazyObject

from banks.access import Access, KeyScope, vaults_of

if TYPE_CHECKING:
    from django.http import HttpRequest

    from banks.models import Vault
    from memoryhub.lib.pages import PageRequest

THEMES = (("system", "Like the system", "monitor"), ("light", "Light", "sun"), ("dark", "Dark", "moon"))
THEME_COOKIE = "theme"
DENSITIES = (("comfortable", "Comfortable", "rows-3"), ("compact", "Compact", "rows-4"))
DENSITY_COOKIE = "density"
SHORTCUTS_COOKIE = "shortcuts"


class Place(NamedTuple):
    """One page of the navigation, and the scope without which it is not offered."""

    name: str
    label: str
    icon: str
    scope: KeyScope = KeyScope.MEMORIES_READ


NAVIGATION: tuple[tuple[str, tuple[Place, ...]], ...] = (
    (
        "",
        (
            Place("overview", "Overview", "layout-dashboard"),
            Place("memories", "Memories", "library"),
            Place("recall", "Recall lab", "flask-conical"),
            Place("sessions", "Sessions", "messages-square", KeyScope.SESSIONS),
            Place("banks", "Banks", "layers"),
            Place("agents", "Agents", "bot"),
        ),
    ),
    (
        "Care",
        (
            Place("review", "Review", "inbox"),
            Place("summaries", "Summaries & dreams", "brain"),
            Place("cleanup", "Cleanup", "brush-cleaning", KeyScope.CLEANUP_PLAN),
            Place("activity", "Activity", "history", KeyScope.OPS_READ),
        ),
    ),
    (
        "Run",
        (
            Place("connect", "Connect", "plug"),
            Place("keys", "Keys", "key-round", KeyScope.KEYS_ADMIN),
            Place("jobs", "Jobs", "list-checks", KeyScope.OPS_READ),
            Place("migrations", "Migrations", "git-branch", KeyScope.OPS_READ),
            Place("transfer", "Export & import", "replace", KeyScope.EXPORT),
            Place("webhooks", "Webhooks", "webhook", KeyScope.WEBHOOKS_ADMIN),
            Place("settings", "Settings", "sliders-horizontal"),
            Place("system", "System", "server", KeyScope.OPS_READ),
        ),
    ),
)


@dataclass(frozen=True)
class Item:
    """A place, ready to be drawn."""

    url: str
    label: str
    icon: str
    current: bool
    #: What the page is called in addresses.
    name: str = ""


@dataclass(frozen=True)
class Group:
    """Places under one heading."""

    title: str
    items: list[Item]


@dataclass(frozen=True)
class Shell:
    """What base.html needs besides its page."""

    nav: list[Group]
    vault: Vault
    vaults: list[Vault]
    person: str
    is_superuser: bool
    shortcuts: bool
    themes: tuple[tuple[str, str, str], ...] = THEMES
    densities: tuple[tuple[str, str, str], ...] = DENSITIES


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor; ``shell`` costs nothing until a template draws it."""
    context: dict[str, Any] = {
        "theme": _chosen(request, THEME_COOKIE, THEMES),
        "density": _chosen(request, DENSITY_COOKIE, DENSITIES),
    }
    if hasattr(request, "access"):
        context["shell"] = SimpleLazyObject(lambda: _shell_of(request))  # type: ignore[arg-type]
    return context


def _chosen(request: HttpRequest, cookie: str, offered: tuple[tuple[str, str, str], ...]) -> str:
    """What this browser's cookie says, as far as it is offered; otherwise the first."""
    value = request.COOKIES.get(cookie, "")
    return value if value in {one for one, _, _ in offered} else offered[0][0]


def _shell_of(request: PageRequest[Access]) -> Shell:
    assert request.user.is_authenticated
    return Shell(
        nav=[Group(title, _items(request, places)) for title, places in NAVIGATION],
        vault=request.access.vault,
        vaults=vaults_of(request.user),
        person=request.user.get_username(),
        is_superuser=request.user.is_superuser,
        shortcuts=request.COOKIES.get(SHORTCUTS_COOKIE) != "off",
    )


def _items(request: PageRequest[Access], places: tuple[Place, ...]) -> list[Item]:
    return [
        Item(url, place.label, place.icon, _is_current(request, url), place.name)
        for place in places
        if request.access.has(place.scope)
        for url in _address_of(place)
    ]


def _address_of(place: Place) -> list[str]:
    """Where the place is; nowhere in a hub whose rooms do not offer it."""
    try:
        return [reverse(place.name)]
    except NoReverseMatch:
        return []


def _is_current(request: PageRequest[Access], url: str) -> bool:
    return request.path == url or (url != "/" and request.path.startswith(url))
