"""Signatures are merged, split and ruled while a real worker digests a log that shows them: every sighting is counted just once."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from pytest_django import DjangoDbBlocker

from leaks.errors import Conflict
from leaks.ingest import sweep
from leaks.merge_signatures import merge
from leaks.models import Report, Sighting, Signature, SignatureKey
from leaks.queries.merge_preview import merge_preview
from leaks.queries.rule_preview import rule_preview
from leaks.rule_changes import make_rule
from leaks.store_keys import hold_project
from leaks.tests.ledger import LEAKY, OTHER, Place, log_text, project, submit
from workers.tests import farm as farming
from workers.tests.farm import Farm

pytestmark = [pytest.mark.processes]
LEAKING = {"exit_code": 1, "conclusion": "failure"}
NEW = ("engine::Pool::grow(int)", "/src/engine/pool.h", 77)


@pytest.fixture
def embedded(django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        yield made


@pytest.fixture
def team(django_db_blocker: DjangoDbBlocker, postgres_url: str, redis_url: str) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.team(postgres_url, redis_url) as made:
        yield made


@pytest.fixture(
    params=["embedded", pytest.param("team", marks=[pytest.mark.postgres, pytest.mark.redis])],
)
def farm(request: pytest.FixtureRequest) -> Farm:
    made: Farm = request.getfixturevalue(request.param)
    return made


def ids() -> tuple[str, str]:
    """Of the leak in the pool, and of the other one."""
    pool, other = (SignatureKey.objects.get(text__contains=word).signature.public_id for word in ("Pool::get", "Vocab"))
    return pool, other


def merge_them() -> None:
    into, source = ids()
    shown = merge_preview(project(), into, [source])
    person = User.objects.get()
    merge(project(), person, into=into, sources=[source], fingerprint=shown.fingerprint, reason="the same bug")


def rule_them() -> None:
    asked = {"action": "merge", "pattern": "*Pool::*", "signature": ids()[1]}
    shown = rule_preview(project(), **asked)
    make_rule(project(), User.objects.get(), **asked, fingerprint=shown.fingerprint, reason="all of the pool")


def aside(farm: Farm, change: Callable[[], None]) -> threading.Thread:
    """The change on a connection of its own, which may have to wait for the worker's."""

    def run() -> None:
        with farming.connected(farm.database_url):
            try:
                change()
            except Conflict:
                change()  # the worker brought a key since the preview, which the person is told; they look again

    thread = threading.Thread(target=run)
    thread.start()
    return thread


# What the log shows that is being digested: known leaks only, where the digest makes no row that others would wait for anyway.
KNOWN, GROWN = ((LEAKY, 32), (OTHER, 16)), ((LEAKY, 32), (OTHER, 16), (NEW, 4))


@pytest.mark.parametrize("point", ["before_write", "before_commit"])
@pytest.mark.parametrize(("change", "leaks"), [(merge_them, KNOWN), (rule_them, GROWN)], ids=["merge", "rule"])
def test_keys_that_move_while_a_log_is_digested_keep_every_sighting_once(
    farm: Farm, change: Callable[[], None], leaks: tuple[tuple[Place, int], ...], point: str
) -> None:
    submit(1, log_text((LEAKY, 64), (OTHER, 8)), **LEAKING)
    sweep.look()
    User.objects.create_user("triager")
    submit(2, log_text(*leaks), **LEAKING)
    farm.hold(point)
    farm.start()
    farm.wait_until_held(point)
    moving = aside(farm, change)
    if point == "before_write":
        moving.join(30)  # nobody is in the way
    time.sleep(2)  # long enough for the worker to derive the figures anew, if it could
    farm.release(point)
    moving.join(30)
    assert not moving.is_alive()
    farm.wait_until_settled()
    counted(72 + sum(size for _, size in leaks), 2 + len(leaks))


def counted(leaked: int, reports: int) -> None:
    """Each report is sighted once, each key leads to a living signature, and the figures are those of the rows."""
    assert Report.objects.filter(log__current=True).count() == reports
    assert Sighting.objects.aggregate(n=Sum("count"), leaked=Sum("leaked_bytes")) == {"n": reports, "leaked": leaked}
    assert not SignatureKey.objects.exclude(signature__merged_into=None).exists()
    for one in Signature.objects.filter(merged_into=None):
        seen = Sighting.objects.filter(key__signature=one)
        assert one.seen_outcomes == seen.values("outcome").distinct().count(), one
    merged = Signature.objects.get(keys__text__contains="Pool::get")
    assert merged == Signature.objects.get(keys__text__contains="Vocab")
    assert merged.seen_outcomes == 2
    for key in SignatureKey.objects.filter(text__contains="Pool::grow"):
        assert key.signature == merged, "the rule caught it too"


@pytest.mark.postgres
@pytest.mark.redis
def test_who_moves_keys_waits_for_digests_and_digests_for_nobody_else(team: Farm) -> None:
    """From the moment that a digest has looked its keys up: what it then marks stale is where they lead."""
    submit(1, log_text((LEAKY, 64), (OTHER, 8)), **LEAKING)
    sweep.look()
    User.objects.create_user("triager")
    pk = project().pk
    with transaction.atomic():
        hold_project(pk)
        beside = aside(team, lambda: in_a_transaction(pk))
        beside.join(10)
        assert not beside.is_alive(), "two digests hold a project side by side"
        moving = aside(team, merge_them)
        moving.join(1)
        assert moving.is_alive(), "a merge waits"
        assert not Signature.objects.exclude(merged_into=None).exists()
    moving.join(30)
    assert not moving.is_alive()
    assert Signature.objects.exclude(merged_into=None).count() == 1


def in_a_transaction(pk: int) -> None:
    with transaction.atomic():
        hold_project(pk)
