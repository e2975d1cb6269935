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
    #: Pressed after ``g`` it leads there.
    key: str = ""
    #: What else somebody may call it.
    words: str = ""


NAVIGATION: tuple[tuple[str, tuple[Place, ...]], ...] = (
    (
        "",
        (
            Place("overview", "Overview", "layout-dashboard", key="o", words="home dashboard statistics"),
            Place("memories", "Memories", "library", key="m", words="list search find"),
            Place("recall", "Recall lab", "flask-conical", key="l", words="search explain why ranking"),
            Place("sessions", "Sessions", "messages-square", KeyScope.SESSIONS, "s", "conversations messages"),
            Place("banks", "Banks", "layers", key="b", words="topics retention"),
            Place("agents", "Agents", "bot", key="a", words="callers programs"),
        ),
    ),
    (
        "Care",
        (
            Place("review", "Review", "inbox", key="r", words="drafts duplicates contradictions approve"),
            Place("summaries", "Summaries & dreams", "brain", key="d", words="core document daily notes diary"),
            Place("cleanup", "Cleanup", "brush-cleaning", KeyScope.CLEANUP_PLAN, "c", "plan prune dedup"),
            Place("activity", "Activity", "history", KeyScope.OPS_READ, "h", "audit changesets undo erasures calls"),
        ),
    ),
    (
        "Run",
        (
            Place("connect", "Connect", "plug", key="p", words="mcp curl python install client"),
            Place("keys", "Keys", "key-round", KeyScope.KEYS_ADMIN, "k", "api secrets rotate"),
            Place("webhooks", "Webhooks", "webhook", KeyScope.WEBHOOKS_ADMIN, "w", "events deliveries"),
            Place("jobs", "Jobs", "list-checks", KeyScope.OPS_READ, "j", "background queue progress"),
            Place("migrations", "Migrations", "git-branch", KeyScope.OPS_READ, "i", "schema embeddings reindex"),
            Place("transfer", "Export & import", "replace", KeyScope.EXPORT, "t", "backup download upload"),
            Place("settings", "Settings", "sliders-horizontal", key="e", words="configure limits thresholds"),
            Place("system", "System", "server", KeyScope.OPS_READ, "y", "health version guard shred"),
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
    key: str = ""
    words: str = ""


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
        nav=navigation_of(request),
        vault=request.access.vault,
        vaults=vaults_of(request.user),
        person=request.user.get_username(),
        is_superuser=request.user.is_superuser,
        shortcuts=request.COOKIES.get(SHORTCUTS_COOKIE) != "off",
    )


def navigation_of(request: PageRequest[Access]) -> list[Group]:
    """The pages this person may open in this vault."""
    return [Group(title, _items(request, places)) for title, places in NAVIGATION]


def _items(request: PageRequest[Access], places: tuple[Place, ...]) -> list[Item]:
    return [
        Item(url, place.label, place.icon, _is_current(request, url), place.name, place.key, place.words)
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
