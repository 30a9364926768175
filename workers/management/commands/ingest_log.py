"""`manage.py ingest_log`: bring logs in from the command line, by the same way as an upload."""

import sys
import time
from argparse import ArgumentParser
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from leaks.errors import PermanentError
from leaks.ingest.receive import receive
from leaks.ingest.validation import LONGEST_RULE_FILE
from leaks.models import LaneOutcome, Log, StaleMark
from leaks.rows.intake import Receipt, Submission, SubmittedFile, SubmittedRules
from leaks.words import LogState
from workers.send import hint_logs, hint_marks

BUSY = (LogState.RECEIVED, LogState.READING)
LOOK_EVERY_SECONDS = 0.2
# Options that are fields of a submission by the same name, in dashes.
TEXTS = ("parent", "branch", "provider", "run_id", "event", "run_url", "part", "conclusion", "superseded_by")
NUMBERS = ("pull_request", "attempt", "part_index", "part_of", "exit_code")
MOMENTS = ("started_at", "finished_at")


class Command(BaseCommand):
    help = "Commit logs of a lane and hint the queue, as an upload does. Without a FILE it is a claim without a log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", metavar="FILE", type=Path, help="plain, gzip or zstd")
        for name in ("project", "lane", "commit"):
            parser.add_argument(f"--{name}", required=True)
        for name in TEXTS:
            parser.add_argument(_option(name))
        for name in NUMBERS:
            parser.add_argument(_option(name), type=int, metavar="N")
        for name in MOMENTS:
            parser.add_argument(_option(name), type=_moment, metavar="TIME", help="ISO 8601 with its time zone")
        parser.add_argument("--env", action="append", default=[], type=_pair, metavar="NAME=VALUE")
        parser.add_argument(
            "--rules", action="append", default=[], type=Path, metavar="FILE", help="suppressions it ran with"
        )
        parser.add_argument("--workload", action="append", default=[], type=_amount, metavar="NAME=NUMBER")
        parser.add_argument("--wait", action="store_true", help="until it is digested, and print the verdict")
        parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="of --wait (600)")

    def handle(self, *, files: list[Path], wait: bool, timeout: float, **options: Any) -> None:
        receipt = _receive(files, options)
        self.stdout.write(f"outcome {receipt.outcome} {reverse('outcome', args=[options['project'], receipt.outcome])}")
        for log in receipt.logs:
            known = ", known before" if log.duplicate else ""
            self.stdout.write(f"log {log.public_id} {log.name} (revision {log.revision}{known})")
        if wait:
            self._wait(receipt.outcome, timeout)

    def _wait(self, public_id: str, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while _is_busy(public_id):
            if time.monotonic() > deadline:
                raise CommandError(f"Not digested within {timeout:g} s: does a worker run?")
            time.sleep(LOOK_EVERY_SECONDS)
        outcome = LaneOutcome.objects.get(public_id=public_id)
        reason = f" ({outcome.reason})" if outcome.reason else ""
        self.stdout.write(f"verdict {outcome.verdict}{reason} by rule {outcome.rule}")
        if self._refused(outcome):
            sys.exit(1)

    def _refused(self, outcome: LaneOutcome) -> bool:
        """Say which logs could not be digested; whether there are any."""
        logs = Log.objects.filter(part__outcome=outcome, current=True).exclude(state=LogState.DIGESTED)
        for log in logs:
            self.stderr.write(f"log {log.public_id} {log.name}: {log.state}, {log.error}")
        return bool(logs)


def _receive(files: list[Path], options: dict[str, Any]) -> Receipt:
    try:
        with ExitStack() as stack:
            logs = tuple(SubmittedFile(path.name, stack.enter_context(path.open("rb"))) for path in files)
            receipt = receive(_submission(logs, options))
    except (OSError, PermanentError) as error:
        raise CommandError(str(error)) from None
    _hint(receipt)
    return receipt


def _submission(logs: tuple[SubmittedFile, ...], options: dict[str, Any]) -> Submission:
    said = {name: options[name] for name in (*TEXTS, *NUMBERS, *MOMENTS) if options[name] is not None}
    place = {name: options[name] for name in ("project", "lane", "commit")}
    lists: dict[str, Any] = {"options": dict(options["env"]), "workload": dict(options["workload"])}
    return Submission(**place, **said, **lists, files=logs, rules=tuple(map(_rules, options["rules"])))


def _rules(path: Path) -> SubmittedRules:
    """Of a file that is too long just enough is read to refuse it."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return SubmittedRules(path.name, file.read(LONGEST_RULE_FILE + 1))


def _hint(receipt: Receipt) -> None:
    fresh = [log.public_id for log in receipt.logs if not log.duplicate]
    if fresh:
        hint_logs(fresh)
    elif receipt.new_claim:
        hint_marks()


def _is_busy(public_id: str) -> bool:
    """Something of the outcome is still to be read or judged."""
    outcome = LaneOutcome.objects.get(public_id=public_id)
    marks = StaleMark.objects.filter(kind=StaleMark.Kind.OUTCOME, subject=str(outcome.pk))
    return marks.exists() or Log.objects.filter(part__outcome=outcome, current=True, state__in=BUSY).exists()


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _moment(text: str) -> datetime:
    moment = parse_datetime(text)
    if moment is None:
        raise ValueError(text)
    return moment


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(text)
    return name, value


def _amount(text: str) -> tuple[str, float]:
    name, value = _pair(text)
    return name, float(value)
