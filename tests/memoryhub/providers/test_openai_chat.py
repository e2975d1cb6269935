"""The remote chat model against a real server on the loopback, well-behaved and not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from memoryhub.lib.net import Limits
from memoryhub.providers.base import ProviderError
from memoryhub.providers.chat import ChatLimits, ChatModel, Turn, UnreadableAnswer
from memoryhub.providers.endpoint import Endpoint
from memoryhub.providers.openai_chat import OpenAIChatModel
from tests.badservice import LASTING, PASSING, Answer, BadService, Behaviour, bad_service, raw

PATIENCE = Limits(connect=1.0, read=0.3, total=0.6, answer=20_000)
ASKED = [Turn("system", "You decide."), Turn("user", "Tea or coffee?")]


class Decision(BaseModel):
    action: str
    reason: str = ""


def said(text: object, **more: Any) -> Answer:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
    return (
        200,
        {},
        json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage} | more).encode(),
    )


def saying(*texts: object) -> Behaviour:
    """One text after the other, the last one for ever."""
    waiting = list(texts)
    return lambda _service, _question: said(waiting.pop(0) if len(waiting) > 1 else waiting[0])


def refusing(param: str | None, then: str) -> Behaviour:
    """Refuses one parameter, as a server does that does not know it."""

    def answer(_service: BadService, question: dict[str, Any]) -> Answer:
        if param is None and "response_format" in question:
            return 400, {}, b'{"error": {"message": "response_format is not supported"}}'
        if param in question:
            return 400, {}, json.dumps({"error": {"message": "no", "param": param, "code": "unsupported"}}).encode()
        return said(then)

    return answer


@pytest.fixture
def service() -> Iterator[BadService]:
    with bad_service(saying('{"action": "tea"}')) as service:
        yield service


@pytest.fixture
def chat_for(service: BadService) -> Iterator[Callable[..., OpenAIChatModel]]:
    made: list[OpenAIChatModel] = []

    def make(**more: Any) -> OpenAIChatModel:
        given = {"allow_private": True, "key": "k", **more}
        made.append(OpenAIChatModel(Endpoint(service.url, "m", **given)))
        return made[-1]

    yield make
    for model in made:
        model.close()


@pytest.fixture
def chat(chat_for: Callable[..., OpenAIChatModel]) -> OpenAIChatModel:
    return chat_for()


@pytest.fixture
def hasty_chat(chat_for: Callable[..., OpenAIChatModel]) -> OpenAIChatModel:
    return chat_for(limits=PATIENCE)


def test_an_answer_and_what_it_cost(service, chat):
    assert isinstance(chat, ChatModel)
    service.behaviour = saying("Tea.")
    answer = chat.complete(ASKED, ChatLimits(tokens=100))
    assert (answer.text, answer.tokens_in, answer.tokens_out, answer.model) == ("Tea.", 12, 5, "m")
    (question,) = service.asked
    assert service.paths == ["/v1/chat/completions"]
    assert question["authorization"] == "Bearer k"
    assert question["messages"] == [{"role": turn.role, "content": turn.text} for turn in ASKED]
    assert (question["max_tokens"], question["temperature"], question["model"]) == (100, 0.0, "m")


def test_the_schema_goes_along(service, chat):
    """EXT-05: as response_format for servers that know it, in words for the others."""
    value, _ = chat.structured(ASKED, Decision, ChatLimits())
    assert value == Decision(action="tea")
    (question,) = service.asked
    shape = question["response_format"]["json_schema"]
    assert (shape["name"], shape["strict"], shape["schema"]["additionalProperties"]) == ("Decision", True, False)
    assert '"action"' in question["messages"][-1]["content"]


@pytest.mark.parametrize("param", [None, "response_format", "temperature", "max_tokens"])
def test_a_refused_parameter_is_left_out_from_then_on(service, chat, param):
    service.behaviour = refusing(param, '```json\n{"action": "tea",}\n```')
    for _ in range(2):
        assert chat.structured(ASKED, Decision, ChatLimits(tokens=99))[0] == Decision(action="tea")
    assert len(service.asked) == 3
    last = service.asked[-1]
    assert (param or "response_format") not in last
    assert last.get("max_tokens", last.get("max_completion_tokens")) == 99


def test_a_bad_request_is_not_blamed_on_a_parameter_for_ever(service, chat):
    service.behaviour = raw(400, b'{"error": {"message": "too many tokens", "code": "context_length_exceeded"}}')
    with pytest.raises(ProviderError, match="400") as caught:
        chat.structured(ASKED, Decision, ChatLimits())
    assert caught.value.permanent
    service.behaviour = saying('{"action": "tea"}')
    chat.structured(ASKED, Decision, ChatLimits())
    assert "response_format" in service.asked[-1]


def test_an_unreadable_answer_is_asked_for_again_once(service, chat):
    service.behaviour = saying("I would say tea.", '{"action": "tea"}')
    value, completion = chat.structured(ASKED, Decision, ChatLimits())
    assert value == Decision(action="tea")
    assert (completion.tokens_in, completion.tokens_out) == (24, 10)
    again = service.asked[1]["messages"]
    assert again[-2] == {"role": "assistant", "content": "I would say tea."}
    assert again[-1]["role"] == "user"


def test_and_not_twice(service, chat):
    service.behaviour = saying("I would say tea.")
    with pytest.raises(UnreadableAnswer) as caught:
        chat.structured(ASKED, Decision, ChatLimits())
    assert len(service.asked) == 2
    assert caught.value.completion is not None
    assert caught.value.completion.tokens_in == 24


@pytest.mark.parametrize("content", ["", "  ", None, 7, ["parts"]])
def test_no_text_is_unreadable(service, chat, content):
    service.behaviour = saying(content)
    with pytest.raises(UnreadableAnswer):
        chat.complete(ASKED, ChatLimits())


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": "many"}, {"prompt_tokens": 2**40}]
)
def test_what_is_not_believable_is_estimated(service, chat, usage):
    service.behaviour = lambda _service, _question: said("Tea.", usage=usage)
    answer = chat.complete(ASKED, ChatLimits())
    assert 0 < answer.tokens_in < 100
    assert 0 < answer.tokens_out < 10


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING.keys())
def test_faults_that_may_pass(service, hasty_chat, behaviour):
    """Every fault ends within the deadline, as a ProviderError."""
    service.behaviour = behaviour
    started = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        hasty_chat.structured(ASKED, Decision, ChatLimits())
    assert not caught.value.permanent
    assert time.monotonic() - started < 30  # dripping to the end would take minutes


@pytest.mark.parametrize("behaviour", LASTING.values(), ids=LASTING.keys())
def test_faults_that_need_a_person(service, chat, behaviour):
    service.behaviour = behaviour
    with pytest.raises(ProviderError) as caught:
        chat.structured(ASKED, Decision, ChatLimits())
    assert caught.value.permanent
    assert service.paths == ["/v1/chat/completions"]


def test_a_questions_own_deadline_covers_its_repair(service, chat_for):
    """All of it: both attempts together."""

    def slow(service: BadService, _question: dict[str, Any]) -> Answer:
        service.closing.wait(0.7)
        return said("no JSON")

    service.behaviour = slow
    with pytest.raises(ProviderError) as caught:
        chat_for(limits=Limits(total=30)).structured(ASKED, Decision, ChatLimits(seconds=1.2))
    assert not isinstance(caught.value, UnreadableAnswer)
    assert len(service.asked) == 2


def test_a_private_address_needs_permission(service, chat_for):
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1") as caught:
        chat_for(allow_private=False).complete(ASKED, ChatLimits())
    assert caught.value.permanent
    assert service.asked == []
