"""One memory as programs get it: its JSON and ETag, its vectors, and the lines that fetch it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.core.serializers.json import DjangoJSONEncoder

from memories.search.reading import get_memory
from memories.search.shapes import memories_out
from memories.search.vectors import read_vectors
from memories.web.rows import opened
from memoryhub.lib.ids import short_id
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest


def raw(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """The JSON that GET /api/v1/memories/{id} answers, and what stands behind it."""
    memory = get_memory(request.access, memory_id)
    shown = memories_out(request.access, [memory])[0]
    context = {
        "memory": memory,
        "text": opened(memory),
        "short_id": short_id(memory.pk),
        "json": json.dumps(shown, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2),
        "vectors": read_vectors(request.access, memory),
        "hub_url": request.build_absolute_uri("/").rstrip("/"),
    }
    return answer_page(request, "memories/raw.html", context)
