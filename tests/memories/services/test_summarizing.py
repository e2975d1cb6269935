"""Running summaries: due when there is much, extended not remade, and never at the cost of a message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from banks.access import Access
from memories.jobs import JobKind
from memories.models import Job, Message, ModelCall, Session
from memories.rules.settings import Level
from memories.rules.vocabulary import JobState
from memories.services.jobs import enqueue_job
from memories.services.running import run_job
from memories.services.settings import write_setting
from memoryhub.lib.sealing import Sealed
from memoryhub.providers.base import ProviderError
from memoryhub.providers.fake_chat import FakeChatModel
from tests.endpoint import chat_model
from tests.factories import converse

pytestmark = pytest.mark.django_db(transaction=True)
TALK = [f"The garden needs {number} more bags of soil this spring." for number in range(21)]


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChatModel]:
    with chat_model(monkeypatch) as model:
        yield model


def summarise() -> Job:
    """Run the job that waits."""
    job = Job.objects.get(kind=JobKind.SUMMARIZE_SESSION, state=JobState.PENDING)
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_the_older_turns_are_taken_in_and_the_newest_stay(access: Access, chat: FakeChatModel):
    """SUM-01, SUM-02, SUM-06, CON-11: 21 messages, the newest 4 stay as they are."""
    session = converse(access, "s1", *TALK)
    chat.script('{"summary": "They plan a garden."}')
    assert summarise().state == JobState.DONE
    session.refresh_from_db()
    assert (session.summary, session.summarized_through) == ("They plan a garden.", 17)
    assert isinstance(Session.objects.get(pk=session.pk).__dict__["summary"], Sealed)
    assert Message.objects.count() == 21


def test_it_runs_on_and_reads_no_message_twice(access: Access, chat: FakeChatModel):
    """SUM-07, SUM-10: the second call sees the summary and what is new; without news there is none."""
    converse(access, "s1", *TALK)
    chat.script('{"summary": "They plan a garden."}')
    summarise()
    converse(access, "s1", *[f"Then the roof: {number} tiles are broken." for number in range(17)])
    chat.script('{"summary": "They plan a garden and a roof."}')
    summarise()
    (asked,) = chat.asked
    assert "They plan a garden." in asked[1].text
    assert "needs 3 more bags" not in asked[1].text
    assert Session.objects.get().summarized_through == 34
    enqueue_job(access.vault_id, JobKind.SUMMARIZE_SESSION, {"session": str(Session.objects.get().pk)})
    assert summarise().state == JobState.DONE
    assert len(chat.asked) == 1
    assert Session.objects.get().summary == "They plan a garden and a roof."


@pytest.mark.parametrize("answer", ['{"summary": "  "}', '{"summary": "' + "long " * 3_000 + '"}', "no json", None])
def test_a_bad_summary_leaves_everything_as_it_was(access: Access, chat: FakeChatModel, answer: str | None):
    """SUM-11: the job waits to be tried again."""
    converse(access, "s1", *TALK)
    chat.script(answer if answer is not None else ProviderError("away"))
    assert summarise().state == JobState.PENDING
    stored = Session.objects.get()
    assert (stored.summary, stored.summarized_through) == (None, 0)
    assert Message.objects.count() == 21


def test_a_call_and_its_result_stay_together(access: Access, chat: FakeChatModel):
    """SUM-09: the cut moves before the call, and the newest question is never taken in."""
    call = {"role": "ai", "tool_calls": [{"id": "a", "name": "f"}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "done"}
    converse(access, "s1", *TALK[:16], call, result, *TALK[16:19])
    chat.script('{"summary": "Soil."}')
    summarise()
    assert Session.objects.get().summarized_through == 16


def test_without_a_model_sentences_are_chosen(access: Access):
    """The extractive provider: sentences that were said, in their order, within the length that is set."""
    write_setting(access, Level.VAULT, "summary_max_tokens", 60)
    converse(access, "s1", *TALK, "What now?", "Yes.", "Ok.", "Fine.")
    assert summarise().state == JobState.DONE
    summary = Session.objects.get().summary
    lines = summary.split("\n")
    assert 1 <= len(lines) <= 6
    assert [line for line in TALK if line in lines] == lines
    assert not ModelCall.objects.exists()


def test_nothing_worth_a_sentence_leaves_everything_as_it_was(access: Access):
    """SUM-11, without a model."""
    converse(access, "s1", *["Ok."] * 21)
    assert summarise().state == JobState.DONE
    stored = Session.objects.get()
    assert (stored.summary, stored.summarized_through) == (None, 0)


def test_the_template_is_a_setting(access: Access, chat: FakeChatModel):
    """SUM-04, SUM-05."""
    write_setting(access, Level.VAULT, "summary_template", "profiles")
    write_setting(access, Level.VAULT, "summary_message_threshold", 6)
    converse(access, "s1", *TALK[:7])
    chat.script('{"summary": "A gardener."}')
    summarise()
    assert "Describe the people" in chat.asked[0][0].text
