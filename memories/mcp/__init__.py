"""The agents' door: seven tools over the Model Context Protocol (DESIGN §9)."""

from __future__ import annotations

from memories.mcp.serving import answer_mcp

__all__ = ["answer_mcp"]
