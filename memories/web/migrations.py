"""The ledger of what changed the store (MIG-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.search.history import list_migrations
from memories.web.rows import State
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.web.requests import HubRequest

STATES = {
    "running": State("Running", "loader-circle", "note"),
    "done": State("Done", "circle-check", "ok"),
    "failed": State("Failed", "triangle-alert", "bad"),
}


def migrations(request: HubRequest) -> HttpResponse:
    """Schema and data migrations, newest first."""
    rows = [{"record": record, "state": STATES[record.state]} for record in list_migrations(request.access)]
    return answer_page(request, "memories/migrations.html", {"rows": rows})
