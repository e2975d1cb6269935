"""Importing conversations: every turn once, however often."""

from __future__ import annotations

import pytest

from banks.access import Access, KeyScope
from banks.services.banks import UnknownBank
from memories.models import Memory, MigrationRecord
from memories.rules import conversations as rules
from memories.rules.conversations import ImportChoices, read_conversations
from memories.services.conversations import import_conversations
from memoryhub.lib.errors import Denied
from tests import factories

CHOICES = ImportChoices()


def talk(turns: int, text: str = "Turn {} was about glazes.") -> list[rules.Conversation]:
    named = [
        {
            "id": f"t{number}",
            "session": number // 10,
            "when": "2026-03-02T18:30:00Z",
            "speaker": "Noor",
            "text": text.format(number),
        }
        for number in range(turns)
    ]
    return read_conversations({"conversations": [{"id": "talk", "memories": named}]})


def test_a_second_import_changes_nothing(access: Access):
    """IDM-01, IDM-03: recognised by their ids, over the size of a batch."""
    steps: list[int] = []
    first = import_conversations(access, talk(620), CHOICES, steps.append)
    assert (first.created, first.unchanged, first.changed_something) == (620, 0, True)
    assert steps == [500, 120]
    before = list(Memory.objects.order_by("pk").values("pk", "version", "updated_at"))

    second = import_conversations(access, talk(620), CHOICES)
    assert (second.created, second.unchanged, second.changed_something) == (0, 620, False)
    assert list(Memory.objects.order_by("pk").values("pk", "version", "updated_at")) == before


def test_an_interrupted_import_goes_on(access: Access):
    import_conversations(access, talk(30), CHOICES)
    report = import_conversations(access, talk(50), CHOICES)
    assert (report.created, report.unchanged) == (20, 30)


def test_a_turn_that_was_corrected_in_the_file_is_updated(access: Access):
    """IDM-04."""
    import_conversations(access, talk(3), CHOICES)
    report = import_conversations(access, talk(3, "Turn {} was about slips."), CHOICES)
    assert (report.created, report.updated) == (0, 3)
    assert Memory.objects.filter(external_write_id="talk:t1").get().content == "Noor: Turn 1 was about slips."


def test_equal_turns_stand_twice_unless_dedup_is_asked_for(access: Access):
    assert import_conversations(access, talk(4, "Good morning!"), CHOICES).created == 4
    again = read_conversations(
        {
            "conversations": [
                {
                    "id": "other",
                    "memories": [
                        {"id": str(n), "session": 1, "when": "2026-03-02", "speaker": "Noor", "text": "See you."}
                        for n in range(3)
                    ],
                }
            ]
        }
    )
    report = import_conversations(access, again, ImportChoices(dedup=True))
    assert (report.created, report.duplicates) == (1, 2)


def test_the_ledger_tells_of_it_once(access: Access):
    """MIG-12: an import is a data migration; one that changed nothing is none."""
    import_conversations(access, talk(5), CHOICES)
    import_conversations(access, talk(5), CHOICES)
    (record,) = MigrationRecord.objects.filter(kind="data")
    assert (record.state, record.rows_done, record.rows_total) == ("done", 5, 5)
    assert record.finished_at is not None
    assert "glazes" not in record.description


def test_an_unknown_bank_stops_it_before_it_starts(access: Access):
    with pytest.raises(UnknownBank):
        import_conversations(access, talk(2), ImportChoices(bank="Pottery"))
    assert not Memory.objects.exists()


def test_it_needs_the_scope(access: Access):
    key = factories.make_key(access, frozenset({KeyScope.MEMORIES_WRITE}))[1]
    with pytest.raises(Denied):
        import_conversations(factories.access_of(key), talk(1), CHOICES)
