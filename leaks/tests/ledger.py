"""A small ledger for tests: submissions through the real intake, the text of logs, and all that came of it, comparable."""

import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from leaks.ingest import sweep
from leaks.ingest.receive import receive
from leaks.models import (
    Commit,
    CommitLane,
    Lane,
    LaneDay,
    LaneOutcome,
    Log,
    Part,
    Project,
    Report,
    ReportStack,
    Run,
    Sighting,
    SightingSum,
    Signature,
    SignatureKey,
    Stack,
    StackFrame,
    StaleMark,
    SuppressionUse,
)
from leaks.rows.intake import Receipt, Submission, SubmittedFile

SLUG = "engine"
MORNING = datetime(2025, 6, 1, 8, tzinfo=UTC)


def project() -> Project:
    return Project.objects.get_or_create(slug=SLUG, defaults={"name": "Engine", "own_roots": ["/src/engine"]})[0]


def given(number: int, log: str | None = None, **fields: Any) -> Submission:
    """The submission of run `number`: of its own commit, an hour after the one before."""
    started = MORNING + timedelta(hours=number)
    files = () if log is None else (SubmittedFile("ci.log", io.BytesIO(log.encode())),)
    return Submission(
        **{
            "project": SLUG,
            "lane": "asan",
            "commit": f"{number:040x}",
            "branch": "main",
            "run_id": f"r{number}",
            "conclusion": "success",
            "exit_code": 0,
            "started_at": started,
            "finished_at": started + timedelta(minutes=10),
            "files": files,
            **fields,
        }
    )


def submit(number: int, log: str | None = None, **fields: Any) -> Receipt:
    project()
    return receive(given(number, log, **fields))


def named(*logs: tuple[str, str]) -> tuple[SubmittedFile, ...]:
    return tuple(SubmittedFile(name, io.BytesIO(text.encode())) for name, text in logs)


def only_log() -> Log:
    return Log.objects.get()


def outcome(number: int, attempt: int = 1) -> LaneOutcome:
    return LaneOutcome.objects.get(run__external_id=f"r{number}", run__attempt=attempt)


def settle() -> None:
    """Do all there is to do, as a worker's look does it."""
    sweep.look()
    assert not StaleMark.objects.exists()


def wipe() -> None:
    """An empty ledger, for the next of several histories in one test."""
    for model in (Log, LaneOutcome, SignatureKey, Signature, Run, Commit, Lane, StaleMark):
        model.objects.all().delete()


# --- The text of logs ------------------------------------------------------------------------------------------------

LEAKY = ("engine::Pool::get(unsigned long)", "/src/engine/pool.h", 42)
OTHER = ("engine::Vocab::load(char const*)", "/src/engine/vocab.cpp", 17)
Place = tuple[str, str, int]


def log_text(*leaks: tuple[Place, int], passed: int = 57, pid: int = 4242, hidden: int = 0) -> str:
    """A run of `passed` tests that leaks at those places so many bytes, and hides `hidden` bytes by a suppression."""
    summary = [
        f"[doctest] test cases:  {passed} |  {passed} passed | 0 failed | 0 skipped",
        "[doctest] Status: SUCCESS!",
    ]
    used = ["-" * 53, "Suppressions used:", "  count      bytes template", f"      1 {hidden:10} leak_me", "-" * 53, ""]
    lines = ["#2 CMake 3.25", *summary, *(leak_check(leaks, pid) if leaks else ()), *(used if hidden else ())]
    if leaks:
        size = sum(size for _, size in leaks)
        lines.append(f"SUMMARY: AddressSanitizer: {size} byte(s) leaked in {len(leaks)} allocation(s).")
    return "\n".join(lines) + "\n"


def leak_check(leaks: Iterable[tuple[Place, int]], pid: int) -> Iterator[str]:
    yield from ("=" * 65, f"=={pid}==ERROR: LeakSanitizer: detected memory leaks", "")
    for number, ((function, file, line), size) in enumerate(leaks):
        yield f"Direct leak of {size} byte(s) in 1 object(s) allocated from:"
        yield f"    #0 0x7f00000{number:05x} in operator new(unsigned long) ../src/libsanitizer/asan/asan_new_delete.cpp:95"
        yield f"    #1 0x55000000{number:04x} in {function} {file}:{line}"
        yield f"    #2 0x55000001{number:04x} in main /src/engine/tests/main.cpp:9"
        yield ""


def big_log(records: int, frames: int = 20) -> str:
    """Leak records with as many distinct stacks, each `frames` deep."""
    lines = ["[doctest] test cases: 9 | 9 passed | 0 failed | 0 skipped", "=" * 65]
    lines += ["==7==ERROR: LeakSanitizer: detected memory leaks", ""]
    for record in range(records):
        lines.append("Direct leak of 64 byte(s) in 1 object(s) allocated from:")
        lines.append("    #0 0x7f0000000001 in operator new(unsigned long) asan_new_delete.cpp:95")
        lines += [
            f"    #{depth} 0x5500{depth:04x}{record:04x} in engine::step{depth}(int) /src/engine/step.cpp:{record + depth}"
            for depth in range(1, frames)
        ]
        lines.append("")
    lines.append(f"SUMMARY: AddressSanitizer: {64 * records} byte(s) leaked in {records} allocation(s).")
    return "\n".join(lines) + "\n"


