"""What a memory was, and what it is connected to."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.models import Link, Revision
from memories.rules.drafts import Label
from memories.rules.vocabulary import ActorKind, Relation
from memories.search import reading
from memories.services import linking
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()


@with_config(
    shown(
        {
            "version": 6,
            "before": {"importance": 3},
            "changed": ["importance"],
            "action": "update_memory",
            "actor_kind": "key",
            "actor_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b19",
        }
    )
)
class RevisionOut(TypedDict):
    """What the memory was before a change; ``before`` is null when it does not open any more."""

    version: int
    before: dict[str, Any] | None
    changed: list[str]
    action: str
    reason: str | None
    actor_kind: Annotated[str, Word(ActorKind)]
    actor_id: str
    changeset_id: UUID | None
    created_at: dt.datetime


class RevisionList(TypedDict):
    """Newest first."""

    items: list[RevisionOut]


@with_config(shown({"relation": "supports"}))
class LinkOut(TypedDict):
    """``source_id`` stands in ``relation`` to ``target_id``."""

    id: UUID
    source_id: UUID
    target_id: UUID
    relation: Annotated[str, Word(Relation)]
    created_at: dt.datetime


class LinkList(TypedDict):
    """Oldest first."""

    items: list[LinkOut]


class Chain(TypedDict):
    """A supersession chain, oldest first; ``head_id`` is the memory that counts now."""

    items: list[MemoryOut]
    head_id: UUID


class LinkDraft(StrictModel):
    """A link to make; ``supersedes`` has its own address because it archives."""

    model_config = shown({"target_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b23", "relation": "supports"})

    target_id: Label
    relation: Relation = Relation.RELATED


def revision_out(revision: Revision) -> RevisionOut:
    """One kept version."""
    return {
        "version": revision.version,
        "before": opened(revision, "before"),
        "changed": revision.changed,
        "action": revision.action,
        "reason": opened(revision, "reason"),
        "actor_kind": revision.actor_kind,
        "actor_id": revision.actor_id,
        "changeset_id": revision.changeset_id,
        "created_at": revision.created_at,
    }


def link_out(link: Link) -> LinkOut:
    """One link."""
    return {
        "id": link.pk,
        "source_id": link.source_id,
        "target_id": link.target_id,
        "relation": link.relation,
        "created_at": link.created_at,
    }


@router.get(
    "/memories/{memory_id}/revisions",
    response=RevisionList,
    **told("List earlier versions of a memory", KeyScope.MEMORIES_READ),
)
def list_revisions(request: ApiRequest, memory_id: str) -> HttpResponse:
    """What the memory was before each change, newest first."""
    found = reading.list_revisions(request.access, memory_id)
    return json_answer({"items": [revision_out(revision) for revision in found]})


@router.get(
    "/memories/{memory_id}/links", response=LinkList, **told("List the links of a memory", KeyScope.MEMORIES_READ)
)
def list_links(request: ApiRequest, memory_id: str) -> HttpResponse:
    """The links from and to a memory."""
    return json_answer({"items": [link_out(link) for link in reading.list_links(request.access, memory_id)]})


@router.post(
    "/memories/{memory_id}/links", response={201: LinkOut}, **told("Link two memories", KeyScope.MEMORIES_WRITE)
)
def create_link(request: ApiRequest, memory_id: str, draft: LinkDraft) -> HttpResponse:
    """Link it to another memory; making the same link twice gives the same link."""
    return json_answer(link_out(linking.create_link(request.access, memory_id, draft.target_id, draft.relation)), 201)


@router.get(
    "/memories/{memory_id}/chain", response=Chain, **told("Read the chain a memory stands in", KeyScope.MEMORIES_READ)
)
def read_chain(request: ApiRequest, memory_id: str) -> HttpResponse:
    """The supersession chain it stands in."""
    chain = reading.read_chain(request.access, memory_id)
    return json_answer({"items": memories_out(request.access, chain), "head_id": chain[-1].pk})
