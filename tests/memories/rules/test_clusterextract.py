"""A summary without a model: what was said, newest claims first, specifics before everything."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from memories.rules.centroid import Vectors
from memories.rules.clusterextract import extracted_summary
from memories.rules.clustersummary import Source


def sources(*texts: str, fact_key: str | None = None) -> list[Source]:
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return [Source(start + dt.timedelta(days=day), text, fact_key) for day, text in enumerate(texts)]


TOMATOES = "Mira watered the tomatoes on the balcony with"


@pytest.mark.parametrize(
    ("texts", "summary"),
    [
        (["The deploy takes 20 minutes.", "The deploy takes 12 minutes."], "The deploy takes 12 minutes."),
        (["Ann likes green tea.", "Ann does not like green tea."], "Ann does not like green tea."),
        (["Ann likes green tea", "Ann likes green tea!"], "Ann likes green tea!"),
        (["The meeting is on Friday.", "The meeting is on Monday."], "The meeting is on Monday."),
        (
            [
                "Kofi drinks dark roast coffee every morning.",
                "Every morning Kofi drinks coffee.",
                "Kofi drinks coffee.",
            ],
            "Kofi drinks dark roast coffee every morning.",
        ),
        (
            [
                f"{TOMATOES} four litres; the soil was dry again.",
                f"{TOMATOES} three litres; the soil was still damp.",
                f"{TOMATOES} five litres after the hot weekend.",
                f"{TOMATOES} four litres and picked the first ripe one.",
                f"{TOMATOES} four litres; two leaves were yellow.",
            ],
            f"{TOMATOES} four litres; the soil was dry again. … three litres; the soil was still damp. "
            "… five litres after the hot weekend. … four litres and picked the first ripe one. "
            "… four litres; two leaves were yellow.",
        ),
    ],
)
def test_the_newer_claim_wins_and_nothing_is_said_twice(texts: list[str], summary: str):
    """CLU-11, CLU-16, GEN-14: a summary is shorter than what it stands for, and loses no number."""
    assert extracted_summary(sources(*texts), None) == summary
    assert len(summary.split()) <= 0.75 * sum(len(text.split()) for text in texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["Ann likes green tea.", "Bob likes green tea."],
        ["Ann lives in Oslo.", "Ann lives in Bergen."],
        ["The pump was serviced in May.", "The boiler has a leak.", "The chimney was swept by Jon."],
    ],
)
def test_where_every_sentence_says_something_else_nothing_would_be_saved(texts: list[str]):
    """CLU-18: glued together they would be no summary, so there is none."""
    assert extracted_summary(sources(*texts), None) is None


def test_an_opening_is_left_out_only_after_the_one_it_repeats():
    """ "…" stands for one opening at a time, always the last one that is written out."""
    garden, cellar = "In the garden behind the house", "In the cellar under the old mill"
    texts = [f"{garden} Ann grew 3 pears.", f"{cellar} Bob kept 5 wines.", f"{cellar} Bob kept 7 hams."]
    texts += [f"{garden} Cleo saw 9 owls.", f"{garden} Ann mowed the lawn for 2 hours.", f"{garden} Dan hid 4 eggs."]
    assert extracted_summary(sources(*texts), None) == (
        f"{garden} Ann grew 3 pears. {cellar} Bob kept 5 wines. … 7 hams. "
        f"{garden} Cleo saw 9 owls. … Ann mowed the lawn for 2 hours. … Dan hid 4 eggs."
    )


def test_versions_of_one_fact_say_so_themselves():
    texts = ("Ann lives in Oslo.", "Ann lives in Bergen.")
    assert extracted_summary(sources(*texts, fact_key="home"), None) == "Ann lives in Bergen."


def test_specifics_are_kept_when_there_is_no_room_for_everything():
    """Numbers, dates and names come before filling, within fewer than 100 words."""
    words = "long short cold warm quiet noisy bright dark wet dry".split()
    filling = [f"It was a {word} evening, nobody {other}ed a {word}{other} thing." for word in words for other in words]
    telling = "Ann moved to Bergen on 2026-03-01 and pays 900 euros."
    summary = extracted_summary(sources(*filling, telling, *filling), None)
    assert summary is not None
    assert telling in summary
    assert 50 < len(summary.split()) < 100


def test_the_embedder_says_what_is_central():
    def embed(texts: object) -> Vectors:
        return np.array([[1, 0], [1, 0.1], [0, 1]], dtype=np.float32)

    filling = " ".join(["word"] * 45)
    said = sources(f"one {filling}.", f"two {filling} x.", f"three {filling} y z.")
    chosen = extracted_summary(said, embed)
    assert chosen is not None
    assert "three" not in chosen


@pytest.mark.parametrize("texts", [[], ["word " * 150]])
def test_nothing_that_is_short_enough(texts: list[str]):
    """CLU-18: then nothing is summarised."""
    assert extracted_summary(sources(*texts), None) is None
