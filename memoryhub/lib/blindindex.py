"""Keyed term hashes: what the keyword index stores instead of words.

A term becomes the first 64 bits of HMAC-SHA256 under the vault's index key, as the signed integer PostgreSQL's int8
holds. Equal terms are equal within a vault, and say nothing in another one (CON-07). BM25 over these hashes ranks
exactly like BM25 over the words.
"""

from __future__ import annotations

import hmac
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memoryhub.lib.stems import HAS_SNOWBALL
from memoryhub.lib.text import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

if not HAS_SNOWBALL:  # other stems would be other hashes: nothing that is there would be found any more
    raise ImportError("The hub's keyword index needs PyStemmer; run `uv sync`.")

MAX_TERM_FREQUENCY = 255
_PURPOSE = b"w1"  # the version of "tokenize, then hash": a new one means a new index beside the old
_KEYS_AT_ONCE = 16
_TERMS_PER_KEY = 8_192


@dataclass(frozen=True, slots=True)
class IndexedText:
    """One text as the index holds it: distinct term hashes ascending, how often each occurs, and all terms counted."""

    terms: list[int]
    tfs: list[int]
    length: int


@lru_cache(maxsize=_KEYS_AT_ONCE)
def _hasher(key: bytes) -> Callable[[str], int]:
    """The hash under one key, remembering that vault's most recent terms."""

    @lru_cache(maxsize=_TERMS_PER_KEY)
    def hash_term(token: str) -> int:
        digest = hmac.digest(key, _PURPOSE + token.encode("utf-8", "surrogatepass"), "sha256")
        return int.from_bytes(digest[:8], "big", signed=True)

    return hash_term


def forget_hashes() -> None:
    """Drops every remembered key and term, for instance after a vault's key was destroyed."""
    _hasher.cache_clear()


def hash_terms(key: bytes, tokens: Iterable[str]) -> dict[int, int]:
    """Term hash → how often it occurs, at most 255."""
    hash_term = _hasher(key)
    return {hash_term(token): min(count, MAX_TERM_FREQUENCY) for token, count in Counter(tokens).items()}


def hash_mark(key: bytes, mark: str) -> int:
    """The hash of something a text is found by that is none of its words; no text can hold it as a word."""
    return _hasher(key)(f"\0{mark}")


def index_text(key: bytes, text: str, marks: Iterable[str] = ()) -> IndexedText:
    """The row of the keyword index for a text; `length`, in words, is what BM25 calls the document length."""
    tokens = tokenize(text)
    hashed = sorted((hash_terms(key, tokens) | {hash_mark(key, mark): 1 for mark in marks}).items())
    return IndexedText([term for term, _ in hashed], [frequency for _, frequency in hashed], len(tokens))


def hash_query(key: bytes, text: str) -> list[int]:
    """The distinct term hashes of a question, in its order; empty if it holds nothing but stop words."""
    hash_term = _hasher(key)
    return list(dict.fromkeys(hash_term(token) for token in tokenize(text, query=True)))
