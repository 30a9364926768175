"""Badges: what they say, whom they say it to, and that they say it in few bytes."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.exports import badge
from dashboard.exports.text_widths import text_width
from leaks import models
from leaks.rows.lane_now import LaneNow
from leaks.tests import cast
from leaks.tokens import make_token
from leaks.words import Reason, Verdict

NOW = datetime(2026, 3, 11, 15, tzinfo=UTC)
SVG = "{http://www.w3.org/2000/svg}"
ADDRESS = "/badge/engine/asan-ubsan.svg"


def parsed(drawn: str):
    return ET.fromstring(drawn)  # noqa: S314  ours


def now(verdict: str = "clean", reason: str = "", **fields) -> LaneNow:
    return LaneNow(
        **{"lane": "asan", "owed": True, "sha": "a" * 40, "at": NOW, "verdict": verdict, "reason": reason, **fields}
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (now(), "✓ clean"),
        (now("findings"), "● findings"),
        (now("test_failure", blind_since=NOW - timedelta(hours=5)), "✗ test failure, blind since 5 h"),
        (now("blinded", blind_since=NOW - timedelta(days=3)), "◌ blinded, blind since 3 d"),
        (now("no_verdict", "pending"), "– no verdict: pending"),
        (
            now("no_verdict", "cancelled_before_tests", blind_since=NOW - timedelta(days=3)),
            "– no verdict: cancelled before tests, blind since 3 d",
        ),
        (now(""), "– no verdict: not run on the newest commit"),
        (now("", sha=""), "– no verdict: no commit is known"),
    ],
)
def test_the_message_says_what_is_known_of_the_newest_commit(row, message) -> None:
    assert badge.message_of(row, NOW) == message


def every() -> list[LaneNow]:
    rows = [now(verdict) for verdict in Verdict if verdict != Verdict.NO_VERDICT]
    return rows + [now("no_verdict", reason) for reason in Reason]


@pytest.mark.parametrize("row", every(), ids=lambda row: f"{row.verdict} {row.reason}")
def test_each_verdict_has_a_shape_and_a_word_besides_its_colour(row) -> None:
    tree = parsed(badge.svg(row, NOW))
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    assert texts[0] == "asan"
    assert texts[1][0] in "✓●✗▣?◌–"
    assert len(texts[1]) > 4
    assert tree.get("role") == "img"
    assert tree.find(f"{SVG}title").text == tree.get("aria-label")


def test_clean_alone_is_green_and_what_proves_nothing_is_hatched() -> None:
    for row in every():
        drawn = badge.svg(row, NOW)
        assert ("#176b40" in drawn) == (row.verdict == "clean")
        assert ("url(#h" in drawn) == (row.verdict in {"no_verdict", "blinded"})


def test_white_letters_can_be_read_on_every_colour() -> None:
    for colour in [*badge.COLOURS.values(), badge.LABEL_COLOUR, badge.STRIPE]:
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5, colour


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    "lane",
    [
        "<script>alert(1)</script>", '"onload="x', "a&b", "a\x00\x0b\ud800\ufffe\uffff", "x" * 5000, "\u202eevil", "]]>", "{width}",
        "名前", "", "\r\n",
    ],
)  # fmt: skip
def test_a_hostile_name_is_text_and_nothing_else(lane) -> None:
    drawn = badge.svg(now(lane=lane), NOW)
    tree = parsed(drawn)
    assert {one.tag for one in tree.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "clipPath", "rect", "g", "text", "defs", "pattern")
    }
    assert set(tree.attrib) == {"width", "height", "viewBox", "role", "aria-label"}
    assert len(drawn) < 3000


def test_the_text_fits_into_its_half() -> None:
    tree = parsed(badge.svg(now("findings"), NOW))
    left, right = tree.findall(f".//{SVG}g/{SVG}rect")
    label, message = tree.findall(f".//{SVG}text")
    assert int(label.get("x")) + int(label.get("textLength")) < int(left.get("width"))
    assert int(message.get("x")) + int(message.get("textLength")) < int(left.get("width")) + int(right.get("width"))
    assert text_width("asan") == int(label.get("textLength")) == 27


# --- The page --------------------------------------------------------------------------------------------------------

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return cast.make_cast()


def message(client, address: str = "/badge/engine/asan-ubsan.json") -> str:
    return client.get(address).json()["message"]


def test_it_does_not_repeat_an_older_green(client, played) -> None:
    assert message(client) == "◌ blinded, blind since 5 h"
    at = cast.NOW - timedelta(hours=1)
    commit = cast.make_commit(played.project, "next", at)
    assert message(client) == "– no verdict: not run on the newest commit, blind since 5 h"
    cast.make_outcome(played.lane, commit, at, Verdict.NO_VERDICT, reason=Reason.PENDING)
    assert message(client) == "– no verdict: pending, blind since 5 h"
    later = cast.make_commit(played.project, "proved", cast.NOW)
    cast.make_outcome(played.lane, later, cast.NOW, Verdict.CLEAN)
    assert message(client) == "✓ clean"


def test_commits_of_other_branches_say_nothing_of_the_default_one(client, played) -> None:
    commit = cast.make_commit(played.project, "topic", cast.NOW, branch="topic")
    cast.make_outcome(played.lane, commit, cast.NOW, Verdict.CLEAN, branch="topic")
    assert message(client) == "◌ blinded, blind since 5 h"


def test_a_lane_that_is_not_owed_is_not_blind_between_its_runs(client, played) -> None:
    models.LaneExpectation.objects.update(owed_branch="")
    models.CommitLane.objects.exclude(verdict=Verdict.CLEAN).delete()
    assert message(client) == "– no verdict: not run on the newest commit"


def test_an_alias_and_a_name_with_slashes_and_blanks_have_badges_too(client, played) -> None:
    assert message(client, "/badge/engine/address,undefined.json") == message(client)
    models.Lane.objects.create(project=played.project, name="nightly / asan <b>")
    answer = client.get("/badge/engine/nightly%20/%20asan%20%3Cb%3E.svg")
    assert answer.status_code == 200
    assert "&lt;b&gt;" in answer.content.decode()


def test_the_json_twin_says_more(client, played) -> None:
    twin = client.get("/badge/engine/asan-ubsan.json").json()
    assert (twin["schemaVersion"], twin["label"], twin["verdict"]) == (1, "asan-ubsan", "blinded")
    assert twin["commit"] == played.blinded.run.commit.sha
    assert twin["last_proved"] == played.red.run.commit.sha
    assert twin["page"] == "http://testserver/p/engine/lanes/asan-ubsan/"


# --- Who may ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def private(played):
    models.Project.objects.update(public=False)
    return played


def secret_of(project, kind="badge", **ends) -> str:
    return make_token(project, kind, "README", **ends)[1]


def test_a_private_badge_needs_its_token(client, private) -> None:
    assert client.get(ADDRESS).status_code == 404
    assert client.get(f"{ADDRESS}?token={secret_of(private.project)}").status_code == 200


def test_what_is_not_theirs_looks_like_what_is_not_there(client, private) -> None:
    hidden, absent = client.get(ADDRESS), client.get("/badge/nothing/asan.svg")
    assert (hidden.status_code, hidden.content) == (absent.status_code, absent.content)
    assert hidden["Content-Type"].startswith("image/svg+xml")


@pytest.mark.parametrize("kind", ["upload", "read"])
def test_a_token_that_may_more_does_not_stand_in_addresses(client, private, kind) -> None:
    assert client.get(f"{ADDRESS}?token={secret_of(private.project, kind)}").status_code == 404


def test_a_token_of_another_project_or_past_its_end_opens_nothing(client, private) -> None:
    other = secret_of(cast.make_project("other"))
    ended = secret_of(private.project, expires=cast.NOW + timedelta(minutes=1))
    assert client.get(f"{ADDRESS}?token={other}").status_code == 404
    assert client.get(f"{ADDRESS}?token={ended}").status_code == 200
    with time_machine.travel(cast.NOW + timedelta(hours=1), tick=False):
        assert client.get(f"{ADDRESS}?token={ended}").status_code == 404


def test_a_badge_token_reads_nothing_but_badges(client, private) -> None:
    headers = {"Authorization": f"Bearer {secret_of(private.project)}"}
    for path in ("", "/lanes", "/signatures", f"/commits/{private.red.run.commit.sha}/comment"):
        assert client.get(f"/api/v1/projects/engine{path}", headers=headers).status_code == 404
    assert client.get(f"/api/v1/outcomes/{private.red.public_id}", headers=headers).status_code == 404
    assert client.post("/api/v1/logs", headers=headers).status_code == 403
    assert client.get(f"/p/engine/?token={secret_of(private.project)}").status_code == 404


# --- Caches ----------------------------------------------------------------------------------------------------------


def test_a_public_badge_is_cached_shortly_and_asked_for_again_by_its_etag(client, played) -> None:
    answer = client.get(ADDRESS)
    assert answer["Cache-Control"] == "public, max-age=60"
    assert "Cookie" not in answer.get("Vary", "")
    again = client.get(ADDRESS, headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    cast.make_outcome(played.lane, played.blinded.run.commit, cast.NOW, Verdict.FINDINGS)
    assert client.get(ADDRESS, headers={"If-None-Match": answer["ETag"]}).status_code == 200


def test_a_private_badge_stays_out_of_shared_caches(client, private) -> None:
    answer = client.get(f"{ADDRESS}?token={secret_of(private.project)}")
    assert answer["Cache-Control"] == "private, max-age=60"


def test_many_lanes_and_commits_are_not_more_questions(client, played) -> None:
    counts = []
    for number in range(2):
        for place in range(10 * number):
            lane = models.Lane.objects.create(project=played.project, name=f"l{place}")
            at = cast.NOW - timedelta(minutes=place)
            cast.make_outcome(lane, cast.make_commit(played.project, f"c{place}", at), at, Verdict.CLEAN)
        with CaptureQueriesContext(connection) as asked:
            client.get(ADDRESS)
        counts.append(len(asked))
    assert counts == [5, 5]
