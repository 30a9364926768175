import gzip
import io
import itertools
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone as clock

from leaks.errors import BadSubmission, Conflict, TooLarge, UnknownProject, Unreadable
from leaks.ingest.receive import receive
from leaks.ingest.scratch import NO_COMMIT, make_scratch_project
from leaks.models import (
    Blob,
    Claim,
    Commit,
    CommitPlace,
    Lane,
    LaneOutcome,
    Log,
    Part,
    Project,
    Run,
    StaleMark,
)
from leaks.rows.intake import Receipt, Submission, SubmittedFile
from leaks.words import ClaimSource, LogState, Reason

pytestmark = pytest.mark.django_db

SHA = "d1b0ea3a8" + "0" * 31
PARENT = "6621576ac" + "0" * 31
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
TEXT = b"57 passed, 0 failed\n"


@pytest.fixture(autouse=True)
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


def file(data: bytes = TEXT, name: str = "asan.log", announced: int | None = None) -> SubmittedFile:
    return SubmittedFile(name, io.BytesIO(data), announced)


def submission(*files: SubmittedFile, **changes) -> Submission:
    whole = Submission(project="engine", lane="asan", commit=SHA, run_id="77", exit_code=1, files=files)
    return replace(whole, **changes)


def counts() -> dict[str, int]:
    models = (Blob, Claim, Commit, CommitPlace, Lane, LaneOutcome, Log, Part, Run, StaleMark)
    return {model.__name__: model.objects.count() for model in models}


def everything() -> dict[str, list]:
    """All rows that do not depend on the clock or on row ids."""
    return {
        "commits": sorted(Commit.objects.values_list("sha", "parents", "ordered_at").iterator(), key=str),
        "places": sorted(CommitPlace.objects.values_list("commit__sha", "branch")),
        "runs": sorted(Run.objects.values_list("external_id", "branch", "started_at", "finished_at", "url"), key=str),
        "outcomes": sorted(LaneOutcome.objects.values_list("public_id", "lane__name")),
        "parts": sorted(Part.objects.values_list("name", "index", "of")),
        "claims": sorted(Claim.objects.values_list("content_hash", "source")),
        "logs": sorted(Log.objects.values_list("public_id", "name", "blob__sha256")),
    }


# --- What a submission becomes ---------------------------------------------------------------------------------------


def test_one_log_makes_one_row_of_everything() -> None:
    receipt = receive(submission(file(), branch="main", started_at=NOON))
    assert set(counts().values()) == {1}
    log = Log.objects.get()
    assert (log.state, log.current, log.revision) == (LogState.RECEIVED, True, 1)
    assert receipt.logs[0].public_id == log.public_id
    outcome = LaneOutcome.objects.get(public_id=receipt.outcome)
    assert (outcome.reason, outcome.happened_at) == (Reason.PENDING, NOON)
    assert StaleMark.objects.get().subject == str(outcome.pk)


def test_ids_follow_from_what_is_sent_and_not_from_the_database() -> None:
    first = receive(submission(file(), file(b"other", "b.log")))
    Run.objects.all().delete()
    assert receive(submission(file(b"other", "b.log"), file())).outcome == first.outcome
    assert set(Log.objects.values_list("public_id", flat=True)) == {log.public_id for log in first.logs}


def test_a_claim_without_a_log_is_an_outcome_to_judge() -> None:
    receipt = receive(submission(conclusion="cancelled", exit_code=None))
    assert receipt.logs == ()
    assert Claim.objects.get().fields == {"conclusion": "cancelled"}
    assert StaleMark.objects.count() == 1


def test_the_claim_holds_what_was_said_and_nothing_else() -> None:
    receive(
        submission(
            exit_code=0,
            conclusion="Success, mostly",
            started_at=NOON,
            finished_at=NOON + timedelta(minutes=3),
            options={"ASAN_OPTIONS": "detect_leaks=1"},
            workload={"SOAK_ITERS": 100.0},
            superseded_by="78",
            sequence=4,
        )
    )
    claim = Claim.objects.get()
    assert claim.fields == {
        "conclusion": "Success, mostly",
        "exit_code": 0,
        "started_at": "2026-07-01T12:00:00+00:00",
        "finished_at": "2026-07-01T12:03:00+00:00",
        "options": {"ASAN_OPTIONS": "detect_leaks=1"},
        "workload": {"SOAK_ITERS": 100.0},
        "superseded_by": "78",
    }
    assert (claim.source, claim.sequence, claim.source_time) == (ClaimSource.UPLOAD, 4, NOON + timedelta(minutes=3))


