"""The dedup ladder through the write path: what is skipped, replaced, shown to a person, and that nothing is silent."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.management.bench.dedup import score, settle_pairs
from memories.management.bench.pairs import Expected, Label, read_pairs
from memories.models import DuplicatePair, Link, Memory
from memories.rules.settings import Level
from memories.rules.vocabulary import Outcome, PairKind
from memories.services.duplicates import list_pairs
from memories.services.settings import write_setting
from memories.services.writing import WriteResult, write_batch
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from tests.factories import access_of, draft, make_key, remember, write

LIVES = "Jonas lives in the old house by the lake."
REWORDED = "In the old house by the lake Jonas lives."


def results(access, *drafts) -> list[WriteResult]:
    written = write_batch(access, [draft(each) if isinstance(each, str) else draft(**each) for each in drafts])
    assert not any(isinstance(one, HubError) for one in written)
    return [one for one in written if isinstance(one, WriteResult)]


def test_the_labelled_pairs(access):
    """No wrong skip at all, superseding at least 95 % right, and enough of both done."""
    pairs = read_pairs()
    assert len(pairs) >= 300
    judged = list(zip(pairs, settle_pairs(access, pairs), strict=True))
    skip, supersede = score(judged, Expected.SKIP), score(judged, Expected.SUPERSEDE)
    assert skip.precision >= 0.99
    assert supersede.precision >= 0.95
    # A rewording that is kept costs a look, so the floor of skipping is what is left once no skip is wrong.
    assert skip.recall >= 0.45
    assert supersede.recall >= 0.6
    wrong = [pair for pair, done in judged if done is Expected.SKIP and pair.label.expected is not Expected.SKIP]
    assert wrong == []
    assert {pair.label for pair in pairs} == set(Label)


def test_a_reworded_memory_is_a_duplicate(access):
    """DUP-14, DUP-28: the answer carries the memory that is there, how similar it is and who decided."""
    first = remember(access, LIVES)
    again = write(access, REWORDED)
    assert (again.outcome, again.memory.pk, again.duplicate_of) == (Outcome.DUPLICATE, first.pk, first.pk)
    assert again.decided_by == "similarity"
    assert again.similarity is not None and 0.92 < again.similarity <= 1
    kept = Memory.objects.get()
    assert (kept.content, kept.version) == (LIVES, 1)
    assert kept.last_confirmed_at is not None


@pytest.mark.parametrize(
    "newer, kind, difference",
    [
        ("Jonas lives in the old house by the sea.", PairKind.NEAR, "wording"),
        ("Jonas lives in the old house by the lake near Gmunden.", PairKind.NEAR, "name"),
        ("Jonas does not live in the old house by the lake.", PairKind.CONTRADICTION, "negation"),
        ("Jonas lives in 2 old houses by the lake.", PairKind.CONTRADICTION, "number"),
    ],
)
def test_what_differs_is_added_and_shown_to_a_person(access, newer, kind, difference):
    """CON-08, DEF-17: never skipped, never silently kept."""
    older = remember(access, LIVES)
    result = write(access, newer)
    assert (result.outcome, result.similar_to, result.duplicate_of) == (Outcome.CREATED, older.pk, None)
    assert difference in result.reason
    (pair,) = list_pairs(access).items
    assert (pair.pk, pair.older_id, pair.newer_id) == (result.pair_id, older.pk, result.memory.pk)
    assert (pair.kind, pair.differences) == (kind, sorted(pair.differences))
    assert difference in pair.differences
    assert Memory.objects.live().count() == 2


def test_an_equal_fact_key_makes_the_next_version(access):
    """DUP-15, SUP-04: the older one is archived, linked and named."""
    older = remember(access, "The monthly rent is 900 euros.", fact_key="rent")
    result = write(access, "The monthly rent is 950 euros.", fact_key="rent")
    assert (result.outcome, result.superseded_id, result.decided_by) == (Outcome.SUPERSEDED, older.pk, "fact_key")
    older.refresh_from_db()
    assert (older.archived, older.superseded_by_id) == (True, result.memory.pk)
    assert Link.objects.get().relation == "supersedes"
    assert not DuplicatePair.objects.exists()


NOT_BY_ITSELF = {
    "a protected one": ({"is_protected": True}, {}),
    "a constraint": ({"type": "constraint"}, {"type": "constraint"}),
    "one that is believed more": ({"source_kind": "user_stated"}, {"source_kind": "agent_inferred"}),
    "an untrusted newcomer": ({"source_kind": "user_stated"}, {"source_kind": "web"}),
    "another key": ({"fact_key": "flat_rent"}, {}),
    "a draft": ({}, {"status": "draft"}),
}


@pytest.mark.parametrize("older, newer", NOT_BY_ITSELF.values(), ids=NOT_BY_ITSELF.keys())
def test_what_is_not_replaced_unasked(access, older, newer):
    """SUP-08, DESIGN §6: it stays, the new one is added, a person decides."""
    first = remember(access, "The monthly rent is 900 euros.", **{"fact_key": "rent", **older})
    result = write(access, "The monthly rent is 950 euros.", **{"fact_key": "rent", **newer})
    assert (result.outcome, result.similar_to) == (Outcome.CREATED, first.pk)
    assert not Memory.objects.get(pk=first.pk).archived
    assert list_pairs(access).total == 1


SWALLOWS_NOTHING = {
    "less believed": ({"source_kind": "web"}, {"source_kind": "user_stated"}),
    "a draft": ({"status": "draft"}, {}),
    "ending sooner": ({"expires_at": (now() + dt.timedelta(days=1)).isoformat()}, {}),
    "on another day": ({"event_at": "2026-01-05T10:00:00Z"}, {"event_at": "2026-01-06T10:00:00Z"}),
    "about another one": ({"entities": ["Jonas"]}, {"entities": ["his brother"]}),
}


@pytest.mark.parametrize("older, newer", SWALLOWS_NOTHING.values(), ids=SWALLOWS_NOTHING.keys())
def test_what_would_lose_something_is_not_skipped(access, older, newer):
    """DESIGN §6: what is less believed, hidden, passing or of another day swallows nothing."""
    remember(access, LIVES, **older)
    assert write(access, REWORDED, **newer).outcome == Outcome.CREATED
    assert Memory.objects.count() == 2


OTHER_SCOPES = {
    "another user": {"user_id": "grace"},
    "another namespace": {"namespace": ["team"]},
    "another type": {"type": "skill"},
    "an agent's own": {"scope": "agent", "agent_id": "a-1"},
    "dedup off": {"dedup": False},
}


@pytest.mark.parametrize("more", OTHER_SCOPES.values(), ids=OTHER_SCOPES.keys())
def test_duplicates_are_sought_in_one_scope(access, more):
    """DUP-20, MOD-21, CON-30: no duplicate and no pair beyond it."""
    remember(access, LIVES)
    result = write(access, REWORDED, **more)
    assert (result.outcome, result.similar_to) == (Outcome.CREATED, None)
    assert not DuplicatePair.objects.exists()


@pytest.mark.parametrize("values", [{"archived_at": now()}, {"status": "discard"}, {"expires_at": now()}])
def test_what_does_not_count_any_more_is_not_compared(access, values):
    """CON-08: tombstones must not block what is said anew."""
    Memory.objects.filter(pk=remember(access, LIVES).pk).update(**values)
    result = write(access, REWORDED)
    assert (result.outcome, result.similar_to) == (Outcome.CREATED, None)


def test_short_preferences_are_skipped_only_when_equal(access):
    """DUP-19, CON-16: below 100 characters a rewording is kept and listed; the exact text is still stored once."""
    first = remember(access, "Likes strong coffee in the morning.", type="preference")
    reworded = write(access, "In the morning likes strong coffee.", type="preference")
    assert (reworded.outcome, reworded.similar_to) == (Outcome.CREATED, first.pk)
    assert DuplicatePair.objects.get().pk == reworded.pair_id
    assert write(access, "likes strong coffee in the morning", type="preference").outcome == Outcome.DUPLICATE
    write_setting(access, Level.VAULT, "short_preference_no_dedupe_length", 35)
    again = write(access, "In the morning, likes strong coffee.", type="preference")
    assert again.outcome == Outcome.DUPLICATE


@pytest.mark.parametrize("checker", ["none", "llm"])
@pytest.mark.parametrize("key", [None, "seat"])
def test_a_short_preference_that_turns_round_waits_for_a_person(access, key, checker):
    """CON-08, CON-16: a contradiction is neither passed over nor settled by likeness, and the answer says so."""
    write_setting(access, Level.VAULT, "update_checker", checker)
    first = remember(access, "Prefers window seats on night trains.", type="preference", fact_key=key)
    result = write(access, "Does not prefer window seats on night trains.", type="preference", fact_key=key)
    assert (result.outcome, result.decided_by, result.similar_to) == (Outcome.CREATED, "similarity", first.pk)
    assert "negation" in result.reason
    (pair,) = list_pairs(access).items
    assert (pair.pk, pair.kind) == (result.pair_id, PairKind.CONTRADICTION)
    assert Memory.objects.live().count() == 2


def test_short_preferences_without_vectors_are_listed_too(access):
    """DUP-17, CON-16: by characters."""
    write_setting(access, Level.VAULT, "dedup_with_embeddings", False)
    first = remember(access, "Prefers window seats on the slow night trains.", type="preference")
    result = write(access, "Prefers window seats on the slow night train.", type="preference")
    assert (result.outcome, result.decided_by, result.similar_to) == (Outcome.CREATED, "text", first.pk)
    assert list_pairs(access).total == 1


def test_a_batch_may_mix_banks_with_and_without_vectors(access):
    """DUP-26: each is compared as its bank wants it, in whatever order they come."""
    write_setting(access, Level.BANK, "dedup_with_embeddings", True, target="Work")
    write_setting(access, Level.BANK, "dedup_with_embeddings", False, target="Health")
    said = {
        "Health": ["Runs ten kilometres on Sundays.", "Sleeps badly at full moon.", "Swims in the river."],
        "Work": ["The printer needs toner.", "Deployments wait for Ines."],
    }
    mixed = [{"content": text, "bank": bank} for bank, texts in said.items() for text in texts]
    assert {one.outcome for one in results(access, *mixed)} == {Outcome.CREATED}


def test_a_preference_unlike_any_says_so(access):
    """DUP-28: the reason claims no more than was looked at."""
    remember(access, "Prefers window seats on night trains.", type="preference")
    result = write(access, "Likes strong coffee in the morning.", type="preference")
    assert (result.decided_by, result.reason) == ("no_match", "Nothing similar enough was there.")
    assert list_pairs(access).total == 0


def test_turns_of_a_conversation_are_compared_exactly_only(access):
    """Two turns that sound alike are two turns."""
    remember(access, LIVES, type="episodic", session_id="s")
    assert write(access, REWORDED, type="episodic", session_id="s").similar_to is None


def test_the_preset_conservative(access):
    """CON-08: above 0.97 only, and nothing is replaced by itself."""
    write_setting(access, Level.VAULT, "preset", "conservative")
    older = remember(access, "The monthly rent is 900 euros.", fact_key="rent")
    result = write(access, "The monthly rent is 950 euros.", fact_key="rent")
    assert (result.outcome, result.similar_to) == (Outcome.CREATED, older.pk)


def test_items_of_a_batch_are_compared_with_each_other(access):
    """DUP-26: rewording, next version, difference; in their order."""
    one, again, rent, raised, other = results(
        access,
        LIVES,
        REWORDED,
        {"content": "The monthly rent is 900 euros.", "fact_key": "rent"},
        {"content": "The monthly rent is 950 euros.", "fact_key": "rent"},
        "Jonas lives in the old house by the sea.",
    )
    assert (again.outcome, again.duplicate_of) == (Outcome.DUPLICATE, one.memory.pk)
    assert (raised.outcome, raised.superseded_id) == (Outcome.SUPERSEDED, rent.memory.pk)
    assert (other.outcome, other.similar_to) == (Outcome.CREATED, one.memory.pk)
    assert Memory.objects.live().count() == 3
    assert DuplicatePair.objects.get().pk == other.pair_id


def test_what_was_replaced_in_the_batch_is_compared_no_more(access):
    """SUP-07: the third version replaces the second, not the first again."""
    first, second, third = results(
        access, *({"content": f"The monthly rent is {n} euros.", "fact_key": "rent"} for n in (900, 950, 975))
    )
    assert (second.superseded_id, third.superseded_id) == (first.memory.pk, second.memory.pk)
    assert Memory.objects.live().get().pk == third.memory.pk


LINZ, WELS = ({"content": f"Olga lives in {town} now", "fact_key": "home"} for town in ("Linz", "Wels"))


@pytest.fixture(params=[True, False], ids=["by vectors", "by characters"])
def compared(access, request):
    """However two texts are compared."""
    if not request.param:
        write_setting(access, Level.VAULT, "embeddings", False)
        write_setting(access, Level.VAULT, "text_similarity_threshold", 0.8)


def contents() -> list[str]:
    return sorted(memory.content for memory in Memory.objects.live())


@pytest.mark.usefixtures("compared")
def test_there_and_back_again_in_one_batch(access):
    """SUP-07, DUP-26: the third state equals the first, which was replaced by then; each replaces the one before."""
    first, second, third = results(access, LINZ, WELS, LINZ)
    outcomes = [first.outcome, second.outcome, third.outcome]
    assert outcomes == [Outcome.CREATED, Outcome.SUPERSEDED, Outcome.SUPERSEDED]
    assert (second.superseded_id, third.superseded_id) == (first.memory.pk, second.memory.pk)
    assert Memory.objects.live().get().pk == third.memory.pk
    assert contents() == ["Olga lives in Linz now"]


@pytest.mark.usefixtures("compared")
def test_back_to_what_was_there_before_the_batch(access):
    """SUP-07, DUP-26: the memory that was there is no duplicate's older half once the batch replaced it."""
    there = remember(access, **LINZ)
    moved, back = results(access, WELS, LINZ)
    assert (moved.outcome, moved.superseded_id) == (Outcome.SUPERSEDED, there.pk)
    assert (back.outcome, back.superseded_id) == (Outcome.SUPERSEDED, moved.memory.pk)
    assert contents() == ["Olga lives in Linz now"]


