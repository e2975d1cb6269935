"""Decisions: pure Python, no Django, no I/O. ``now`` is always passed in."""
