"""`import_github` against a server that answers as GitHub does."""

import io
import time

import pytest
from django.core.management import CommandError, call_command

from leaks.ingest import backfill
from leaks.ingest.receive import receive
from leaks.models import Claim, Commit, CommitPlace, JobName, Lane, LaneOutcome, Log, Part, Project, Run, RunClaim
from leaks.rows.intake import Submission, SubmittedFile
from leaks.words import ClaimSource
from workers.backfill import github_client, github_import
from workers.backfill.github_client import Client
from workers.management.commands import import_github
from workers.tests.github_house import REPOSITORY, TOKEN, Hub, archive, commit, hub_running, job, run, said, sha

pytestmark = pytest.mark.django_db

TEXT = "57 passed, 0 failed\n"


@pytest.fixture
def hub():
    with hub_running() as running:
        yield running


@pytest.fixture(autouse=True)
def project() -> Project:
    engine = Project.objects.create(slug="engine", name="Engine", default_branch="main")
    Lane.objects.create(project=engine, name="asan", patterns=["Linux / asan.*"])
    return engine


@pytest.fixture(autouse=True)
def hints(monkeypatch) -> list[object]:
    seen: list[object] = []
    monkeypatch.setattr(github_import, "hint_logs", seen.extend)
    monkeypatch.setattr(github_import, "hint_marks", lambda: None)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return seen


@pytest.fixture(autouse=True)
def naps(monkeypatch) -> list[float]:
    """How long the client would have waited."""
    slept: list[float] = []
    monkeypatch.setattr(import_github, "Client", lambda url, token, note: Client(url, token, note, slept.append))
    return slept


def imported(hub: Hub, *arguments: str) -> str:
    printed = io.StringIO()
    base = ("--project", "engine", "--base-url", hub.url)
    call_command("import_github", REPOSITORY, *base, *arguments, stdout=printed, stderr=printed)
    assert TOKEN not in printed.getvalue()
    return printed.getvalue()


def rows() -> tuple[int, ...]:
    models = (Run, RunClaim, LaneOutcome, Part, Claim, Log, Commit, CommitPlace, JobName)
    return tuple(model.objects.count() for model in models)


def simple(hub: Hub, *numbers: int) -> None:
    for number in numbers:
        one = run(number)
        hub.add(one, job(one, "asan"), job(one, "lint"), logs=archive(asan=f"{TEXT}{number}\n", lint="fine\n"))


# --- What is read ----------------------------------------------------------------------------------------------------


def test_runs_jobs_and_logs_come_in_as_back_fill(hub: Hub, hints: list[object]) -> None:
    simple(hub, 1)
    printed = imported(hub)
    outcome, log, claim = LaneOutcome.objects.get(), Log.objects.get(), Claim.objects.get()
    assert (outcome.lane.name, str(outcome.run), outcome.run.branch) == ("asan", "1001", "main")
    assert (claim.source, claim.fields["job"], claim.fields["conclusion"]) == (ClaimSource.BACK_FILL, "asan", "success")
    assert (log.blob.bytes, hints) == (len(TEXT) + 2, [log.public_id])
    assert "no lane takes the job lint (1)" in printed
    assert JobName.objects.get(name="lint").lane is None, "listed as with webhooks"


def test_lists_are_read_to_their_end(hub: Hub) -> None:
    hub.page = 2
    simple(hub, *range(1, 8))
    one = run(9)
    hub.add(one, *[job(one, f"asan ({part})") for part in "abcde"], logs=410)
    hub.commits = [commit(number, number - 1) for number in range(1, 10)]
    imported(hub)
    assert (Run.objects.count(), Part.objects.filter(outcome__run__external_id="1009").count()) == (8, 5)
    assert CommitPlace.objects.filter(branch="main").count() == 9


def test_a_list_that_ends_at_a_thousand_is_asked_for_what_is_older(hub: Hub, monkeypatch) -> None:
    monkeypatch.setattr("workers.backfill.github_runs.LIST_ENDS_AT", 3)
    real = hub._runs
    hub._runs = lambda asked: real(asked)[:3]  # type: ignore[method-assign]
    simple(hub, *range(1, 9))
    imported(hub)
    assert Run.objects.count() == 8


