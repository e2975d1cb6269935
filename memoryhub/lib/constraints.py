"""Which constraint a refused statement ran into."""

from __future__ import annotations

from django.db import IntegrityError


def violated(error: IntegrityError) -> str | None:
    """The name of the constraint that was violated, None where the database gives none."""
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None)
