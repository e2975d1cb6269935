"""Short, plain preferences are saved as they come in, without asking a model (OPT-06…13, DEF-01, DEF-02)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memories.rules.clauses import clauses_of
from memories.rules.facts import Fact, is_planted
from memories.rules.firstperson import Rule, favourite_rule, liking_rule

KEYWORDS = ("favorite", "love", "like", "enjoy", "prefer", "hate")
LONGEST = 60


@lru_cache(maxsize=256)
def _rules(keywords: tuple[str, ...]) -> tuple[Rule, ...]:
    verbs = [word for word in keywords if word not in {"favorite", "favourite"}]
    rules = [liking_rule(verbs)] if verbs else []
    return (*rules, favourite_rule()) if len(verbs) < len(keywords) else tuple(rules)


def preference_in(text: str, keywords: Sequence[str] = KEYWORDS, longest: int = LONGEST) -> Fact | None:
    """The preference a message of at most 60 characters states, if it states nothing else.

    The keyword must be the verb of its one first-person clause: questions, requests, negations and mere occurrences of
    the letters ("unlikely", "gloves") are none (OPT-07, OPT-11, OPT-12).
    """
    said = text.strip()
    if len(said) > longest:
        return None
    clauses = list(clauses_of(said))
    if len(clauses) != 1 or not said.rstrip(".! ").endswith(clauses[0].text.rstrip(".! ")):
        return None
    for rule in _rules(tuple(keywords)):
        found = rule.pattern.match(clauses[0].text)
        fact = rule.means(found) if found else None
        if fact is not None and not is_planted(fact.text):
            return fact
    return None
