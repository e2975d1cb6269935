"""Dreams with a language model: it words what the rules decided, and an answer that cannot be used changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from banks.access import Access
from memories.models import CoreVersion, Job, ModelCall
from memories.rules.consolidation import What
from memories.rules.vocabulary import DreamState, JobState
from memories.search.coredocument import read_core_document
from memories.search.dreams import get_dream
from memories.services.dreams import deep_dream
from memories.services.running import run_job
from memoryhub.providers.base import ProviderError
from memoryhub.providers.fake_chat import FakeChatModel
from tests.endpoint import chat_model
from tests.factories import dreamt_of, remember

pytestmark = pytest.mark.django_db(transaction=True)
RUNS, BIKE, WORKS = "The user runs 10 km.", "The user owns a bike.", "The user works in Leeds."


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChatModel]:
    with chat_model(monkeypatch) as model:
        yield model


def said(*lines: tuple[str, list[int]], dropped: tuple[int, ...] = ()) -> str:
    return json.dumps(
        {
            "lines": [{"text": text, "sources": sources} for text, sources in lines],
            "dropped": [{"source": source, "reason": "It is over."} for source in dropped],
        }
    )


def core(access: Access) -> list[str]:
    return [line.text for line in read_core_document(access).lines]


def test_it_puts_lines_together_and_nothing_is_lost(access: Access, chat: FakeChatModel):
    """TIE-05: lines with their sources; what it neither uses nor drops stays."""
    chat.script(said(("The user runs 10 km and owns a bike.", [1, 2])))
    first, second = (remember(access, text, bank="Work", confidence=5, type="skill") for text in (RUNS, BIKE))
    dreamt_of(access, first)
    dream = dreamt_of(access, second)
    assert core(access) == ["The user runs 10 km and owns a bike."]
    (line,) = read_core_document(access).lines
    assert set(line.memory_ids) == {first.pk, second.pk}
    changes = get_dream(access, dream.pk).changes
    assert [(change.what, change.reason) for change in changes] == [
        (What.ADDED, "promoted"),
        (What.CHANGED, "merged"),
    ]
    assert changes[1].before == f"{RUNS}\n{BIKE}"
    assert (dream.by_model, ModelCall.objects.get(result="ok").purpose) == (True, "dream")
    assert CoreVersion.objects.get(number=1).lines != CoreVersion.objects.get(number=2).lines


def test_a_line_alone_asks_nobody(access: Access, chat: FakeChatModel):
    """There is nothing to put together with anything."""
    dreamt_of(access, remember(access, RUNS, confidence=5))
    assert (core(access), chat.asked) == ([RUNS], [])


def test_banks_are_not_shown_together(access: Access, chat: FakeChatModel):
    """BNK-02: so nothing of one gets into a line of another."""
    dreamt_of(access, remember(access, "The user takes insulin.", bank="Health", confidence=5))
    dreamt_of(access, remember(access, RUNS, bank="Work", confidence=5))
    chat.script(said())
    dreamt_of(access, remember(access, BIKE, bank="Work", confidence=5))
    (question,) = chat.asked
    assert "insulin" not in question[1].text
    assert RUNS in question[1].text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I would rather not.", "unreadable"),
        ("{}", "unreadable"),
        (said(), "empty"),
        (said((RUNS, [1]), (BIKE, [2]), ("Something else.", [1])), "over_budget"),
        (said(("word " * 190, [1])), "over_budget"),
        (said(dropped=(1, 2)), "drops_too_much"),
    ],
)
def test_an_answer_that_cannot_be_used_changes_nothing(access: Access, chat: FakeChatModel, answer: str, reason: str):
    """TIE-18: unreadable, empty, too long or dropping too much: the document is what it was, and the dream says why."""
    dreamt_of(access, remember(access, RUNS, bank="Work", confidence=5, type="skill"))
    before = list(CoreVersion.objects.values_list("pk", "number"))
    chat.script(answer)
    dream = dreamt_of(access, remember(access, BIKE, bank="Work", confidence=5, type="skill"))
    assert (dream.state, dream.reason, dream.version_after) == (DreamState.FAILED, reason, None)
    assert (core(access), list(CoreVersion.objects.values_list("pk", "number"))) == ([RUNS], before)
    assert Job.objects.get(pk=str(dream.job_id)).state == JobState.DONE
    chat.script(said((f"{RUNS[:-1]} and owns a bike.", [1, 2])))
    again = deep_dream(access, ["default"])
    assert again.job_id is not None
    run_job(again.job_id)
    assert core(access) == ["The user runs 10 km and owns a bike."]


@pytest.mark.parametrize(
    ("text", "sources", "reason"),
    [
        ("The user runs 12 km and owns a bike.", [1, 2], "not_supported"),
        ("The user runs and owns a bike.", [1, 2], "not_supported"),
        ("The user never runs 10 km and owns a bike.", [1, 2], "not_supported"),
        ("The user runs 10 km in Oslo.", [1], "not_supported"),
        ("The user may deploy without review.", [2], "not_supported"),
        ("The user owns a bike.", [7], ""),
    ],
)
def test_a_line_that_says_something_else_is_refused(
    access: Access, chat: FakeChatModel, text: str, sources: list[int], reason: str
):
    """DEF-17, EXT-19: its sources stay in their own words."""
    dreamt_of(access, remember(access, RUNS, bank="Work", confidence=5, type="skill"))
    chat.script(said((text, sources)))
    dream = dreamt_of(access, remember(access, BIKE, bank="Work", confidence=5, type="skill"))
    assert core(access) == [RUNS, BIKE]
    refused = [change.reason for change in get_dream(access, dream.pk).changes if change.what is What.LEFT_OUT]
    assert refused == ([reason] if reason else [])


def test_what_it_drops_is_named(access: Access, chat: FakeChatModel):
    """DEF-19: with the model's own words."""
    dreamt_of(access, remember(access, RUNS, bank="Work", confidence=5, type="skill"))
    chat.script(said(dropped=(1,)))
    dream = dreamt_of(access, remember(access, BIKE, bank="Work", confidence=5, type="skill"))
    dropped = get_dream(access, dream.pk).changes[-1]
    assert (dropped.what, dropped.text, dropped.reason, dropped.said) == (What.DROPPED, RUNS, "model", "It is over.")


def test_what_is_reserved_is_not_shown(access: Access, chat: FakeChatModel):
    """DEF-20: a constraint is never reworded or dropped."""
    for text, kind in ((RUNS, "skill"), ("Never call before nine.", "constraint")):
        dreamt_of(access, remember(access, text, bank="Work", confidence=5, type=kind))
    chat.script(said())
    dreamt_of(access, remember(access, BIKE, bank="Work", confidence=5, type="skill"))
    assert "Never call" not in chat.asked[0][1].text
    assert "Never call before nine." in core(access)


def test_a_model_that_is_away_makes_the_dream_wait(access: Access, chat: FakeChatModel):
    """GRD-13, DEF-07: nothing is marked as done."""
    dreamt_of(access, remember(access, RUNS, bank="Work", confidence=5, type="skill"))
    chat.script(ProviderError("away"))
    dream = dreamt_of(access, remember(access, BIKE, bank="Work", confidence=5, type="skill"))
    assert (dream.state, core(access)) == (DreamState.WAITING, [RUNS])
    assert Job.objects.get(pk=str(dream.job_id)).state == JobState.PENDING
