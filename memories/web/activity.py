"""What happened in the vault, newest first: the audit as sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.text import Truncator

from banks.access import Door
from banks.services.audit import AuditFilter, audit_choices
from banks.services.auditlines import AuditLine, list_audit_lines
from memories.search.reading import read_memories
from memories.web.actors import names_of
from memories.web.addresses import Address, address_of
from memories.web.choices import Choice
from memories.web.forms import spoken
from memories.web.rows import opened
from memoryhub.lib.ids import short_id
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from banks.models import AuditEntry
    from memories.models import Memory
    from memories.web.requests import HubRequest

PAGE = 50
TEXT_SHOWN = 60
FILTERS = ("door", "who", "action", "request")
DOORS = {
    Door.BROWSER: "Browser",
    Door.REST: "REST",
    Door.MCP: "MCP",
    Door.COMMAND: "Command line",
    Door.JOB: "The hub itself",
}
#: The same at the end of a sentence; the hub's own work needs none.
THROUGH = {
    Door.BROWSER: "in the browser",
    Door.REST: "over REST",
    Door.MCP: "over MCP",
    Door.COMMAND: "at the command line",
}
SAID = {
    "write_memory": ("wrote", "plus"),
    "confirm_memory": ("confirmed", "check"),
    "update_memory": ("edited", "pencil"),
    "restore_version": ("went back to an earlier version of", "rotate-ccw"),
    "archive_memory": ("archived", "archive"),
    "restore_memory": ("restored", "archive-restore"),
    "change_status": ("reviewed", "check"),
    "reject_drafts": ("rejected", "ban"),
    "undo_rejection": ("took a rejection back", "undo-2"),
    "resolve_pair": ("decided about", "check"),
    "reopen_pair": ("took a decision back about", "undo-2"),
    "merge_pair": ("merged", "layers"),
    "undo_changeset": ("took back", "undo-2"),
    "bulk_archive": ("archived", "archive"),
    "bulk_restore": ("restored", "archive-restore"),
    "bulk_accept": ("approved", "check"),
    "bulk_discard": ("discarded", "ban"),
    "bulk_move_bank": ("moved", "layers"),
    "bulk_add_tags": ("tagged", "tag"),
    "bulk_remove_tags": ("untagged", "tag"),
    "bulk_set_importance": ("set the importance of", "star"),
    "bulk_set_category": ("set the category of", "tag"),
    "bulk_protect": ("protected", "shield"),
    "bulk_unprotect": ("unprotected", "shield-off"),
    "supersede_memory": ("replaced", "replace"),
    "create_plan": ("planned", "list-checks"),
    "apply_plan": ("applied", "archive"),
    "apply_cleanup": ("cleaned up", "archive"),
    "exempt_memory": ("exempted from clean-ups", "ban"),
    "erase_memory": ("erased", "x"),
    "deep_dream": ("asked for", "moon"),
    "dream": ("rewrote", "moon"),
    "restore_core_version": ("went back to an earlier version of", "rotate-ccw"),
    "create_link": ("linked", "link"),
    "delete_link": ("took a link away between", "link"),
    "check_update": ("replaced after a check", "replace"),
    "close_chain": ("closed the gap in a chain of", "link"),
    "add_messages": ("added messages to", "messages-square"),
    "flush_session": ("had read at once", "messages-square"),
    "erase_session": ("erased", "x"),
    "erase_everything": ("erased everything of", "x"),
    "export_vault": ("exported", "download"),
    "export_notes": ("exported the notes of", "download"),
    "import_vault": ("imported into", "upload"),
    "start_migration": ("started", "git-branch"),
    "start_retention": ("had the retention enforced of", "timer"),
    "enforce_retention": ("archived by retention", "archive"),
    "prune_memories": ("archived for the limit", "archive"),
    "reembed_memories": ("re-embedded", "git-branch"),
    "reindex_memories": ("re-indexed", "git-branch"),
    "reseal_memories": ("resealed", "key-round"),
    "rotate_master_key": ("rotated the master key of", "key-round"),
    "shred_vault": ("shredded", "x"),
    "retire_agent": ("retired", "bot"),
    "create_key": ("issued", "key-round"),
    "rotate_key": ("rotated", "refresh-cw"),
    "revoke_key": ("revoked", "ban"),
    "create_vault": ("created", "file-lock"),
    "create_bank": ("created", "layers"),
    "update_bank": ("changed", "layers"),
    "create_agent": ("created", "bot"),
    "update_agent": ("changed", "bot"),
    "write_setting": ("changed a setting of", "settings"),
    "retry_job": ("retried", "rotate-ccw"),
    "cancel_job": ("cancelled", "ban"),
    "create_webhook": ("made", "webhook"),
    "update_webhook": ("changed", "webhook"),
    "delete_webhook": ("removed", "webhook"),
    "allow_private_webhook": ("allowed the private address of", "webhook"),
    "rotate_webhook_secret": ("gave another secret to", "refresh-cw"),
    "disable_webhook": ("switched off", "ban"),
    "redeliver": ("sent again", "webhook"),
    "save_view": ("saved", "library"),
    "delete_view": ("removed", "library"),
    "reset_guard": ("reset", "refresh-cw"),
    "summarize_memories": ("summarised", "brain"),
    "add_member": ("added", "plus"),
    "change_member": ("changed", "pencil"),
    "remove_member": ("removed", "ban"),
}
THING = {
    "api_key": "a key",
    "agent": "an agent",
    "vault": "the vault",
    "link": "two memories",
    "guard": "the error guards",
    "core_document": "the core document",
    "changeset": "a changeset",
    "duplicate_pair": "a pair",
    "cleanup_plan": "a clean-up plan",
    "session": "a conversation",
    "bank": "a bank",
    "import": "the vault",
    "migration": "a move of the data",
    "setting": "a setting",
    "space": "the vault",
    "erasure": "somebody",
    "webhook": "a webhook",
    "delivery": "an event",
    "saved_view": "a view of the list",
    "membership": "a member",
    "system": "the whole hub",
}
#: What a job that somebody asked for is about, where its verb alone does not say so.
ABOUT = {"summarize_memories": "old memories"}
PAGES = {"memory": "memory", "agent": "agent", "changeset": "changeset", "job": "job", "cleanup_plan": "plan"}


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """Who did what to what."""

    who: str
    verb: str
    thing: str
    icon: str
    at: dt.datetime
    url: str
    request_id: str
    #: How often in a row, for what has no page of its own.
    times: int = 1
    #: Through which door, in words; empty for the hub's own work and where it was not noted yet.
    door: str = ""


def activity_lines(access: Access, found: list[AuditLine]) -> list[ActivityLine]:
    """The lines in words; a memory by the beginning of its text, which the audit itself does not keep."""
    entries = [one.entry for one in found]
    who = names_of(access, {(entry.actor_kind, entry.actor_id) for entry in entries})
    ids = [entry.target_id for entry in entries if entry.target_kind == "memory" and entry.target_id]
    shown, _ = read_memories(access, ids) if ids else ([], [])
    named = {memory.pk: _named(memory) for memory in shown}
    return _runs([_line(one, who((one.entry.actor_kind, one.entry.actor_id)), named) for one in found])


def _named(memory: Memory) -> str:
    text = opened(memory)
    return f"“{Truncator(text).chars(TEXT_SHOWN)}”" if text else f"memory {short_id(memory.pk)}"


def _said(line: ActivityLine) -> tuple[str, ...]:
    return (line.who, line.verb, line.thing, line.request_id)


def _runs(lines: list[ActivityLine]) -> list[ActivityLine]:
    """The same said many times in a row is said once, with how often; what can be opened keeps its line."""
    found: list[ActivityLine] = []
    for line in lines:
        before = found[-1] if found else None
        if before and not line.url and _said(line) == _said(before):
            found[-1] = replace(before, times=before.times + line.times)
        else:
            found.append(line)
    return found


def _line(line: AuditLine, who: str, memories: Mapping[UUID, str]) -> ActivityLine:
    entry = line.entry
    verb, icon = SAID.get(entry.action, (spoken(entry.action).lower(), "history"))
    kind, target = entry.target_kind, entry.target_id
    named = memories.get(target, f"memory {short_id(target)}") if kind == "memory" and target else None
    thing, url, times = named or THING.get(kind, f"a {spoken(kind).lower()}"), "", line.count
    if kind == "job":
        thing = ABOUT.get(entry.action, thing)
    # A memory that was erased since has no page any more.
    if kind in PAGES and target is not None and (kind != "memory" or target in memories):
        url = reverse(PAGES[kind], args=[target])
    if kind == "memory" and line.count > 1:
        thing, url, times = f"{line.count:,} memories", _together(entry), 1
    return ActivityLine(
        who=who[:1].upper() + who[1:],
        verb=verb,
        thing=thing,
        icon=icon,
        at=entry.at,
        url=url,
        request_id=entry.request_id,
        times=times,
        door=THROUGH.get(Door(entry.door), "") if entry.door else "",
    )


def _together(entry: AuditEntry) -> str:
    """Where all of what was done together is listed."""
    if entry.changeset_id is None:
        return str(Address(reverse("activity")).having(request=entry.request_id))
    return reverse("erasure" if entry.action == "erase_memory" else "changeset", args=[entry.changeset_id])


def activity_tabs(here: str) -> list[Choice]:
    """The ledgers as tabs: what happened, what was changed as one, questions to models, and what was erased."""
    tabs = (
        ("activity", "Changes"),
        ("changesets", "Changesets"),
        ("model_calls", "Model calls"),
        ("erasures", "Erasures"),
    )
    return [Choice(label, reverse(name), selected=name == here) for name, label in tabs]


def activity(request: HubRequest) -> HttpResponse:
    """The audit of this vault, in pages: everybody's, or of one door, caller, action or request."""
    access, asked = request.access, address_of(request.path, request.GET, FILTERS)
    before, here = request.GET.get("before", ""), asked.without("before")
    found = list_audit_lines(access, PAGE + 1, _place(before), _wanted(here))
    shown = found[:PAGE]
    context = {
        "lines": activity_lines(access, shown),
        "tabs": activity_tabs("activity"),
        "older_url": str(here.having(before=str(found[PAGE].entry.pk + 1))) if len(found) > PAGE else "",
        "is_first": not before,
        "newest_url": str(here),
        "fields": _fields(access, here),
        "request_id": here.first("request"),
        "is_filtered": bool(here.values),
        "unasked": not here.has("request", here.first("request")),
    }
    return answer_page(request, "memories/activity.html", context)


