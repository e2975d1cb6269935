"""Memories on pages of those who know nothing of memories: the command palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from memories.rules.filters import SearchMode, SearchQuery
from memories.search.recall import search_memories
from memoryhub.lib.errors import HubError

if TYPE_CHECKING:
    from django.template import Context

    from memories.models import Memory

register = template.Library()

FOUND_AT_MOST = 8


@register.simple_tag(takes_context=True)
def found_memories(context: Context, question: str, is_typing: bool) -> list[Memory]:
    """The memories that answer ``question``, best first: by words while somebody types, then by meaning too.

    None where the question cannot be asked: the palette's other lines work all the same.
    """
    if not question:
        return []
    mode = SearchMode.KEYWORD if is_typing else SearchMode.HYBRID
    try:
        query = SearchQuery.parse({"query": question, "mode": mode, "top_k": FOUND_AT_MOST})
        return [hit.memory for hit in search_memories(context["request"].access, query).hits]
    except HubError:
        return []