def test_a_lane_is_found_by_its_alias() -> None:
    lane = Lane.objects.create(project=Project.objects.get(), name="asan-ubsan", aliases=["asan"])
    receive(submission(file()))
    assert LaneOutcome.objects.get().lane == lane
    assert Lane.objects.count() == 1


# --- The same again --------------------------------------------------------------------------------------------------


def test_the_same_submission_twice_is_once() -> None:
    first = receive(submission(file(), branch="main", parent=PARENT))
    before, generation = counts(), StaleMark.objects.get().generation
    again = receive(submission(file(gzip.compress(TEXT)), branch="main", parent=PARENT))
    assert again == replace(first, new_claim=False, logs=(replace(first.logs[0], duplicate=True),))
    assert counts() == before
    assert StaleMark.objects.get().generation == generation, "nothing changed, so nothing is to be judged anew"


def test_other_content_under_the_name_is_the_next_revision() -> None:
    receive(submission(file()))
    receipt = receive(submission(file(b"more\n")))
    assert (receipt.logs[0].revision, receipt.logs[0].duplicate, receipt.new_claim) == (2, False, False)
    assert list(Log.objects.order_by("revision").values_list("revision", "current")) == [(1, False), (2, True)]
    assert StaleMark.objects.get().generation == 2


def test_an_earlier_revision_sent_again_does_not_come_back() -> None:
    for data in (TEXT, b"more\n", TEXT):
        receipt = receive(submission(file(data)))
    assert (receipt.logs[0].revision, receipt.logs[0].duplicate) == (1, True)
    assert Log.objects.get(current=True).revision == 2


def test_another_name_is_another_log_on_the_same_bytes() -> None:
    receive(submission(file()))
    receipt = receive(submission(file(name="copy.log")))
    assert (receipt.logs[0].revision, receipt.logs[0].duplicate) == (1, False)
    assert (Log.objects.filter(current=True).count(), Blob.objects.count()) == (2, 1)


def test_a_statement_repeated_under_its_delivery_id_is_known() -> None:
    receive(submission(delivery_id="guid-1", exit_code=1))
    assert not receive(submission(delivery_id="guid-1", exit_code=2)).new_claim
    assert receive(submission(delivery_id="guid-2", exit_code=2)).new_claim
    assert Claim.objects.count() == 2


def test_a_job_that_runs_again_says_the_same_again_and_means_it() -> None:
    for sequence, ended in enumerate((False, True, False)):
        assert receive(submission(exit_code=None, ended=ended, sequence=sequence)).new_claim


def test_two_sources_may_say_the_same() -> None:
    receive(submission())
    assert receive(submission(source=ClaimSource.BACK_FILL)).new_claim


ARRIVALS = [
    lambda: submission(file(), branch="main", parent=PARENT, started_at=NOON),
    lambda: submission(commit="d1b0ea3a8", finished_at=NOON + timedelta(hours=1), exit_code=None),
    lambda: submission(
        file(b"two", "two.log"), part="b", part_index=2, part_of=3, started_at=NOON - timedelta(hours=1)
    ),
    lambda: submission(part="b", part_index=2, part_of=4, run_url="https://ci.example/77", started_at=NOON),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(ARRIVALS)))))
def test_any_order_of_arrival_gives_the_same_rows(order: tuple[int, ...]) -> None:
    for number in range(len(ARRIVALS)):
        receive(ARRIVALS[number]())
    wanted = everything()
    for model in (Run, Commit, Lane, Blob):
        model.objects.all().delete()
    for number in (*order, order[0]):
        receive(ARRIVALS[number]())
    assert everything() == wanted


# --- Runs without an id ----------------------------------------------------------------------------------------------


def test_without_a_run_id_the_content_is_the_run() -> None:
    first = receive(submission(file(), run_id=""))
    assert receive(submission(file(), run_id="")).outcome == first.outcome
    assert Run.objects.get().external_id.startswith("content-")


@pytest.mark.parametrize("change", [{"exit_code": 0}, {"commit": PARENT}, {"lane": "tsan"}, {"attempt": 2}])
def test_without_a_run_id_anything_else_is_another_run(change: dict) -> None:
    first = receive(submission(file(), run_id=""))
    assert receive(submission(file(), **{"run_id": "", **change})).outcome != first.outcome


