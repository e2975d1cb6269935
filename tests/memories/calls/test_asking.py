"""Asking a language model: bounded, guarded, and in the ledger whatever happens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction
from pydantic import BaseModel

from memories.calls.asking import ModelQuestion, ask_model
from memories.calls.guarding import ModelUnavailable
from memories.models import ModelCall
from memories.rules.vocabulary import Purpose, SkipReason
from memoryhub.env import environment
from memoryhub.lib.ids import new_id
from memoryhub.providers.base import ProviderError
from memoryhub.providers.chat import Turn
from memoryhub.providers.fake_chat import FakeChatModel
from memoryhub.providers.registry import get_chat_model
from tests.endpoint import chat_model
from tests.factories import make_vault, operator

DOWN = ProviderError("The model cannot be reached.")


class Decision(BaseModel):
    action: str


def question(**more) -> ModelQuestion[Decision]:
    return ModelQuestion(Purpose.CHECK_UPDATE, [Turn("user", "the xylophone?")], Decision, **more)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChatModel]:
    with chat_model(monkeypatch) as model:
        yield model


def test_an_answer_and_its_row(access, chat):
    chat.script('{"action": "skip"}')
    subject = new_id()
    answer = ask_model(access, question(subjects=[subject]))
    assert answer.value == Decision(action="skip")
    row = ModelCall.objects.get(vault=access.vault)
    assert (row.pk, row.purpose, row.provider, row.model) == (answer.call_id, "check_update", "fake", "fake")
    assert (row.result, row.reason, row.subjects) == ("ok", "", [subject])
    assert row.tokens_in > 0
    assert row.tokens_out > 0
    assert row.took_ms > 0


def test_a_failure_is_an_answer_without_a_value(access, chat):
    chat.script(DOWN, "no idea")
    assert ask_model(access, question()).value is None
    assert ask_model(access, question()).value is None
    rows = ModelCall.objects.filter(vault=access.vault).order_by("created_at")
    assert [(row.result, row.reason) for row in rows] == [("error", "provider"), ("unreadable", "unreadable_answer")]
    assert rows[0].detail == DOWN.message


def test_the_open_guard_skips_and_says_so(access, chat):
    """GRD-06: nobody is asked, and the ledger says why."""
    chat.script(*[DOWN] * 5)
    for _ in range(5):
        ask_model(access, question())
    answer = ask_model(access, question())
    assert (answer.value, answer.skipped) == (None, SkipReason.GUARD_OPEN)
    assert len(chat.asked) == 5
    row = ModelCall.objects.get(pk=answer.call_id)
    assert (row.result, row.reason, row.provider) == ("skipped", "guard_open", "")


def test_what_needs_an_answer_waits(access, chat):
    """GRD-13, DEF-07: skipped work is deferred; only its caller knows how."""
    chat.script(*[DOWN] * 5)
    moments = []
    for _ in range(6):
        with pytest.raises(ModelUnavailable) as caught:
            ask_model(access, question(required=True))
        moments.append(caught.value.retry_at)
    assert moments[:4] == [None] * 4
    assert moments[4] is not None
    assert moments[5] == moments[4]
    assert ModelCall.objects.filter(vault=access.vault).count() == 6


def test_without_a_model_nobody_is_asked(access):
    """GEN-02: the embedded default has none, and that is no failure."""
    environment.cache_clear()
    get_chat_model.cache_clear()
    answer = ask_model(access, question(required=True))
    assert (answer.value, answer.skipped) == (None, SkipReason.NO_MODEL)


def test_the_ledger_holds_no_words(access, chat):
    """Neither the question nor the answer is kept."""
    chat.script('{"action": "the xylophone"}', '{"wrong": "the xylophone"}')
    ask_model(access, question())
    ask_model(access, question())
    for row in ModelCall.objects.filter(vault=access.vault).values():
        assert "xylophone" not in str(row)


@pytest.mark.django_db(transaction=True)
def test_never_inside_a_transaction(chat):
    """A slow model would hold the transaction's locks."""
    access = operator(make_vault("Home"))
    chat.script('{"action": "skip"}')
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        ask_model(access, question())
    assert chat.asked == []
