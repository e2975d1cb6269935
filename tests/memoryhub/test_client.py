"""The package by itself: it needs no Django and little else."""

from __future__ import annotations

import subprocess
import sys

from tests.contracts.tree import ROOT

#: httpx2, pydantic, cryptography and PyStemmer, with what these need.
NEEDED = (
    "annotated_types anyio certifi cffi cryptography h11 httpcore2 httpx2 idna pydantic pydantic_core Stemmer "
    "truststore typing_extensions typing_inspection _cffi_backend"
)
PROGRAM = """
import sys
from importlib.machinery import PathFinder

class Missing:
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path)
        if spec and "site-packages" in str(spec.origin) and name.partition(".")[0] not in allowed:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)

allowed = set(sys.argv[1].split())
sys.meta_path.insert(0, Missing())
import memoryhub.client
for name in memoryhub.client.__all__:
    getattr(memoryhub.client, name)
loaded = {name for name in sys.modules if name.startswith(("memories.", "memoryhub."))}
print(*sorted({".".join(name.split(".")[:2]) for name in loaded}))
"""


def test_it_needs_no_django_and_nothing_else_of_the_server():
    """With every other package away it is imported, and of ours only rules and lib come along."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, NEEDED]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert set(outcome.stdout.split()) <= {"memories.rules", "memoryhub.client", "memoryhub.lib"}
