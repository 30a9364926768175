"""The comment under a pull request: what it says, and that no name out of a log says anything else."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.exports.comment import LONGEST, marker, render
from dashboard.exports.markdown import code, link, prose
from dashboard.tests.leak_cast import make_leak_cast
from leaks import models
from leaks.rows.comment import CommentLane, CommitComment
from leaks.rows.compare_pages import ChangeGroup, ChangeRow, ComparePage
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import AttemptRow, FlagRow, LaneFold, OutcomeRef, Tests
from leaks.tests import cast
from leaks.tokens import make_token
from leaks.words import Reason, Verdict

HOSTILE = [
    "@everyone", "@org/team", "#123", "org/repo#1", "!5", "<script>alert(1)</script>", "<!-- x", "-->", "a | b |", "a\\|b", "`", "``",
    "``` x", "`@me`", "![x](https://evil/x.png)", "[x](javascript:1)", "a\n\n# heading", "a\r\n- item", "**b**", "~~s~~", "&amp;",
    "\u202eevil", "\x00\x1b[31m", "https://evil.example/@x", "$x^2$", "| --- |", "</details>", "x" * 3000, "", " ", "::warning::x",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_inside_its_code_span(name) -> None:
    span = code(name)
    assert "\n" not in span
    fence = span[: len(span) - len(span.lstrip("`"))]
    if not fence:
        assert span == "–"
        return
    inner = span[len(fence) : -len(fence)]
    assert span.endswith(fence)
    assert fence not in re.findall("`+", inner)
    assert not inner.startswith("`")
    assert not inner.endswith("`")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_sentence_holds_no_mark(name) -> None:
    text = prose(name)
    assert not re.search(r"[`*<>\[\]|@!\\~^$\n]|#(?!\d+;)|://", text)


def test_a_mention_is_kept_from_its_name_even_in_the_finished_page() -> None:
    assert prose("thanks @octocat and #12") == "thanks &#64;\u200boctocat and &#35;\u200b12"


def test_an_address_cannot_end_its_link() -> None:
    assert link("x", "https://a/b(c) d") == "[x](https://a/b%28c%29%20d)"


@pytest.mark.parametrize("slug", ["engine", "a--b", "a---b", "a-", "-"])
def test_the_mark_is_one_html_comment(slug) -> None:
    inner = marker(slug).removeprefix("<!--").removesuffix("-->")
    assert "--" not in inner
    assert not inner.endswith("-")


# --- Rendering -------------------------------------------------------------------------------------------------------


def ref(sha="a" * 40, **fields):
    values = {
        "public_id": "o1",
        "lane": "asan",
        "run": "1102",
        "sha": sha,
        "at": cast.NOW,
        "verdict": "findings",
        "reason": "",
    }
    return OutcomeRef(**{**values, **fields})


def attempt(**fields):
    values = {
        "ref": ref(), "event": "push", "pull_request": 7, "conclusion": "failure", "exit_code": 1, "phase": "", "percent": None,
        "tests": Tests("doctest", 57, 57, 0, 0, complete=True), "amount": Amount(91456, 50, 50), "flags": (),
        "sentence": "A report.", "decides": True,
    }  # fmt: skip
    return AttemptRow(**{**values, **fields})


def group(change, number=1, title="engine::f", rows=None):
    shown = tuple(
        ChangeRow(f"LKS-{n}", title, own=True, state="untriaged", base=None, head=Amount(64, 1, 1))
        for n in range(rows or number)
    )
    return ChangeGroup(change, "", "", shown, number)


def lane(name="asan", verdict="findings", *, reason="", groups=(), result="new_findings", decides=None, **fields):
    one = decides or attempt()
    fold = LaneFold(name, verdict, reason, "Why.", attempts=(one,))
    page = ComparePage((), result=result, sentence="The sentence.", advice="The advice.", groups=tuple(groups))
    return CommentLane(fold, one, base=ref("b" * 40), chosen_by="ancestor", compared=page, **fields)


def comment(*lanes, **fields):
    values = {
        "project": "engine",
        "name": "Engine",
        "branch": "main",
        "sha": "a" * 40,
        "verdict": "findings",
        "reason": "",
        "why": "Why.",
    }
    return CommitComment(**{**values, **fields}, lanes=lanes)


def text(*lanes, **fields) -> str:
    return render(comment(*lanes, **fields), lambda page, *names: f"https://l.example/{page}/{'/'.join(names)}")


def test_it_begins_with_the_mark_by_which_it_is_found_again() -> None:
    assert text(lane()).splitlines()[0] == "<!-- leakledger project=engine -->"


def test_the_groups_are_told_each_in_its_way() -> None:
    said = text(
        lane(
            groups=[
                group("introduced", 2),
                group("fixed", 1),
                group("unknown", 3),
                group("pre_existing_other_bytes", 4),
                group("pre_existing_identical", 2031),
            ]
        )
    )
    assert (
        "- **2 new**:\n  - `engine::f`, 64 B in 1 object, own ([LKS-0](https://l.example/signature/engine/LKS-0))"
        in said
    )
    assert "- 1 fixed:" in said
    assert "- 3 unknown: this run could not have shown them, so they are not fixed:" in said
    assert "- 4 pre-existing, with other bytes than in the base." in said
    assert "- 2,031 pre-existing, byte for byte." in said


def test_a_contradiction_is_shown_and_not_averaged() -> None:
    flagged = attempt(flags=(FlagRow("summary_contradicts_exit", "x"), FlagRow("exit_masked", "The CI hid it.")))
    said = text(lane(decides=flagged))
    assert "Exit code 1, 57 passed, 0 failed. **The exit code contradicts the test summary.**" in said
    assert "- exit masked: The CI hid it." in said


def test_what_cannot_be_compared_says_why_and_what_would_help() -> None:
    said = text(lane(result="not_comparable"))
    assert "- **Not comparable** with" in said
    assert "The sentence. The advice." in said
    assert "what this commit brought in" in said


def test_what_was_not_measured_is_named() -> None:
    bare = attempt(exit_code=None, tests=Tests("", None, None, None, None, None), amount=Amount(None, None, 0))
    said = text(lane(verdict="no_verdict", reason="pending", decides=bare))
    assert "Not measured: what is still running or still to be read; the exit code; how many tests ran." in said


def test_a_lane_that_is_owed_and_absent_is_told() -> None:
    absent = CommentLane(
        LaneFold("tsan", "no_verdict", "", "The lane is owed on this commit, and no run of it is known.")
    )
    said = text(lane(), absent)
    assert "#### `tsan`: – no verdict" in said
    assert "Not measured: anything, for `main` owes this lane" in said


def test_a_canary_is_no_finding() -> None:
    said = text(lane(groups=[group("introduced", 2)]), planted=frozenset({"LKS-0"}))
    assert "**1 new**" in said
    assert "LKS-0" not in said


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_change_no_structure(name) -> None:
    flat = text(lane("plain", groups=[group("introduced", 3, "plain")]))
    said = text(lane(name, groups=[group("introduced", 3, name)]))
    assert shape(said) == shape(flat)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", said)
    assert "@" not in outside
    assert re.findall(r"<(?!!--|sub>|/sub>)", outside) == []


def shape(said: str) -> list[str]:
    return [next(re.finditer(r"\s*(?:#+|- |<!--|<sub>|$)?", one))[0] for one in said.splitlines()]


@pytest.mark.parametrize("title", ["engine::f", "名" * 300, "`" * 150, "\\" * 500])
def test_it_is_never_longer_than_github_takes(title) -> None:
    lanes = [lane(f"l{n}", groups=[group("introduced", 300, title), group("fixed", 300, title)]) for n in range(20)]
    said = text(*lanes)
    assert len(said.encode()) <= LONGEST < 65_536
    assert "and 2" in said
    assert said.startswith("<!-- leakledger")
    assert "#### `l19`" in said


def test_what_fits_in_no_way_is_cut_between_lines() -> None:
    flags = tuple(FlagRow("exit_masked", "x" * 900) for _ in range(100))
    said = text(*[lane(f"l{n}", decides=attempt(flags=flags)) for n in range(20)])
    assert len(said.encode()) <= LONGEST
    assert said.rstrip().endswith("the page of the commit has the rest.")


# --- The API ---------------------------------------------------------------------------------------------------------

db = pytest.mark.django_db


@pytest.fixture
def played():
    with time_machine.travel(cast.NOW, tick=False):
        yield make_leak_cast()


def address(outcome, tail="comment.md") -> str:
    return f"/api/v1/projects/engine/commits/{outcome.run.commit.sha}/{tail}"


@db
def test_the_text_and_its_twin_say_the_same(client, played) -> None:
    plain, twin = client.get(address(played.red)), client.get(address(played.red, "comment")).json()
    assert plain["Content-Type"] == "text/markdown; charset=utf-8"
    assert plain.content.decode() == twin["body"]
    assert twin["body"].startswith(twin["marker"])
    assert (twin["verdict"], twin["settled"]) == ("findings", True)
    assert "http://testserver/p/engine/signatures/" in twin["body"]


@db
def test_twice_asked_is_twice_the_same(client, played) -> None:
    assert client.get(address(played.red)).content == client.get(address(played.red)).content


@db
def test_the_base_is_of_the_default_branch_and_not_the_parent_within_the_pull_request(client, played) -> None:
    """What the first commit of a pull request brought in is new on the second one too."""
    project, lane_ = played.project, played.cast.lane
    shas = {}
    for name, parent in (("pr1", played.cast.green.run.commit.sha), ("pr2", cast.sha_of("pr1"))):
        at = cast.NOW - timedelta(minutes=30 if name == "pr1" else 10)
        commit = cast.make_commit(project, name, at, branch="topic")
        models.Commit.objects.filter(pk=commit.pk).update(parents=[parent])
        commit.refresh_from_db()
        shas[name] = cast.make_outcome(
            lane_, commit, at, Verdict.FINDINGS, branch="topic", exit_code=1, **cast.LEAK, **cast.TESTS
        )
        if name == "pr1":
            made = cast.make_signature(shas[name], "engine::Fresh", 128, 1)
            key = made.keys.get()
        else:
            cast._see(shas[name], key, cast._frame("engine::Fresh"), 128, 1)
    twin = client.get(address(shas["pr2"], "comment")).json()
    [told] = twin["lanes"]
    assert told["base"] == played.cast.green.run.commit.sha
    assert "**1 new**:\n  - `engine::Fresh`" in twin["body"]


@db
def test_a_merge_base_that_is_named_is_taken(client, played) -> None:
    green = played.cast.green.run.commit.sha
    twin = client.get(address(played.cast.blinded, "comment") + f"?merge_base={green}").json()
    assert twin["lanes"][0]["base"] == green
    assert "the merge base" in twin["body"]


@db
def test_what_waits_is_not_settled(client, played) -> None:
    models.Log.objects.filter(part__outcome=played.red).update(state="received")
    twin = client.get(address(played.red, "comment")).json()
    assert twin["settled"] is False
    assert "still to be read" in twin["body"]


@db
def test_who_may_not_read_learns_nothing_and_an_upload_token_may(client, played) -> None:
    models.Project.objects.update(public=False)
    assert client.get(address(played.red)).status_code == 404
    _, secret = make_token(played.project, "upload", "lane")
    assert client.get(address(played.red), headers={"Authorization": f"Bearer {secret}"}).status_code == 200


@db
@pytest.mark.parametrize("sha", ["0" * 40, "zz", "abc", "%2e%2e"])
def test_an_unknown_commit_is_not_there(client, played, sha) -> None:
    answer = client.get(f"/api/v1/projects/engine/commits/{sha}/comment.md")
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


@db
def test_a_commit_without_a_lane_says_so(client, played) -> None:
    models.LaneExpectation.objects.all().delete()
    commit = cast.make_commit(played.project, "bare", cast.NOW)
    said = client.get(f"/api/v1/projects/engine/commits/{commit.sha}/comment.md").content.decode()
    assert "No lane is known to have run on this commit" in said


@db
def test_history_and_signatures_are_not_more_questions(client, played) -> None:
    counts = []
    for number in range(2):
        for place in range(20 * number):
            at = cast.NOW - timedelta(days=3, minutes=place)
            cast.make_outcome(played.cast.lane, cast.make_commit(played.project, f"c{place}", at), at, Verdict.CLEAN)
            cast.make_signature(played.red, f"engine::g{place}", 8, 1)
        with CaptureQueriesContext(connection) as asked:
            client.get(address(played.red))
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 25


def test_every_reason_has_words() -> None:
    for reason in Reason:
        assert "_" not in text(lane(verdict="no_verdict", reason=reason.value)).split("####")[1].splitlines()[0]
