"""``manage.py doctor``: is everything well, and if not, what to do."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.checkup import check_up

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Prints what ``checkup`` found; exit code 1 when something is wrong."""

    help = "Check database, extension, migrations, keys, index, broker, worker and embedder, and say what to do."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How to print it."""
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Looks at everything before it judges."""
        findings = check_up()
        if options["json"]:
            self.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2))
        else:
            for finding in findings:
                mark = self.style.SUCCESS("ok   ") if finding.ok else self.style.ERROR("WRONG")
                self.stdout.write(f"{mark}  {finding.part:<11} {finding.seen}")
                if not finding.ok:
                    self.stdout.write(f"{'':<19}→ {finding.advice}")
        if not all(finding.ok for finding in findings):
            sys.exit(1)
