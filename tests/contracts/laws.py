"""The laws of the code as small functions: a file's source goes in, its violations come out, one sentence each.

What import-linter can see (which room may import which) is not repeated here; its contract is in pyproject.toml.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
FIRST_PARTY = {"memoryhub", "memories", "banks", "tests"}
ATTICS = {"util", "utils", "helper", "helpers", "common", "misc", "shared", "stuff", "base_utils"}

type Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def overlong_file(source: str) -> list[str]:
    lines = len(source.splitlines())
    return [f"{lines} lines, {MAX_FILE_LINES} are allowed: split it by subject"] if lines > MAX_FILE_LINES else []


def overlong_functions(tree: ast.AST) -> list[str]:
    """Counted from `def` to the last statement, without decorators."""
    lengths = ((each, (each.end_lineno or each.lineno) - each.lineno + 1) for each in functions(tree))
    return [f"{each.name} has {lines} lines" for each, lines in lengths if lines > MAX_FUNCTION_LINES]


def wide_functions(tree: ast.AST) -> list[str]:
    """More than six parameters want to be one object; `self` and `cls` do not count."""
    found = []
    for function in functions(tree):
        signature = function.args
        names = [each.arg for each in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)]
        count = len([name for name in names if name not in {"self", "cls"}])
        if count > MAX_PARAMETERS:
            found.append(f"{function.name} takes {count} parameters")
    return found


def hidden_imports(tree: ast.AST, *, django_app: bool = False) -> list[str]:
    """Imports of our own code inside a function: a layer that was never decided.

    Only `AppConfig.ready` may: Django forbids importing models before it runs.
    """
    found = []
    for function in functions(tree):
        if not (django_app and function.name == "ready"):
            names = (name for node in ast.walk(function) for name in imported_names(node))
            found += [f"{function.name} imports {name}" for name in names if name.split(".")[0] in FIRST_PARTY]
    return found


def imported_names(node: ast.AST) -> list[str]:
    """The modules one statement imports; none when it is no import."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def imported_roots(tree: ast.AST) -> set[str]:
    """The top-level packages a file imports anywhere."""
    return {name.split(".")[0] for node in ast.walk(tree) for name in imported_names(node)}


def attic_names(path: PurePath) -> list[str]:
    parts = {path.stem, *path.parent.parts}
    return [f"“{name}” says nothing about what is inside" for name in sorted(parts & ATTICS)]


def missing_docstring(tree: ast.Module) -> list[str]:
    """A file that holds code opens with a sentence on what it is for."""
    return ["no sentence on top"] if tree.body and ast.get_docstring(tree) is None else []


PROOFS = {"access: Access", "context: WriteContext"}
"""A context holds the Access it was made from."""


def access_not_first(tree: ast.Module) -> list[str]:
    """Public functions of a module whose first parameter does not prove who asks."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            parameters = [ast.unparse(each) for each in (*node.args.posonlyargs, *node.args.args)]
            if not parameters or parameters[0] not in PROOFS:
                found.append(node.name)
    return found


def swallowed_errors(tree: ast.AST) -> list[str]:
    """Handlers of every error there is that do not raise again: failures nobody will ever see."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        broad = node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
        if broad and not any(isinstance(each, ast.Raise) for each in ast.walk(node)):
            found.append(f"line {node.lineno} catches everything and goes on")
    return found


LEAKS = {
    "somebody's own folder": re.compile(r"(?<![\w./:$}-])/(?:home|root|Users|work\w*|mnt|srv)/[\w.-]+"),
    "a private host": re.compile(
        r"https?://(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|[\w.-]+\.(?:corp|intra|lan)\b)"
    ),
    "a registry of its own": re.compile(r"(?:--|extra-|default-)index(?:-url)?[ =]|find-link[s]|trusted-hos[t]"),
    "a ticket number": re.compile(r"\b[Ii]ssue \d+\b"),
    "a page that is not here": re.compile(r"\b(?:DESIGN|PLAN|checklist)\.md\b"),
}


def leaks(text: str) -> list[str]:
    """Traces of the place where the code was written: they mean nothing to whoever clones it."""
    return [f"{what}: {found.group()!r}" for what, pattern in LEAKS.items() for found in pattern.finditer(text)]


def requirement_name(requirement: str) -> str:
    """`psycopg[binary,pool]>=3.3` → `psycopg`."""
    return re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0]


def described_names(markdown: str) -> set[str]:
    """The names in the first column of the page's tables."""
    return set(re.findall(r"^\| `([\w.-]+)` \|", markdown, flags=re.MULTILINE))


def paths_named(markdown: str) -> list[str]:
    """Paths of our own in backticks: `memories/rules/fusion.py: fuse` names the file before the colon."""
    return re.findall(r"`((?:memoryhub|memories|banks|tests|templates)/[\w./]*)", markdown)


def local_links(markdown: str) -> list[str]:
    """Where links and pictures point inside the repository, without their anchors."""
    targets = re.findall(r"""\]\(([^)\s]+)\)|(?:src|srcset)=["']([^"']+)["']""", markdown)
    return [path for link in targets if (path := "".join(link).partition("#")[0]) and "://" not in path]


def table_rows(markdown: str) -> list[list[str]]:
    """The cells of every table row, without the line under the header."""
    rows = re.findall(r"^\|(.+)\|$", markdown, flags=re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows if not set(row) <= set("-|: ")]
