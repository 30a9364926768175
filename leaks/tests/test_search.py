"""What each word of the search finds, and what it does not: one small ledger, and a table of searches over it."""

import contextlib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from leaks import models
from leaks.ledger_words import LifeCycle
from leaks.queries.signatures import matching
from leaks.search_lines import seen_with
from leaks.search_parse import SearchError
from leaks.search_values import pattern
from leaks.tests import cast
from leaks.words import SignatureState, Verdict

NOW = cast.NOW


@pytest.fixture(autouse=True)
def _now() -> Any:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def ledger(db: None) -> models.Project:
    """`rope` leaks in asan, ours; `race` is a race in tsan, not ours; `old` was fixed long ago, `huge` leaks 5 MiB."""
    project = cast.make_project(public=True)
    asan, tsan = (models.Lane.objects.create(project=project, name=name) for name in ("asan-ubsan", "tsan"))
    _seen(project, asan, "rope", 1, 65_536, life=LifeCycle.NEW, code_owners=" @org/rope docs@example.org ")
    _seen(project, tsan, "race", 3, None, life=LifeCycle.ONGOING, state=SignatureState.THIRD_PARTY, own=False)
    _seen(project, asan, "old", 60, 100, life=LifeCycle.FIXED, state=SignatureState.CONFIRMED)
    _seen(project, asan, "huge", 20, 5 * 1024**2, life=LifeCycle.REGRESSED, state=SignatureState.INTENDED)
    return project


FRAMES = {
    "rope": ("engine::RopeCache::Build(int)", "src/rope/rope_cache.cpp"),
    "race": ("third::Queue::push", ""),
    "old": ("engine::Old_Pool::Get", "src/pool.h"),
    "huge": ("engine::Huge::operator()", "src/100%_huge.cpp"),
}
TESTS = {"rope": "test_rope", "race": "test_threads", "old": "test_pool", "huge": "Suite.Huge"}


def _seen(project: models.Project, lane: models.Lane, name: str, days: int, leaked: int | None, **fields: Any) -> None:
    at = NOW - timedelta(days=days)
    outcome = cast.make_outcome(lane, cast.make_commit(project, name, at), at, Verdict.FINDINGS)
    one = cast.make_signature(outcome, FRAMES[name][0], leaked or 0, days)
    function, file = FRAMES[name]
    models.Frame.objects.filter(text=f"in {function} src/pool.cpp:42").update(function=function, file=file)
    values: dict[str, Any] = {"last_bytes": leaked, "seen_outcomes": days, "last_count": days, **fields}
    kind = (
        {"kind": "data-race", "family": "data-race", "last_objects": None, "own_frame": None} if leaked is None else {}
    )
    tool = "tsan" if leaked is None else "lsan"
    values |= {
        "search_text": f"{function}\nleak\n{file}".lower(),
        "seen_with": seen_with(tool=[tool], test=[TESTS[name], "other"], function=[function, "main"], file=[file]),
        "life_proof": {"lanes": {lane.name: {"main": True}}},
        **kind,
    }
    models.Signature.objects.filter(pk=one.pk).update(**values)


def found(project: models.Project, q: str) -> set[str]:
    names = {function: name for name, (function, _) in FRAMES.items()}
    return {names[title] for title in matching(project, q).values_list("title", flat=True)}


