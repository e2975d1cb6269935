"""Which stage stopped a memory, from the evidence alone."""

from __future__ import annotations

import pytest

from memories.rules.absence import Evidence, LegEvidence, Stage, verdict

WORDS = LegEvidence(3.0, 4, 100)
NO_WORDS = LegEvidence(None, None, 100)
FAR = LegEvidence(0.31, None, 100, 0.4)
NEAR = LegEvidence(0.62, 3, 100, 0.4)
DEEP = LegEvidence(0.62, 240, 100, 0.4)

TABLE: list[tuple[Stage, str, Evidence]] = [
    (Stage.NOT_YET_WRITTEN, "not been written", Evidence(failed=("as_of", "type"))),
    (Stage.DRAFT, "accept", Evidence(failed=("status",), status="draft")),
    (Stage.DISCARDED, "review", Evidence(failed=("status", "archived"), status="discard", is_archived=True)),
    (Stage.FILTER, "status", Evidence(failed=("status",))),
    (Stage.SUPERSEDED, "newer", Evidence(failed=("archived",), is_archived=True, is_superseded=True)),
    (Stage.ARCHIVED, "include_archived", Evidence(failed=("archived", "bank"), is_archived=True)),
    (Stage.EXPIRED, "expired", Evidence(failed=("archived",))),
    (Stage.MIN_TRUST, "trusted less", Evidence(failed=("bank", "min_trust"))),
    (Stage.FILTER, "bank, q (the words and conditions)", Evidence(failed=("bank", "q"))),
    (Stage.IN_ANSWER, "place 3", Evidence(rank=4, place=3, legs={"keyword": WORDS})),
    (Stage.UNREADABLE, "cannot be opened", Evidence(rank=1, total=2, is_readable=False)),
    (Stage.OUTSIDE_TOP_K, "57 of 140; the answer holds the first 10", Evidence(rank=57, total=140)),
    (Stage.TOKEN_BUDGET, "into 300 tokens", Evidence(rank=4, total=140, max_tokens=300)),
    (Stage.BELOW_THRESHOLD, "0.31 < 0.40", Evidence(legs={"keyword": NO_WORDS, "semantic": FAR})),
    (Stage.NOT_A_CANDIDATE, "number 240 by its meaning", Evidence(legs={"keyword": NO_WORDS, "semantic": DEEP})),
    (
        Stage.NOT_A_CANDIDATE,
        "too far down by its words; only the first 100",
        Evidence(legs={"keyword": LegEvidence(0.1, None, 100), "semantic": FAR}),
    ),
    (Stage.NOTHING_SPEAKS_FOR_IT, "nothing", Evidence(legs={"semantic": NEAR})),
    (
        Stage.NOT_INDEXED,
        "not been indexed",
        Evidence(index_state="pending", legs={"keyword": NO_WORDS, "semantic": LegEvidence(None, None, 100, 0.4)}),
    ),
    (Stage.NOT_INDEXED, "could not", Evidence(index_state="failed", legs={"keyword": NO_WORDS})),
    (Stage.NOT_INDEXED, "neither", Evidence()),
    (Stage.NO_COMMON_WORD, "no word", Evidence(index_state="off", legs={"keyword": NO_WORDS})),
]


@pytest.mark.parametrize(("stage", "said", "known"), TABLE, ids=[f"{n}-{row[0]}" for n, row in enumerate(TABLE)])
def test_the_first_stage_that_stopped_it(stage, said, known):
    """DESIGN §5."""
    found = verdict(known)
    assert found.stage is stage
    assert said in found.reason


def test_every_stage_has_a_case():
    assert {stage for stage, _, _ in TABLE} == set(Stage)
