"""A name says what is inside, and a test is found by the path of what it tests."""

from __future__ import annotations

import ast
from pathlib import Path, PurePath

from tests.contracts import laws
from tests.contracts.tree import ROOT, named, offences, parsed, python_files, source_files

PROMISES = {"contracts", "promises", "e2e", "benchmarks"}
"""Folders of tests that hold a promise of the whole hub and so mirror no single file."""


def mirrored(test: PurePath, root: Path) -> bool:
    """Whether `tests/a/test_b.py` or `tests/a/test_b_some_aspect.py` has an `a/b.py` or an `a/b/` to speak about."""
    inside = test.relative_to("tests")
    if inside.parts[0] in PROMISES:
        return True
    words = inside.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    folder = root / inside.parent
    return any((folder / f"{name}.py").is_file() or (folder / name).is_dir() for name in names)


def test_no_attics():
    assert (
        offences(lambda path: laws.attic_names(PurePath(named(path))), [*source_files(), *python_files("tests")]) == []
    )


def test_tests_mirror_the_source():
    tests = [PurePath(named(path)) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    strays = [str(test) for test in tests if not mirrored(test, ROOT)]
    assert strays == [], f"name each after what it tests, or move it to one of tests/{sorted(PROMISES)}"


def test_every_module_starts_with_what_it_is_for():
    assert offences(lambda path: laws.missing_docstring(parsed(path)), source_files()) == []


def test_the_checkers_see_a_bad_name(tmp_path: Path):
    assert laws.attic_names(PurePath("memories/services/utils.py"))
    assert laws.attic_names(PurePath("memories/helpers/dates.py"))
    assert not laws.attic_names(PurePath("memories/services/writing.py"))

    (tmp_path / "memories" / "services").mkdir(parents=True)
    (tmp_path / "memories" / "services" / "writing.py").touch()
    assert mirrored(PurePath("tests/memories/services/test_writing.py"), tmp_path)
    assert mirrored(PurePath("tests/memories/services/test_writing_dedup.py"), tmp_path)
    assert mirrored(PurePath("tests/memories/test_services.py"), tmp_path)
    assert not mirrored(PurePath("tests/memories/services/test_reading.py"), tmp_path)
    assert not mirrored(PurePath("tests/memories/test_writing.py"), tmp_path)

    assert laws.missing_docstring(ast.parse("import os"))
    assert not laws.missing_docstring(ast.parse('"""What this is for."""\nimport os'))
    assert not laws.missing_docstring(ast.parse(""))