ALL = {"rope", "race", "old", "huge"}
SEARCHES: list[tuple[str, set[str]]] = [
    ("", ALL),
    ("is:new", {"rope"}),
    ("is:fixed", {"old"}),
    ("is:regressed", {"huge"}),
    ("is:open", {"rope"}),
    ("is:closed", {"race", "old", "huge"}),
    ("is:third-party", {"race"}),
    ("is:third_party", {"race"}),
    ("state:confirmed", {"old"}),
    ("state:Intended", {"huge"}),
    ("lane:tsan", {"race"}),
    ("lane:TSAN", {"race"}),
    ("lane:san", set()),
    ("lane:ts*n", {"race"}),
    ("lane:*san*", ALL),
    ('lane:"*san*"', set()),
    ("lane:nope", set()),
    ("kind:data-race", {"race"}),
    ("kind:leak", {"rope", "old", "huge"}),
    ("kind:direct-leak", {"rope", "old", "huge"}),
    ("kind:direct", set()),
    ("kind:direct*", {"rope", "old", "huge"}),
    ("tool:tsan", {"race"}),
    ("tool:lsan", {"rope", "old", "huge"}),
    ("tool:san", set()),
    ("own:yes", {"rope", "old", "huge"}),
    ("own:no", {"race"}),
    ("file:rope_cache", {"rope"}),
    ("file:ROPE", {"rope"}),
    ("file:*.h", {"old"}),
    ("file:src/*.cpp", {"rope", "huge"}),
    ("file:100%_h", {"huge"}),
    ("file:*1*%_*", {"huge"}),
    ("file:pool_h", set()),
    ("file:p*l_h", set()),
    ("function:Pool::Get", {"old"}),
    ("function:engine::*", {"rope", "old", "huge"}),
    ("function:operator()", {"huge"}),
    ("function:Old_P*", set()),
    ("function:*Old_P*", {"old"}),
    ("function:*OldxP*", set()),
    ("test:rope", {"rope"}),
    ("test:test_*", {"rope", "race", "old"}),
    ("test:Suite.Huge", {"huge"}),
    ("owner:@org/rope", {"rope"}),
    ("owner:@org", set()),
    ("owner:@org/*", {"rope"}),
    ("owner:*example.org", {"rope"}),
    ("owner:none", {"race", "old"}),
    ("owner:ada", {"huge"}),
    ("bytes:>64k", {"huge"}),
    ("bytes:>=64k", {"rope", "huge"}),
    ("bytes:64k", {"rope"}),
    ("bytes:65536", {"rope"}),
    ("bytes:=65.536kB", {"rope"}),
    ("bytes:<1k", {"old"}),
    ("bytes:1k..2M", {"rope"}),
    ("bytes:1M..", {"huge"}),
    ("bytes:..100", {"old"}),
    ("bytes:5MiB", {"huge"}),
    ("-bytes:>64k", {"rope", "race", "old"}),
    ("objects:1", {"rope"}),
    ("objects:>1", {"old", "huge"}),
    ("count:>=20", {"old", "huge"}),
    ("seen:>3", {"old", "huge"}),
    ("seen:3..20", {"race", "huge"}),
    ("first:<2d", {"rope"}),
    ("first:2d", {"rope"}),
    ("first:>30d", {"old"}),
    ("first:2d..30d", {"race", "huge"}),
    ("last:<1w", {"rope", "race"}),
    ("last:>1m", {"old"}),
    ("first:2026-03-10", {"rope"}),
    ("first:>2026-03-07", {"race", "rope"}),
    ("first:>2026-03-08", {"rope"}),
    ("first:<=2026-03-08", {"race", "old", "huge"}),
    ("first:<2026-03-08", {"old", "huge"}),
    ("first:>=2026-03-08", {"race", "rope"}),
    ("first:2026-01-01..2026-02-28", {"old", "huge"}),
    (f"commit:{cast.sha_of('rope')[:7]}", {"rope"}),
    (f"commit:{cast.sha_of('rope').upper()}", {"rope"}),
    ("commit:0000", set()),
    ("id:LKS-*", ALL),
    ("id:LKS", set()),
    ("rope", {"rope"}),
    ("ROPE build", {"rope"}),
    ("rope pool", set()),
    ("rope OR pool", {"rope", "old"}),
    ("Rope*Build", {"rope"}),
    ("Queue*Build", set()),
    ('"rope*"', set()),
    ("engine -rope", {"old", "huge"}),
    ("-(rope OR queue)", {"old", "huge"}),
    ("-file:rope", {"race", "old", "huge"}),
    ("-file:*rope*", {"race", "old", "huge"}),
    ("-lane:tsan", {"rope", "old", "huge"}),
    ("-tool:tsan", {"rope", "old", "huge"}),
    ("-test:rope", {"race", "old", "huge"}),
    ("-owner:ada", {"rope", "race", "old"}),
    ("LKS-", ALL),
    ("%", {"huge"}),
    ("_", {"rope", "old", "huge"}),
    ("own:yes kind:leak (bytes:>1M OR is:new) -huge", {"rope"}),
    ("' OR 1=1 --", set()),
]


@pytest.fixture
def owned(ledger: models.Project) -> models.Project:
    ada = User.objects.create_user("Ada")
    models.Signature.objects.filter(title=FRAMES["huge"][0]).update(owner=ada)
    return ledger


@pytest.mark.parametrize(("q", "names"), SEARCHES)
def test_a_search_finds_this_and_nothing_else(owned: models.Project, q: str, names: set[str]) -> None:
    assert found(owned, q) == names


@pytest.mark.parametrize(
    ("q", "names"),
    [("rope", {"rope"}), ("src/pool.h", {"old"}), ("lane:tsan", {"race"}), ("-lane:tsan", ALL - {"race"})],
)
def test_what_was_never_recomputed_is_found_by_what_it_is_made_of(
    owned: models.Project, q: str, names: set[str]
) -> None:
    models.Signature.objects.update(search_text="", life_proof={})
    assert found(owned, q) == names


def test_what_was_merged_or_has_gone_is_not_found(owned: models.Project) -> None:
    models.Signature.objects.filter(title=FRAMES["old"][0]).update(gone_at=NOW)
    rope = models.Signature.objects.get(title=FRAMES["rope"][0])
    models.Signature.objects.filter(title=FRAMES["huge"][0]).update(merged_into=rope)
    assert found(owned, "") == {"rope", "race"}


def test_another_project_is_not_searched(owned: models.Project) -> None:
    other = cast.make_project("other")
    assert found(other, "rope") == set()


def test_a_withdrawn_run_shows_no_lane_and_no_commit(owned: models.Project) -> None:
    models.Signature.objects.update(life_proof={})
    models.LaneOutcome.objects.filter(lane__name="tsan").update(withdrawn_at=NOW)
    assert found(owned, "lane:tsan") == set()
    assert found(owned, f"commit:{cast.sha_of('race')[:7]}") == set()


def test_however_many_words_it_is_two_queries_at_most(owned: models.Project) -> None:
    q = "lane:tsan OR lane:asan* OR " + " OR ".join(
        ["tool:x test:y commit:abcd is:new bytes:>1k -file:*.h owner:me rope"] * 4
    )
    with CaptureQueriesContext(
        connection,
    ) as asked:
        list(matching(owned, q))
    assert len(asked) == 2  # the names of the lanes, and the search


@pytest.mark.parametrize(
    ("text", "shown", "fits"),
    [
        ("a*c", "abc", True),
        ("a*c", "ac", True),
        ("a*a", "a", False),
        ("*b*", "abc", True),
        ("*ab*ab*", "ab", False),
        ("A*", "abc", True),
    ],
)
def test_a_pattern_fits_a_text_in_hand_as_it_does_in_the_database(text: str, shown: str, fits: bool) -> None:
    assert pattern(text, quoted=False, whole=True).fits(shown) is fits


class AnyText(TestCase):
    """The database takes whatever the parser took."""

    @given(st.text(max_size=60))
    def test_any_text_finds_something_or_is_refused(self, text: str) -> None:
        project, _ = models.Project.objects.get_or_create(slug="any", defaults={"name": "any"})
        with contextlib.suppress(SearchError):
            matching(project, text).count()
