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


@pytest.mark.parametrize(
    ("texts", "summary"),
    [
        (["The deploy takes 20 minutes.", "The deploy takes 12 minutes."], "The deploy takes 12 minutes."),
        (["Ann likes green tea.", "Ann does not like green tea."], "Ann does not like green tea."),
        (["Ann likes green tea.", "Bob likes green tea."], "Ann likes green tea. Bob likes green tea."),
        (["Ann likes green tea", "Ann likes green tea!"], "Ann likes green tea!"),
        (["The meeting is on Friday.", "The meeting is on Monday."], "The meeting is on Monday."),
    ],
)
def test_the_newer_claim_wins_and_nothing_is_said_twice(texts: list[str], summary: str):
    """CLU-11, CLU-16, GEN-14."""
    assert extracted_summary(sources(*texts), None) == summary


def test_versions_of_one_fact_say_so_themselves():
    texts = ("Ann lives in Oslo.", "Ann lives in Bergen.")
    assert extracted_summary(sources(*texts), None) == "Ann lives in Oslo. Ann lives in Bergen."
    assert extracted_summary(sources(*texts, fact_key="home"), None) == "Ann lives in Bergen."


def test_specifics_are_kept_when_there_is_no_room_for_everything():
    """Numbers, dates and names come before filling, within fewer than 100 words."""
    filling = [f"It was one of those long {word} evenings on which nobody said a thing." for word in "abcdefgh"]
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