def test_without_a_run_id_another_log_is_another_run() -> None:
    outcomes = {receive(submission(file(data), run_id="")).outcome for data in (b"a", b"b")}
    assert len(outcomes) == 2


def test_parts_need_a_run_id_to_belong_together() -> None:
    with pytest.raises(BadSubmission) as refusal:
        receive(submission(file(), run_id="", part_index=1, part_of=2))
    assert refusal.value.field == "run_id"


# --- Commits ---------------------------------------------------------------------------------------------------------


def test_the_parent_is_a_row_even_if_no_run_ever_names_it() -> None:
    receive(submission(file(), branch="main", parent=PARENT))
    commit = Commit.objects.get(sha=SHA)
    assert commit.parents == [PARENT]
    assert Commit.objects.get(sha=PARENT).ordered_at is None
    assert CommitPlace.objects.filter(branch="main").count() == 2


@pytest.mark.parametrize("shas", [(SHA[:9], SHA), (SHA, SHA[:9]), (SHA[:7], SHA[:12]), (SHA.upper(), SHA)])
def test_two_spellings_of_a_sha_are_one_commit(shas: tuple[str, str]) -> None:
    for sha in shas:
        receive(submission(commit=sha))
    assert Commit.objects.get().sha == max((sha.lower() for sha in shas), key=len)


def test_a_short_sha_that_fits_two_commits_is_neither() -> None:
    for number, sha in enumerate((SHA, SHA[:-1] + "f", SHA[:9])):
        receive(submission(commit=sha, run_id=str(number)))
    assert Commit.objects.count() == 3


def test_a_fork_s_main_is_not_our_main() -> None:
    receive(submission(branch="main", pull_request=12))
    receive(submission(branch="topic", pull_request=12))
    assert list(CommitPlace.objects.values_list("branch", flat=True)) == ["topic"]


def test_a_run_has_one_commit() -> None:
    receive(submission(file()))
    before = counts()
    with pytest.raises(Conflict, match="known for commit"):
        receive(submission(file(b"other"), commit="a" * 40))
    assert counts() == before


def test_the_earliest_run_orders_a_commit_unless_git_told() -> None:
    receive(submission(started_at=NOON))
    receive(submission(started_at=NOON - timedelta(hours=2), run_id="76"))
    assert Commit.objects.get().ordered_at == NOON - timedelta(hours=2)
    Commit.objects.update(committed_at=NOON, ordered_at=NOON)
    receive(submission(started_at=NOON - timedelta(hours=3), run_id="75"))
    assert Commit.objects.get().ordered_at == NOON


# --- Parts -----------------------------------------------------------------------------------------------------------


def test_shards_are_told_apart_by_their_number() -> None:
    receipts = [receive(submission(file(), part_index=index, part_of=2)) for index in (1, 2)]
    assert receipts[0].outcome == receipts[1].outcome
    assert list(Part.objects.values_list("name", "index", "of")) == [("1", 1, 2), ("2", 2, 2)]
    assert Log.objects.filter(current=True).count() == 2


# --- Refusals --------------------------------------------------------------------------------------------------------


REFUSED = [
    ("lane", {"lane": "  "}),
    ("lane", {"lane": "a\x00b"}),
    ("lane", {"lane": "x" * 201}),
    ("lane", {"lane": "caf\udce9"}),
    ("lane", {"lane": "caf\ufffd"}),
    ("commit", {"commit": ""}),
    ("commit", {"commit": "HEAD"}),
    ("commit", {"commit": "abc123"}),
    ("commit", {"commit": "a" * 65}),
    ("commit", {"commit": "\u0661" * 40}),
    ("parent", {"parent": "main"}),
    ("branch", {"branch": "x" * 201}),
    ("branch", {"branch": "a\nb"}),
    ("run_id", {"run_id": "x" * 201}),
    ("lane", {"lane": ".."}),
    ("lane", {"lane": "../../etc"}),
    ("started_at", {"started_at": datetime(1, 1, 1, tzinfo=UTC)}),
    ("finished_at", {"finished_at": datetime(9999, 12, 31, tzinfo=UTC)}),
    ("run_url", {"run_url": "javascript:alert(1)"}),
    ("provider", {"provider": ""}),
    ("attempt", {"attempt": 0}),
    ("pull_request", {"pull_request": -1}),
    ("pull_request", {"pull_request": 2**31}),
    ("part_index", {"part_index": 0}),
    ("part_index", {"part_index": 3, "part_of": 2}),
    ("part", {"part": "x" * 201}),
    ("exit_code", {"exit_code": 2**32}),
    ("sequence", {"sequence": 2**63}),
    ("started_at", {"started_at": datetime(2026, 7, 1)}),  # noqa: DTZ001 - the lack of a zone is what is refused
    ("conclusion", {"conclusion": "x" * 61}),
    ("options", {"options": {"A B": "1"}}),
    ("options", {"options": {"A": "\x00"}}),
    ("options", {"options": {"A": 1}}),
    ("options", {"options": {f"A{number}": "" for number in range(101)}}),
    ("workload", {"workload": {"ITERS": math.inf}}),
    ("workload", {"workload": {"ITERS": math.nan}}),
]


