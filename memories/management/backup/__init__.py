"""The whole store in one file, and back: everything but the keys, the login sessions and what can be built again."""

from __future__ import annotations