def test_commits_that_no_run_named_are_there_with_their_parents(hub: Hub) -> None:
    simple(hub, 1, 4)
    hub.commits = [commit(1), commit(2, 1), commit(3, 2), commit(4, 3)]
    assert "new commits 4" in imported(hub)
    assert list(Commit.objects.order_by("sha").values_list("title", flat=True)) == [f"Work {n}" for n in (1, 2, 3, 4)]
    places = CommitPlace.objects.order_by("position").values_list("position", "commit__sha")
    assert list(places) == [(number, sha(number)) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("name", ["ci", "ci.yml", "7", ".github/workflows/ci.yml"])
def test_a_workflow_is_found_by_whatever_it_is_called(hub: Hub, name: str) -> None:
    simple(hub, 1)
    imported(hub, "--workflow", name)
    assert hub.paths("/workflows/7/runs")
    assert Run.objects.count() == 1


def test_a_workflow_that_is_not_there_is_said_with_those_that_are(hub: Hub) -> None:
    with pytest.raises(CommandError, match=r"no workflow nightly; there are: ci"):
        imported(hub, "--workflow", "nightly")


def test_only_what_was_asked_for(hub: Hub) -> None:
    simple(hub, *range(1, 9))
    hub.add(run(20, head_branch="topic"))
    imported(hub, "--since", "2026-05-03", "--max-runs", "2")
    assert sorted(Run.objects.values_list("external_id", flat=True)) == ["1007", "1008"]
    imported(hub, "--branch", "topic")
    assert Run.objects.filter(branch="topic").count() == 1
    imported(hub, "--since", "2026-05-05", "--all-branches")
    assert Run.objects.count() == 5


# --- Kinds of runs ---------------------------------------------------------------------------------------------------


def test_each_attempt_is_an_outcome(hub: Hub) -> None:
    first = run(1, conclusion="failure")
    again = run(1, run_attempt=2, run_started_at="2026-05-01T12:00:00Z")
    hub.add(first, job(first, "asan", conclusion="failure"), job(first, "tsan"), logs=archive(asan="one"))
    # What the re-run of the failed jobs did not run is listed again, as the first attempt left it.
    carried = job(first, "tsan", run_attempt=2)
    hub.add(again, job(again, "asan"), carried, logs=archive(asan="two"))
    Lane.objects.create(project=Project.objects.get(), name="tsan")
    imported(hub)
    found = Claim.objects.values_list("part__outcome__lane__name", "part__outcome__run__attempt", "fields__conclusion")
    assert sorted(found) == [("asan", 1, "failure"), ("asan", 2, "success"), ("tsan", 1, "success")]
    assert Log.objects.filter(part__outcome__run__attempt=2).get().blob.bytes == 3


def test_a_run_that_was_cancelled_before_it_had_a_job(hub: Hub) -> None:
    hub.add(run(1, conclusion="cancelled"))
    imported(hub)
    row = Run.objects.get()
    said_of_it = [one.fields for one in row.claims.all() if "conclusion" in one.fields]
    assert (row.jobs_seen, said_of_it[0]["conclusion"], said_of_it[0]["ended"]) == (False, "cancelled", True)
    assert not hub.paths("/logs")


def test_a_job_that_never_began_is_asked_for_no_log(hub: Hub) -> None:
    one = run(1, conclusion="cancelled")
    hub.add(one, job(one, "asan", conclusion="cancelled", steps=[]))
    imported(hub)
    assert (Claim.objects.get().fields["steps_reached"], hub.paths("/logs")) == (0, [])


def test_a_run_that_goes_on_is_read_again_next_time(hub: Hub) -> None:
    going = run(1, status="in_progress", conclusion=None)
    hub.add(going, job(going, "asan", status="in_progress", conclusion=None, completed_at=None))
    assert "1 have not ended" in imported(hub)
    simple(hub, 1)
    imported(hub)
    assert (Log.objects.count(), Run.objects.get().finished_at is None) == (1, False)


@pytest.mark.parametrize("status", [404, 410])
def test_expired_logs_are_a_run_without_a_log(hub: Hub, status: int) -> None:
    one = run(1)
    hub.add(one, job(one, "asan"), logs=status)
    assert "without a log 1" in imported(hub)
    assert (LaneOutcome.objects.count(), Log.objects.count()) == (1, 0)
    imported(hub)
    assert len(hub.paths("/logs")) == 1, "they do not come back"


# --- Which log is whose ----------------------------------------------------------------------------------------------


def test_names_that_no_file_may_have_still_find_their_log(hub: Hub) -> None:
    one = run(1)
    hub.add(one, job(one, "Linux / asan: gcc"), logs=archive(**{"Linux  asan gcc": "mine", "lint": "other"}))
    imported(hub)
    assert Log.objects.get().blob.bytes == 4


def test_logs_that_cannot_be_told_apart_are_asked_for_one_by_one(hub: Hub) -> None:
    one = run(1)
    both = [job(one, "asan (a/b)", id=501), job(one, "asan (ab)", id=502)]
    hub.add(one, *both, logs=archive(**{"asan (ab)": "whose?"}))
    hub.job_logs = {501: b"first", 502: b"the second"}
    imported(hub)
    sizes = {log.part.name: log.blob.bytes for log in Log.objects.all()}
    assert sizes == {"a/b": 5, "ab": 10}


def test_jobs_of_one_name_keep_both_logs(hub: Hub) -> None:
    one = run(1)
    hub.add(one, job(one, "asan", id=501), job(one, "asan", id=502), logs=archive(asan="whose?"))
    hub.job_logs = {501: b"first", 502: b"the second"}
    imported(hub)
    assert sorted(log.blob.bytes for log in Log.objects.filter(current=True)) == [5, 10]


def test_jobs_that_would_be_one_part_move_apart(hub: Hub) -> None:
    Lane.objects.filter(name="asan").update(patterns=["asan-.*"])
    one = run(1)
    hub.add(one, job(one, "asan-cpu"), job(one, "asan-gpu2"), logs=archive(**{"asan-cpu": "c", "asan-gpu2": "gg"}))
    imported(hub)
    assert {log.part.name: log.blob.bytes for log in Log.objects.all()} == {"asan-cpu": 1, "asan-gpu2": 2}


def test_a_broken_archive_does_not_cost_the_logs(hub: Hub) -> None:
    one = run(1)
    hub.add(one, job(one, "asan", id=501), logs=b"PK\x03\x04 no archive")
    hub.job_logs = {501: b"first"}
    imported(hub)
    assert Log.objects.get().blob.bytes == 5


def test_a_lane_that_uploads_by_itself_gets_no_second_log(hub: Hub) -> None:
    simple(hub, 1)
    place = {"project": "engine", "lane": "asan", "commit": sha(1), "provider": "github", "run_id": "1001"}
    receive(Submission(**place, files=(SubmittedFile("asan.log", io.BytesIO(b"its own")),)))  # type: ignore[arg-type]
    imported(hub)
    assert [log.name for log in Log.objects.all()] == ["asan.log"]
    assert not hub.paths("/logs")


# --- Twice, and from where it ended ----------------------------------------------------------------------------------


def test_twice_is_once(hub: Hub) -> None:
    simple(hub, 1, 2)
    hub.commits = [commit(1), commit(2, 1)]
    imported(hub)
    before, asked = rows(), len(hub.paths("/attempts/"))
    assert "2 were in already" in imported(hub)
    assert (rows(), len(hub.paths("/attempts/"))) == (before, asked)


@pytest.mark.parametrize("point", ["/attempts/1/jobs", "/attempts/1/logs"])
def test_an_import_that_was_interrupted_goes_on(hub: Hub, point: str, monkeypatch, capsys) -> None:
    simple(hub, 1, 2, 3)
    real = Client._page if point.endswith("jobs") else Client.download

    def interrupted(client, url, *rest):
        if "1002" in url and point in url:
            raise KeyboardInterrupt
        return real(client, url, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(Client, real.__name__, interrupted)
        with pytest.raises(SystemExit) as ended:
            imported(hub)
    assert ended.value.code == 130
    assert Log.objects.count() == 1
    asked = len(hub.paths("1003/attempts/"))
    assert "1 were in already" in imported(hub)
    assert (Log.objects.count(), Claim.objects.count()) == (3, 3)
    assert len(hub.paths("1003/attempts/")) == asked, "what is in is not read again"


def test_a_job_that_a_lane_takes_later_is_fetched_then(hub: Hub) -> None:
    simple(hub, 1)
    imported(hub)
    Lane.objects.create(project=Project.objects.get(), name="static", aliases=["lint"])
    imported(hub)
    assert sorted(Log.objects.values_list("part__outcome__lane__name", flat=True)) == ["asan", "static"]
    assert "1 were in already" in imported(hub)


def test_an_attempt_that_cannot_be_taken_does_not_cost_the_others(hub: Hub, project: Project) -> None:
    simple(hub, 1, 2)
    other = Commit.objects.create(project=project, sha=sha(99))
    Run.objects.create(project=project, commit=other, provider="github", external_id="1002", commit_from_event=True)
    with pytest.raises(CommandError, match="run 1002 attempt 1: Run 1002 is known for commit"):
        imported(hub)
    assert backfill.is_in(project, "github", "1001", 1)


# --- The server's moods ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "least", "most"),
    [
        (said(502, "Bad gateway"), 1, 3),
        (said(503, "Busy"), 1, 3),
        ((200, {}, b'{"workflow_runs": [{"id"'), 1, 3),  # cut on its way
        ((200, {"Content-Length": "99"}, b"{}"), 1, 3),
        (said(403, "API rate limit exceeded", X_RateLimit_Remaining="0", X_RateLimit_Reset="RESET"), 80, 91),
        (said(429, "Slow down", Retry_After="17"), 17, 17),
        (said(403, "You have exceeded a secondary rate limit"), 60, 60),
    ],
)
def test_it_waits_as_long_as_the_server_wants(hub: Hub, naps: list[float], reply, least: int, most: int) -> None:
    simple(hub, 1)
    status, headers, body = reply
    reset = str(int(time.time()) + 90)
    hub.trouble = [("/actions/runs", (status, {k: v.replace("RESET", reset) for k, v in headers.items()}, body))]
    imported(hub)
    assert Log.objects.count() == 1
    assert [nap for nap in naps if not least <= nap <= most] == []
    assert len(naps) == 1


def test_the_last_answer_of_a_window_is_used_and_the_next_waited_for(hub: Hub, naps: list[float]) -> None:
    simple(hub, 1)
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 50)}
    hub.trouble = [("/attempts/1/jobs", (200, headers, b'{"jobs": []}'))]
    simple(hub, 2)
    imported(hub)
    assert len(naps) == 1
    assert 40 < naps[0] < 53


