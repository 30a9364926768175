"""`manage.py read_log`: read logs as they lie, without a database, and print one JSON object a file on one line."""

import contextlib
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks.answers import answer, refusal
from leaks.errors import LeakledgerError
from leaks.evidence import Evidence
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.rows.facts import LaneView, MergedClaim
from leaks.unpacking import unpack
from leaks.verdict import judge
from leaks.words import Detector

DETECTORS = ", ".join(Detector)


@dataclass(frozen=True, slots=True)
class Question:
    """One log and what is known of its run."""

    file: str = ""
    exit_code: int | None = None
    conclusion: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    own_roots: tuple[str, ...] = ()
    plumbing: tuple[str, ...] = ()
    detectors: tuple[Detector, ...] | None = None


class BadQuestion(ValueError):
    """A value that cannot be meant; `str(error)` says what would be right."""


class Command(BaseCommand):
    help = "Read sanitizer logs, without a database. Exit status 2 when one of them cannot be read."
    # A quick start: nothing here needs what the checks look at.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", metavar="FILE", help="plain, gzip or zstd")
        parser.add_argument("--batch", metavar="FILE", help="questions as JSON lines instead; - is standard input")
        parser.add_argument("--exit-code", type=int, metavar="N")
        parser.add_argument("--conclusion", metavar="WORD", help="the CI's word")
        parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="of the run; repeatable")
        parser.add_argument("--own-root", action="append", default=[], metavar="PREFIX", help="own sources; repeatable")
        parser.add_argument("--plumbing", action="append", default=[], metavar="NAME", help="owns nothing; repeatable")
        parser.add_argument("--detectors", metavar="LIST", help=f"expected ones, by commas: {DETECTORS}")
        parser.add_argument("--no-frames", action="store_true", help="leave the stacks out")

    def handle(self, **options: Any) -> None:
        given = Namespace(**options)
        if bool(given.files) == bool(given.batch):
            raise CommandError("Give files or --batch, and not both.")
        refused = 0
        for found in _answers(given):
            refused += "error" in found
            self.stdout.write(json.dumps(found, separators=(",", ":")))
            self.stdout.flush()
        if refused:
            sys.exit(2)


# --- Questions -------------------------------------------------------------------------------------------------------


def _answers(given: Namespace) -> Iterator[dict[str, Any]]:
    """One by one, in the order asked: a batch may be long, and its first answers are wanted early."""
    try:
        common = _common(given)
    except BadQuestion as error:
        raise CommandError(str(error)) from None
    if not given.batch:
        yield from (_answer(replace(common, file=file), frames=not given.no_frames) for file in given.files)
        return
    with _lines(given.batch) as lines:
        yield from (_batch_answer(line, common, frames=not given.no_frames) for line in lines if line.strip())


def _lines(batch: str) -> contextlib.AbstractContextManager[Iterable[str]]:
    if batch == "-":
        return contextlib.nullcontext(sys.stdin)
    try:
        return Path(batch).open(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise CommandError(f"--batch {batch}: {error.strerror}") from None


def _common(given: Namespace) -> Question:
    """What the options say of every file; a line of a batch may say otherwise."""
    return Question(
        exit_code=given.exit_code,
        conclusion=given.conclusion,
        env=dict(_pair(text) for text in given.env),
        own_roots=tuple(given.own_root),
        plumbing=tuple(given.plumbing),
        detectors=_detectors(given.detectors),
    )


def _batch_answer(line: str, common: Question, *, frames: bool) -> dict[str, Any]:
    file: object = None
    try:
        fields = _object(line)
        file = fields.get("file")
        return _answer(_question(fields, common), frames=frames)
    except BadQuestion as error:
        return refusal(file, str(error))


def _object(line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadQuestion(f"a line of the batch is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadQuestion("a line of the batch is no JSON object")
    return fields


def _question(fields: Mapping[str, Any], common: Question) -> Question:
    """The fields of a line over the options. A null field is one that is not there."""
    readers: dict[str, Callable[[Any], Any]] = {
        "file": _text,
        "exit_code": _number,
        "conclusion": _text,
        "env": _environment,
        "own_roots": _texts,
        "plumbing": _texts,
        "detectors": _detectors,
    }
    said: dict[str, Any] = {name: read(fields[name]) for name, read in readers.items() if fields.get(name) is not None}
    if not said.get("file"):
        raise BadQuestion("a line of the batch names no file")
    return replace(common, **said)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadQuestion(f"{value!r} is no text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise BadQuestion(f"{value!r} is no list of texts")
    return tuple(_text(item) for item in value)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadQuestion(f"exit_code {value!r} is no whole number")
    return value


def _environment(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadQuestion("env is no JSON object")
    return {name: _text(item) for name, item in value.items()}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise BadQuestion(f"--env takes NAME=VALUE, not {text!r}")
    return name, value


def _detectors(value: str | Sequence[str] | None) -> tuple[Detector, ...] | None:
    if value is None:
        return None
    words = value.split(",") if isinstance(value, str) else _texts(value)
    try:
        return tuple(Detector(word.strip()) for word in words if word.strip())
    except ValueError as error:
        raise BadQuestion(f"detectors: {error}; known are {DETECTORS}") from None


# --- Answers ---------------------------------------------------------------------------------------------------------


def _answer(question: Question, *, frames: bool) -> dict[str, Any]:
    try:
        evidence = _read(question)
    except (OSError, ValueError, LeakledgerError) as error:
        return refusal(question.file, _reason(error))
    claim = MergedClaim(conclusion=question.conclusion, exit_code=question.exit_code, env=question.env)
    lane = LaneView(detectors=question.detectors, own_roots=question.own_roots)
    judgement = judge(evidence.facts, claim, lane)
    return answer(question.file, evidence, judgement, _ownership(question.own_roots, question.plumbing), frames=frames)


def _read(question: Question) -> Evidence:
    with Path(question.file).open("rb") as file:
        # How much is read is bounded by the reading itself, which then says so in its marks.
        return read(unpack(file, sys.maxsize), env=question.env)


def _reason(error: Exception) -> str:
    """One sentence: that of the system names the file once more, which stands beside it."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


@lru_cache(maxsize=4)
def _ownership(own_roots: tuple[str, ...], plumbing: tuple[str, ...]) -> Ownership:
    """Shared by the logs of a batch: a frame that was judged once is known in the next log."""
    return Ownership(own_roots, plumbing)
