"""What happens around every request: its id, its open vaults, its faults, its body."""

from __future__ import annotations

from memoryhub.middleware.body import ApiBodyMiddleware
from memoryhub.middleware.context import RequestContextMiddleware

__all__ = ["ApiBodyMiddleware", "RequestContextMiddleware"]
