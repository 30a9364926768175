"""Merge, split, rule, undo and re-sign, in any order, on a real database: nothing is lost and nothing is counted twice."""

import random
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaks import journal
from leaks.errors import BadSubmission, Conflict
from leaks.ingest import resign
from leaks.merge_signatures import merge
from leaks.models import Decision, KeyRule, Report, Resign, Sighting, Signature, SignatureKey
from leaks.queries.key_sides import key_name
from leaks.queries.merge_preview import merge_preview
from leaks.queries.rule_preview import rule_preview
from leaks.queries.split_preview import split_preview
from leaks.rule_changes import end_rule, make_rule
from leaks.split_signatures import split
from leaks.tests.ledger import outcome, project, settle, submit
from leaks.tests.resigning import FETCH, HEAD, LEAKING, ROPE, VOCAB, text, with_settings
from leaks.trail import has_way_back
from leaks.triage_undo import undo
from leaks.words import ResignState

pytestmark = pytest.mark.django_db

POOL = "engine::Depot::hand_out"
STACKS = [(FETCH, ROPE), (FETCH, VOCAB), (POOL, ROPE), (POOL, HEAD), (VOCAB,), (HEAD, ROPE)]
LATE = [(POOL, VOCAB, HEAD), (ROPE, FETCH), (VOCAB, POOL)]
PATTERNS = ["*Depot::hand_out*", "*Cache*", "leak*Rope*", "*Vocab*load", "*Head::ru?*", "*engine*"]
FIRST = {1: STACKS, 2: STACKS[:4], 3: STACKS[2:]}


@pytest.fixture
def history():
    for number, stacks in FIRST.items():
        submit(number, text(*stacks), **LEAKING)
    settle()
    return User.objects.create_user("triager")


class Play:
    """One example: a random walk through everything that people can do with keys."""

    def __init__(self, person, seed):
        self.person, self.dice, self.late, self.number = person, random.Random(seed), list(LATE), 10

    def step(self):
        name = self.dice.choice(
            ["merge", "merge", "split", "split", "rule", "end", "undo", "undo", "resign", "back", "log"]
        )
        try:
            with transaction.atomic():
                getattr(self, name)()
        except (Conflict, BadSubmission):
            pass  # a refusal changes nothing, which is what is checked after it

    def living(self):
        return sorted(Signature.objects.filter(merged_into=None, gone_at=None).values_list("public_id", flat=True))

    def merge(self):
        into, *sources = self.dice.sample(self.living(), min(3, len(self.living())))
        shown = merge_preview(project(), into, sources)
        merge(project(), self.person, into=into, sources=sources, fingerprint=shown.fingerprint, reason="same")

    def split(self):
        source = self.dice.choice(self.living())
        names = [key_name(key) for key in SignatureKey.objects.filter(signature__public_id=source)]
        keys = [name for name in names if self.dice.random() < 0.5]
        choices = ["", "", *split_preview(project(), source, keys).choices]
        into = self.dice.choice(choices)
        shown = split_preview(project(), source, keys, into)
        split(
            project(), self.person, source=source, keys=keys, into=into, fingerprint=shown.fingerprint, reason="other"
        )

    def rule(self):
        asked = {
            "action": self.dice.choice(["merge", "split"]),
            "pattern": self.dice.choice(PATTERNS),
            "signature": self.dice.choice(self.living()),
        }
        shown = rule_preview(project(), **asked)
        make_rule(project(), self.person, **asked, fingerprint=shown.fingerprint, reason="always")

    def end(self):
        rule = self.dice.choice([*KeyRule.objects.all()] or [None])
        if rule:
            end_rule(project(), self.person, rule.public_id, reason="no more")

    def undo(self):
        entries = [one for one in Decision.objects.order_by("sequence") if has_way_back(one)]
        if entries:
            undo(project(), self.person, self.dice.choice(entries).sequence, reason="wrong")

    def resign(self):
        if Resign.objects.exclude(state=ResignState.UNDONE).exists():
            return  # of two only the last could be undone, and the first assignment could not come back
        names = self.dice.choice([[FETCH], [POOL], [FETCH, POOL], [HEAD]])
        before = with_settings(*names)
        made = resign.ask(project(), None, "as the test has it", former=before)
        assert resign.work(made.pk)

    def back(self):
        made = resign.ask_undo(project(), None, "it was wrong")
        assert resign.work(made.pk)

    def log(self):
        if self.late:
            self.number += 1
            submit(self.number, text(self.late.pop(), *STACKS[:2]), **LEAKING)
            settle()

    def undo_everything(self):
        """The latest first, as often as something moves; what hangs on others waits for them."""
        for _ in range(40):
            if not (self._undo_one() or self._undo_resign()):
                return

    def _undo_one(self):
        undone = {one.details.get("undoes") for one in Decision.objects.filter(what="undone")}
        for one in Decision.objects.order_by("-sequence"):
            if has_way_back(one) and one.sequence not in undone:
                try:
                    with transaction.atomic():
                        undo(project(), self.person, one.sequence, reason="all back")
                except Conflict:
                    continue
                return True
        return False

    def _undo_resign(self):
        try:
            with transaction.atomic():
                self.back()
        except Conflict:
            return False
        return True


def seen():
    """Every sighting by what it is, not by where it is counted."""
    columns = ("outcome__public_id", "log__name", "stack__hash", "kind", "leaked_bytes", "count")
    return Counter(Sighting.objects.values_list(*columns))


def counted(model):
    """What a log shows at a key, as sightings have it and as its reports have it: the same, for each sighting is there once."""
    found: Counter[tuple] = Counter()
    for *place, times in model.objects.values_list("log_id", "key_id", "stack_id", "kind", "count"):
        found[tuple(place)] += times
    return found


def assignment():
    return dict(SignatureKey.objects.values_list("hash", "signature__public_id"))


def check():
    for key in SignatureKey.objects.select_related("signature"):
        assert key.signature.merged_into_id is None, f"{key} leads to {key.signature}, which was merged"
        assert key.signature.gone_at is None, f"{key} leads to {key.signature}, which is gone"
    assert counted(Sighting) == counted(Report)
    assert journal.verify(project()) == []


@settings(max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), steps=st.integers(3, 14))
def test_every_sighting_is_kept_once_and_undoing_all_gives_the_first_assignment_back(history, seed, steps):
    with transaction.atomic():
        play = Play(history, seed)
        first, before = assignment(), seen()
        for _ in range(steps):
            play.step()
            check()
        arrived = {f"r{number}" for number in range(11, play.number + 1)}
        old = Sighting.objects.exclude(outcome__run__external_id__in=arrived)
        assert sum(old.values_list("count", flat=True)) == sum(before.values())
        play.undo_everything()
        settle()
        check()
        now = assignment()
        assert {hash_: now.get(hash_) for hash_ in first} == first
        shown = set(Sighting.objects.values_list("key__hash", flat=True))
        owners = Counter(now[hash_] for hash_ in shown)
        assert set(owners.values()) == {1}, "each key has a signature of its own again"
        assert outcome(1).verdict == "findings"
        transaction.set_rollback(True)
