"""``bench import`` on a tiny file: the command, a worker beside it, a kill in the middle; the numbers mean nothing."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from memories.management.bench.importing import export_lines, measure_import


def test_the_file_repeats_itself_as_files_do():
    *memories, trailer = (json.loads(line) for line in [*export_lines(400, 1)][1:])
    texts = [one["content"] for one in memories]
    assert trailer["kind"] == "trailer" and len({one["id"] for one in memories}) == 400
    assert 370 < len(set(texts)) < 399
    assert [*export_lines(20, 1)] == [*export_lines(20, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("kill", [False, True], ids=["undisturbed", "killed"])
def test_a_file_comes_in_once(kill: bool):
    """A worker runs beside it; killed halfway and begun again, nothing is lost and nothing is there twice."""
    told = measure_import(1_600 if kill else 300, 1, Console(file=io.StringIO()), kill=kill)
    assert "importing:" in told and " new" in told
    assert ("were killed" in told) == kill