@pytest.mark.parametrize("sold", ["Olga sold all her hives", "Olga keeps no more bees at home"])
def test_what_the_batch_superseded_swallows_nothing(access, sold):
    """DUP-28, CON-08: equality counts among live memories, so the text of the archived one is written anew."""
    old = remember(access, "Olga keeps bees at home")
    new, again = results(access, {"content": sold, "supersedes": str(old.pk)}, "Olga keeps bees at home")
    assert (new.outcome, new.superseded_id) == (Outcome.SUPERSEDED, old.pk)
    assert (again.outcome, again.duplicate_of) == (Outcome.CREATED, None)
    assert again.memory.pk != old.pk
    assert contents() == sorted([sold, "Olga keeps bees at home"])


def test_what_an_upsert_superseded_swallows_nothing(access):
    """DUP-28, SUP-02: also where the successor was there already, by its id or by its text."""
    for more in ({"external_write_id": "e"}, {}):
        old, new = remember(access, "Olga keeps bees"), remember(access, "Jonas sold his boat", **more)
        first, again = results(
            access, {"content": "Jonas sold his boat", "supersedes": str(old.pk), **more}, "Olga keeps bees"
        )
        assert (first.outcome, first.memory.pk, first.superseded_id) == (Outcome.SUPERSEDED, new.pk, old.pk)
        assert again.outcome == Outcome.CREATED
        assert contents() == ["Jonas sold his boat", "Olga keeps bees"]


