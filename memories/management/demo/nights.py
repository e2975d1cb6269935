"""What the sample vault's conversations left behind: daily notes, and the two dreams that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from banks.access import system_access
from memories.management.demo.story import PREFIX
from memories.management.demo.talks import Talk, read_talks
from memories.models import Memory, Session
from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import Outcome
from memories.search.notes import DEFAULT
from memories.services.context import WriteContext
from memories.services.dreams import deep_dream
from memories.services.notes import note_memories
from memories.services.outcomes import WriteResult
from memories.services.running import run_job

if TYPE_CHECKING:
    from banks.access import Access
    from banks.models import Vault

REQUEST = "load_demo"
LOOKBACK_DAYS = 7


def dream_of_talks(vault: Vault) -> int:
    """Note what the talks left behind and dream twice, before and after the last of them; how many lines were noted.

    Call it after the story was told and committed: a dream may ask a language model, as no transaction should.
    """
    hub, noted = system_access(vault.pk, REQUEST), set[str]()
    *earlier, last = read_talks()
    lines = sum(_note(hub, talk, noted) for talk in earlier)
    _dream(hub)
    lines += _note(hub, last, noted)
    _dream(hub)
    return lines


def _note(hub: Access, talk: Talk, noted: set[str]) -> int:
    session = Session.objects.get(vault_id=hub.vault_id, sid=talk.sid)
    writes = []
    for left in talk.left:
        memory = Memory.objects.get(vault_id=hub.vault_id, external_write_id=f"{PREFIX}{left}")
        outcome = Outcome.DUPLICATE if left in noted else Outcome.CREATED
        said = MemoryDraft.parse({"content": memory.content})
        writes.append((said, WriteResult(memory, outcome, "no_match", "Left behind by a sample conversation.")))
        noted.add(left)
    with transaction.atomic():
        return note_memories(hub, session, list(session.messages.all()), writes, WriteContext.of(hub).settings)


def _dream(hub: Access) -> None:
    job_id = deep_dream(hub, DEFAULT, LOOKBACK_DAYS).job_id
    if job_id is not None:
        run_job(job_id)
