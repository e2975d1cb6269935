"""Facts in what a person says of themselves, by pattern and without a model: name, place, job, preference, goal.

Every pattern is anchored at the beginning of a clause (DEF-01, EXT-11). One list for each kind of fact, and the first
pattern that means something decides what a clause says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memories.rules.clauses import Clause, clauses_of, is_unclear, object_of
from memories.rules.facts import Fact
from memories.rules.professions import is_profession, runs_a_business
from memories.rules.thirdperson import conjugated, keyed, of_them, retold
from memories.rules.vocabulary import MemoryType

type Meaning = Callable[[re.Match[str]], Fact | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern at the start of a clause, and what it means; None when it means nothing after all."""

    pattern: re.Pattern[str]
    means: Meaning


def _rule(pattern: str, means: Meaning) -> Rule:
    return Rule(re.compile(pattern, re.DOTALL), means)


def _fact(kind: str, told: str, about: str = "", *, bank: str = "Personal", importance: int = 4) -> Fact:
    is_preference = kind in {"preference", "favorite"}
    return Fact(
        text=f"The user{'' if told.startswith("'") else ' '}{told}.",
        key=keyed(kind, about) if about else kind,
        importance=importance,
        bank=bank,
        type=MemoryType.PREFERENCE if is_preference else MemoryType.FACT,
    )


def _telling(kind: str, told: str, *, bank: str = "Personal", importance: int = 4) -> Meaning:
    """A rule's object after some words."""

    def means(found: re.Match[str]) -> Fact | None:
        what = object_of(found["what"])
        return _fact(kind, f"{told} {what}", what, bank=bank, importance=importance) if what else None

    return means


_CAPITAL = r"[A-ZÀ-ÞŁŚŠŽ]"
_NAME = rf"(?P<name>{_CAPITAL}[\w'-]+(?: (?:{_CAPITAL}[\w'.-]*|van|von|de|der|la|al|bin|ibn)){{0,3}})"
_I, _IM, _IVE = r"[Ii]", r"[Ii](?:'m| am)", r"[Ii](?:'ve| have)"
_NOW = r"(?: currently| now| still| just| recently| both)?"
_WHAT = r"(?P<what>.+)"


def _name(found: re.Match[str]) -> Fact:
    return _fact("name", f"'s name is {found['name'].rstrip('.')}", importance=5)


def _nickname(found: re.Match[str]) -> Fact:
    return replace(_name(found), key="nickname")


NAMES = (
    _rule(rf"[Mm]y (?:full |first |real )?name(?:'s| is) {_NAME}", _name),
    _rule(rf"{_IM} called {_NAME}", _name),
    _rule(rf"[Mm]y name(?:'s| is) not {_CAPITAL}\w+,? but {_NAME}", _name),
    _rule(rf"(?:[Yy]ou can |[Jj]ust )?[Cc]all me {_NAME}(?:,? please)?\W*$", _nickname),
    _rule(rf"(?:[Ee]verybody|[Ee]veryone|(?:[Mm]y )?[Ff]riends|[Pp]eople) calls? me {_NAME}\W*$", _nickname),
    _rule(rf"{_I} go by {_NAME}\W*$", _nickname),
)
INTRODUCTION = _rule(rf"{_IM} {_NAME}\W*(?:$|nice to)", _name)

# What is said of a place besides its name.
_ASIDE = re.compile(
    r",? (?:not|instead of|rather than|with|since|for|at the moment|near|because|now|last|next|in \d|a few"
    r"|\w+ (?:years?|months?|weeks?) ago)\b.*$",
    re.DOTALL,
)


def _place(relation: str, key: str) -> Meaning:
    def means(found: re.Match[str]) -> Fact | None:
        where = _ASIDE.sub("", found["what"]).strip(" .,!")
        if not re.search(rf"{_CAPITAL}\w", where) or len(where) > 80:
            return None
        return _fact(key, f"{relation} {of_them(where)}", importance=5)

    return means


PLACES = (
    _rule(rf"(?:{_I}|{_IM}|[Ww]e|[Ww]e're){_NOW} liv(?:e|ing) in {_WHAT}", _place("lives in", "home")),
    _rule(rf"{_IVE} (?:lived|been living) in {_WHAT}", _place("lives in", "home")),
    _rule(rf"{_IM}{_NOW} based in {_WHAT}", _place("lives in", "home")),
    _rule(rf"[Mm]y home is in {_WHAT}", _place("lives in", "home")),
    _rule(
        rf"{_I}(?:(?: do not| don't) live|'m not living| am not living| live not) in [\w ]{{2,40}}?,? but in {_WHAT}",
        _place("lives in", "home"),
    ),
    _rule(
        rf"(?:{_IVE}|{_I}){_NOW} (?:moved|relocated)(?: from [\w ]{{2,40}}?)? to {_WHAT}", _place("moved to", "home")
    ),
    _rule(rf"(?:{_IM}(?: originally)? from|{_I} come from) {_WHAT}", _place("comes from", "origin")),
    _rule(rf"[Mm]y home ?town is {_WHAT}", _place("comes from", "origin")),
    _rule(rf"{_I} grew up in {_WHAT}", _place("grew up in", "childhood_home")),
    _rule(rf"{_I} was born in {_WHAT}", _place("was born in", "birthplace")),
)


