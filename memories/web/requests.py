"""What a view of this room gets: a request with an access."""

from __future__ import annotations

from banks.access import Access
from memoryhub.lib.pages import PageRequest

type HubRequest = PageRequest[Access]
