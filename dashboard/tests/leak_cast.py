"""The cast of the leak pages: on top of the common cast, a run with a real log, whole stacks, claims, and its control run.

Rows are written as a digest would leave them.
"""

from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from typing import Any

from leaks import blobs, models
from leaks.tests.cast import Cast, make_cast, make_commit, make_outcome, make_signature, sha_of
from leaks.words import ClaimSource, LogState, Reason, Role, Verdict

HOSTILE = "<script>alert('x')</script>"
LOG = f"""\
[doctest] doctest version is "2.4.11"
\x1b[32m[ 98%]\x1b[0m Linking CXX executable test_engine
{HOSTILE} \x00 \x07 \u202e txt.exe
[doctest] test cases: 57 | 57 passed | 0 failed | 0 skipped
==714711==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 65536 byte(s) in 1 object(s) allocated from:
    #0 0x7f aligned_alloc
    #1 0x55 in engine::Alloc src/cpu_backend.cpp:42
    #2 0x55 in engine::Pool::Get src/pool.h:120
    #3 0x55 in engine::RopeCache::Build src/pool.cpp:42
    #4 0x55 in main tests/test_engine.cpp:3493

Suppressions used:
  count      bytes template
      3       1200 libfontconfig

SUMMARY: AddressSanitizer: 91456 byte(s) leaked in 50 allocation(s).
##[error]Process completed with exit code 1.
"""
FRAMES = (
    ("aligned_alloc", "", None),
    ("malloc", "", None),
    ("engine::Pool::Get(unsigned long)", "src/pool.h", 120),
    ("engine::RopeCache::Build", "src/pool.cpp", 42),
    ("engine::Model::Forward(std::vector<int, std::allocator<int>> const&)", "src/model.cpp", 438),
    ("third::party::call", "/usr/include/third/party.h", 7),
    ("main", "tests/test_engine.cpp", 3493),
)
LONG_TITLE = "engine::batch::manager::WindowBlockManager::onboardAndAllocateBlocks<engine::UniqueToken>"


@dataclass
class LeakCast:
    """`control` is the same lane on the parent of `red`, with the same leaks; `second` took the place of `cancelled`."""

    cast: Cast
    log: models.Log
    control: models.LaneOutcome
    second: models.LaneOutcome
    other: models.Signature

    @property
    def project(self) -> models.Project:
        return self.cast.project

    @property
    def red(self) -> models.LaneOutcome:
        return self.cast.red

    @property
    def signature(self) -> models.Signature:
        return self.cast.signature


def make_leak_cast(slug: str = "engine", **project_fields: Any) -> LeakCast:
    link = "https://code.example/engine/blob/{commit}/{file}#L{line}"
    cast = make_cast(slug, **{"source_link": link, **project_fields})
    log = give_log(cast.red, LOG)
    give_stacks(cast.signature)
    control = _control(cast)
    second = _supersede(cast)
    _claim(cast.red)
    other = make_signature(cast.red, LONG_TITLE, 2560, 2)
    return LeakCast(cast, log, control, second, other)


def give_log(outcome: models.LaneOutcome, text: str, name: str = "lane.log") -> models.Log:
    """Real bytes for the outcome's log, with the facts that a digest would find in it."""
    stored = blobs.store(BytesIO(text.encode()))
    blob, _ = models.Blob.objects.get_or_create(
        sha256=stored.sha256, defaults={"bytes": stored.bytes, "stored_bytes": stored.stored_bytes}
    )
    values = {"blob": blob, "state": LogState.DIGESTED, "facts": _facts(text)}
    found = models.Log.objects.filter(part__outcome=outcome, name=name).first()
    if found is None:
        public_id = "l" + sha_of(f"{outcome.public_id} {name}")[:12]
        return models.Log.objects.create(public_id=public_id, part=outcome.parts.get(), name=name, **values)
    models.Log.objects.filter(pk=found.pk).update(**values)
    found.refresh_from_db()
    return found


def _facts(text: str) -> dict[str, Any]:
    lines = text.splitlines()
    summary = next((number for number, line in enumerate(lines, 1) if line.startswith("[doctest] test cases")), 0)
    facts: dict[str, Any] = {"lines": text.count("\n"), "bytes": len(text.encode())}
    if summary:
        counts = {"total": 57, "passed": 57, "failed": 0, "skipped": 0, "complete": True}
        facts["tests"] = {"runner": "doctest", **counts, "line": summary, "text": lines[summary - 1]}
        facts["totals"] = {
            "bytes": 91456,
            "objects": 50,
            "summary_bytes": 91456,
            "summary_objects": 50,
            "reconciled": True,
        }
        facts["suppressions"] = [{"count": 3, "bytes": 1200, "template": "libfontconfig", "line": 16}]
        facts["options"] = {"ASAN_OPTIONS": {"detect_leaks": "1"}}
    return facts


