"""Synthetic memories, the same every time, varied enough for search and deduplication to behave as on real ones.

Words follow Zipf's law, as in any language: a few are everywhere, most are rare. Memory number n depends only on the
seed and n, so a vault can be filled in pieces and queries can be made for memories already written.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

PEOPLE = (
    "Amara Beatrix Caspian Dilara Edvard Farida Gustav Hana Idris Jolanta Kenji Leocadia Matteo Nadia Oskar Priya "
    "Quentin Rosalind Soren Tamsin Ulrich Valeria Wendell Ximena Yusuf Zora Anselm Brigid Cosima Dorian Esme Fabian"
).split()

TOPICS: dict[str, str] = {
    "General": "reminder note password window parcel receipt umbrella battery neighbour printer kitchen garden bicycle "
    "lamp ticket camera suitcase mirror blanket candle drawer shelf envelope ladder curtain",
    "Personal": "passport birthday address apartment landlord insurance haircut signature childhood nickname hometown "
    "language accent handwriting glasses shoes jacket allergy morning breakfast sleep habit diary promise worry",
    "Work": "deadline invoice contract deployment database migration standup budget customer roadmap prototype "
    "server release review pipeline quarterly presentation supplier warehouse onboarding payroll compliance backlog",
    "Relationships": "sister cousin wedding anniversary dinner visit quarrel apology godmother roommate colleague "
    "mentor reunion letter phonecall gift toddler engagement farewell invitation grandmother friendship advice hug",
    "Health": "appointment dentist prescription vitamin headache allergy exercise running blood pressure knee "
    "physiotherapy vaccination diet sodium asthma inhaler surgery recovery weight pulse migraine optician",
    "Interests": "chess guitar pottery astronomy telescope sourdough hiking climbing orchid photography vinyl opera "
    "novel poetry knitting origami sailing birdwatching watercolour typography synthesizer crossword gardening",
    "Events": "concert conference flight train festival exhibition workshop hackathon parade eclipse premiere auction "
    "lecture marathon regatta election storm blackout harvest graduation ceremony picnic tournament carnival strike",
}

OPENINGS = (
    "{person} said that the {topic} for the {rare} {verb} {when}",
    "Prefers a {topic} with {rare} over anything {common} since {when}",
    "The {topic} {code} {verb} because {person} asked for {count} more {rare}",
    "Remember: {topic} at {place} on {when}, bring {count} {rare} and ask {person}",
    "Never book a {topic} before {hour}; {person} needs the {common} {rare} first",
    "{person} and {other} talked about the {common} {topic}, then about {rare} in {place}",
    "Account {code} covers the {topic}; the {rare} costs {price} a month",
    "Learned that {rare} needs {count} {topic} to stay {common}, as {person} showed {when}",
)
ADDITIONS = (
    "It {verb} again when {other} mentioned the {rare} and the {rare2}.",
    "The {common} part is the {rare2}, about {count} of them.",
    "{other} disagrees and would rather keep the {rare2} for {place}.",
    "See {code2} for the {topic2} and everything {common}.",
    "Follow up with {person} before {when2}.",
    "This replaced the {rare2} from {place2}, which {verb} for {count2} weeks.",
)
VERBS = (
    "moved changed failed arrived started doubled stopped improved slipped returned expired worked broke closed".split()
)
COMMON = (
    "new old big small important quiet early late cheap green usual strange private shared broken final open".split()
)
SYLLABLES = (
    "ba be bri co cra da del do el fa fen ga gri ha hol in ja ka kel lo lun ma mer na nor o pa pel qui ra ros".split()
)
ENDINGS = "ben dor fax gin ham kit lan mond nest pol rik sen ton vale wick yard zel".split()

TYPES = ("fact", "preference", "episodic", "task", "skill", "constraint", "correction")
TYPE_WEIGHTS = (45, 20, 18, 8, 4, 3, 2)
SOURCES = ("user_stated", "agent_inferred", "tool_output", "import")
LEXICON = 20_000
SAMPLE = 2_000
DAYS = 730
LAST_DAY = dt.datetime(2026, 6, 30, tzinfo=dt.UTC)


def session_of(number: int) -> str:
    """The conversation memory ``number`` belongs to; twenty-five follow each other in one."""
    return f"session-{number // 25}"


@dataclass(frozen=True)
class Author:
    """Writes synthetic memories and questions about them; equal seeds write equal texts."""

    seed: int = 1
    lexicon: tuple[str, ...] = field(init=False, repr=False)
    zipf: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        dice = random.Random(self.seed)
        coined: dict[str, None] = {}
        while len(coined) < LEXICON:
            body = "".join(dice.choices(SYLLABLES, k=dice.choice((1, 2, 2, 3))))
            coined[body + dice.choice(ENDINGS)] = None
        object.__setattr__(self, "lexicon", tuple(coined))
        object.__setattr__(self, "zipf", tuple(accumulate(1 / (rank + 3) for rank in range(LEXICON))))

    def memory(self, number: int) -> dict[str, Any]:
        """The body of POST /memories for memory ``number``, about 250 characters long."""
        dice = random.Random(f"{self.seed}:{number}")
        bank = dice.choices(tuple(TOPICS), weights=(10, 14, 30, 12, 10, 14, 10))[0]
        content, entities = self._text(dice, bank)
        return {
            "content": content,
            "type": dice.choices(TYPES, weights=TYPE_WEIGHTS)[0],
            "bank": bank,
            "importance": dice.choices((1, 2, 3, 4, 5), weights=(8, 20, 44, 20, 8))[0],
            "confidence": dice.choices((2, 3, 4, 5), weights=(10, 50, 30, 10))[0],
            "entities": entities,
            "tags": sorted({bank.lower(), dice.choice(COMMON)}),
            "user_id": f"user-{min(dice.randrange(20), dice.randrange(20)):02}",
            "session_id": session_of(number),
            "source_kind": dice.choice(SOURCES),
            "created_at": (LAST_DAY - dt.timedelta(minutes=dice.randrange(DAYS * 1440))).isoformat(),
        }

    def question(self, number: int) -> str:
        """A few words somebody looking for memory ``number`` would type."""
        words = [word.strip(".,:;") for word in str(self.memory(number)["content"]).split()]
        telling = [word for word in words if len(word) > 5]
        dice = random.Random(f"{self.seed}:question:{number}")
        return " ".join(dice.sample(telling, k=min(len(telling), dice.randint(3, 6))))

    def commonest(self, count: int) -> list[str]:
        """The words that are in the most memories, the most frequent first."""
        held: Counter[str] = Counter()
        for number in range(SAMPLE):
            held.update({word.strip(".,:;").casefold() for word in str(self.memory(number)["content"]).split()})
        return [word for word, _ in held.most_common() if word.isalpha() and len(word) > 2][:count]

    def _text(self, dice: random.Random, bank: str) -> tuple[str, list[str]]:
        slots = self._slots(dice, bank)
        wanted = dice.randint(90, 330)
        text = dice.choice(OPENINGS).format_map(slots) + "."
        while len(text) < wanted:
            again = self._slots(dice, bank) | {"person": slots["person"]}
            text += " " + dice.choice(ADDITIONS).format_map(again)
        return text, [name for name in (slots["person"], slots["other"]) if name in text]

    def _slots(self, dice: random.Random, bank: str) -> dict[str, str]:
        topics = TOPICS[bank].split()
        rare, rare2, place, place2 = dice.choices(self.lexicon, cum_weights=self.zipf, k=4)
        person, other = dice.sample(PEOPLE, k=2)
        return {
            "person": person,
            "other": other,
            "topic": dice.choice(topics),
            "topic2": dice.choice(topics),
            "rare": rare,
            "rare2": rare2,
            "place": place.title(),
            "place2": place2.title(),
            "verb": dice.choice(VERBS),
            "common": dice.choice(COMMON),
            "when": f"{dice.randint(1, 28)}.{dice.randint(1, 12)}.{dice.randint(2019, 2026)}",
            "when2": f"2026-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}",
            "hour": f"{dice.randint(6, 22)}:{dice.choice(('00', '15', '30'))}",
            "count": str(dice.randint(2, 400)),
            "count2": str(dice.randint(2, 60)),
            "price": f"{dice.randint(3, 900)}.{dice.randint(10, 99)} euros",
            "code": f"{rare[:3].upper()}-{dice.randint(100, 99999)}",
            "code2": f"{rare2[:3].upper()}-{dice.randint(100, 99999)}",
        }
