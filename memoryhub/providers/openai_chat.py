"""Chat models behind any endpoint that speaks OpenAI's API: OpenAI itself, Ollama, vLLM, llama.cpp, OpenRouter, …"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import openai
from pydantic import BaseModel

from memoryhub.lib.net import within
from memoryhub.providers.base import ProviderError
from memoryhub.providers.chat import ChatLimits, Completion, Turn, UnreadableAnswer, rough_tokens
from memoryhub.providers.endpoint import Endpoint, failures_named, open_endpoint
from memoryhub.providers.reading import read_answer

# How servers say that they do not know a parameter. Not 404: that is an unknown model or path.
_NOT_SUPPORTED = frozenset({400, 415, 422, 501})
_SHOWN_AGAIN = 4_000


class OpenAIChatModel:
    """Asks the endpoint over HTTP; never inside a transaction.

    Parameters a server refuses (the schema, the temperature, the name of the length limit) are left out from then on.
    """

    name = "openai"

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = open_endpoint(endpoint)
        # Looked up here: the SDK imports its resources when they are first named, which no deadline should pay for.
        self._create = self._client.chat.completions.with_raw_response.create
        self._refused: frozenset[str] = frozenset()

    @property
    def model(self) -> str:
        return self._endpoint.model

    def complete(self, turns: Sequence[Turn], limits: ChatLimits) -> Completion:
        """The answer as text. Raises UnreadableAnswer when there is none, ProviderError."""
        with within(self._seconds(limits)):
            return self._ask(turns, _options(limits))

    def structured[T: BaseModel](
        self, turns: Sequence[Turn], schema: type[T], limits: ChatLimits
    ) -> tuple[T, Completion]:
        """The answer as ``schema``; the server is given the schema and so is the model, in words (EXT-05).

        Raises UnreadableAnswer after a second unreadable answer, ProviderError.
        """
        options = _options(limits) | {"response_format": _response_format(schema)}
        with within(self._seconds(limits)):
            asked = [*turns, _instruction(schema)]
            first = self._ask(asked, options)
            try:
                return read_answer(first.text, schema), first
            except UnreadableAnswer as error:
                second = _together(first, self._ask([*asked, *_reminder(first, error)], options))
        try:
            return read_answer(second.text, schema), second
        except UnreadableAnswer as error:
            raise UnreadableAnswer(error.message, completion=second) from None

    def close(self) -> None:
        """Drops the connections."""
        self._client.close()

    def _seconds(self, limits: ChatLimits) -> float:
        return self._endpoint.limits.total if limits.seconds is None else limits.seconds

    def _ask(self, turns: Sequence[Turn], options: Mapping[str, Any]) -> Completion:
        refused = self._refused
        with failures_named("The model"):
            while True:
                try:
                    answer = self._create(
                        messages=cast(Any, [{"role": turn.role, "content": turn.text} for turn in turns]),
                        model=self._endpoint.model,
                        **_supported(options, refused),
                    )
                    break
                except openai.APIStatusError as error:
                    culprit = _culprit(error, options, refused)
                    if culprit is None:
                        raise
                    refused |= {culprit}
        self._refused = refused
        return _completion(answer.content, turns, self.model)


def _options(limits: ChatLimits) -> dict[str, Any]:
    return {"max_tokens": limits.tokens, "temperature": 0.0}


def _supported(options: Mapping[str, Any], refused: frozenset[str]) -> dict[str, Any]:
    """The options without the refused ones; the length limit has a second name, which newer models insist on."""
    kept = {name: value for name, value in options.items() if name not in refused}
    return kept if "max_tokens" in kept else kept | {"max_completion_tokens": options["max_tokens"]}


def _culprit(error: openai.APIStatusError, options: Mapping[str, Any], refused: frozenset[str]) -> str | None:
    """The parameter to leave out and try again: the one the server names, else the schema, which fewest know."""
    if error.status_code not in _NOT_SUPPORTED:
        return None
    candidates = [name for name in (error.param, "response_format") if name in options and name not in refused]
    return candidates[0] if candidates else None


def _response_format(schema: type[BaseModel]) -> dict[str, Any]:
    strict = openai.pydantic_function_tool(schema)["function"]["parameters"]
    return {"type": "json_schema", "json_schema": {"name": schema.__name__, "schema": strict, "strict": True}}


def _instruction(schema: type[BaseModel]) -> Turn:
    """For servers that know no schemas, and for models that do better when they have read it."""
    shape = json.dumps(schema.model_json_schema(), ensure_ascii=False, separators=(",", ":"))
    return Turn("user", f"Answer with JSON only, one object that fits this schema:\n{shape}")


def _reminder(answer: Completion, error: UnreadableAnswer) -> tuple[Turn, Turn]:
    return (
        Turn("assistant", answer.text[:_SHOWN_AGAIN] or "(nothing)"),
        Turn("user", f"{error.message} Answer again, with nothing but the JSON object."),
    )


def _together(first: Completion, second: Completion) -> Completion:
    spent = (first.tokens_in + second.tokens_in, first.tokens_out + second.tokens_out)
    return Completion(second.text, *spent, second.model)


def _completion(body: bytes, turns: Sequence[Turn], model: str) -> Completion:
    """The first choice of an answer. Raises ProviderError when it is no completion, UnreadableAnswer when empty."""
    try:
        document = json.loads(body)
        message = document["choices"][0]["message"]
        text = message.get("content")
        usage = document.get("usage") or {}
        spent = usage.get("prompt_tokens"), usage.get("completion_tokens")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ProviderError("The model's answer is not a chat completion.") from error
    if not isinstance(text, str) or not text.strip():
        raise UnreadableAnswer("The model answered with nothing.")
    asked = sum(rough_tokens(turn.text) for turn in turns)
    return Completion(text, _count(spent[0], asked), _count(spent[1], rough_tokens(text)), model)


def _count(claimed: object, estimated: int) -> int:
    """What the server says it spent, where it says something believable."""
    is_count = isinstance(claimed, int) and not isinstance(claimed, bool) and 0 <= claimed < 2**31
    return cast(int, claimed) if is_count else estimated
