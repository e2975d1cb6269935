"""The guard and the ledger of model calls over REST."""

from __future__ import annotations

from memories.calls.guarding import ask_permit, note_error
from memories.models import ModelCall
from memories.rules.vocabulary import GuardedService
from memoryhub.providers.base import ProviderError


def modes(answer) -> dict[str, str]:
    return {guard["service"]: guard["mode"] for guard in answer.json()["items"]}


def test_the_guard_is_read_and_reset(access, api):
    """GRD-14."""
    assert modes(api.send("GET", "/guard")) == {"chat": "closed", "embedder": "closed"}
    for _ in range(5):
        note_error(access, ask_permit(access, GuardedService.CHAT), ProviderError("The model answered 500."))
    answer = api.send("GET", "/guard")
    assert modes(answer) == {"chat": "open", "embedder": "closed"}
    assert answer.json()["items"][0]["last_error"] == "The model answered 500."
    assert answer.json()["items"][0]["retry_at"] > answer.json()["items"][0]["opened_at"]
    assert modes(api.send("POST", "/guard/reset")) == {"chat": "closed", "embedder": "closed"}


def test_the_ledger_in_pages(access, api):
    for n in range(3):
        ModelCall.objects.create(vault=access.vault, purpose="rerank", result="ok", model=f"m{n}", tokens_in=10)
    ModelCall.objects.create(vault=access.vault, purpose="extract", result="skipped", reason="guard_open")
    first = api.send("GET", "/model-calls?limit=2").json()
    assert [item["reason"] or item["model"] for item in first["items"]] == ["guard_open", "m2"]
    assert first["counts"] == {
        "results": {"ok": 3, "error": 0, "unreadable": 0, "skipped": 1},
        "tokens_in": 30,
        "tokens_out": 0,
    }
    rest = api.send("GET", f"/model-calls?limit=2&before={first['items'][-1]['id']}").json()
    assert [item["model"] for item in rest["items"]] == ["m1", "m0"]
    skipped = api.send("GET", "/model-calls?result=skipped").json()
    assert [item["purpose"] for item in skipped["items"]] == ["extract"]
