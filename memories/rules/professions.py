"""Whether a noun names what somebody does for a living."""

from __future__ import annotations

import re

_PROFESSION = re.compile(
    r"(?:^|[ -])(?:\w+(?:ist|ician|arian|wright|smith|man|woman)|nurse|chef|cook|student|pupil|apprentice|intern"
    r"|midwife|pilot|judge|clerk|coach|guard|guide|attorney|architect|consultant|accountant|assistant|surgeon|vet|parent"
    r"|dad|mum|mom|entrepreneur|ceo|cto|mechanic|academic|agent|nanny|au pair|barista|\w{3,}(?:er|or))$",
    re.IGNORECASE,
)
_NO_PROFESSION = re.compile(
    r"(?:^| )(?:member|user|beginner|lover|newcomer|stranger|father|mother|brother|sister|daughter|customer|winner"
    r"|loser|believer|riser|owner|fighter|sucker|outsider|reader|listener|thinker|survivor|foreigner|neighbor|donor|eater"
    r"|drinker|sleeper|speaker|learner|number|human|woman|man|monster|character|vegetarian|better|other|administrator)$",
    re.IGNORECASE,
)
_AFTER_THE_HEAD = re.compile(r" (?:by|in|at|for|with|of|from|and|who|on|to|near)\b.*$|,.*$")
_BUSINESS = re.compile(
    r"\b(?:bakery|(?:\w*)shop|caf[eé]|company|farm|team|restaurant|studio|agency|business|start-?up|store|salon|gallery"
    r"|practice|clinic|garage|hotel|hostel|school|bar|pub|brewery|vineyard|department)\b",
    re.IGNORECASE,
)


def is_profession(noun: str) -> bool:
    """Whether "a …" says what somebody works as: by its head, "retired bus driver", never "beginner at this"."""
    head = _AFTER_THE_HEAD.sub("", noun)
    return _PROFESSION.search(head) is not None and _NO_PROFESSION.search(head) is None


def runs_a_business(noun: str) -> bool:
    """Whether running or owning it is work: a bakery, a team, not a script."""
    return _BUSINESS.search(noun) is not None
