from __future__ import annotations

from memories.models import Memory
from memories.rules.vocabulary import Outcome
from tests.factories import write


def test_a_memory_is_written_and_reads_back(access):
    result = write(access, "Ada prefers tea over coffee.", type="preference", bank="personal", tags=["drinks"])
    assert result.outcome == Outcome.CREATED
    found = Memory.objects.get(pk=result.memory.pk)
    assert found.content == "Ada prefers tea over coffee."
    assert found.bank.name == "Personal"
