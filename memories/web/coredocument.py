"""The core document: what holds, every version it had, what each changed, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404
from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.tiermarkdown import core_markdown, core_sections
from memories.search.coredocument import (
    MadeVersion,
    ShownDocument,
    list_core_versions,
    read_core_document,
    read_core_versions,
)
from memories.services.coredocument import restore_core_version
from memories.web.actors import names_of
from memories.web.consolidating import consolidation_tabs
from memories.web.namespaces import InNamespace, asked_namespace
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.pages import SeeOther, answer_page, say

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    from django.http import HttpResponse

    from memories.rules.coretext import CoreLine
    from memories.web.requests import HubRequest

VERSIONS = 50
LAST_VERSION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line with a way to the first memory it came from; ``more`` counts the others."""

    text: str
    url: str
    more: int


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version in the history."""

    number: int
    who: str
    what: str
    at: dt.datetime
    url: str
    is_shown: bool


def core_document(request: HubRequest) -> HttpResponse:
    """What holds now."""
    where = asked_namespace(request)
    return _answer(request, where, read_core_document(request.access, where.namespace), [])


def core_version(request: HubRequest, version: int) -> HttpResponse:
    """A version and, word by word, what it changed of the one before."""
    _check(version)
    where = asked_namespace(request)
    before, shown = read_core_versions(request.access, where.namespace, max(version - 1, 0), version)
    pieces = word_diff(core_markdown(before.lines, before.names), core_markdown(shown.lines, shown.names))
    return _answer(request, where, shown, pieces)


@require_POST
def restore(request: HubRequest, version: int) -> HttpResponse:
    """Make a version what holds again."""
    _check(version)
    where = asked_namespace(request)
    restored = restore_core_version(request.access, where.namespace, version)
    say(request, f"The core document is as it was in version {version}; this is version {restored.version}.")
    return SeeOther(str(where.at(reverse("core_document"))))


def _check(version: int) -> None:
    if version > LAST_VERSION:
        raise Http404


def _answer(request: HubRequest, where: InNamespace, shown: ShownDocument, pieces: list[Piece]) -> HttpResponse:
    versions = list_core_versions(request.access, where.namespace, VERSIONS)
    who = names_of(request.access, {(one.actor_kind, one.actor_id) for one in versions})
    is_present = shown.version == shown.newest
    may_restore = not is_present and request.access.has(KeyScope.MEMORIES_WRITE)
    context = {
        "tabs": consolidation_tabs("core_document"),
        "where": where,
        "document": shown,
        "sections": [
            (heading, [_line(line) for line in lines]) for heading, lines in core_sections(shown.lines, shown.names)
        ],
        "pieces": pieces,
        "versions": [_version(one, who, where, shown.version) for one in versions],
        "is_present": is_present,
        "present_url": str(where.at(reverse("core_document"))),
        "restore_url": str(where.at(reverse("restore_core_version", args=[shown.version]))) if may_restore else "",
        "dreams_url": str(where.at(reverse("dreams"))),
    }
    return answer_page(request, "memories/core_document.html", context)


def _line(line: CoreLine) -> ShownLine:
    return ShownLine(line.text, reverse("memory", args=[line.memory_ids[0]]), len(line.memory_ids) - 1)


def _version(one: MadeVersion, who: Callable[[tuple[str, str]], str], where: InNamespace, shown: int) -> VersionLine:
    back = f"Went back to version {one.restored_from}" if one.restored_from is not None else "Dreamt"
    url = str(where.at(reverse("core_version", args=[one.number])))
    return VersionLine(one.number, who((one.actor_kind, one.actor_id)), back, one.created_at, url, one.number == shown)
