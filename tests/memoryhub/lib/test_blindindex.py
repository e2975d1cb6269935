"""Keyed term hashes: stable, separate per key, and ranking exactly like words."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memories.rules.bm25 import bm25, corpus_of
from memoryhub.lib.blindindex import forget_hashes, hash_query, hash_terms, index_text
from memoryhub.lib.text import tokenize

KEY, OTHER = b"k" * 32, b"o" * 32
TEXTS = [
    "Anna moved the staging database to the new cluster",
    "The database backup runs at night; Anna checks it",
    "Tea, not coffee: Anna's rule",
    "getUserById is deprecated since v1.2",
    "東京のサーバー",
]


def test_a_hash_is_the_head_of_an_hmac_as_signed_64_bit():
    digest = hmac.new(KEY, b"w1tea", hashlib.sha256).digest()[:8]
    assert hash_terms(KEY, ["tea"]) == {int.from_bytes(digest, "big", signed=True): 1}


@given(st.lists(st.text(min_size=1, max_size=12), max_size=20))
def test_hashes_fit_int8(tokens: list[str]):
    assert all(-(2**63) <= term < 2**63 for term in hash_terms(KEY, tokens))


def test_another_vaults_identical_word_has_a_different_token():
    """CON-07, ENC: nothing can be compared across vaults."""
    assert not hash_terms(KEY, tokenize(TEXTS[0])).keys() & hash_terms(OTHER, tokenize(TEXTS[0])).keys()


def test_frequencies_are_counted_and_capped():
    assert list(hash_terms(KEY, ["tea"] * 3).values()) == [3]
    assert list(hash_terms(KEY, ["tea"] * 1000).values()) == [255]
    indexed = index_text(KEY, "tea " * 1000)
    assert (indexed.tfs, indexed.length) == ([255], 1000)


def test_the_row_is_sorted_and_parallel():
    indexed = index_text(KEY, TEXTS[1])
    assert indexed.terms == sorted(indexed.terms)
    assert dict(zip(indexed.terms, indexed.tfs, strict=True)) == hash_terms(KEY, tokenize(TEXTS[1]))
    assert index_text(KEY, "").terms == []


def test_a_question_keeps_its_order_and_repeats_nothing():
    assert hash_query(KEY, "tea coffee tea") == [*hash_terms(KEY, ["tea"]), *hash_terms(KEY, ["coffe"])]
    assert hash_query(KEY, "what is the") == []


def test_forgetting_changes_nothing_but_memory():
    before = index_text(KEY, TEXTS[0])
    forget_hashes()
    assert index_text(KEY, TEXTS[0]) == before


def test_many_keys_and_threads_never_mix():
    keys = [bytes([number]) * 32 for number in range(40)]  # more than are remembered at once
    expected = [index_text(key, TEXTS[1]) for key in keys]
    found: list[list[object]] = []
    threads = [
        threading.Thread(target=lambda: found.append([index_text(key, TEXTS[1]) for key in keys])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_bm25_over_hashes_is_bm25_over_words():
    """CON-07: keyword search over sealed text ranks exactly like over clear text."""
    words = [Counter(tokenize(text)) for text in TEXTS]
    hashes = [hash_terms(KEY, tokenize(text)) for text in TEXTS]
    lengths = [sum(counts.values()) for counts in words]
    clear, blind = corpus_of(words, lengths), corpus_of(hashes, lengths)
    for question in ("Anna database", "getUserById", "tea or coffee", "サーバー", "nothing of the sort"):
        asked, hashed = tokenize(question, query=True), hash_query(KEY, question)
        for index in range(len(TEXTS)):
            assert bm25(asked, words[index], lengths[index], clear) == bm25(
                hashed, hashes[index], lengths[index], blind
            )