@pytest.mark.parametrize(("field", "change"), REFUSED)
def test_a_refusal_names_the_field_and_leaves_nothing(field: str, change: dict) -> None:
    with pytest.raises(BadSubmission) as refusal:
        receive(submission(file(), **change))
    assert refusal.value.field == field
    assert set(counts().values()) == {0}


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ((file(), file(b"other")), BadSubmission),
        ((file(name="x" * 201),), BadSubmission),
        ((file(gzip.compress(TEXT, mtime=0)[:-5]),), Unreadable),
    ],
)
def test_a_bad_file_leaves_no_row(files: tuple[SubmittedFile, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        receive(submission(*files))
    assert set(counts().values()) == {0}


def test_a_log_beyond_the_bound_leaves_no_row(settings) -> None:
    settings.LEAKLEDGER_MAX_LOG_BYTES = 10
    with pytest.raises(TooLarge):
        receive(submission(file()))
    assert set(counts().values()) == {0}


def test_no_log_is_lost_for_its_name() -> None:
    receive(submission(file(name="asan\x00\udce9.log"), file(b"other", name="")))
    assert set(Log.objects.values_list("name", flat=True)) == {"asan\ufffd\ufffd.log", "log"}


@pytest.mark.parametrize(("given", "kept"), [(3221225477, -1073741819), (139, 139), (-6, -6), (0, 0)])
def test_exit_codes_are_kept_signed(given: int, kept: int) -> None:
    receive(submission(exit_code=given))
    assert Claim.objects.get().fields["exit_code"] == kept


def test_unknown_words_are_kept() -> None:
    receive(submission(conclusion="gesundheit", event="🦩", provider="own ci"))
    assert Claim.objects.get().fields["conclusion"] == "gesundheit"


def test_an_unknown_project_takes_nothing() -> None:
    with pytest.raises(UnknownProject):
        receive(submission(file(), project="other"))
    assert Blob.objects.count() == 0


def test_a_scratch_project_takes_logs_until_its_end() -> None:
    scratch = make_scratch_project(own_roots=["src/"])
    assert (scratch.public, scratch.own_roots) == (True, ["src/"])
    receive(submission(file(), project=scratch.slug, commit=NO_COMMIT, run_id=""))
    Project.objects.filter(pk=scratch.pk).update(ends_at=clock.now())
    with pytest.raises(UnknownProject):
        receive(submission(file(), project=scratch.slug, commit=NO_COMMIT, run_id=""))


def test_times_keep_their_zone() -> None:
    there = datetime(2026, 7, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    receive(submission(started_at=there))
    assert Run.objects.get().started_at == NOON


# --- Cost ------------------------------------------------------------------------------------------------------------


def queries(whole: Submission) -> tuple[int, Receipt]:
    """Queries of one submission, save points left out."""
    with CaptureQueriesContext(connection) as captured:
        receipt = receive(whole)
    return sum("SAVEPOINT" not in query["sql"] for query in captured), receipt


def test_the_number_of_queries_is_bounded_and_does_not_grow_with_the_files() -> None:
    one, _ = queries(submission(file(), branch="main", parent=PARENT, started_at=NOON))
    many, receipt = queries(submission(*(file(b"%d" % n, f"{n}.log") for n in range(50)), run_id="78", parent=PARENT))
    again, _ = queries(submission(file(), branch="main", parent=PARENT, started_at=NOON))
    assert len(receipt.logs) == 50
    assert one <= 31
    assert many <= 31
    assert again <= 14