# What puts an older job behind the one that is told.
_BEFORE = re.compile(r"(?:(?<!right),? now\b|,? not an? ).*$", re.DOTALL)


def _work(told: str, key: str = "job") -> Meaning:
    def means(found: re.Match[str]) -> Fact | None:
        what = object_of(_BEFORE.sub("", found["what"]))
        return _fact(key, f"{told} {what}", bank="Work") if what and len(what) > 2 else None

    return means


def _profession(found: re.Match[str]) -> Fact | None:
    what = object_of(_BEFORE.sub("", found["what"]))
    if what is None or not is_profession(what):
        return None
    return _fact("job", f"is {found['article']} {what}", bank="Work")


def _business(found: re.Match[str]) -> Fact | None:
    what = object_of(found["what"])
    if what is None or not runs_a_business(what):
        return None
    return _fact("business", f"{conjugated(found['verb'])} {what}", bank="Work")


_AS = r"(?P<what>as an? .+)"
_HOURS = r"(?: nights| days| part-time| full-time)?"
JOBS = (
    _rule(rf"(?:{_I}|{_IM}){_NOW} work(?:ing)?{_HOURS} {_AS}", _work("works")),
    _rule(
        rf"(?:{_I}|{_IM}){_NOW} work(?:ing)? (?P<what>(?:for|at) (?:(?:the|an?) \w|{_CAPITAL}).+)",
        _work("works", "employer"),
    ),
    _rule(rf"{_I} work (?P<what>in (?!progress|vain|silence|the dark|peace)[\w -]+?)\W*$", _work("works", "field")),
    _rule(rf"(?:{_I}|{_IVE}) just started(?: a new job| working)? {_AS}", _work("works")),
    _rule(rf"{_IM}{_NOW} (?P<article>an?|the) {_WHAT}", _profession),
    _rule(rf"{_IM} not an? [\w -]{{2,40}}?,? but (?P<article>an?) {_WHAT}", _profession),
    _rule(rf"{_IVE} been (?P<article>an?) (?P<what>.+?)(?: for| since)\b.*$", _profession),
    _rule(rf"{_I} teach (?P<what>(?!you|him|her|them|a lesson|the model).+)", _work("teaches", "teaching")),
    _rule(rf"(?:{_I} study|{_IM}{_NOW} studying) (?P<what>(?!the |for ).+)", _work("studies", "studies")),
    _rule(r"[Mm]y job is (?P<what>(?:an? |\w{3,}ing ).+)", _work("'s job is")),
    _rule(r"[Mm]y (?:profession|occupation) is (?P<what>.+)", _work("'s profession is")),
    _rule(rf"{_I} (?P<verb>run|own|manage|lead) (?P<what>(?:an?|my own|two|three) .+)", _business),
)

_NO_HABIT = re.compile(
    r"^to (?:know|see|ask|hear|complain|bother|think|say|wait|point|note|add|mention|lose|skip|check|talk|thank)\b"
)
_LIKING = ("love", "like", "enjoy", "prefer", "hate", "dislike", "adore", "detest", "loathe", "can't stand")
_SHUNNING = r"don't like|do not like|don't eat|do not eat|don't drink|do not drink"
_ADVERBS = r"(?:(?:really|absolutely|truly|generally|mostly|especially|quite|just|also|always|still|much|totally) )*"
_DIET = r"vegetarian|vegan|pescatarian|teetotal|lactose intolerant|gluten intolerant|coeliac"
_DAILY = r"drink|eat|wear|sleep|cook|read|listen|walk|cycle|take"
_INSTRUMENT = (
    r"accordion|banjo|bass|bassoon|cello|clarinet|drums?|flute|guitar|harp|horn|keyboards?|mandolin|oboe|organ|piano"
    r"|recorder|saxophone|trombone|trumpet|tuba|ukulele|viola|violin"
)


def _likes(found: re.Match[str]) -> Fact | None:
    verb, what = found["verb"].lower(), object_of(found["what"])
    if what is None or _NO_HABIT.match(what) or (verb in {"hate", "don't like"} and what.startswith("to ")):
        return None
    return _fact("preference", f"{conjugated(verb)} {what}", what, importance=3 if verb in {"like", "enjoy"} else 4)