def test_a_server_that_stays_away_ends_the_import_and_what_is_in_stays(hub: Hub) -> None:
    simple(hub, 1, 2)
    hub.trouble = [("/runs/1001/", said(500, "Oops"))] * github_client.MOST_TRIES
    with pytest.raises(CommandError, match=r"did not answer \(status 500\)"):
        imported(hub)
    assert Log.objects.count() == 1
    imported(hub)
    assert Log.objects.count() == 2


@pytest.mark.parametrize(("status", "message"), [(401, "Bad credentials"), (403, "Must have admin rights")])
def test_a_refusal_ends_the_import_at_once(hub: Hub, naps: list[float], status: int, message: str) -> None:
    simple(hub, 1)
    hub.trouble = [("/logs", said(status, message))]
    with pytest.raises(CommandError, match=f"{status} {message}"):
        imported(hub)
    assert naps == []


def test_a_page_past_the_bound_is_not_read(hub: Hub, monkeypatch) -> None:
    simple(hub, 1)
    monkeypatch.setattr(github_client, "LARGEST_PAGE", 100)
    with pytest.raises(CommandError, match="more than 100 bytes"):
        imported(hub)


def test_a_log_past_the_bound_is_said_and_the_run_stays(hub: Hub, settings) -> None:
    simple(hub, 1)
    settings.LEAKLEDGER_MAX_LOG_BYTES = 10
    hub.job_logs = {100104: b"x" * 11}
    with pytest.raises(CommandError, match="The log of asan, run 1001"):
        imported(hub)
    assert (LaneOutcome.objects.count(), Log.objects.count()) == (1, 0)


