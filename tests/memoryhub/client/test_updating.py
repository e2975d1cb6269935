"""The update checker: what it asks, when it does not ask, and what it makes of an answer (TST-04)."""

from __future__ import annotations

import asyncio
import json

import pytest

from memoryhub.client import HumanMemory, MemoryItem, MemUpdateChecker, SQLiteMemoryStore, UpdateAction, UpdateDecision
from memoryhub.client.asking import Ask

THERE = "Anna works at the harbour in Bergen."


def model(answer: str, asked: list[str] | None = None) -> Ask:
    async def ask(question: str) -> str:
        if asked is not None:
            asked.append(question)
        return answer

    return ask


def check(new: str, answer: str, there: str = THERE) -> tuple[UpdateDecision, MemoryItem]:
    store = SQLiteMemoryStore()
    item = MemoryItem(content=there)
    store.add(item)
    return asyncio.run(MemUpdateChecker(store, model(answer)).check(HumanMemory(content=new))), item


def said(action: str, target: object = "m1", **more: str) -> str:
    return json.dumps({"action": action, "target": target, **more})


def test_without_anything_similar_nobody_is_asked():
    """DUP-06, DUP-07."""
    asked: list[str] = []
    store = SQLiteMemoryStore()
    store.add(MemoryItem(content="Ben repairs bicycles."))
    checker = MemUpdateChecker(store, model(said("skip"), asked))
    decided = asyncio.run(checker.check(HumanMemory(content="Tides turn twice a day.")))
    assert (decided.action, asked) == (UpdateAction.ADD, [])
    assert (checker.similarity_threshold, checker.top_k) == (0.75, 5)


def test_the_model_sees_the_new_one_and_at_most_top_k():
    """DUP-05, DUP-08: texts as JSON data, never itself (DUP-24)."""
    asked: list[str] = []
    store = SQLiteMemoryStore()
    for number in range(7):
        store.add(MemoryItem(content=f"Anna works at pier {number}."))
    new = HumanMemory(content='Anna works at pier "9".')
    store.add(new)
    asyncio.run(MemUpdateChecker(store, model(said("add"), asked), top_k=3).check(new))
    material = json.loads(asked[0].split("\n\n")[-1])
    assert material["new"] == new.content and len(material["already_there"]) <= 3
    assert new.content not in {one["text"] for one in material["already_there"]}


@pytest.mark.parametrize(
    ("new", "answer", "action"),
    [
        ("Anna has worked at the harbour in Bergen.", said("skip"), "skip"),
        ("Anna works at the harbour in Bergen.", f"Sure!\n```json\n{said('SKIP', 1)}\n```", "skip"),
        ("Anna works at the harbour in Bergen now.", said("supersede"), "supersede"),
        ("Anna works at the harbour.", said("add"), "add"),
        ("Anna does not work at the harbour in Bergen.", said("skip"), "add"),
        ("Anna works at the harbour in Oslo.", said("skip"), "add"),
        ("Anna works at the harbour.", said("skip", "m9"), "add"),
        ("Anna works at the harbour.", said("update"), "add"),
        ("Anna works at the harbour.", "I would rather not say.", "add"),
        ("Anna works at the harbour.", said("frobnicate"), "add"),
    ],
)
def test_decisions(new: str, answer: str, action: str):
    """DUP-03, DUP-09, DUP-27, CON-09: what cannot be meant is ADD, with the reason; no fact is ever dropped."""
    decided, _ = check(new, answer)
    assert decided.action == action
    assert decided.reason or action != "add" or "add" in answer


def test_a_merge_holds_the_facts_of_both():
    """DUP-04, DUP-09: the decision is frozen and names its target."""
    merged = "Anna works at the harbour in Bergen, on pier 4."
    decided, there = check("Anna works on pier 4.", said("merge", merged_content=merged))
    assert (decided.action, decided.target_id, decided.merged_content) == (UpdateAction.UPDATE, there.id, merged)
    with pytest.raises(ValueError, match="frozen"):
        decided.reason = "another"  # type: ignore[misc]
    lost, _ = check("Anna works on pier 4.", said("update", merged_content="Anna works at the harbour in Bergen."))
    assert lost.action is UpdateAction.ADD
