"""Small enough to read: no file over 400 lines, no function over 60, no signature over six parameters."""

from __future__ import annotations

import ast

from tests.contracts import laws
from tests.contracts.tree import offences, parsed, python_files, source_files


def test_a_file_fits_in_one_head():
    files = [*source_files(), *python_files("tests", "docs")]
    assert offences(lambda path: laws.overlong_file(path.read_text(encoding="utf-8")), files) == []
    assert offences(lambda path: laws.overlong_functions(parsed(path)), files) == []


def test_a_signature_fits_on_one_line():
    assert offences(lambda path: laws.wide_functions(parsed(path)), source_files()) == []


def test_the_checkers_see_what_is_too_big():
    long_function = "def f():\n" + "    x = 1\n" * laws.MAX_FUNCTION_LINES
    assert laws.overlong_file("x = 1\n" * (laws.MAX_FILE_LINES + 1))
    assert not laws.overlong_file("x = 1\n" * laws.MAX_FILE_LINES)
    assert laws.overlong_functions(ast.parse(long_function))
    assert not laws.overlong_functions(ast.parse(long_function[: -len("    x = 1\n")]))
    assert laws.wide_functions(ast.parse("def f(a, b, c, d, *, e, f, g): ..."))
    assert not laws.wide_functions(ast.parse("class C:\n    def f(self, a, b, c, *, d, e, f): ..."))