def _favourite(found: re.Match[str]) -> Fact | None:
    what, thing = object_of(found["what"]), found["thing"]
    if what is None or re.match(r"(?:missing|empty|broken|gone|still|also)\b", what):
        return None
    return _fact("favorite", f"'s favourite {thing} is {what}", thing)


def _habit(found: re.Match[str]) -> Fact | None:
    what = object_of(found["what"])
    told = f"{found['often']} {conjugated(found['verb'])} {what}"
    return _fact("preference", told, what, importance=3) if what else None


def liking_rule(verbs: Sequence[str]) -> Rule:
    """ "I really love …" for these verbs."""
    return _rule(rf"{_I} {_ADVERBS}(?P<verb>{'|'.join(map(re.escape, verbs))}) {_WHAT}", _likes)


def favourite_rule() -> Rule:
    """ "My favourite colour is …"."""
    return _rule(r"[Mm]y (?:all-time )?[Ff]avou?rite (?P<thing>[\w -]{2,40}?) (?:is|are) (?P<what>.+)", _favourite)


PREFERENCES = (
    liking_rule(_LIKING),
    favourite_rule(),
    _rule(rf"{_I} (?:really )?(?P<verb>{_SHUNNING}) {_WHAT}", _likes),
    _rule(rf"{_IVE} always (?P<verb>love|like|enjoy|hate|prefer)r?e?d {_WHAT}", _likes),
    _rule(rf"[Ii](?:'d| would) (?:always|rather always) (?P<verb>prefer) {_WHAT}", _likes),
    _rule(rf"{_IM} (?:a )?(?:big |huge |great )?fan of {_WHAT}", _telling("preference", "is a fan of")),
    _rule(rf"{_IM} not (?:really |much of )?a (?:big |huge )?fan of {_WHAT}", _telling("preference", "is no fan of")),
    _rule(rf"{_IM} (?:really |very |quite )?(?:much )?into (?P<what>(?!the\b).+)", _telling("preference", "is into")),
    _rule(rf"{_IM} (?:an? )?(?:strict )?(?P<what>{_DIET})\W*$", _telling("diet", "is", bank="Health")),
    _rule(
        rf"{_IM} allergic to (?P<what>\w[\w-]*(?:(?:, | and | or |, and )?\w[\w-]*){{0,4}})\W*$",
        _telling("allergy", "is allergic to", bank="Health", importance=5),
    ),
    _rule(rf"{_I} (?P<often>usually|always|often|never) (?P<verb>{_DAILY}) {_WHAT}", _habit),
    _rule(rf"{_I} play (?P<what>(?:the )?(?:{_INSTRUMENT})\b.*)", _telling("skill", "plays", importance=3)),
)

_AMBITION = (
    r"(?:learn|become|master|run|write|open|start|launch|found|move|visit|travel|build|buy"
    r"|get (?:better|married|fit)|quit|stop|lose|save|retire|study|publish|climb|sail|improve|finish my"
    r"|go (?:back )?to (?:university|college|school)"
    r"|read|eat (?:less|more|healthier|better)|drink (?:less|more)|exercise|cut (?:down|back|out)"
    r"|sleep (?:more|better|earlier)|play|speak|walk|cycle|graduate|apply|train|volunteer|adopt|grow|work (?:abroad"
    r"|less|as)|live|earn)\b"
)
# Things that are done now and here, at the screen.
_AT_HAND = re.compile(
    r"\b(?:the|this|that|it|these|those|an?) ?(?:files?|tests?|scripts?|quer(?:y|ies)|commands?|errors?|bugs?|server"
    r"|code"
    r"|function|page|link|app|terminal|conversation|chat)\b|^\w+ (?:this|that|it)\b|\b(?:now|a lot)$"
)
_CAREER = re.compile(r"\b(?:job|career|promot\w*|profession\w*|start-?up|company|business|exam|degree)\b")


def _goal(told: str) -> Meaning:
    def means(found: re.Match[str]) -> Fact | None:
        what = object_of(found["what"])
        if what is None or _AT_HAND.search(what):
            return None
        return _fact("goal", f"{told} {what}", what, bank="Work" if _CAREER.search(what) else "Personal")

    return means


