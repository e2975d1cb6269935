"""What the query language finds: every field, how conditions combine, and what a mistake leaves standing."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine
from django.db import connection

from banks.access import Access
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.models import Memory
from memories.rules.filters import MemoryFilter
from memories.rules.vocabulary import Relation, Status
from memories.search import querying
from memories.search.facets import Facet, count_facets
from memories.search.listing import list_memories
from memories.services.lifecycle import archive_memory, change_status
from memories.services.linking import create_link
from tests.factories import access_of, make_key, remember

pytestmark = pytest.mark.django_db


def found(access: Access, q: str, **wanted: object) -> list[str]:
    """The texts, oldest first."""
    page = list_memories(access, MemoryFilter.parse({"q": q, **wanted}), limit=200)
    assert page.total == len(page.items)
    return [row.content for row in reversed(page.items)]


def mistakes(access: Access, q: str) -> list[str]:
    return [f"{q[one.start : one.end]}: {one.hint}" for one in list_memories(access, MemoryFilter(q=q)).mistakes]


@pytest.fixture
def labelled(access: Access) -> Access:
    """Three memories that differ in everything one can ask for."""
    remember(
        access,
        "A green tea.",
        bank="Work",
        type="preference",
        category="semantic",
        role="human",
        importance=5,
        tags=["Drinks", "new"],
        entities=["Home Lab"],
        user_id="alice",
        session_id="s1",
        task_id="t1",
        source_kind="user_stated",
        fact_key="tea",
        is_protected=True,
        created_at="2026-10-01T12:00:00Z",
        event_at="2026-09-30T08:00:00Z",
    )
    remember(access, "B red wine.", bank="Personal", importance=2, tags=["drinks"], created_at="2026-10-02T00:00:00Z")
    remember(access, "C oat milk.", bank="Health", type="task", expires_at="2999-01-01T00:00:00Z")
    return access


@pytest.mark.parametrize(
    ("q", "letters"),
    [
        ("bank:work", "A"),
        ("bank:WORK bank:Health", "AC"),
        ("-bank:work", "BC"),
        ("type:preference", "A"),
        ("type:preference type:task", "AC"),
        ("type:preference bank:health", ""),
        ("category:semantic", "A"),
        ("-category:semantic", "BC"),
        ("role:human", "A"),
        ("tag:drinks", "AB"),
        ("tag:drinks -tag:new", "B"),
        ('entity:"home lab"', "A"),
        ("entity:home", ""),
        ("user:alice", "A"),
        ("-user:alice", "BC"),
        ("session:s1", "A"),
        ("task:t1", "A"),
        ("fact_key:tea", "A"),
        ("source:user_stated", "A"),
        ("importance:>=4", "A"),
        ("importance:<3", "B"),
        ("importance:2..3", "BC"),
        ("importance:>2 importance:<5", "C"),
        ("importance:2 importance:5", "AB"),
        ("trust:>=stated", "A"),
        ("created:2026-10-01", "A"),
        ("created:>2026-10-01 created:<2026-11-01", "B"),
        ("created:2026-10", "AB"),
        ("created:2026-10-01..2026-10-02", "AB"),
        ("-created:2026-10", "C"),
        ("created:today", "C"),
        ("created:7d", "C"),
        ("created:<30d", "AB"),
        ("event:2026-09", "A"),
        ("-event:2026-09", "BC"),
        ("expires:>2100", "C"),
        ("has:expiry", "C"),
        ("has:session has:event has:tags has:entities", "A"),
        ("-has:tags", "C"),
        ("is:protected", "A"),
        ("-is:protected", "BC"),
        ("is:protected is:summarized", ""),
        ("wine", "B"),
        ("-wine", "AC"),
        ('"red wine"', "B"),
        ('-"red wine" -milk', "A"),
        ("tag:drinks wine", "B"),
        ("status:accepted", "ABC"),
    ],
)
def test_each_field(labelled: Access, q: str, letters: str):
    with time_machine.travel(dt.datetime(2026, 11, 21, 10, tzinfo=dt.UTC), tick=False):
        Memory.objects.filter(expires_at__isnull=False).update(created_at=dt.datetime(2026, 11, 21, 9, tzinfo=dt.UTC))
        assert "".join(sorted(text[0] for text in found(labelled, q))) == letters
        assert mistakes(labelled, q) == []


def test_one_memory_by_its_id_whatever_its_state(access: Access):
    memory = remember(access, "Gone.")
    archive_memory(access, memory.pk)
    assert found(access, f"id:{memory.pk}") == ["Gone."]


def test_an_agent_by_name(access: Access):
    agent = create_agent(access, AgentDraft(name="Claude Code"))
    remember(access_of(make_key(access, agent=str(agent.pk))[1]), "Mine.")
    remember(access, "Labelled.", agent_id="scraper")
    assert found(access, 'agent:"claude code"') == found(access, f"agent:{agent.pk}") == ["Mine."]
    assert found(access, "agent:scraper") == ["Labelled."]


def test_labels_are_found_whatever_is_in_them(access: Access):
    """SRC-20: quotes, braces and commas are part of the label, not of the array it is kept in."""
    remember(access, "Odd.", entities=['He said "Hi" {x}\\', "NULL", "a,b"], tags=["École"])
    for q in ('entity:"he SAID \\"hi\\" {X}\\\\"', "entity:null", "entity:a,b", "tag:école", "tag:ÉCOLE"):
        assert found(access, q) == ["Odd."], q


def test_links_and_conflicts(access: Access):
    one, two, three = (remember(access, f"{name}.") for name in ("One", "Two", "Three"))
    create_link(access, one.pk, two.pk, Relation.CONTRADICTS)
    create_link(access, two.pk, three.pk, Relation.RELATED)
    assert found(access, "has:conflict") == ["One.", "Two."]
    assert found(access, "has:links") == ["One.", "Two.", "Three."]
    assert found(access, "has:links -has:conflict") == ["Three."]


class TestStates:
    """What the text says about states overrides the defaults of the list, not filters somebody set."""

    @pytest.fixture(autouse=True)
    def _states(self, access: Access) -> None:
        remember(access, "Here.")
        remember(access, "Waiting.", status="draft")
        archive_memory(access, remember(access, "Archived.").pk)
        change_status(access, remember(access, "Discarded.").pk, Status.DISCARD)
        remember(access, "Over.", expires_at="2999-01-01T00:00:00Z")
        Memory.objects.filter(expires_at__isnull=False).update(expires_at=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        remember(access, "New.", supersedes=str(remember(access, "Old.").pk))

    @pytest.mark.parametrize(
        ("q", "texts"),
        [
            ("", ["Here.", "New."]),
            ("is:archived", ["Archived.", "Old."]),
            ("is:archived -is:superseded", ["Archived."]),
            ("is:draft", ["Waiting."]),
            ("status:draft status:accepted", ["Here.", "Waiting.", "New."]),
            ("status:any", ["Here.", "Waiting.", "Discarded.", "New."]),
            ("-status:accepted", ["Waiting.", "Discarded."]),
            ("is:expired", ["Over."]),
            ("is:superseded", ["Old."]),
            ("-is:archived -is:draft", ["Here.", "New."]),
            ("archived:false", ["Here.", "New."]),
            ("archived:any", ["Here.", "Archived.", "Over.", "Old.", "New."]),
            ("archived:any -is:expired -is:superseded", ["Here.", "Archived.", "New."]),
        ],
    )
    def test_asked_for_in_the_text(self, access: Access, q: str, texts: list[str]):
        assert found(access, q) == texts

    def test_a_filter_that_was_set_stays(self, access: Access):
        assert found(access, "is:archived", archived="false") == []
        assert found(access, "status:any", status="draft") == ["Waiting."]


class TestPhrases:
    """SRC-19, SRC-20: found exactly, in any script, by opening only what the index proposes."""

    def test_the_words_must_stand_together(self, access: Access):
        remember(access, "The red wine is for Sunday.")
        remember(access, "Wine, red or white.")
        remember(access, "Redder wine, red wines.")
        remember(access, "A RED\n  wine.")
        assert found(access, '"red wine"') == ["The red wine is for Sunday.", "A RED\n  wine."]
        assert found(access, 'wine -"red wine"') == ["Wine, red or white.", "Redder wine, red wines."]

    def test_scripts_without_spaces_and_tiny_words(self, access: Access):
        remember(access, "東京都に住んでいます。")
        remember(access, "京都に住んでいます。")
        remember(access, "Port is 8000, so it is.")
        remember(access, "It’s 80% done.")
        assert found(access, '"東京"') == ["東京都に住んでいます。"]
        assert found(access, '"京都"') == ["東京都に住んでいます。", "京都に住んでいます。"]
        assert found(access, '"it is"') == ["Port is 8000, so it is."]
        assert found(access, '"it\'s 80%"') == ["It’s 80% done."]

    def test_several_phrases_and_none_of_others(self, access: Access):
        remember(access, "Red wine and green tea.")
        remember(access, "Red wine and green tea, on Sunday evening.")
        remember(access, "Green tea.")
        assert len(found(access, '"red wine" "green tea"')) == 2
        assert found(access, '-"sunday evening" "red wine"') == ["Red wine and green tea."]
        assert found(access, '-"sunday evening" -"red wine"') == ["Green tea."]

    def test_no_more_is_opened_than_allowed(self, access: Access, monkeypatch: pytest.MonkeyPatch):
        for number in range(5):
            remember(access, f"Red wine number {number}.", importance=1 + number)
        monkeypatch.setattr(querying, "COMPARED_MAX", 3)
        assert found(access, '"red wine"') == [f"Red wine number {number}." for number in (2, 3, 4)]
        assert [one[:10] for one in mistakes(access, '"red wine"')] == ['"red wine"']
        assert found(access, '"red wine" importance:<3') == ["Red wine number 0.", "Red wine number 1."]
        assert mistakes(access, '"red wine" importance:<3') == []
        assert len(found(access, '-"wine red"')) == 5
        assert [one[:11] for one in mistakes(access, '-"red wine" -"wine red"')] == ['-"red wine"', '-"wine red"']

    def test_a_text_that_does_not_open_is_passed_over(self, access: Access):
        remember(access, "Red wine.")
        broken = remember(access, "Red wine too.", dedup=False)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE memories_memory SET content = '\\x00' WHERE id = %s", [broken.pk])
        assert found(access, '"red wine"') == ["Red wine."]


class TestMistakes:
    """SRC-20: a mistake is named and never empties the list."""

    @pytest.mark.parametrize(
        ("q", "mistake"),
        [
            ("bank:wrok oats", "bank:wrok: Did you mean Work? The banks are: General,"),
            ("banc:work oats", "banc:: Did you mean bank:work?"),
            ("created:soon oats", "soon: A day"),
            ("oats -the", "-the: To leave it out"),
            ('oats "', '": Close it'),
        ],
    )
    def test_the_rest_still_finds(self, access: Access, q: str, mistake: str):
        remember(access, "Oats in the morning.")
        remember(access, "Rye.")
        assert found(access, q) == ["Oats in the morning."]
        [said] = mistakes(access, q)
        assert said.startswith(mistake)

    def test_only_a_mistake_finds_everything(self, access: Access):
        remember(access, "Oats.")
        assert found(access, "bank:nowhere") == ["Oats."]

    @pytest.mark.parametrize(
        "q", ["%", "_", "the", "' OR 1=1 --", "& | ! <-> *", "tag:'", 'tag:"{}"', "entity:%", "\\"]
    )
    def test_signs_of_other_languages_mean_nothing(self, access: Access, q: str):
        remember(access, "Oats.", tags=["a"], entities=["b"])
        assert found(access, q) == []


def test_other_vaults_and_hidden_ends_stay_hidden(access: Access, other_access: Access):
    remember(other_access, "Red wine of theirs.", tags=["theirs"], bank="Work")
    for q in ('"red wine"', "tag:theirs", "bank:work", "archived:any status:any", "-nothing"):
        assert found(access, q) == []


def test_facets_count_what_the_text_leaves(access: Access):
    remember(access, "Oats.", bank="Work", type="task")
    remember(access, "Rye.", bank="Health")
    counted = count_facets(access, MemoryFilter(q='-bank:health "oats"'), [Facet.TYPE])
    assert {value.value: value.count for value in counted["type"]} == {"task": 1}
