"""Answers that are read by people: Markdown where it was asked for."""

from __future__ import annotations

from django.http import HttpResponse

from memories.api.requests import ApiRequest

MARKDOWN = "text/markdown"


def wants_markdown(request: ApiRequest, form: str) -> bool:
    """Whether ``?format=md`` or the Accept header asks for it."""
    return form == "md" or (MARKDOWN in request.headers.get("Accept", ""))


def markdown_answer(text: str) -> HttpResponse:
    """The text as a Markdown response."""
    return HttpResponse(text, content_type=f"{MARKDOWN}; charset=utf-8")
