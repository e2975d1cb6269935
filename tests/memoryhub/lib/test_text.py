"""Terms, fingerprints, units and excerpts, for the texts people and machines really write."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.lib.text import content_fingerprint, excerpt, split_units, tokenize

LONG = 100_000


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Deploys were DEPLOYED", ["deploy", "deploy"]),
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("memory_index", ["memory_index", "memori", "index"]),
        ("blue-green", ["blue-green", "blue", "green"]),
        ("services.writing", ["services.writing", "servic", "write"]),
        ("v1.2", ["v1.2", "v1", "v", "1", "2", "1.2"]),
        ("sha256", ["sha256", "sha", "256"]),
        ("anna@example.com", ["anna@example.com", "anna", "example.com", "exampl", "com"]),
        (
            "https://hub.example/a1/list?page=2",
            [
                "https://hub.example/a1/list?page=2",
                "https",
                "hub.example",
                "hub",
                "exampl",
                "a1",
                "1",
                "list",
                "page",
                "2",
            ],
        ),
        ("/etc/nginx.conf", ["etc/nginx.conf", "etc", "nginx.conf", "nginx", "conf"]),
        ("C++ or C#", ["c++", "c", "c#", "c"]),
        ("Anna's", ["anna"]),
        ("Anna’s", ["anna"]),
        ("R Go AI 7 x", ["r", "go", "ai", "7", "x"]),
        ("the of and it is", []),
        ("I don't", []),
        ("Straße ＡＢＣ", ["strass", "abc"]),
        ("mem\u00adory", ["memori"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("👍 ship", ["👍", "ship"]),
        ("", []),
        ("... --- !!!", []),
    ],
)
def test_terms_of(text: str, terms: list[str]):
    """SRC-19, SRC-20: identifiers whole and in parts, short tokens kept, stop words gone, English stemmed."""
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("text", "indexed", "asked"),
    [
        ("京", ["京"], ["京"]),
        ("東京", ["東", "京", "東京"], ["東京"]),
        (
            "東京タワー",
            ["東", "京", "タ", "ワ", "ー", "東京", "京タ", "タワ", "ワー"],
            ["東京", "京タ", "タワ", "ワー"],
        ),
        ("서버 A", ["서", "버", "서버"], ["서버"]),
        ("PostgreSQL数据库", ["postgresql", "postgr", "sql", "数", "据", "库", "数据", "据库"], None),
        ("ไทย", ["ไ", "ท", "ย", "ไท", "ทย"], ["ไท", "ทย"]),
    ],
)
def test_unspaced_scripts_become_characters_and_pairs(text: str, indexed: list[str], asked: list[str] | None):
    """SRC-19: a one-character question finds its character, a longer one asks for pairs only."""
    assert tokenize(text) == indexed
    if asked is not None:
        assert tokenize(text, query=True) == asked
    assert set(tokenize(text, query=True)) <= set(tokenize(text))


@given(st.text(max_size=200))
def test_a_question_never_asks_for_a_term_its_own_text_lacks(text: str):
    assert set(tokenize(text, query=True)) <= set(tokenize(text))


@given(st.text(max_size=200))
def test_terms_do_not_depend_on_surroundings(text: str):
    assert tokenize(f"  {text}\n") == tokenize(text)


def test_threads_get_the_same_terms():
    """A Snowball stemmer is not thread-safe; each thread has its own."""
    words = [f"running{i} libraries{i} generational" for i in range(400)]
    expected = [tokenize(word) for word in words]
    found: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: found.append([tokenize(word) for word in words])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


HOSTILE = [
    "a" * LONG, "ab " * (LONG // 3), "a.b/" * (LONG // 4), "." * LONG, "'" * LONG, "a'" * (LONG // 2), ":" * LONG,
    ".)" * (LONG // 2), "東" * LONG, "\u0301" * LONG, "\n" * LONG, " " * LONG, "x" + ":" * LONG, "a1" * (LONG // 2),
    "é" + "." * LONG, "\u200d" * LONG, "aB" * (LONG // 2), "-" * LONG + "x",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:4]))
def test_no_text_takes_long(text: str):
    """A pattern that backtracks needs minutes for these; ours need milliseconds."""
    began = time.process_time()
    tokenize(text)
    units = split_units(text)
    content_fingerprint(text)
    excerpt(text)
    assert time.process_time() - began < 2
    assert all(len(unit) <= 900 for unit in units)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna likes tea.", "anna  likes\ntea"),
        ("Ship it!!!", "ship it"),
        ("Ｆｕｌｌ　width", "full width"),
        ("Straße", "STRASSE"),
        (" padded \t", "padded"),
        ("Done . !", "done"),
    ],
)
def test_fingerprints_that_are_equal(one: str, other: str):
    """DUP-21: NFKC, casefold, white space collapsed, closing . and ! removed."""
    assert content_fingerprint(one) == content_fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("API is /v1/users", "API is /v2/users"),
        ("likes tea", "likes tea?"),
        ("costs 10", "costs 1.0"),
        ("!!!", "..."),
        ("resume", "résumé"),
    ],
)
def test_fingerprints_that_differ(one: str, other: str):
    assert content_fingerprint(one) != content_fingerprint(other)


@given(st.text(max_size=100))
def test_a_fingerprint_is_its_own_fingerprint(text: str):
    assert content_fingerprint(content_fingerprint(text)) == content_fingerprint(text)


def test_units_end_at_sentences():
    sentence = "The backup of the staging database ran for eleven minutes. "
    units = split_units(sentence * 40)
    assert len(units) == 3
    assert all(unit.endswith("minutes.") and len(unit) <= 900 for unit in units)


@pytest.mark.parametrize("text", ["short", "", "x" * 900])
def test_a_short_text_is_one_unit_as_it_is(text: str):
    assert split_units(text) == [text]


def test_units_break_at_spaces_when_there_is_no_sentence():
    units = split_units("word " * 500)
    assert all(unit.split() == ["word"] * len(unit.split()) for unit in units)


@given(st.text(alphabet="ab .。!\n?東", max_size=400), st.integers(5, 60))
def test_units_lose_nothing_but_white_space(text: str, limit: int):
    units = split_units(text, limit)
    assert all(len(unit) <= limit for unit in units)
    assert "".join("".join(units).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("fits", "fits"),
        ("two\n\nlines ", "two lines"),
        ("alpha beta gamma delta", "alpha beta gamma…"),
        ("x" * 30, "x" * 19 + "…"),
        ("a sentence, which goes on", "a sentence, which…"),
    ],
)
def test_excerpt(text: str, short: str):
    """SRC-09: the summary of a compact answer."""
    assert excerpt(text, 20) == short


@given(st.text(max_size=600))
def test_an_excerpt_fits_and_is_one_line(text: str):
    short = excerpt(text)
    assert len(short) <= 200
    assert "\n" not in short
