"""The command palette: every page and every action of the hub by a few letters of its name, and memories beside them.

It is a page like any other; ``⌘K`` only shows its list in a dialog.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from banks.access import KeyScope
from banks.services.banks import list_banks
from banks.web.shell import DENSITIES, SHORTCUTS_COOKIE, THEMES, navigation_of
from memoryhub.lib.pages import answer_page, came_from, local_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpResponse

    from banks.web.requests import HubRequest

#: Longer than any name; what is longer is a text to search for.
QUESTION_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: a link, or with ``field`` a button that posts it."""

    label: str
    icon: str
    url: str
    words: str = ""
    #: The keys that do the same.
    keys: tuple[str, ...] = ()
    field: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind."""

    title: str
    entries: list[Entry]
    #: How far its best line is from what was asked.
    distance: int = 0


class Action(NamedTuple):
    """Something to begin: the page it begins on, and the scope it takes."""

    name: str
    label: str
    icon: str
    scope: KeyScope
    anchor: str = ""
    words: str = ""


ACTIONS = (
    Action("new_memory", "New memory", "plus", KeyScope.MEMORIES_WRITE, words="write add create"),
    Action("banks", "New bank", "layers", KeyScope.BANKS_ADMIN, "#new", "add create topic"),
    Action("agents", "New agent", "bot", KeyScope.BANKS_ADMIN, "#new", "add create"),
    Action("keys", "New key", "key-round", KeyScope.KEYS_ADMIN, "#new", "add create secret"),
    Action("cleanup", "Plan a clean-up", "brush-cleaning", KeyScope.CLEANUP_PLAN, words="prune duplicates dry run"),
    Action("transfer", "Export or import this vault", "download", KeyScope.EXPORT, words="backup download upload"),
    Action("account_change_password", "Change password", "lock", KeyScope.MEMORIES_READ),
)


def palette(request: HubRequest) -> HttpResponse:
    """What the letters of ``q`` may mean: pages, actions, banks, and (drawn by the room that has them) memories."""
    question = " ".join(request.GET.get("q", "").split())[:QUESTION_LENGTH]
    sections = [
        _fitting("Go to", _places(request), question),
        _fitting("Do", [*_actions(request), *_preferences(request)], question),
        _fitting("Banks", _banks(request) if question else [], question),
    ]
    context = {
        "question": question,
        "sections": sorted((section for section in sections if section.entries), key=lambda one: one.distance),
        "come_back": local_address(request, came_from(request), reverse("palette")),
        # While somebody types, words are enough; a pause or Enter asks for meaning too.
        "is_typing": bool(request.htmx) and "pause" not in request.GET,
        "pause_url": f"{reverse('palette')}?{urlencode({'q': question, 'pause': 1})}",
    }
    return answer_page(request, "banks/palette.html", context, part="palette")


def _fitting(title: str, entries: Iterable[Entry], question: str) -> Section:
    """Those with a word that begins like each asked one; names before what else they may be called."""
    asked = question.casefold().split()
    near = [(step, entry) for entry in entries if (step := _distance(entry, asked)) is not None]
    near.sort(key=lambda one: one[0])
    return Section(title, [entry for _, entry in near], near[0][0] if near else 0)


def _distance(entry: Entry, asked: list[str]) -> int | None:
    label, other = _words(entry.label), _words(entry.words)
    if all(_begins(label, word) for word in asked):
        return 0 if not asked or label[0].startswith(asked[0]) else 1
    return 2 if all(_begins([*label, *other], word) for word in asked) else None


def _words(text: str) -> list[str]:
    return text.casefold().replace("-", " ").split()


def _begins(words: list[str], start: str) -> bool:
    return any(word.startswith(start) for word in words)


def _places(request: HubRequest) -> list[Entry]:
    return [
        Entry(item.label, item.icon, item.url, item.words, ("g", item.key) if item.key else ())
        for group in navigation_of(request)
        for item in group.items
    ]


def _actions(request: HubRequest) -> list[Entry]:
    found = []
    for action in ACTIONS:
        if not request.access.has(action.scope):
            continue
        try:
            url = reverse(action.name) + action.anchor
        except NoReverseMatch:
            continue
        found.append(Entry(action.label, action.icon, url, action.words))
    return found


def _preferences(request: HubRequest) -> list[Entry]:
    """The account menu's choices for this browser."""
    theme, density = reverse("choose_theme"), reverse("choose_density")
    looks = [
        Entry(f"Theme: {label.lower()}", icon, theme, "look colours", (), ("theme", one)) for one, label, icon in THEMES
    ]
    rooms = [
        Entry(f"Density: {label.lower()}", icon, density, "rows spacing", (), ("density", one))
        for one, label, icon in DENSITIES
    ]
    turned = "off" if request.COOKIES.get(SHORTCUTS_COOKIE) != "off" else "on"
    keys = Entry(
        f"Turn {turned} single-key shortcuts", "keyboard", reverse("choose_shortcuts"), "keyboard",
        field=("shortcuts", turned),
    )  # fmt: skip
    leave = Entry("Sign out", "log-out", reverse("account_logout"), "log out leave", field=("leave", "1"))
    return [*looks, *rooms, keys, leave]


def _banks(request: HubRequest) -> list[Entry]:
    to = reverse("memories")
    return [
        Entry(bank.name, "layers", f"{to}?bank={bank.slug}", "bank memories") for bank in list_banks(request.access)
    ]
