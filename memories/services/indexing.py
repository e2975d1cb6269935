"""Keep the index beside the content: in the write when the embedder is local, by a job when it is not."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from memories.index.compaction import forget_documents
from memories.index.indexing import Indexable, keyword_rows, vector_rows
from memories.index.spaces import hold_space
from memories.jobs import JobKind
from memories.models import Embedding, Memory
from memories.rules.vocabulary import IndexState
from memories.services.context import WriteContext
from memories.services.jobs import enqueue_job
from memoryhub.lib.bulk import insert_rows
from memoryhub.providers.base import ProviderError

log = structlog.get_logger(__name__)


def index_memories(context: WriteContext, items: Sequence[Indexable], *, replace: bool = False) -> None:
    """Write the index rows of saved memories in the running transaction, and note the state on each.

    ``replace`` drops what an earlier content left behind. A memory is never lost because its vector could not be made.
    """
    if replace:
        ids = [item.memory.pk for item in items]
        forget_documents(ids)
        Embedding.objects.filter(memory_id__in=ids).delete()
    if context.settings["keyword_index"]:
        insert_rows(keyword_rows(context.access.keys.index, items))
    state = _embed(context, items)
    stale = [item.memory.pk for item in items if item.memory.index_state != state.value]
    for item in items:
        item.memory.index_state = state.value
    if stale:
        Memory.objects.filter(pk__in=stale).update(index_state=state.value)


def expected_state(context: WriteContext) -> IndexState:
    """The state a memory written now will have, so that most rows are written once and not updated."""
    if not context.wants_vectors:
        return IndexState.OFF
    return IndexState.READY if context.space and context.space.embedder.local else IndexState.PENDING


def _embed(context: WriteContext, items: Sequence[Indexable]) -> IndexState:
    state = expected_state(context)
    if state == IndexState.READY and context.space is not None:
        hold_space(context.access.vault_id, context.space)
        try:
            insert_rows(vector_rows(context.space, items))
        except ProviderError as error:
            log.warning("embedding_deferred", vault_id=str(context.access.vault_id), error=error.code)
            state = IndexState.PENDING
    if state == IndexState.PENDING:
        enqueue_job(context.access.vault_id, JobKind.EMBED_MEMORIES, dedupe_key="waiting")
    return state