def test_an_item_is_a_duplicate_of_a_memory_that_was_changed_before_it(access):
    """DUP-11, DUP-26: another version of the same text, be it more important or believed more, is still met."""
    there = remember(access, LIVES, external_write_id="e", source_kind="agent_inferred")
    lifted, again, weighed, once_more = results(
        access,
        {"content": LIVES, "source_kind": "user_stated"},
        {"content": REWORDED, "source_kind": "agent_inferred"},
        {"content": LIVES, "external_write_id": "e", "importance": 5},
        {"content": REWORDED, "source_kind": "agent_inferred"},
    )
    assert [each.outcome for each in (lifted, again, once_more)] == [Outcome.DUPLICATE] * 3
    assert weighed.outcome == Outcome.UPDATED
    assert {each.memory.pk for each in (lifted, again, weighed, once_more)} == {there.pk}
    kept = Memory.objects.get()
    assert (kept.trust, kept.importance) == ("stated", 5)


def test_characters_decide_where_there_are_no_vectors(access):
    """DUP-17, DUP-18, DEG-11: 0.95 alike, with the same guard, in the store and in the batch."""
    write_setting(access, Level.VAULT, "embeddings", False)
    text = "The documentation of the warehouse importer is kept in the wiki of the logistics team"
    first = remember(access, text)
    again = write(access, text.replace("importer is", "importer, is") + ".")
    assert (again.outcome, again.decided_by, again.duplicate_of) == (Outcome.DUPLICATE, "text", first.pk)
    other = write(access, text.replace("importer", "exporter"))
    assert (other.outcome, other.similar_to) == (Outcome.CREATED, first.pk)
    fresh = text.replace("wiki", "cupboard")
    one, two = results(access, fresh, fresh.replace("importer is", "importer, is"))
    assert (two.outcome, two.duplicate_of) == (Outcome.DUPLICATE, one.memory.pk)


