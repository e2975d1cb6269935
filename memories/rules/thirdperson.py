"""What somebody says of themselves, told of them: "I love my dog" becomes "The user loves their dog" (OPT-13)."""

from __future__ import annotations

import re

_WORDS = {
    "i'm": "they are", "i am": "they are", "i've": "they have", "i'd": "they would", "i'll": "they will",
    "i was": "they were", "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
}  # fmt: skip
_PRONOUN = re.compile(r"\b(" + "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True)) + r")\b", re.IGNORECASE)
_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "be": "is", "can't stand": "cannot stand"}
_SLUG = re.compile(r"[^\W_]+")
_SMALL = frozenset("a an the my their of in on at to for and or with very really".split())
# What a key does not end in: it leads to a deadline or a detail that is no part of what the fact is about.
_LEADING = frozenset(
    "about after as because before by during from into next over since than this till until without".split()
)
_UNCHANGED = re.compile(
    r"(?:was|had|did|went|got|bought|made|left|kept|put|can|could|will|would|shall|should|must|may|might|never|always"
    r"|often|usually|no|\w+ed)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"my (?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_SELF = re.compile(
    r"i(?:(?P<be>'m| am)|(?P<have>'ve| have)|(?P<not> do not| don't)|(?P<will>'ll|'d)|) (?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)


def of_them(text: str) -> str:
    """First-person pronouns as third-person ones. "US" and "ME" in capitals are left alone."""
    return _PRONOUN.sub(
        lambda found: found.group() if found.group() in {"US", "ME"} else _WORDS[found.group().lower()], text
    )


def conjugated(verb: str) -> str:
    """The verb as "the user" takes it: love → loves, study → studies, don't eat → does not eat."""
    verb = verb.lower().replace("’", "'")
    for start in ("don't ", "do not "):
        if verb.startswith(start):
            return f"does not {verb.removeprefix(start)}"
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if re.search(r"(?:s|x|z|ch|sh)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def keyed(kind: str, text: str) -> str:
    """A fact key such as ``preference_coffee``: the kind and the first three words that carry meaning."""
    words = [word for word in _SLUG.findall(text.lower()) if word not in _SMALL][:3]
    while len(words) > 1 and words[-1] in _LEADING:
        words.pop()
    return "_".join([kind, *words])[:120]


def retold(text: str) -> str:
    """A whole clause told of the user where that is easy, else as it was said: "my bike is red", "I have a boat"."""
    said = text.strip(" .!")
    if own := _OWN.fullmatch(said):
        return f"The user's {of_them(own['rest'])}."
    found = _SELF.fullmatch(said)
    if found is None or found["will"]:
        return f"{said[:1].upper()}{said[1:]}."
    rest = of_them(found["rest"])
    if found["be"]:
        return f"The user is {rest}."
    if found["have"]:
        return f"The user has {rest}."
    if found["not"]:
        return f"The user does not {rest}."
    verb, _, what = rest.partition(" ")
    return (
        f"The user {rest}."
        if _UNCHANGED.match(rest)
        else f"The user {' '.join(filter(None, [conjugated(verb), what]))}."
    )