GOALS = (
    _rule(rf"{_I} (?:really )?want to (?P<what>{_AMBITION}.+)", _goal("wants to")),
    _rule(
        rf"[Ii](?:'d| would) like to (?P<what>{_AMBITION}.+(?:someday|one day|eventually).*)", _goal("would like to")
    ),
    _rule(rf"(?:[Ss]omeday|[Oo]ne day|[Ee]ventually),? I want to {_WHAT}", _goal("wants to")),
    _rule(rf"(?:{_IM} (?:planning|hoping)|{_I} (?:hope|plan)) to (?P<what>{_AMBITION}.+)", _goal("plans to")),
    _rule(rf"{_I} (?:aim|intend) to {_WHAT}", _goal("intends to")),
    _rule(rf"{_IVE} decided to (?P<what>{_AMBITION}.+)", _goal("has decided to")),
    _rule(rf"(?:[Mm]y|[Oo]ur) (?:\w+ )?(?:goal|dream|ambition|aim) is to {_WHAT}", _goal("has the goal to")),
    _rule(rf"{_I} dream of {_WHAT}", _goal("dreams of")),
    _rule(rf"{_IM}{_NOW} trying to (?P<what>{_AMBITION}.+)", _goal("is trying to")),
    _rule(rf"{_IM}{_NOW} learning (?P<what>(?!about the|from|a lot).+)", _goal("is learning")),
    _rule(rf"{_IM}{_NOW} training (?P<what>(?:for|to be|to become|as) .+)", _goal("is training")),
    _rule(rf"{_IM}{_NOW} saving(?: up)?(?: money)? (?P<what>(?:for|to) .+)", _goal("is saving")),
    _rule(rf"{_IM}{_NOW} preparing (?P<what>for .+)", _goal("is preparing")),
    _rule(rf"{_IM}{_NOW} working (?P<what>towards? .+)", _goal("is working")),
)

_NUMBER = r"(?:\d{1,3}|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?"
_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mum|mom|father|dad|sister|brother|daughter|son"
    r"|kid"
    r"|child|cousin|aunt|uncle|niece|nephew|grandmother|grandfather|best friend|dog|cat|puppy|kitten|horse|parrot"
    r"|rabbit"
    r"|hamster)"
)


def _kin(found: re.Match[str]) -> Fact:
    rest = of_them(found["rest"].strip(" .!"))
    return _fact("family", f"'s {found['who']} {found['name']} {rest}", found["who"])


def _kin_name(found: re.Match[str]) -> Fact:
    return _fact("family", f"'s {found['who']} is called {found['name'].rstrip('.')}", found["who"])


def _aged(verb: str) -> Meaning:
    return lambda found: _fact("age", f"{verb} {found['age']}", importance=5)


PEOPLE = (
    _rule(rf"{_IM} (?P<age>{_NUMBER} years old)", _aged("is")),
    _rule(
        rf"(?:{_I}|{_IVE})(?: just)? turned (?P<age>{_NUMBER})(?= |\W*$)(?! (?:it|the|off|on|percent))", _aged("turned")
    ),
    _rule(
        rf"{_I} have (?P<what>(?:an?|one|two|three|four|five) (?:\w+ )?{_KIN}(?:s|ren)?\b.*)", _telling("family", "has")
    ),
    _rule(rf"[Mm]y (?P<who>{_KIN})(?:'s name is|(?: is|'s) (?:called|named)) {_NAME}", _kin_name),
    _rule(rf"[Mm]y (?P<who>{_KIN}) {_NAME} (?P<rest>(?:lives|works|is|studies|teaches) .+)", _kin),
    _rule(rf"{_I} speak (?P<what>(?:fluent )?{_CAPITAL}\w+.*)", _telling("language", "speaks")),
    _rule(rf"{_IM} married to (?P<what>(?:an? |{_CAPITAL}).+)", _telling("family", "is married to")),
)

RULES: tuple[Rule, ...] = (*NAMES, *PLACES, *PREFERENCES, *GOALS, *PEOPLE, *JOBS)


def facts_in(text: str, source: int = 0) -> list[Fact]:
    """What a human message says of its author, each thing once."""
    found: dict[str, Fact] = {}
    for clause in clauses_of(text):
        rules: Sequence[Rule] = (*RULES, INTRODUCTION) if clause.greets else RULES
        fact = _first(rules, clause.text) or (_ordered(clause) if clause.ordered else None)
        if fact is not None:
            found.pop(fact.text, None)
            found[fact.text] = replace(fact, sources=(source,), corrects=clause.corrects)
    return list(found.values())


def _ordered(clause: Clause) -> Fact | None:
    """What the user said to remember and no pattern knows; what nobody could understand later is a guess."""
    if len(clause.text.split()) < 2:
        return None
    return Fact(retold(clause.text), bank=None, confidence=2 if is_unclear(clause.text) else 5)


def _first(rules: Sequence[Rule], text: str) -> Fact | None:
    for rule in rules:
        match = rule.pattern.match(text)
        fact = rule.means(match) if match else None
        if fact is not None:
            return fact
    return None
