"""Whether something new is new: a language model compares it with what is there (DUP-03…11). Shares the hub's rules."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from memories.rules.differences import FACTUAL, differences, merges
from memories.rules.updates import QUESTION, UpdateAnswer, question_about, read_decision
from memories.rules.vocabulary import UpdateAction as UpdateAction
from memoryhub.client.asking import Ask, asked
from memoryhub.client.items import MemoryItem
from memoryhub.client.stores import FindsSimilar, MemoryStore
from memoryhub.lib.loosejson import NoJson, find_json


class UpdateDecision(BaseModel):
    """What to do with a new item; ``target_id`` for all but ADD, ``merged_content`` for UPDATE (DUP-04)."""

    model_config = ConfigDict(frozen=True)

    action: UpdateAction
    target_id: str | None = None
    merged_content: str | None = None
    reason: str = ""


class MemUpdateChecker:
    """Asks ``checker`` about the ``top_k`` items of ``store`` that are closest to a new one.

    A store that measures shows only what is closer than ``similarity_threshold``; of others whatever their search
    finds is asked about. Put it above encryption: a sealed store compares nothing.
    """

    def __init__(self, store: MemoryStore, checker: Ask, similarity_threshold: float = 0.75, top_k: int = 5) -> None:
        self.store = store
        self.checker = checker
        self.similarity_threshold = similarity_threshold
        self.top_k = top_k

    async def check(self, item: MemoryItem) -> UpdateDecision:
        """What to do with it. Without anything similar the model is not asked; what it cannot mean is ADD.

        As in the hub, nothing is skipped that differs in a number, date, negation, name or identifier, and a merged
        text must hold the facts of both and no other.
        """
        others = await self._similar(item)
        if not others:
            return UpdateDecision(action=UpdateAction.ADD, reason="Nothing similar was there.")
        question = question_about(item.content, [other.content for other in others])
        return _decided(await asked(self.checker, f"{QUESTION}\n\n{question}"), item, others)

    async def _similar(self, item: MemoryItem) -> Sequence[MemoryItem]:
        if isinstance(self.store, FindsSimilar):
            found = await self.store.search_similar(item.content, self.top_k, self.similarity_threshold)
        else:
            found = await self.store.search(query=item.content, limit=self.top_k)
        return [other for other in found if other.id != item.id]


def _decided(said: str, item: MemoryItem, others: Sequence[MemoryItem]) -> UpdateDecision:
    numbered = [UUID(int=place) for place in range(len(others))]
    answer = _answer(said)
    if answer is not None and (named := _place(answer, others)) is not None:
        answer = answer.model_copy(update={"target": f"m{named + 1}"})
    read = read_decision(answer, numbered)
    if read.target is None:
        return UpdateDecision(action=UpdateAction.ADD, reason=read.reason)
    target = others[read.target.int]
    if not _allowed(read.action, target.content, item.content, read.merged_content):
        reason = f"The checker said {read.action.value}, but a fact would have been lost."
        return UpdateDecision(action=UpdateAction.ADD, reason=reason)
    return UpdateDecision(
        action=read.action, target_id=target.id, merged_content=read.merged_content, reason=read.reason
    )


def _place(answer: UpdateAnswer, others: Sequence[MemoryItem]) -> int | None:
    """Which of the others is meant where it is named by its own id, or not at all while only one was shown."""
    if answer.target is None:
        return 0 if len(others) == 1 else None
    return next((place for place, other in enumerate(others) if other.id == answer.target), None)


def _allowed(action: UpdateAction, old: str, new: str, merged: str | None) -> bool:
    if action is UpdateAction.SKIP:
        return not differences(old, new) & FACTUAL
    return merged is None or merges(merged, old, new)


def _answer(said: str) -> UpdateAnswer | None:
    try:
        return UpdateAnswer.model_validate(find_json(said))
    except NoJson:
        return UpdateAnswer(action=word) if (word := said.strip(" .!\"'\n")).isalpha() else None
    except ValidationError:
        return None
