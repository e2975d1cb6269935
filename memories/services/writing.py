"""Write memories: one or a batch, the same path (API-05, IDM, DUP-01).

What becomes of each is settled in `memories.services.settling`. The database's unique indexes decide races: a write
that loses one is tried again and then finds what the winner wrote (DUP-25, DEF-15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from django.db import IntegrityError, OperationalError, transaction

from banks.access import Access, KeyScope
from memories.index.indexing import units_of
from memories.index.spaces import SpaceMoved
from memories.rules.drafts import MemoryDraft
from memories.services.contention import MAX_RACES, WriteContended, is_deadlock, took_newer_key
from memories.services.context import WriteContext, allocate_documents
from memories.services.outcomes import WriteResult
from memories.services.preparing import Told
from memories.services.revising import broken_constraint
from memories.services.settling import Batch, Raced
from memories.services.superseding import check_successor, succeeding
from memories.services.tallies import tally_writes
from memoryhub.lib.errors import HubError

__all__ = ["WriteResult", "write_batch", "write_memory", "write_successor"]
_RACED = {"memory_external_write_id", "memory_live_in_bank", "memory_doc_no"}


def write_memory(access: Access, draft: MemoryDraft) -> WriteResult:
    """Write one memory. Needs memories:write.

    Raises Invalid, UnknownBank, NotFound, DuplicateContent, AlreadySuperseded, TrustTooLow, WriteContended.
    """
    (result,) = write_batch(access, [draft])
    if isinstance(result, HubError):
        raise result
    return result


def write_successor(access: Access, old_id: str, draft: MemoryDraft) -> WriteResult:
    """Write a memory that replaces another and keeps its labels where the draft names none. Raises as above."""
    access.require(KeyScope.MEMORIES_WRITE)
    return write_memory(access, succeeding(check_successor(access, old_id), draft))


type Written = list[WriteResult | HubError]


def write_batch(
    access: Access,
    drafts: Sequence[MemoryDraft],
    together_with: Callable[[Written], None] | None = None,
    told: Told | None = None,
) -> Written:
    """Write many in one transaction; an item that cannot be written fails alone, in its place (DUP-26).

    ``together_with`` is given the results and commits with them, or not at all: what it raises undoes the writes.
    ``told``: what is settled already about those that will be new.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    units = [len(units_of(draft.content)) for draft in drafts]
    given = allocate_documents(access.vault_id, sum(units))
    context = WriteContext(access, given.config_version)
    # Asked before the transaction: each may open short ones of its own.
    _ = context.settings, context.space
    last = given.first_doc_no + sum(units)
    numbers = [last - count for count in accumulate(reversed(units))][::-1]

    def look_again() -> None:
        nonlocal context
        context = WriteContext.of(access)
        _ = context.settings, context.space

    def attempt() -> Written:
        results = Batch(context, [*numbers, last], told).write(drafts)
        tally_writes(access, [result for result in results if isinstance(result, WriteResult)])
        if together_with is not None:
            together_with(results)
        return results

    return _despite_races(attempt, look_again)


def _despite_races[T](attempt: Callable[[], T], moved: Callable[[], None]) -> T:
    for _ in range(MAX_RACES):
        try:
            with transaction.atomic():
                return attempt()
        except IntegrityError as error:
            if broken_constraint(error) not in _RACED and not took_newer_key(error):
                raise
        except OperationalError as error:
            if not is_deadlock(error):
                raise
        except Raced:
            continue
        except SpaceMoved:
            moved()
    raise WriteContended
