"""What of a language model's answer is believed (TIE-18, DEF-17, DEF-19)."""

from __future__ import annotations

import pytest

from memories.rules.dreaming import says_as_much

LEEDS, RUNS, BIKE = "Anna lives in Leeds.", "Anna runs 10 km on Mondays.", "Anna owns a bike."


@pytest.mark.parametrize(
    ("text", "sources", "holds"),
    [
        ("Anna resides in Leeds.", [LEEDS], True),
        ("Anna lives in York.", [LEEDS], False),
        ("Anna does not live in Leeds.", [LEEDS], False),
        ("Anna lives in Leeds and owns a bike.", [LEEDS, BIKE], True),
        ("Anna lives in Leeds, runs 10 km on Mondays and owns a bike.", [LEEDS, RUNS, BIKE], True),
        ("Anna lives in Leeds and runs on Mondays.", [LEEDS, RUNS], False),
        ("Anna lives in Leeds and runs 10 km.", [LEEDS, RUNS], False),
        ("Anna lives in Leeds and runs 10 km on Tuesdays.", [LEEDS, RUNS], False),
        ("Anna lives in Leeds with Ben and owns a bike.", [LEEDS, BIKE], False),
        ("Anna never runs, lives in Leeds and owns a bike.", [LEEDS, BIKE], False),
        ("Anna owns no car and lives in Leeds.", ["Anna owns no car.", LEEDS], False),
    ],
)
def test_every_fact_of_the_sources_and_no_other(text: str, sources: list[str], holds: bool):
    """Numbers, dates, names and negations; what only one of them denies cannot be put together."""
    assert says_as_much(text, sources) is holds
