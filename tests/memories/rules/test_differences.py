"""In what two texts differ: anything that could make them two memories is named, plain rewording is not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.management.bench.pairs import Expected, read_pairs
from memories.rules.differences import _CHUNK, differences, merges, read_text, same_subject
from memories.rules.vocabulary import Difference

DIFFERENT = {
    Difference.NUMBER: [
        ("The hub listens on port 8000.", "The hub listens on port 8001."),
        ("Marta has two brothers.", "Marta has three brothers."),
        ("The rent is 1,200 euros.", "The rent is 12,00 euros."),
        ("It is -5 degrees outside.", "It is 5 degrees outside."),
        ("The flat is on the third floor.", "The flat is on the fourth floor."),
        ("Take 5mg a day.", "Take 10mg a day."),
        ("He called once.", "He called twice."),
        ("会议室有 8 个座位", "会议室有 18 个座位"),
        ("Der Tank fasst 50 Liter.", "Der Tank fasst 55 Liter."),
        ("The discount is 10%.", "The discount is 15%."),
    ],
    Difference.DATE: [
        ("The seminar is on 2026-03-04.", "The seminar is on 2026-04-03."),
        ("The flight leaves at 6:40.", "The flight leaves at 7:40."),
        ("The dentist is on Tuesday.", "The dentist is on Thursday."),
        ("The lease ends in June.", "The lease ends in July."),
        ("Call tomorrow.", "Call today."),
        ("The invoice is from 3.4.2025.", "The invoice is from 4.3.2025."),
    ],
    Difference.NEGATION: [
        ("The user eats meat.", "The user does not eat meat."),
        ("The user eats meat.", "The user doesn't eat meat."),
        ("Jonas can swim.", "Jonas cannot swim."),
        ("Coffee with milk.", "Coffee without milk."),
        ("Der Nutzer mag Kaffee.", "Der Nutzer mag keinen Kaffee."),
        ("L'utilisateur mange de la viande.", "L'utilisateur ne mange pas de viande."),
        ("Al usuario le gusta el café.", "Al usuario no le gusta el café."),
        ("用户喜欢咖啡", "用户不喜欢咖啡"),
        ("コーヒーを飲む", "コーヒーを飲まない"),
        ("Пользователь ест мясо.", "Пользователь не ест мясо."),
    ],
    Difference.NAME: [
        ("Alice likes green tea.", "Bob likes green tea."),
        ("The server is in Frankfurt.", "The server is in Helsinki."),
        ("Max Williams signed.", "Max William signed."),
        ("Марина живёт в Москве.", "Марина живёт в Киеве."),
        ("Ada wohnt in Graz.", "Ada wohnt in Linz."),
    ],
    Difference.IDENTIFIER: [
        ("The API is at /v1/users.", "The API is at /v2/users."),
        ("MAX_ROWS limits exports.", "MAX_JOBS limits exports."),
        ("Mail goes to ada@example.org.", "Mail goes to bob@example.org."),
        ("Call readFile first.", "Call readLine first."),
        ("The ticket is HUB-311.", "The ticket is HUB-312."),
        ("Rent costs $900.", "Rent costs €900."),
    ],
    Difference.WORDING: [
        ("The user likes dogs.", "The user likes cats."),
        ("The user likes coffee.", "The user hates coffee."),
        ("Close it before lunch.", "Close it after lunch."),
        ("All tests are flaky.", "Some tests are flaky."),
        ("She was a nurse.", "She is a nurse."),
        ("He likes tea.", "She likes tea."),
        ("The door is open.", "The door is open?"),
        ("用户喜欢咖啡", "用户喜欢红茶"),
    ],
    Difference.ORDER: [
        ("Alice manages Bob.", "Bob manages Alice."),
        ("The user prefers tea over coffee.", "The user prefers coffee over tea."),
        ("The dog chases the cat.", "The cat chases the dog."),
        ("Fly from Oslo to Bergen.", "Fly from Bergen to Oslo."),
        ("Ada likes tea and Bob coffee.", "Ada likes coffee and Bob tea."),
        ("The owner of the dog bit the thief.", "The thief bit the owner of the dog."),
    ],
}
PAIRS = [(kind, *pair) for kind, pairs in DIFFERENT.items() for pair in pairs]
SAME = [
    ("The user likes strong coffee in the morning.", "In the morning, the user likes strong coffee."),
    ("The user likes coffee.", "User really enjoys coffee"),
    ("We have 3 servers.", "We have three servers"),
    ("The budget is 1,200 euros.", "The budget is 1200 euros"),
    ("Deploys run every day.", "Deploys run daily."),
    ("The user doesn't eat meat.", "The user does not eat meat!"),
    ("In Graz, Jonas lives.", "Jonas lives in Graz."),
    ("The user's laptop runs Debian.", "The laptop of the user runs Debian."),
    ("Kofi’s car is red.", "Kofi's car is red."),
    ("用户喜欢咖啡。", "用户喜欢咖啡"),
    ("Our logo is green and white.", "Our logo is white and green."),
    ("The docs of the project are good.", "The project docs are good."),
    ("Omar runs every Monday.", "Omar runs on Mondays."),
    ("Ada can't come.", "Ada cannot come."),
    ("The API returns JSON.", "The api returns json."),
]


@pytest.mark.parametrize("kind, one, other", PAIRS)
def test_what_makes_two_memories_is_named(kind, one, other):
    """CON-08, DEF-17: whichever of the two is the older one."""
    assert kind in differences(one, other)
    assert kind in differences(other, one)


@pytest.mark.parametrize("one, other", SAME)
def test_rewording_is_no_difference(one, other):
    """DUP-14: other words for the same, other order of whole phrases, other spelling of numbers."""
    assert differences(one, other) == frozenset()
    assert differences(other, one) == frozenset()


@pytest.mark.parametrize("text", ["", "…", "?!", "a", "不", "\U0001f600" * 50, "x" * 900, "1" * 900, "A-" * 450])
def test_any_text_is_the_same_as_itself(text):
    """Hostile texts are compared like any other."""
    assert differences(text, text) == frozenset()


RENT = "The rent of Olga's flat is 900 euros."
RAISED = "The rent of Olga's flat is 950 euros since May."


@pytest.mark.parametrize(
    "merged, holds",
    [
        ("The rent of Olga's flat rose from 900 to 950 euros in May.", True),
        ("Since May the rent of Olga's flat is 950 euros, before it was 900 euros.", True),
        (RAISED, False),
        (RENT, False),
        ("The rent of Olga's flat rose from 900 to 950 euros.", False),
        ("The rent of the flat rose from 900 to 950 euros in May.", False),
        ("The rent of Olga's flat rose from 900 to 950 euros in June.", False),
        ("The rent of Olga's flat rose from 900 to 955 euros in May.", False),
        ("The rent of Olga's flat in Linz rose from 900 to 950 euros in May.", False),
        ("The rent of Olga's flat X-17 rose from 900 to 950 euros in May.", False),
        ("The rent of Olga's flat never rose from 900 to 950 euros in May.", False),
        ("merged text", False),
        ("", False),
    ],
)
def test_a_merged_text_holds_what_both_say(merged, holds):
    """DUP-11, CON-08: every number, date, name and identifier of both, and no other."""
    assert merges(merged, RENT, RAISED) is holds
    assert merges(merged, RAISED, RENT) is holds


@pytest.mark.parametrize(
    "merged, one, other, holds",
    [
        ("Does not like tea.", "Likes tea.", "Does not like tea.", False),
        ("Likes tea.", "Likes tea.", "Does not like tea.", False),
        ("Likes tea and does not like tea.", "Likes tea.", "Does not like tea.", False),
        ("Likes tea or coffee.", "Does not like tea.", "Does not like coffee.", False),
        ("Does not like tea or coffee.", "Does not like tea.", "Does not like coffee.", True),
        ("Does not like tea and does not like coffee.", "Does not like tea.", "Does not like coffee.", True),
    ],
)
def test_what_one_denies_is_not_merged(merged, one, other, holds):
    """CON-08: a "not" that only one of them says changes the other."""
    assert merges(merged, one, other) is holds


def test_the_subject_is_the_name_a_text_begins_with():
    """DEF-17: an equal fact key does not make Bob's birthday the next version of Alice's."""
    assert not same_subject("Alice's birthday is on 3 May.", "Bob's birthday is on 4 June.")
    assert same_subject("Alice's birthday is on 3 May.", "Alice's birthday is on 4 June.")
    assert same_subject("The user lives in Oslo.", "The user moved to Bergen.")
    assert same_subject("Lives in Oslo.", "Alice lives in Bergen.")


KEPT = [pair for pair in read_pairs() if pair.label.expected is Expected.KEEP]


@pytest.mark.parametrize("pair", KEPT)
def test_no_labelled_pair_that_is_two_memories_reads_the_same(pair):
    """CON-08: nothing that differs is skipped, whatever the vectors say."""
    assert differences(pair.older, pair.newer)
    assert differences(pair.newer, pair.older)


SYMBOLS = st.characters(categories=["S"]).filter(lambda sign: unicodedata.normalize("NFKC", sign) == sign)


@given(SYMBOLS, SYMBOLS)
def test_every_symbol_counts(one, other):
    """Arrows, currencies, operators and emoji are read like words."""
    assert differences(f"Result {one} here", f"Result {one} here") == frozenset()
    assert differences(f"Result {one} here", "Result here")
    assert (one == other) or differences(f"Result {one} here", f"Result {other} here")


@given(st.text(st.sampled_from(" \n.!?-+'\",=<>#:/0159aAzé不ない👍"), max_size=60))
def test_nothing_of_a_text_is_passed_over(text):
    """Every character that is no space is in exactly one chunk, so no sign can be lost between two."""
    assert "".join("".join(_CHUNK.findall(text)).split()) == "".join(text.split())
    assert differences(text, text) == frozenset()


@pytest.mark.parametrize("unit", ["0.", "a-", ".", "!=", "- ", "'", "1,", "of the a ", "a and ", "0", "don't ", "ない"])
def test_long_texts_are_read_to_their_end(unit):
    """A hundred thousand characters are read in one pass: as much is noted for twice the text, not more."""
    short, long = (read_text("x0." + unit * count + "1") for count in (10_000, 20_000))
    assert len(long.order) <= 2 * len(short.order) + 2


@pytest.mark.parametrize(
    "one, other",
    [("value 0.5", "value 0.500"), ("value 0." + "0" * 100_000 + "1", "value 0." + "0" * 100_000 + "1000")],
)
def test_closing_zeros_say_nothing(one, other):
    """Also after very many: the digits are split once, not searched."""
    assert (differences(one, other) == frozenset()) is (len(other) > 20)