def give_stacks(signature: models.Signature) -> None:
    """A whole stack for the report of a signature, and one that says where a thread was created."""
    stack = _stack("whole", FRAMES)
    report = models.Report.objects.get(key__signature=signature)
    models.Report.objects.filter(pk=report.pk).update(
        stack=stack, line=7, test="test_ltx2_video", pid=714711, headline="Direct leak of 65536 byte(s) in 1 object(s)"
    )
    models.Sighting.objects.filter(key__signature=signature).update(stack=stack, first_line=7)
    thread = _stack("thread", FRAMES[-1:])
    models.ReportStack.objects.create(
        report=report, ordinal=0, role=Role.THREAD_CREATED, thread="T1 by T0", stack=thread
    )


def _stack(name: str, frames: tuple[tuple[str, str, int | None], ...]) -> models.Stack:
    stack, made = models.Stack.objects.get_or_create(hash=sha_of(name))
    for position, (function, file, line) in enumerate(frames if made else ()):
        text = f"in {function} {file}:{line}"
        values = {"text": text, "function": function, "file": file, "line": line}
        frame, _ = models.Frame.objects.get_or_create(hash=sha_of(text), defaults=values)
        models.StackFrame.objects.create(stack=stack, position=position, frame=frame)
    return stack


def _control(cast: Cast) -> models.LaneOutcome:
    """The parent commit of `red`, with a run that shows the same leaks to the byte."""
    at = cast.red.happened_at - timedelta(hours=2)
    parent = make_commit(cast.project, "parent", at)
    commit = cast.red.run.commit
    commit.parents = [parent.sha]
    commit.save()
    copied = ("leaked_bytes", "leaked_objects", "summary_bytes", "summary_objects", "reconciled", "reports", "runner")
    counted = ("tests_total", "tests_passed", "tests_failed", "tests_complete", "exit_code", "conclusion")
    values = {name: getattr(cast.red, name) for name in (*copied, *counted)}
    control = make_outcome(cast.lane, parent, at, Verdict.FINDINGS, **values)
    see_again(control, cast.signature, 65_536)
    return control


def see_again(outcome: models.LaneOutcome, signature: models.Signature, leaked: int) -> models.Sighting:
    """The signature once more, in another outcome."""
    first = models.Sighting.objects.filter(key__signature=signature).order_by("pk")[0]
    log = models.Log.objects.filter(part__outcome=outcome).first() or give_log(outcome, LOG)
    seen = models.Sighting.objects.create(
        outcome=outcome,
        log=log,
        key=first.key,
        stack=first.stack,
        tool=first.tool,
        kind=first.kind,
        leaked_bytes=leaked,
        leaked_objects=first.leaked_objects,
        first_line=7,
    )
    recount(signature)
    return seen


def recount(signature: models.Signature) -> None:
    """First and last seen, as the standing would recompute them."""
    seen = models.LaneOutcome.objects.filter(sightings__key__signature=signature).distinct()
    outcomes = list(seen.order_by("happened_at"))
    signature.first_seen, signature.last_seen = outcomes[0], outcomes[-1]
    signature.first_seen_at, signature.last_seen_at = outcomes[0].happened_at, outcomes[-1].happened_at
    signature.seen_outcomes = len(outcomes)
    signature.seen_commits = len({outcome.run.commit_id for outcome in outcomes})
    signature.save()


def _supersede(cast: Cast) -> models.LaneOutcome:
    """A second run on the commit of `cancelled`, which took its place and skipped its jobs."""
    at = cast.cancelled.happened_at + timedelta(minutes=3)
    commit = cast.cancelled.run.commit
    values = {"reason": Reason.SKIPPED, "rule": "other_word", "conclusion": "skipped"}
    second = make_outcome(cast.lane, commit, at, Verdict.NO_VERDICT, **values)
    cast.cancelled.superseded_by = second
    cast.cancelled.rule = "cancelled_before_tests"
    cast.cancelled.because = [{"log": "", "line": 1204, "text": "[ 31%] Building CXX object model.cpp.o"}]
    cast.cancelled.save()
    return second


def _claim(outcome: models.LaneOutcome) -> None:
    outcome.rule = "finding"
    outcome.because = [{"log": "lane.log", "line": 7, "text": "Direct leak of 65536 byte(s) in 1 object(s)"}]
    outcome.flags = ["summary_contradicts_exit"]
    outcome.phase = "ended"
    outcome.save()
    models.Claim.objects.create(
        part=outcome.parts.get(),
        source=ClaimSource.UPLOAD,
        content_hash=sha_of(outcome.public_id),
        source_time=outcome.happened_at,
        fields={"exit_code": 1, "conclusion": "failure", "options": {"ASAN_OPTIONS": "detect_leaks=1"}},
    )