# --- The token -------------------------------------------------------------------------------------------------------


def test_the_token_goes_to_github_and_not_to_where_the_logs_are(hub: Hub) -> None:
    simple(hub, 1)
    imported(hub)
    assert {one.authorization for one in hub.asked} == {f"Bearer {TOKEN}"}
    assert [one.authorization for one in hub.stored] == [""]


def test_a_following_page_elsewhere_gets_no_token(hub: Hub) -> None:
    simple(hub, 1)
    hub.trouble = [
        ("/actions/runs", (200, {"Link": f'<{hub.store}/run/1001/1>; rel="next"'}, b'{"workflow_runs": []}'))
    ]
    with pytest.raises(CommandError):
        imported(hub)
    assert {one.authorization for one in hub.stored} == {""}


@pytest.mark.parametrize("url", ["http://ghe.example/api/v3", "ftp://ghe.example", "https://u:p@ghe.example"])
def test_an_address_that_would_give_the_token_away_is_refused(url: str) -> None:
    with pytest.raises(CommandError):
        call_command("import_github", REPOSITORY, "--project", "engine", "--base-url", url, stderr=io.StringIO())


@pytest.mark.parametrize("name", ["acme", "acme/engine/x", "../engine", "acme/..", "acme/en gine"])
def test_what_is_no_repository_is_refused(name: str) -> None:
    with pytest.raises(CommandError):
        call_command("import_github", name, "--project", "engine", stderr=io.StringIO())


def test_the_token_is_not_shown_with_the_client() -> None:
    assert TOKEN not in repr(Client(token=TOKEN))
