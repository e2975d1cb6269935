"""Re-ranking by a language model: the best candidates are shown to it, and it says which help (OPT-01…05)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from itertools import islice
from uuid import UUID

from memories.calls.asking import ModelQuestion, ask_model
from memories.calls.ledger import record_skip
from memories.index.spaces import active_space
from memories.models import Memory
from memories.rules.calibration import own_cosine
from memories.rules.relevance import (
    INSTRUCTIONS,
    Judged,
    RelevanceRules,
    Verdict,
    picked,
    question_text,
    verdict,
)
from memories.rules.vocabulary import Purpose, SkipReason
from memories.search.opening import open_in_order
from memories.search.question import Asked
from memories.search.ranking import Ranking
from memoryhub.providers.chat import ChatLimits, Turn

ANSWER_TOKENS = 512


def judge(asked: Asked, ranking: Ranking, cosines: Mapping[UUID, float]) -> list[UUID] | None:
    """The memories to put first, best first; empty when nobody needs to be asked, None when nobody answered.

    The model sees at most ``llm_candidate_limit`` texts. The call, or why there was none, is in the ledger.
    """
    rules = RelevanceRules.of(asked.settings)
    candidates = ranking.memories[: rules.candidates]
    match verdict(_on_own_scale(asked, rules), [cosines.get(memory) for memory in candidates]):
        case Verdict.NOTHING:
            return []
        case Verdict.ALL_RELEVANT:
            record_skip(asked.access, Purpose.RERANK, SkipReason.ALL_RELEVANT, candidates[: rules.top_n])
            return []
        case Verdict.ASK:
            shown = _opened(asked, candidates)
            named = _ask(asked, shown) if shown else []
            if named is None:
                return None
            return [UUID(str(shown[place].pk)) for place in picked(named, len(shown), rules.top_n)]


def _on_own_scale(asked: Asked, rules: RelevanceRules) -> RelevanceRules:
    """The threshold as a cosine of the space that was searched; the settings state it on the reference scale."""
    space = active_space(asked.access.vault_id, asked.version)
    if space is None:
        return rules
    floor = own_cosine(space.embedder.name, space.embedder.model, rules.skip_from)
    return RelevanceRules(rules.candidates, rules.top_n, floor)


def _opened(asked: Asked, candidates: Sequence[UUID]) -> list[Memory]:
    opened = open_in_order(asked.access, candidates, len(candidates), [], asked.query.as_of)
    return [memory for _, memory in islice(opened, len(candidates))]


def _ask(asked: Asked, shown: Sequence[Memory]) -> list[str] | None:
    text = question_text(asked.query.query, [memory.content for memory in shown], secrets.token_hex(8))
    answer = ask_model(
        asked.access,
        ModelQuestion(
            purpose=Purpose.RERANK,
            turns=[Turn("system", INSTRUCTIONS), Turn("user", text)],
            schema=Judged,
            subjects=[memory.pk for memory in shown],
            limits=ChatLimits(tokens=ANSWER_TOKENS, seconds=float(asked.settings["llm_relevance_seconds"])),
        ),
    )
    return None if answer.value is None else answer.value.labels
