"""Uploads of a lane, taken through the real ingest: small logs that leak, pass, crash or run nothing."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

from leaks import models
from leaks.ingest import sweep
from leaks.ingest.receive import receive
from leaks.rows.intake import Submission, SubmittedFile, SubmittedRules

NOON = datetime(2026, 3, 11, 12, tzinfo=UTC)
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1"}


def sha(letter: str) -> str:
    """A whole hash of one letter."""
    return letter * 40


def doctest(passed: int = 57, failed: int = 0) -> str:
    return f"[doctest] test cases: {passed + failed} | {passed} passed | {failed} failed | 0 skipped\n"


def record(function: str = "engine::Build", size: int = 64, objects: int = 1, line: int = 12) -> str:
    return (
        f"Direct leak of {size} byte(s) in {objects} object(s) allocated from:\n"
        "    #0 0x7f0000001000 in malloc (/usr/lib/libasan.so.8+0xb4c11)\n"
        f"    #1 0x55d000001000 in {function}() src/build.cpp:{line}\n"
        "    #2 0x55d000002000 in main tests/test_engine.cpp:4\n\n"
    )


def library_record(library: str = "/usr/lib/libcuda.so.550.54", size: int = 32) -> str:
    return (
        f"Direct leak of {size} byte(s) in 1 object(s) allocated from:\n"
        "    #0 0x7f0000001000 in malloc (/usr/lib/libasan.so.8+0xb4c11)\n"
        f"    #1 0x7f0000002000  ({library}+0x1f3a0)\n\n"
    )


def leaking(*records: str, tests: str | None = None, size: int = 64, objects: int = 1) -> str:
    found = records or (record(size=size, objects=objects),)
    head = "=================================================================\n==7==ERROR: LeakSanitizer: detected memory leaks\n\n"
    total = size if not records else 64 * len(records)
    foot = f"SUMMARY: AddressSanitizer: {total} byte(s) leaked in {len(found)} allocation(s).\n"
    return (doctest() if tests is None else tests) + head + "".join(found) + foot


GREEN = doctest()
NO_TESTS = "[doctest] test cases: 0 | 0 passed | 0 failed | 0 skipped\n"
SUPPRESSED = (
    doctest()
    + "-----------------------------------------------------\nSuppressions used:\n  count      bytes template\n"
    + "      1         64 engine::Build\n-----------------------------------------------------\n"
)
USE_AFTER_FREE = (
    "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55d bp 0x7ff sp 0x7fe\n"
    "READ of size 8 at 0x602000000010 thread T0\n"
    "    #0 0x55d000003000 in engine::Drain() src/drain.cpp:9\n"
    "    #1 0x55d000002000 in main tests/test_engine.cpp:4\n\n"
    "SUMMARY: AddressSanitizer: heap-use-after-free src/drain.cpp:9 in engine::Drain()\n==7==ABORTING\n"
)
CANCELLED = "[ 31%] Building CXX object build.cpp.o\n##[error]The operation was canceled.\n"
FAILED = doctest(56, 1)


def make_project(slug: str = "engine", lanes: tuple[str, ...] = ("asan",), **fields: object) -> models.Project:
    values = {"name": slug.capitalize(), "own_roots": ["src/", "tests/"], "public": True, **fields}
    project = models.Project.objects.create(slug=slug, **values)
    for name in lanes:
        lane = models.Lane.objects.create(project=project, name=name)
        models.LaneExpectation.objects.create(
            lane=lane, detectors=["address", "leak"], owed_branch="main", valid_from=NOON - timedelta(days=90)
        )
    return project


def upload(
    project: models.Project,
    commit: str,
    log: str | None,
    exit_code: int | None = None,
    *,
    lane: str = "asan",
    parent: str | None = None,
    options: dict[str, str] | None = None,
    hours: float = 0,
    rules: str = "",
    branch: str | None = "main",
    run_id: str = "",
    **more: object,
) -> models.LaneOutcome:
    """Receive and digest. A log that finds something exits with 1 unless the exit code or the CI's word is given."""
    found = log is not None and "ERROR" in log
    at = NOON + timedelta(hours=hours)
    given = Submission(
        project=project.slug,
        lane=lane,
        commit=commit,
        parent=parent,
        branch=branch,
        run_id=run_id or f"{lane}-{commit[:9]}-{hours}",
        exit_code=(1 if found else 0) if exit_code is None and "conclusion" not in more else exit_code,
        ended=True,
        started_at=at,
        finished_at=at + timedelta(minutes=5),
        options=OPTIONS if options is None else options,
        files=() if log is None else (SubmittedFile("lane.log", BytesIO(log.encode()), len(log.encode())),),
        rules=(SubmittedRules("lsan.supp", rules),) if rules else (),
        **more,  # type: ignore[arg-type]  # further fields of a submission
    )
    receipt = receive(given)
    sweep.look()
    return models.LaneOutcome.objects.select_related("run__commit", "lane").get(public_id=receipt.outcome)
