"""Words as two texts are compared by: what says the same, what says nothing, what turns a sentence round.

English well, other languages by the generic rules of `memories.rules.differences`. Each list is a judgement about one
question: may two memories that differ only in this be one? When in doubt a word is not here.
"""

from __future__ import annotations

from collections.abc import Mapping

NEGATIONS = frozenset(
    "not no never none nobody nothing nowhere neither nor without hardly barely scarcely rarely seldom "
    "nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais sans aucun aucune nunca ningún ninguna sin "
    "non mai senza não nem sem niet geen nooit zonder ikke aldri inte aldrig ej nie nigdy bez не нет ни никогда без "
    "δεν μην όχι ποτέ değil hiç yok لا ليس لم לא אין नहीं".split()
)
#: In scripts without spaces a single character negates.
NEGATING_CHARACTERS = frozenset("不没沒無无非未勿莫別别")
NEGATING_ENDINGS = ("ない", "ません", "ぬ", "않", "없", "못", "아니", "ไม่")

NUMBERS: Mapping[str, str] = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    word: str(value)
    for word, value in zip(
        "thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half".split(),
        (30, 40, 50, 60, 70, 80, 90, 100, 1_000, 1_000_000, 1_000_000_000, 12, 0.5),
        strict=True,
    )
}
ORDINALS: Mapping[str, str] = {
    word: f"{value}."
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}
TIMES: Mapping[str, str] = {"once": "1×", "twice": "2×", "thrice": "3×"}

MONTHS: Mapping[str, str] = {
    name: f"month {number}"
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
#: Months that are also common words; they are dates only where they are capitalised.
AMBIGUOUS_MONTHS = frozenset({"march", "may"})
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = frozenset(_WEEK) | frozenset(
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekday weekdays weekend weekends today tomorrow "
    "yesterday tonight noon midnight morning mornings afternoon afternoons evening evenings night nights spring summer "
    "autumn winter hourly daily weekly monthly quarterly yearly annually".split()
)

#: Words without which a sentence says the same. Degree ("very", "too"), hedges ("about", "almost") and what adds
#: ("also") or narrows ("only", "just") are statements and not here.
LIGHT = frozenset("really truly actually certainly definitely indeed please currently presently".split())
#: Words that may be missing, but not be exchanged: "a boss" is not "the boss", "the fish is" not "the fish are".
FILLERS = frozenset("a an the is are am be do does of".split())
ARTICLES: Mapping[str, str] = {"an": "a"}
#: What these say before a date, the date says: "on Mondays".
BEFORE_DATES = frozenset("on in at".split())
#: Beginnings of a part of a sentence that may stand at either end of it.
ADVERBIALS = frozenset("in on at for with during since until when while if because from".split())
#: Negated helpers that are not their positive form and "n't": "can't" is not "won't".
AUXILIARIES: Mapping[str, str] = {
    "cannot": "can",
    "cant": "can",
    "can't": "can",
    "won't": "will",
    "wont": "will",
    "shan't": "must",
    "mustn't": "must",
}

_SAME = """
like enjoy love adore fond
dislike hate detest loathe
favourite favorite prefer preferred
use utilise utilize
live reside dwell
job occupation profession
buy purchase
begin start commence
large big
small little
child kid
children kids
car automobile
phone telephone
photo picture photograph
company firm
database db
repository repo
documentation docs
configuration config
doctor physician
email e-mail
film movie
holiday vacation
flat apartment
shop store
mother mom mum
father dad
grandmother grandma
grandfather grandpa
bicycle bike
tv television
fridge refrigerator
quick fast rapid
finish complete
fix repair mend
choose select pick
help assist
try attempt
reply respond answer
need require
want wish
speak talk
own possess
can able
must shall
each every
yearly annually
nightly nights
weekend weekends
weekday weekdays
approximately roughly
colleague coworker
error bug
salary wage
colour color
centre center
organise organize
programme program
grey gray
learn study
maths mathematics math
ill sick
happy glad
sad unhappy
rich wealthy
clever smart intelligent
beautiful pretty
noisy loud
nearly almost
until till
bought purchased
easy simple
receive get
provide supply
inform notify
show display
allow permit
forbid prohibit
gather collect
arrive reach
depart leave
located situated
afraid scared
"""


def _forms(word: str) -> tuple[str, ...]:
    """The word and its regular forms (-s, -ed, -ing), as English spells them."""
    if word.endswith("e"):
        return word, f"{word}s", f"{word}d", f"{word[:-1]}ing"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word, f"{word[:-1]}ies", f"{word[:-1]}ied", f"{word}ing"
    return word, f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s", f"{word}ed", f"{word}ing"


#: Word → the same form of the first of those that say the same: a form is kept, because "worked" is not "works".
SAME_AS: Mapping[str, str] = {
    form: leader
    for line in _SAME.strip().splitlines()
    for word in line.split()
    for form, leader in zip(_forms(word), _forms(line.split()[0]), strict=True)
}

#: Several words that are one, written together before anything else.
PHRASES: Mapping[str, str] = {
    "every day": "daily",
    "each day": "daily",
    "every week": "weekly",
    "each week": "weekly",
    "once a week": "weekly",
    "every month": "monthly",
    "each month": "monthly",
    "once a month": "monthly",
    "every year": "yearly",
    "each year": "yearly",
    "once a year": "yearly",
    "every morning": "mornings",
    "each morning": "mornings",
    "every evening": "evenings",
    "each evening": "evenings",
    "every night": "nights",
    "each night": "nights",
    "has to": "must",
    "have to": "must",
    "had to": "must",
    "is able to": "can",
    "are able to": "can",
    "at the moment": "",
    "these days": "",
    "a lot of": "many",
    "lots of": "many",
    "plenty of": "many",
    "no longer": "not anymore",
    "any more": "anymore",
    "a few": "several",
    "a little": "slightly",
    "fond of": "like",
    "in order to": "to",
    "due to": "because of",
    "e mail": "email",
    "makes use of": "uses",
    "make use of": "use",
    "a dozen": "12",
    "half an hour": "30 minutes",
    "a quarter of an hour": "15 minutes",
    "an hour": "1 hour",
    "a week": "1 week",
    "a fortnight": "2 weeks",
    "per cent": "percent",
} | {f"{each} {day}": f"{day}s" for each in ("every", "each") for day in _WEEK}

#: How sentences about somebody begin; at a sentence's start these are no names though capitalised.
OPENERS = frozenset(
    "user prefers likes loves enjoys hates dislikes uses works lives has is was wants needs owns plays speaks drinks "
    "eats remember remembers never always please note reminder learned knows believes thinks plans runs goes works "
    "studies reads writes keeps takes gets gives makes does can cannot will should must may might every each all some "
    "most many both several few this that these those there here when while after before during since until because "
    "although if unless only also currently usually often sometimes rarely today yesterday tomorrow our their his her "
    "its my your we they he she it you i the a an in on at by for from with without to of and but or not no don't "
    "doesn't isn't aren't use avoid keep make do set run call ask send check write read open close start stop book "
    "meeting deployment backups backup server project team customers customer staff production staging builds tests "
    "releases release deploys deploy password passwords wifi dinner lunch breakfast favourite favorite allergic "
    "vegetarian married born moved started stopped finished bought sold paid rent salary budget invoices invoice "
    "grandmother grandfather mother father sister brother wife husband son daughter dog cat car flat house office "
    "bedtime alarm doctor dentist flight train parking trash rubbish garbage".split()
)
