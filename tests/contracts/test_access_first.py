"""Holding an Access is the permission: every verb takes it first, so none can be called without saying who asks."""

from __future__ import annotations

import ast

import pytest

from tests.contracts import laws
from tests.contracts.tree import ROOT, named, parsed, python_files

ROOMS = ("memories/services", "memories/search", "banks/services")

WITHOUT: dict[str, str] = {
    "banks/services/vaults.py:create_vault": "there is no vault yet to have access to",
    "memories/search/history.py:list_migrations": "the history of the store belongs to no vault",
}
"""Public functions that need no Access, each with the reason."""


def offenders() -> set[str]:
    files = python_files(*ROOMS)
    return {f"{named(path)}:{name}" for path in files for name in laws.access_not_first(parsed(path))}


def test_every_verb_takes_access_first():
    assert sorted(offenders() - WITHOUT.keys()) == []


@pytest.mark.parametrize("entry", WITHOUT)
def test_the_list_of_exceptions_holds_no_dead_entry(entry: str):
    path = ROOT / entry.split(":")[0]
    assert not path.exists() or entry in offenders()


def test_the_checker_sees_a_verb_without_access():
    good = "def read(access: Access, id: UUID) -> Memory: ...\ndef _inner(row): ...\nclass C:\n    def m(self): ..."
    assert laws.access_not_first(ast.parse(good)) == []
    bad = "def read(id: UUID, access: Access): ...\ndef purge(): ...\nasync def find(access): ..."
    assert laws.access_not_first(ast.parse(bad)) == ["read", "purge", "find"]
