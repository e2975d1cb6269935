"""From what a caller sent to the row it means; decides bank, trust, status and provenance, saves nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from banks.access import Access, KeyScope
from memories.index.indexing import Indexable, vectors_of
from memories.models import Memory
from memories.rules.drafts import MemoryDraft
from memories.rules.trust import default_source, first_status, trust_of
from memories.rules.vocabulary import MemoryType, Scope, Trust
from memories.services.context import WriteContext
from memories.services.indexing import expected_state
from memoryhub.lib.clock import now
from memoryhub.lib.errors import FieldError, Invalid, NotFound
from memoryhub.providers.base import ProviderError, Vectors

log = structlog.get_logger(__name__)


@dataclass
class Prepared:
    """One write on its way: the row as it would be created, and what the caller really said."""

    draft: MemoryDraft
    memory: Memory
    content: str
    #: Model field → value, only for what the caller named.
    given: dict[str, Any]
    #: The memory it supersedes.
    target: Memory | None = None
    #: One row for each unit of the content, where the embedder is at hand.
    vectors: Vectors | None = None

    @property
    def indexable(self) -> Indexable:
        """What the index keeps of it."""
        return Indexable(self.memory, self.content, vectors=self.vectors)


@dataclass(frozen=True, slots=True)
class Told:
    """What is settled already about rows that will be new: their ids, one for each draft, and what became of them.

    ``became`` is asked of each row just before it is inserted, after everything about it was decided.
    """

    ids: Sequence[UUID] = ()
    became: Callable[[Memory], None] | None = None

    def settled(self, rows: Sequence[Memory]) -> Sequence[Memory]:
        """These rows, about to be inserted, with what became of them."""
        if self.became is not None:
            for row in rows:
                self.became(row)
        return rows


def identity_of(row: Memory) -> tuple[Any, ...] | None:
    """What makes two live memories the same, in whatever banks they lie; None with dedup off."""
    if row.content_hash is None:
        return None
    return (bytes(row.content_hash), row.type, row.user_id, tuple(row.namespace), row.scope, row.dedup_agent)


def prepare(context: WriteContext, draft: MemoryDraft, target: Memory | None = None) -> Prepared:
    """The row ``draft`` means; ``target`` is the memory it supersedes, whose place it inherits where nothing is said.

    Raises Invalid with pointers, UnknownBank, NotFound (another vault named), MissingScope.
    """
    access = context.access
    _check_vault(access, draft)
    _check_permissions(access, draft)
    values = _said(context, draft)
    if target is not None:
        _check_namespace(draft, target)
        inherited = {"bank_id": target.bank_id, "user_id": target.user_id, "namespace": target.namespace}
        if draft.type == MemoryType.CORRECTION:
            inherited["category"] = target.category
        values = {**values, **{name: value for name, value in inherited.items() if name not in _named(draft)}}
    settings = context.settings_in(values["bank_id"])
    check_length(draft.content, settings["content_max_length"])
    values["status"] = first_status(draft.status, Trust(values["trust"]), Trust(settings["draft_threshold"])).value
    memory = Memory(vault_id=access.vault_id, **values)
    bank = context.bank(draft.bank)
    if memory.bank_id == bank.pk:
        memory.bank = bank  # at hand already: whoever shows the memory need not ask for it
    memory.created_at = memory.updated_at = draft.created_at or now()
    isolated = access.agent is not None and access.agent.is_isolated
    memory.dedup_agent = memory.agent_id if isolated or memory.scope == Scope.AGENT else None
    memory.index_state = expected_state(context).value
    wanted = settings["dedup"] if draft.dedup is None else draft.dedup
    memory.content_hash = context.content_hash(draft.content) if wanted else None
    given = {name: values[name] for name in _named(draft) if name in values}
    return Prepared(draft, memory, draft.content, given, target)


def embed_prepared(context: WriteContext, items: Sequence[Prepared]) -> None:
    """Give each item its vectors, once for comparing and keeping; where the embedder is remote a job does it later."""
    space = context.space
    if space is None or not space.embedder.local:
        return
    try:
        made = vectors_of(space, [item.content for item in items])
    except ProviderError as error:
        log.warning("embedding_deferred", vault_id=str(context.access.vault_id), error=error.code)
        return
    for item, vectors in zip(items, made, strict=True):
        item.vectors = vectors


def _named(draft: MemoryDraft) -> set[str]:
    """Model fields the caller named."""
    return {{"bank": "bank_id"}.get(name, name) for name in draft.model_fields_set}


def _check_vault(access: Access, draft: MemoryDraft) -> None:
    if draft.vault_id is not None and draft.vault_id not in {str(access.vault_id), access.vault.name}:
        raise NotFound("There is no such vault; leave `vault_id` out, the key decides.")


def check_length(content: str, limit: int) -> None:
    """Raises Invalid for content longer than this vault, or this bank of it, takes."""
    if len(content) > limit:
        error = FieldError("/content", "string_too_long", f"has more than the {limit} characters allowed here")
        raise Invalid(errors=[error])


def _check_permissions(access: Access, draft: MemoryDraft) -> None:
    errors = []
    if draft.created_at is not None:
        access.require(KeyScope.IMPORT)
    own = access.agent_id
    if access.agent is not None and access.agent.is_isolated and draft.agent_id not in {None, own}:
        errors.append(FieldError("/agent_id", "isolated_agent", "an isolated agent writes only as itself"))
    if draft.scope == Scope.AGENT and own is not None and draft.agent_id not in {None, own}:
        errors.append(FieldError("/agent_id", "other_agent", "nobody writes into another agent's own memories"))
    if draft.scope == Scope.AGENT and not (draft.agent_id or own):
        errors.append(FieldError("/agent_id", "required", "a memory of scope `agent` needs an agent"))
    if errors:
        raise Invalid(errors=errors)


def _check_namespace(draft: MemoryDraft, target: Memory) -> None:
    if "namespace" in draft.model_fields_set and list(draft.namespace) != list(target.namespace):
        detail = "is in another namespace; two namespaces never mix"
        raise Invalid(errors=[FieldError("/supersedes", "other_namespace", detail)])


def _said(context: WriteContext, draft: MemoryDraft) -> dict[str, Any]:
    access = context.access
    source = draft.source_kind or default_source(access.actor.kind)
    ceiling = Trust(access.agent.trust_ceiling) if access.agent else Trust.VERIFIED
    trust = trust_of(source, ceiling)
    return {
        "bank_id": UUID(str(context.bank(draft.bank).pk)),
        "content": draft.content,
        "type": draft.type.value,
        "category": draft.category.value if draft.category else None,
        "role": draft.role.value if draft.role else None,
        "importance": draft.importance,
        "confidence": draft.confidence,
        "entities": draft.entities,
        "tags": draft.tags,
        "fact_key": draft.fact_key,
        "extra": draft.extra,
        "is_protected": draft.is_protected,
        "namespace": draft.namespace,
        "scope": draft.scope.value,
        "user_id": draft.user_id,
        "agent_id": draft.agent_id or access.agent_id,
        "session_id": draft.session_id,
        "task_id": draft.task_id,
        "source_kind": source.value,
        "trust": trust.value,
        "external_write_id": draft.external_write_id,
        "expires_at": draft.expires_at,
        "event_at": draft.event_at,
    }
