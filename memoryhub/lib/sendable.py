"""What HTTP and the system's resolver could not take at all: said before anything is sent, in words of ours."""

from __future__ import annotations


def is_key(text: str) -> bool:
    """Whether a text can stand in a header as a key does: visible ASCII and no space."""
    return text.isascii() and text.isprintable() and bool(text) and " " not in text


def is_host(name: str) -> bool:
    """Whether a resolver could be asked for it: no label is empty or longer than 63 characters."""
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return bool(name)
