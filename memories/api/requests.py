"""What a request is once the frame has let it in."""

from __future__ import annotations

from django.http import HttpRequest

from banks.access import Access


class ApiRequest(HttpRequest):
    """A request with the Access its key stands for."""

    access: Access
    request_id: str
