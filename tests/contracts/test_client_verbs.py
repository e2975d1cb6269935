"""What REST can do, the Python client can do, under the same name; and the other way round."""

from __future__ import annotations

from memoryhub.client.methods import Methods
from memoryhub.client.verbs import Verb
from tests import described

#: Verbs of the client that are an operation under another name, and why.
UNDER_ANOTHER_NAME = {"erase_memory": "delete_memory with erase=true, which no caller should reach by a slip"}
#: Operations that the client leaves out, and why.
LEFT_OUT: dict[str, str] = {}


def test_every_operation_is_a_verb_of_the_client_and_every_verb_an_operation():
    verbs = {name for name, what in vars(Methods).items() if isinstance(what, Verb)}
    operations = set(described.operations())
    assert operations - verbs == set(LEFT_OUT)
    assert verbs - operations == set(UNDER_ANOTHER_NAME)