@dataclass(frozen=True, slots=True)
class FilterField:
    """A choice of the form: its name, what it asks, and value, words and whether chosen for each."""

    name: str
    label: str
    options: list[tuple[str, str, bool]]


def _place(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _wanted(here: Address) -> AuditFilter:
    kind, _, actor = here.first("who").partition(":")
    return AuditFilter(
        door=here.first("door") if here.first("door") in set(Door) else "",
        actor_kind=kind,
        actor_id=actor,
        action=here.first("action"),
        request_id=here.first("request"),
    )


def _fields(access: Access, here: Address) -> list[FilterField]:
    found = audit_choices(access)
    who = names_of(access, {(kind, actor) for kind, actor, *_ in found})
    people = sorted({(who((kind, actor)), f"{kind}:{actor}") for kind, actor, *_ in found if actor})
    actions = sorted({(spoken(action), action) for _, _, action, _ in found})
    return [
        FilterField(
            "door", "Door", _options(here.first("door"), [(words, value.value) for value, words in DOORS.items()])
        ),
        FilterField("who", "Who", _options(here.first("who"), people)),
        FilterField("action", "What", _options(here.first("action"), actions)),
    ]


def _options(chosen: str, choices: list[tuple[str, str]]) -> list[tuple[str, str, bool]]:
    return [("", "Any", not chosen), *((value, words, value == chosen) for words, value in choices)]
