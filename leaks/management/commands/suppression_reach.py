"""`manage.py suppression_reach`: what a file of suppression rules would hide in logs, without a database.

One JSON object a report; `count` blocks of the same tool, kind and frames are one report, and `line` is that of the first.
"""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks.errors import LeakledgerError
from leaks.own import Ownership
from leaks.parsing.dispatch import read_path
from leaks.reach import RuleFile, compile_rules, reach_of
from leaks.rule_diagnosis import diagnose
from leaks.rule_sets import Match
from leaks.rule_types import Suppressor
from leaks.rules import Rule, parse_rules, suppressor_of
from leaks.signature import identify
from leaks.symbols import resolved

NOBODY_READS = 128 + 13  # as a shell tells the signal PIPE


class Command(BaseCommand):
    help = (
        "Tell which reports of logs a file of suppression rules would hide, without a database. "
        "Exit status 2 when a file cannot be read."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("rules", metavar="RULES", help="a suppression file of a sanitizer or of Valgrind")
        parser.add_argument("logs", nargs="+", metavar="LOG", help="plain, gzip or zstd")
        parser.add_argument(
            "--tool", choices=[str(one) for one in Suppressor], help="whose rules; default: by their form"
        )

    def handle(self, **options: Any) -> None:
        given = Namespace(**options)
        text = _text(given.rules)
        suppressor = Suppressor(given.tool) if given.tool else suppressor_of(parse_rules(text))
        for fault in diagnose(text, suppressor):
            if fault.refused:
                self.stderr.write(f"{given.rules}:{fault.line}: {fault.why}")
        ready = compile_rules(parse_rules(text), suppressor)
        try:
            refused = self._answer(given.logs, ready)
        except BrokenPipeError:
            # Nobody reads on (`| head`). What is still buffered would be written when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(NOBODY_READS)
        if refused:
            sys.exit(2)

    def _answer(self, logs: Iterable[str], ready: RuleFile | None) -> int:
        """How many logs could not be read."""
        refused = 0
        for row in (row for log in logs for row in _rows(log, ready)):
            refused += "error" in row
            self.stdout.write(json.dumps(row, separators=(",", ":")))
        self.stdout.flush()
        return refused


def _text(rules: str) -> str:
    try:
        return Path(rules).read_bytes().decode(errors="replace")
    except OSError as error:
        raise CommandError(f"{rules}: {error.strerror}", returncode=2) from None


def _rows(log: str, ready: RuleFile | None) -> Iterator[dict[str, Any]]:
    try:
        reports = read_path(Path(log)).reports
    except (OSError, ValueError, LeakledgerError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        yield {"file": log, "error": reason}
        return
    found = reach_of(ready, reports) if ready else [Match()] * len(reports)
    ownership = Ownership()
    for report, match in zip(resolved(reports), found, strict=True):
        yield {
            "file": log,
            "line": report.line,
            "kind": report.kind,
            "count": report.count,
            "signature": identify(report, ownership).public_id,
            "rule": _rule(match.rule),
            "certainty": match.certainty,
        }


def _rule(rule: Rule | None) -> dict[str, Any] | None:
    return {"line": rule.line, "text": rule.text} if rule else None
