"""A whole vault as lines of JSON, in clear: streamed as it is read, never staged anywhere.

Each batch is read in a session of its own, so that an answer can be sent long after its request was let in; what is
written meanwhile may or may not be in it, and every line is whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from banks.access import Access, KeyScope, reopened
from banks.models import Agent, Bank, SettingValue
from banks.services.audit import Audited, record_audit
from memories.models import Link, Memory, Message, Revision, Session
from memories.rules.exchange import FORMAT, VERSION, written
from memories.rules.vocabulary import Relation
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import DecryptionError, UnknownKey

BATCH = 500
_MEMORY = (
    "type category role status importance confidence entities tags fact_key namespace scope user_id agent_id session_id"
    " task_id extra source_kind trust external_write_id is_protected is_summarized summarized_from expires_at event_at"
    " created_at updated_at archived_at version last_confirmed_at last_accessed_at access_count"
).split()
_SESSION = (
    "sid namespace user_id agent_id task_id last_number extracted_through summarized_through first_message_at"
    " last_message_at created_at"
).split()
_MESSAGE = (
    "number external_id agent_id role tool_call_id tool_name is_error tokens is_silent is_saved created_at"
).split()

type Describe = Callable[[Any], dict[str, Any]]


def export_vault(access: Access, *, with_revisions: bool = False) -> Iterator[bytes]:
    """The lines of the vault's export, in plain text. Needs export and memories:read; audited before the first line.

    What a key may not see is not in it: other agents' own memories, and banks it does not reach.
    """
    access.require(KeyScope.EXPORT, KeyScope.MEMORIES_READ)
    record_audit(access, Audited("export_vault", "vault", access.vault_id))
    return _lines(access, _parts(access, with_revisions))


def _parts(access: Access, with_revisions: bool) -> dict[str, tuple[QuerySet[Any], Describe]]:
    vault = access.vault_id
    memories = Memory.objects.visible_to(access).select_related("bank")
    sessions = Session.objects.visible_to(access)
    seen = memories.values("pk")
    banks = Bank.objects.filter(vault_id=vault)
    if access.bank_ids is not None:
        banks = banks.filter(pk__in=access.bank_ids)
    whole = access.bank_ids is None and access.agent is None
    parts: dict[str, tuple[QuerySet[Any], Describe]] = {"bank": (banks, _bank)}
    if whole:
        parts["agent"] = (Agent.objects.filter(vault_id=vault), _agent)
        parts["setting"] = (SettingValue.objects.filter(vault_id=vault), _setting)
    parts["memory"] = (memories, _memory)
    links = Link.objects.filter(vault_id=vault).select_related("target")
    parts["link"] = (links if whole else links.filter(source__in=seen, target__in=seen), _link)
    if access.has(KeyScope.SESSIONS):
        messages = Message.objects.filter(vault_id=vault)
        parts["session"] = (sessions, _session)
        parts["message"] = (messages if whole else messages.filter(session__in=sessions.values("pk")), _message)
    if with_revisions:
        revisions = Revision.objects.filter(vault_id=vault)
        parts["revision"] = (revisions if whole else revisions.filter(memory__in=seen), _revision)
    return parts


def _lines(access: Access, parts: dict[str, tuple[QuerySet[Any], Describe]]) -> Iterator[bytes]:
    with reopened(access):
        header = _header(access, {kind: rows.count() for kind, (rows, _) in parts.items()})
    digest, count = hashlib.sha256(), 0
    for chunk in _chunks(access, header, parts):
        digest.update(chunk)
        count += chunk.count(b"\n")
        yield chunk
    yield written({"kind": "trailer", "lines": count, "sha256": digest.hexdigest()})


def _header(access: Access, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "kind": "header",
        "format": FORMAT,
        "version": VERSION,
        "exported_at": now().isoformat(),
        "vault": {"id": str(access.vault_id), "name": access.vault.name},
        "counts": counts,
    }


def _chunks(
    access: Access, header: dict[str, Any], parts: dict[str, tuple[QuerySet[Any], Describe]]
) -> Iterator[bytes]:
    yield written(header)
    for kind, (rows, describe) in parts.items():
        last: UUID | None = None
        while True:
            ordered = rows.order_by("pk") if last is None else rows.filter(pk__gt=last).order_by("pk")
            with reopened(access):
                batch = list(ordered[:BATCH])
                chunk = b"".join(_described({"kind": kind, "id": row.pk}, row, describe) for row in batch)
            if not batch:
                break
            last = batch[-1].pk
            yield chunk


def _described(begun: dict[str, Any], row: Any, describe: Describe) -> bytes:
    """A row that does not open any more is named, and says so: an export never ends halfway because of it."""
    try:
        return written({**begun, **describe(row)})
    except (DecryptionError, UnknownKey):
        return written({**begun, "unreadable": True})


def _named(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _bank(bank: Bank) -> dict[str, Any]:
    return _named(bank, ("name", "description", "is_default", "is_hidden"))


def _agent(agent: Agent) -> dict[str, Any]:
    return _named(agent, ("name", "description", "is_isolated", "trust_ceiling", "default_bank_id", "retired_at"))


def _setting(setting: SettingValue) -> dict[str, Any]:
    return _named(setting, ("level", "target", "key", "value"))


def _memory(memory: Memory) -> dict[str, Any]:
    reason = memory.archived_reason if memory.archived_at else None
    return {
        "content": memory.content,
        "bank": memory.bank.name,
        **_named(memory, _MEMORY),
        "dedup": memory.content_hash is not None,
        "archived_reason": reason,
        "superseded_by": memory.superseded_by_id,
    }


def _link(link: Link) -> dict[str, Any]:
    is_chain = link.relation == Relation.SUPERSEDES and link.target.superseded_by_id == link.source_id
    ends = {"source": link.source_id, "target": link.target_id, "relation": link.relation}
    return {**ends, "is_chain": is_chain, "created_at": link.created_at.isoformat()}


def _session(session: Session) -> dict[str, Any]:
    return {**_named(session, _SESSION), "summary": session.summary}


def _message(message: Message) -> dict[str, Any]:
    said = {"content": message.content, "tool_calls": message.tool_calls}
    return {"session": message.session_id, **_named(message, _MESSAGE), **said}


def _revision(revision: Revision) -> dict[str, Any]:
    clear = _named(revision, ("version", "changed", "action", "actor_kind", "actor_id", "created_at"))
    return {"memory": revision.memory_id, **clear, "before": revision.before, "reason": revision.reason}
