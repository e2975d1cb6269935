"""Whatever a model or embedding service does: five calls, then the guard; and nothing is lost when it is well."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from pydantic import BaseModel

from memories.calls.asking import ModelAnswer, ModelQuestion, ask_model
from memories.models import Embedding, Job, Memory, ModelCall
from memories.rules.vocabulary import GuardedService, GuardMode, JobState, Purpose, SkipReason
from memories.services.modelcalls import read_guard
from memories.services.running import run_job
from memoryhub.lib.clock import now
from memoryhub.providers.chat import Turn
from tests.badservice import LASTING, PASSING, Answer, BadService, Behaviour, bad_service
from tests.endpoint import configured
from tests.factories import remember

COOLED_DOWN = dt.timedelta(seconds=301)
LARGE = b" " * (33 * 1024 * 1024)


class Decision(BaseModel):
    action: str


def well_behaved(_service: BadService, question: dict[str, Any]) -> Answer:
    if "messages" in question:
        document: dict[str, Any] = {"choices": [{"message": {"content": '{"action": "skip"}'}}], "usage": {}}
    else:
        vectors = [[1.0, float(len(text))] for text in question["input"]]
        document = {"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]}
    return 200, {}, json.dumps(document).encode()


def embedding(*vector: float) -> Behaviour:
    return lambda _service, question: (
        200,
        {},
        json.dumps({"data": [{"index": n, "embedding": vector} for n, _ in enumerate(question["input"])]}).encode(),
    )


BAD = PASSING | LASTING | {"too large": lambda _service, _question: (200, {}, LARGE)}
del BAD["slow drip of headers"]  # each drip costs five times the patience, and this one is tested where it is ended
BAD_EMBEDDERS = BAD | {"wrong dimension": embedding(1.0, 2.0, 3.0), "NaN": embedding(1.0, float("nan"))}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[BadService]:
    """One bad address for both; a second of patience."""
    settings = {
        "EMBEDDER": "openai",
        "EMBEDDER_MODEL": "m",
        "EMBEDDER_DIMENSIONS": "2",
        "LLM": "openai",
        "LLM_MODEL": "m",
    }
    for name in ("EMBEDDER", "LLM"):
        settings |= {f"{name}_ALLOW_PRIVATE": "true", f"{name}_TIMEOUT": "1.0"}
    with bad_service(well_behaved) as service:
        settings |= {"EMBEDDER_URL": service.url, "LLM_URL": service.url}
        with configured(monkeypatch, settings):
            yield service


def mode(access, service: GuardedService) -> GuardMode:
    return next(guard.mode for guard in read_guard(access) if guard.service is service)


def write_and_embed(access, number: int) -> None:
    remember(access, f"memory number {number}")
    Job.objects.filter(state=JobState.PENDING).update(due_at=now())
    run_job(Job.objects.get(state=JobState.PENDING).pk)


@pytest.mark.parametrize("behaviour", BAD_EMBEDDERS.values(), ids=BAD_EMBEDDERS.keys())
def test_an_embedder(access, service, behaviour):
    """GRD-02, GRD-13, DEF-07, DEG-01: writes go on, work waits, and everything gets its vector in the end."""
    service.behaviour = behaviour
    for number in range(5):
        assert mode(access, GuardedService.EMBEDDER) is GuardMode.CLOSED
        write_and_embed(access, number)
    assert mode(access, GuardedService.EMBEDDER) is GuardMode.OPEN
    write_and_embed(access, 5)
    assert len(service.asked) == 5
    assert Job.objects.get(state=JobState.PENDING).stage == "deferred"
    service.behaviour = well_behaved
    with time_machine.travel(now() + COOLED_DOWN):
        run_job(Job.objects.get(state=JobState.PENDING).pk)
        assert mode(access, GuardedService.EMBEDDER) is GuardMode.CLOSED
    assert set(Memory.objects.values_list("index_state", flat=True)) == {"ready"}
    assert Embedding.objects.count() == 6


def ask(access) -> ModelAnswer[Decision]:
    return ask_model(access, ModelQuestion(Purpose.CHECK_UPDATE, [Turn("user", "Which?")], Decision))


@pytest.mark.parametrize("behaviour", BAD.values(), ids=BAD.keys())
def test_a_chat_model(access, service, behaviour):
    """GRD-02, GRD-06, GRD-12: five calls fail, the sixth is not made, and after the cool-down one heals it."""
    service.behaviour = behaviour
    assert [ask(access).value for _ in range(5)] == [None] * 5
    assert ask(access).skipped is SkipReason.GUARD_OPEN
    assert len(service.asked) == 5
    assert max(ModelCall.objects.values_list("took_ms", flat=True)) < 10_000  # dripping to the end would take minutes
    service.behaviour = well_behaved
    with time_machine.travel(now() + COOLED_DOWN):
        assert ask(access).value == Decision(action="skip")
        assert mode(access, GuardedService.CHAT) is GuardMode.CLOSED
