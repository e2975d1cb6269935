"""Summaries made of sentences that were said."""

from __future__ import annotations

import numpy as np

from memories.rules.centroid import central_sentences, sentences_of
from memories.rules.tokens import estimate_tokens


def test_questions_scraps_and_repetitions_are_no_summary():
    texts = ["Is it late? We meet at noon.", "Ok.", "We meet at noon.\nThe red door is open! " + "x" * 500]
    assert sentences_of(texts) == ["We meet at noon.", "The red door is open!"]
    assert sentences_of(["Is it late already?", "Ok."]) == ["Is it late already?"]


def test_the_most_central_in_their_order_within_the_budget():
    sentences = ["Far away it rained.", "The roof leaks badly.", "The roof needs tiles."]
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.866]], np.float32)
    budget = sum(estimate_tokens(one) + 1 for one in sentences[1:])
    assert central_sentences(sentences, budget, lambda _: vectors).split("\n") == sentences[1:]
    assert central_sentences(sentences, 1_000, lambda _: vectors).split("\n") == sentences


def test_near_twins_are_taken_once():
    sentences = ["The roof leaks badly.", "The roof leaks, badly."]
    vectors = np.array([[0.0, 1.0], [0.01, 0.9999]], np.float32)
    assert central_sentences(sentences, 1_000, lambda _: vectors).count("\n") == 0


def test_without_vectors_the_ends_count_most():
    sentences = [f"Sentence number {word}." for word in ("one", "two", "three", "four", "five")]
    assert central_sentences(sentences, 16, None).split("\n") == [sentences[0], sentences[4]]
    assert central_sentences([], 100, None) == ""
