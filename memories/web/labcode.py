"""The search of the lab as something to paste: a shell line, a few lines of Python."""

from __future__ import annotations

import json
import shlex
from pprint import pformat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memories.rules.filters import SearchQuery

PATH = "/api/v1/memories/search"


def body_of(query: SearchQuery) -> dict[str, Any]:
    """What to send: everything that was chosen, nothing that is the default anyway."""
    return {**query.model_dump(mode="json", exclude_defaults=True), "explain": True}


def as_curl(hub_url: str, query: SearchQuery) -> str:
    """A shell line; the key stays in the environment."""
    body = json.dumps(body_of(query), ensure_ascii=False)
    return (
        f'curl -s {hub_url}{PATH} \\\n  -H "Authorization: Bearer $MEMORYHUB_KEY" \\\n'
        f'  -H "Content-Type: application/json" \\\n  -d {shlex.quote(body)}'
    )


def as_python(hub_url: str, query: SearchQuery) -> str:
    """A few lines with httpx."""
    body = pformat(body_of(query), sort_dicts=False, width=80).replace("\n", "\n    ")
    return (
        "import os\n\nimport httpx\n\n"
        f'answer = httpx.post(\n    "{hub_url}{PATH}",\n'
        '    headers={"Authorization": f"Bearer {os.environ[\'MEMORYHUB_KEY\']}"},\n'
        f"    json={body},\n)\nanswer.raise_for_status()\n"
        'for hit in answer.json()["results"]:\n    print(round(hit["score"], 3), hit["content"])'
    )
