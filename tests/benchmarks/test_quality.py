"""How good a ranking is: the metrics by hand, and the bench of recall from end to end on a small file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memories.management.bench.fitting import Sample, climb, judge
from memories.management.bench.quality import interval, score_ranking
from memories.management.commands.bench import Command

TURNS = [
    ("Ada", "Which instrument do you learn?"),
    ("Ben", "The cello, since last spring."),
    ("Ada", "The lighthouse is painted white."),
    ("Ben", "Marmalade belongs on toast."),
]


def test_metrics_by_hand():
    scores = score_ranking(["a", "x", "b", "a", *"cdefghijklmnop"], {"a", "b", "z"})
    assert (scores["recall@5"], scores["recall@10"], scores["mrr"]) == (2 / 3, 2 / 3, 1.0)
    assert scores["ndcg@10"] == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2))
    assert score_ranking([], {"a"}) == dict.fromkeys(scores, 0.0)


def test_an_interval_holds_the_mean():
    low, high = interval([0.0, 1.0] * 50)
    assert 0.3 < low < 0.5 < high < 0.7
    assert interval([0.4] * 10) == pytest.approx((0.4, 0.4))


def test_fitting_finds_the_leg_that_knows():
    shares = {"knows": np.array([0.0, 1.0, 0.0]), "lies": np.array([1.0, 0.0, 0.5])}
    samples = [Sample("file", "one", "kind", np.arange(3) + 1, shares, frozenset({"2"}))] * 3
    weights = climb(samples, {"knows": 0.5, "lies": 1.0})
    assert weights["knows"] > weights["lies"]
    assert judge(samples[0], weights)["mrr"] == 1.0


def test_recall_stands_alone():
    with pytest.raises(CommandError, match="--data"):
        call_command(Command(), "recall")


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.django_db
def test_the_questions_of_a_file_are_asked(tmp_path: Path, together: bool):
    """Every ranker finds the cello; the table says so for every kind of question."""
    file, screen = tmp_path / "talk.json", io.StringIO()
    memories = [
        {"id": f"D1:{n}", "session": 1, "when": f"2024-05-07T09:0{n}:00", "speaker": speaker, "text": text}
        for n, (speaker, text) in enumerate(TURNS)
    ]
    questions = [{"qid": "q1", "question": "What cello does Ben learn?", "category": 1, "evidence": ["D1:1"]}]
    document = {"conversations": [{"id": "talk", "memories": memories, "questions": questions}]}
    file.write_text(json.dumps(document))
    call_command(Command(), "recall", data=[file], together=together, here=True, stdout=screen)
    told = screen.getvalue()
    for ranker in ("term overlap", "BM25 alone", "dense alone", "profile seed", "profile balanced"):
        assert f"talk: {ranker}" in told
    assert told.count("multi-hop") == 5
    assert told.count("100.0 [100.0, 100.0]") > 20
