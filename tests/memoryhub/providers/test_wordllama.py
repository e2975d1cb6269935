"""The embedded default embedder, with its real weights."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading

import numpy as np
import pytest

from memoryhub.providers.base import Embedder
from memoryhub.providers.wordllama import WordLlamaEmbedder


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_it_is_an_embedder(embedder: WordLlamaEmbedder):
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.model, embedder.dimensions, embedder.local) == (
        "wordllama",
        "l2_supercat_256",
        256,
        True,
    )


def test_meaning_is_near_and_the_rest_far(embedder: WordLlamaEmbedder):
    """DUP-23: identical text scores 1.0; similarity is higher when closer."""
    tea, drink, rack = embedder.embed(["Anna likes tea", "Anna prefers tea over coffee", "The rack has ten units"])
    assert tea @ embedder.embed(["Anna likes tea"])[0] == pytest.approx(1.0, abs=1e-6)
    assert tea @ drink > 0.6 > 0.3 > tea @ rack


ODD = [
    "",
    " ",
    "\n\t",
    "\u200b",
    "\x00",
    "\ufffd",
    "👍",
    "日本",
    "e\u0301" * 50,
    "x" * 100_000,
    "a b " * 25_000,
    "\u202e",
]


def test_odd_texts_have_a_direction(embedder: WordLlamaEmbedder):
    vectors = embedder.embed(ODD)
    assert vectors.shape == (len(ODD), 256)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_no_text_no_vector(embedder: WordLlamaEmbedder):
    assert embedder.embed([]).shape == (0, 256)


def test_a_batch_is_its_texts_one_by_one(embedder: WordLlamaEmbedder):
    texts = [f"memory number {number} about {'servers ' * (number % 7)}" for number in range(150)]
    together = embedder.embed(texts)
    assert np.abs(together - np.vstack([embedder.embed([text]) for text in texts])).max() < 1e-6


def test_threads_load_it_once():
    fresh, seen = WordLlamaEmbedder(), []
    threads = [threading.Thread(target=lambda: seen.append(fresh.embed(["tea"]).tobytes())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_it_brings_no_http_client_and_leaves_logging_alone():
    """Nothing can be downloaded: the package's own code, which could, is never imported."""
    code = """
import logging, sys
from memoryhub.providers.wordllama import WordLlamaEmbedder
WordLlamaEmbedder().embed(["x"])
print([name for name in ("wordllama", "requests", "huggingface_hub") if name in sys.modules])
print(logging.getLogger().handlers)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]"]
    assert logging.getLogger("wordllama").level == logging.NOTSET
