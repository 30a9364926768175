"""The database itself refuses what must never be: a table of wrong rows."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, models, transaction

from leaks.models import (
    Blob,
    Claim,
    Commit,
    CommitLane,
    Decision,
    Lane,
    LaneDay,
    LaneExpectation,
    LaneOutcome,
    Log,
    Membership,
    Part,
    Project,
    Report,
    Run,
    Sighting,
    Signature,
    SignatureKey,
    Stack,
    StaleMark,
    SuppressionUse,
    Token,
)

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class World:
    """One right row of each kind; a test changes one field of a copy."""

    def __init__(self) -> None:
        self.project = Project.objects.create(slug="engine", name="Engine")
        self.lane = Lane.objects.create(project=self.project, name="asan")
        self.commit = Commit.objects.create(project=self.project, sha="ab" * 20)
        self.run = Run.objects.create(project=self.project, commit=self.commit, provider="github", external_id="1")
        self.outcome = LaneOutcome.objects.create(public_id="o1", run=self.run, lane=self.lane, happened_at=NOW)
        self.part = Part.objects.create(outcome=self.outcome)
        self.blob = Blob.objects.create(sha256="0" * 64, bytes=1, stored_bytes=1)
        self.log = Log.objects.create(public_id="l1", part=self.part, name="a.log", blob=self.blob)
        self.stack = Stack.objects.create(hash="s")
        self.signature = Signature.objects.create(
            project=self.project, public_id="LKS-1", title="", family="leak", kind="direct-leak"
        )
        self.key = SignatureKey.objects.create(
            project=self.project, recipe="v1", hash="k", signature=self.signature, text=""
        )
        self.person = get_user_model().objects.create_user("ann")

    def report(self, **values: object) -> Report:
        right = {
            "log": self.log,
            "key": self.key,
            "stack": self.stack,
            "line": 1,
            "ordinal": 0,
            "tool": "lsan",
            "kind": "direct-leak",
        }
        return Report(**{**right, **values})

    def sighting(self, **values: object) -> Sighting:
        right = {
            "outcome": self.outcome,
            "log": self.log,
            "key": self.key,
            "stack": self.stack,
            "kind": "direct-leak",
            "first_line": 1,
        }
        return Sighting(**{**right, **values})

    def decision(self, **values: object) -> Decision:
        right = {"project": self.project, "sequence": 1, "actor_kind": "clock", "what": "x", "at": NOW, "hash": "h"}
        return Decision(**{**right, **values})

    def changed(self, row: models.Model, **values: object) -> models.Model:
        for name, value in values.items():
            setattr(row, name, value)
        return row

    def again(self, row: models.Model, **values: object) -> models.Model:
        """A second row like the first, but for `values`."""
        copy = type(row).objects.get(pk=row.pk)  # type: ignore[attr-defined]
        copy.pk = None
        copy._state.adding = True
        return self.changed(copy, **values)


Wrong = Callable[[World], models.Model]
WRONG: dict[str, Wrong] = {
    "a membership with an unknown role": lambda w: Membership(project=w.project, user=w.person, role="king"),
    "a token that ends before it began": lambda w: Token(
        project=w.project, kind="read", purpose="", hash="h", hint="h", expires_at=NOW - timedelta(days=9999)
    ),
    "a token of an unknown kind": lambda w: Token(project=w.project, kind="root", purpose="", hash="h", hint="h"),
    "a second lane of one name": lambda w: w.again(w.lane),
    "a lane without a name": lambda w: w.again(w.lane, name=""),
    "a commit without a sha": lambda w: w.again(w.commit, sha=""),
    "a second commit of one sha": lambda w: w.again(w.commit),
    "a second run of one id and attempt": lambda w: w.again(w.run),
    "an attempt that counts from zero": lambda w: w.again(w.run, attempt=0),
    "a second outcome of one run and lane": lambda w: w.again(w.outcome, public_id="o2"),
    "an unknown verdict": lambda w: w.changed(w.outcome, verdict="fine", reason=""),
    "no verdict without a reason": lambda w: w.changed(w.outcome, reason=""),
    "a verdict with a reason": lambda w: w.changed(w.outcome, verdict="clean"),
    "clean with leaked bytes": lambda w: w.changed(w.outcome, verdict="clean", reason="", leaked_bytes=8),
    "a second part of one name": lambda w: w.again(w.part),
    "part four of three": lambda w: w.changed(w.part, index=4, of=3),
    "a claim of an unknown source": lambda w: Claim(part=w.part, source="rumour", content_hash="c"),
    "a second current revision of a log": lambda w: w.again(w.log, public_id="l2", revision=2),
    "the same revision twice": lambda w: w.again(w.log, public_id="l2", current=False),
    "a log in an unknown state": lambda w: w.changed(w.log, state="lost"),
    "reading without a lease": lambda w: w.changed(w.log, state="reading"),
    "a lease without reading": lambda w: w.changed(w.log, lease_token="t", lease_until=NOW),
    "a report that stands for none": lambda w: w.report(count=0),
    "bytes without objects": lambda w: w.report(leaked_bytes=8),
    "objects without bytes": lambda w: w.report(leaked_objects=8),
    "negative bytes": lambda w: w.report(leaked_bytes=-8, leaked_objects=1),
    "a sighting of nothing": lambda w: w.sighting(count=0),
    "a signature merged into itself": lambda w: w.changed(w.signature, merged_into=w.signature),
    "a second signature of one id": lambda w: w.again(w.signature),
    "a signature in an unknown state": lambda w: w.changed(w.signature, state="odd"),
    "a key that leads to two signatures": lambda w: w.again(w.key),
    "a folded verdict with a stray reason": lambda w: CommitLane(
        commit=w.commit, lane=w.lane, verdict="clean", reason="pending"
    ),
    "a decision by nobody": lambda w: w.decision(actor_kind="person"),
    "a clock with a name": lambda w: w.decision(person=w.person),
    "a journal that counts from zero": lambda w: w.decision(sequence=0),
    "a stale mark of an unknown kind": lambda _: StaleMark(kind="mood", subject="1"),
    "an expectation that ends before it begins": lambda w: LaneExpectation(
        lane=w.lane, valid_from=NOW, valid_to=NOW - timedelta(days=1)
    ),
}
TWICE: dict[str, Wrong] = {
    "a membership": lambda w: Membership(project=w.project, user=w.person, role="viewer"),
    "a claim by content": lambda w: Claim(part=w.part, source="upload", content_hash="c"),
    "a report's place in a log": lambda w: w.report(),
    "a sighting": lambda w: w.sighting(),
    "a suppression's row": lambda w: SuppressionUse(outcome=w.outcome, log=w.log, template="leak:x", count=1, bytes=1),
    "a folded verdict": lambda w: CommitLane(commit=w.commit, lane=w.lane, verdict="clean"),
    "a lane's day": lambda w: LaneDay(lane=w.lane, day=NOW.date()),
    "a journal's sequence": lambda w: w.decision(),
    "a stale mark": lambda _: StaleMark(kind="outcome", subject="1"),
    "an open expectation": lambda w: LaneExpectation(lane=w.lane, valid_from=NOW),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_the_database_refuses(wrong: Wrong) -> None:
    row = wrong(World())
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


@pytest.mark.parametrize("make", TWICE.values(), ids=TWICE.keys())
def test_the_database_takes_once(make: Wrong) -> None:
    world = World()
    make(world).save()
    with pytest.raises(IntegrityError), transaction.atomic():
        make(world).save()


def test_a_claim_is_taken_once_by_its_delivery_whatever_it_says() -> None:
    world = World()
    Claim.objects.create(part=world.part, source="upload", content_hash="c", delivery_id="d1")
    with pytest.raises(IntegrityError), transaction.atomic():
        Claim.objects.create(part=world.part, source="upload", content_hash="other", delivery_id="d1")
