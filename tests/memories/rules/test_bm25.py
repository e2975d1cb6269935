"""The reference scorer, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from memories.rules.bm25 import bm25, corpus_of, idf, term_weight

DOCUMENTS = [{"tea": 2, "anna": 1}, {"coffee": 1, "anna": 1, "desk": 2}, {"rack": 1}]
LENGTHS = [3, 4, 1]
CORPUS = corpus_of(DOCUMENTS, LENGTHS)


def test_statistics():
    assert CORPUS.documents == 3
    assert CORPUS.mean_length == pytest.approx(8 / 3)
    assert CORPUS.holding == {"tea": 1, "anna": 2, "coffee": 1, "desk": 1, "rack": 1}


def test_idf_is_lucenes():
    assert idf(3, 1) == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert idf(3, 3) > 0
    assert idf(0, 0) == 0


def test_one_score_by_hand():
    expected = math.log(1 + 2.5 / 1.5) * 2 / (2 + 0.9 * (0.25 + 0.75 * 3 / (8 / 3)))
    assert bm25(["tea"], DOCUMENTS[0], 3, CORPUS) == pytest.approx(expected)


@pytest.mark.parametrize(("query", "best"), [(["tea"], 0), (["anna", "desk"], 1), (["rack", "anna"], 2)])
def test_the_rare_and_the_short_win(query: list[str], best: int):
    scores = [bm25(query, document, length, CORPUS) for document, length in zip(DOCUMENTS, LENGTHS, strict=True)]
    assert max(range(3), key=scores.__getitem__) == best


def test_no_shared_term_scores_nothing_and_repeats_count_once():
    assert bm25(["beer"], DOCUMENTS[0], 3, CORPUS) == 0
    assert bm25(["tea", "tea"], DOCUMENTS[0], 3, CORPUS) == bm25(["tea"], DOCUMENTS[0], 3, CORPUS)


def test_weight_grows_and_stays_below_one():
    weights = [term_weight(tf, 10, 10.0) for tf in (1, 2, 10, 255)]
    assert weights == sorted(weights)
    assert weights[-1] < 1
    assert term_weight(1, 0, 0.0) > 0
