"""Memories as answers; their shape is the same for whoever shows one."""

from __future__ import annotations

from django.http import HttpResponse

from banks.access import Access
from memories.models import Memory
from memories.search.shapes import MemoryOut as MemoryOut
from memories.search.shapes import memories_out as memories_out
from memories.search.shapes import memory_out as memory_out
from memoryhub.lib.answers import json_answer


def memory_answer(access: Access, memory: Memory) -> HttpResponse:
    """One memory with its ETag."""
    return json_answer(memories_out(access, [memory])[0], headers={"ETag": memory.etag})