def test_a_limited_key_never_learns_of_what_it_cannot_see(access):
    """BNK-02: neither as a duplicate nor as a pair nor by its similarity."""
    remember(access, LIVES, bank="Health")
    limited = access_of(make_key(access, banks=["General"])[1])
    result = write(limited, REWORDED)
    assert (result.outcome, result.similarity, result.similar_to) == (Outcome.CREATED, None, None)
    assert not DuplicatePair.objects.exists()


def test_an_isolated_agent_compares_only_its_own(access):
    """MOD-25, CON-25."""
    remember(access, LIVES)
    create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True, "default_bank": "General"}))
    hermit = access_of(make_key(access, agent="hermit")[1])
    own = write(hermit, REWORDED)
    assert (own.outcome, own.similar_to) == (Outcome.CREATED, None)
    assert write(hermit, LIVES).duplicate_of == own.memory.pk


def test_other_users_do_not_crowd_out_ones_own(access):
    """DUP-20: forty nearer memories of others stand between, and one's own is still found."""
    own = remember(access, LIVES, user_id="me")
    results(access, *({"content": REWORDED, "user_id": f"other-{n}"} for n in range(45)))
    assert write(access, REWORDED, user_id="me").duplicate_of == own.pk


def test_long_texts_are_compared_exactly_only(access):
    """Two long texts that begin alike are not one."""
    text = "The house by the lake is old. " * 40
    remember(access, text)
    assert write(access, text + "It was sold.").similar_to is None
    assert write(access, text).outcome == Outcome.DUPLICATE