# --- All that came of it ---------------------------------------------------------------------------------------------

LOG = ("log__part__outcome__run__external_id", "log__part__outcome__run__attempt", "log__part__name", "log__name")
RUN = ("run__external_id", "run__attempt", "lane__name")
TABLES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "outcomes": (
        LaneOutcome,
        (
            *RUN, "run__commit__sha", "happened_at", "started_at", "finished_at", "conclusion", "exit_code", "ended",
            "options", "workload", "verdict", "reason", "rule", "because", "flags", "effective_claim", "build_percent",
            "phase", "runner", "tests_total", "tests_passed", "tests_failed", "tests_skipped", "tests_complete",
            "reports", "leaked_bytes", "leaked_objects", "summary_bytes", "summary_objects", "reconciled",
            "own_reports", "own_bytes", "own_objects", "superseded_by__public_id", "rerun_of__public_id",
            "standing_flags", "public_id",
        ),
    ),
    "parts": (
        Part,
        ("outcome__public_id", "name", "index", "of", "exit_code", "conclusion", "judgement"),
    ),
    "logs": (
        Log,
        ("part__outcome__public_id", "part__name", "name", "revision", "current", "blob__sha256", "state", "facts",
         "recipe", "lease_until", "lease_token", "progress"),
    ),
    "reports": (
        Report,
        (
            *LOG, "log__revision", "ordinal", "line", "key__hash", "key__signature__public_id", "stack__hash", "tool",
            "kind", "headline", "detail", "leaked_bytes", "leaked_objects", "count", "pid", "test", "own",
            "own_frame__hash", "finding", "truncated", "flags",
        ),
    ),
    "sums": (
        SightingSum,
        (
            "lane__name", "key__hash", "key__signature__public_id", "stack__hash", "tool", "kind", "shape", "sightings",
            "records", "leaked_bytes", "largest", "first", "last", "tests",
        ),
    ),
    "other stacks": (
        ReportStack,
        ("report__log__public_id", "report__ordinal", "ordinal", "role", "thread", "stack__hash"),
    ),
    "sightings": (
        Sighting,
        (
            *LOG, "outcome__public_id", "key__hash", "stack__hash", "tool", "kind", "title", "leaked_bytes",
            "leaked_objects", "count", "first_line", "finding", "shape", "tests",
        ),
    ),
    "uses": (SuppressionUse, (*LOG, "outcome__public_id", "template", "count", "bytes")),
    "signatures": (
        Signature,
        (
            "public_id", "title", "family", "kind", "own", "own_frame__hash", "state", "first_seen__public_id",
            "last_seen__public_id", "first_seen_at", "last_seen_at", "seen_outcomes", "seen_commits", "last_bytes",
            "last_objects", "last_count",
        ),
    ),
    "keys": (SignatureKey, ("recipe", "hash", "signature__public_id", "text")),
    "commit lanes": (
        CommitLane,
        ("commit__sha", "lane__name", "verdict", "reason", "outcome__public_id", "attempts", "flags"),
    ),
    "lane days": (
        LaneDay,
        ("lane__name", "day", "outcomes", "verdicts", "reasons", "claimed", "leaked_bytes", "leaked_objects",
         "signatures"),
    ),
    "marks": (StaleMark, ("kind",)),
}  # fmt: skip


def dump() -> dict[str, list[str]]:
    """Every table of results without row ids and without times of arrival, in an order of its own."""
    tables = {
        name: sorted(_line(zip(columns, row, strict=True)) for row in model.objects.values_list(*columns))
        for name, (model, columns) in TABLES.items()
    }
    return {**tables, "stacks": sorted(_stacks())}


def _line(cells: Iterable[tuple[str, Any]]) -> str:
    """PostgreSQL keeps the keys of an object in another order."""
    return json.dumps(dict(cells), sort_keys=True, default=str)


def _stacks() -> Iterator[str]:
    """The stacks that a report shows, with their frames: one that lost a frame must not go unseen."""
    shown = {
        *Report.objects.values_list("stack_id", flat=True),
        *ReportStack.objects.values_list("stack_id", flat=True),
    }
    frames: dict[str, list[str]] = {
        hash_: [] for hash_ in Stack.objects.filter(pk__in=shown).values_list("hash", flat=True)
    }
    places = StackFrame.objects.filter(stack__hash__in=frames).order_by("stack__hash", "position")
    for stack, frame in places.values_list("stack__hash", "frame__hash"):
        frames[stack].append(frame)
    return (f"{stack} {hashes}" for stack, hashes in frames.items())
