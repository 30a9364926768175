from dataclasses import replace
from typing import Any

import pytest

from leaks import marks, store_keys
from leaks.evidence import Frame as Printed
from leaks.evidence import Report as PrintedReport
from leaks.evidence import Stack as PrintedStack
from leaks.identity import Identity
from leaks.models import (
    Frame,
    Log,
    Report,
    ReportStack,
    Sighting,
    Signature,
    SignatureKey,
    Stack,
    StackFrame,
    StaleMark,
    SuppressionUse,
)
from leaks.rows.facts import Judgement, Line, LogFacts, Mark, SuppressionHit, TestSummary, Totals
from leaks.store import Recognised, replace_rows
from leaks.store_facts import facts_from_json, facts_to_json, judgement_from_json, judgement_to_json
from leaks.store_frames import StackBook, store_stacks
from leaks.store_keys import Named
from leaks.store_keys import store_keys as stored_keys
from leaks.tests.ledger import log_text, only_log, project, submit
from leaks.words import Detector, EffectiveClaim, Flag, MarkKind, Reason, Role, Verdict

A = Printed("in engine::a() a.cpp:1:2", "engine::a()", "a.cpp", 1, 2)
B = Printed("in engine::b() b.cpp:3", "engine::b()", "b.cpp", 3)
C = Printed("(libc.so.6+0x12)", None, None, None, None, "libc.so.6", "0x12", "4d3f")


def quietly() -> None:
    """No lease to renew."""


def leak(line: int = 10, **fields: Any) -> PrintedReport:
    plain = {"tool": "lsan", "kind": "direct-leak", "frames": (A, B), "bytes": 64, "objects": 1}
    return PrintedReport(line=line, headline="Direct leak of 64 byte(s)", **{**plain, **fields})


def identity(hash_: str = "ab" * 20, **fields: Any) -> Identity:
    plain = {"recipe": "v1", "public_id": f"LKS-{hash_[:10]}", "family": "leak", "title": "leak in engine::a"}
    return Identity(hash=hash_, text="leak\nengine::a", **{**plain, "own_frame": A, **fields})


def book_of(*reports: PrintedReport) -> StackBook:
    stacks = [report.frames for report in reports] + [stack.frames for report in reports for stack in report.stacks]
    return store_stacks(stacks, [A], quietly)


def write(log: Log, *recognised: Recognised, hits: tuple[SuppressionHit, ...] = ()) -> set[int]:
    return replace_rows(log, recognised, hits, book_of(*(one.report for one in recognised)))


@pytest.fixture
def log(db: None) -> Log:
    submit(1, log_text())
    return only_log()


# --- Frames and stacks -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_frames_and_stacks_are_stored_once() -> None:
    first = store_stacks([(A, B), (A, C), (A, B), ()], [], quietly)
    second = store_stacks([(A, B), ()], [A], quietly)
    assert (Frame.objects.count(), Stack.objects.count(), StackFrame.objects.count()) == (3, 3, 4)
    assert first.stack((A, B)) == second.stack((A, B))
    places = StackFrame.objects.filter(stack=first.stack((A, C))).values_list("position", "frame__text")
    assert list(places) == [(0, A.text), (1, C.text)]
    assert not StackFrame.objects.filter(stack=first.stack(())).exists()
    assert second.frame(A) == Frame.objects.get(text=A.text).pk
    assert second.frame(None) is None


@pytest.mark.django_db
def test_a_frame_that_is_understood_better_is_another_row() -> None:
    store_stacks([(A,), (replace(A, line=None),)], [], quietly)
    assert Frame.objects.filter(text=A.text).count() == 2


@pytest.mark.django_db
def test_a_stack_of_the_same_frame_twice_and_one_in_another_order_are_told_apart() -> None:
    book = store_stacks([(A, A), (A,), (A, B), (B, A)], [], quietly)
    assert len({book.stack(frames) for frames in ((A, A), (A,), (A, B), (B, A))}) == 4


@pytest.mark.django_db
def test_many_stacks_take_few_queries_and_the_lease_is_renewed_between_them(django_assert_max_num_queries: Any) -> None:
    frames = [Printed(f"in f{number}()", f"f{number}()") for number in range(400)]
    stacks = [tuple(frames[start : start + deep]) for deep in range(1, 6) for start in range(390)]
    pulses: list[int] = []
    with django_assert_max_num_queries(70):
        store_stacks(stacks, [], lambda: pulses.append(1))
    assert len(pulses) >= 4
    with django_assert_max_num_queries(5):
        store_stacks(stacks, [], quietly)


@pytest.mark.django_db
def test_numbers_and_texts_beyond_a_column_are_cut() -> None:
    odd = Printed("x\0" * 5, "f\0", "y\0", 10**40, -1, "m\0", "0x" + "f" * 99, "b" * 999)
    store_stacks([(odd,)], [], quietly)
    frame = Frame.objects.get()
    assert (frame.line, frame.column, len(frame.offset), len(frame.build_id)) == (2**31 - 1, 0, 40, 80)
    assert "\0" not in frame.text + frame.function + frame.file + frame.module


# --- Signature keys --------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_key_is_made_once_and_leads_to_its_signature() -> None:
    pk = project().pk
    first = stored_keys(pk, [Named(identity(), "direct-leak"), Named(identity(), "indirect-leak")])
    again = stored_keys(pk, [Named(identity(), "direct-leak")])
    assert first.keys() == again.keys() == {("v1", "ab" * 20)}
    assert SignatureKey.objects.get().signature == Signature.objects.get(public_id="LKS-ababababab")
    assert Signature.objects.get().kind == "direct-leak"


@pytest.mark.django_db
def test_a_key_that_was_moved_leads_where_it_was_moved() -> None:
    pk = project().pk
    stored_keys(pk, [Named(identity(), "direct-leak"), Named(identity("cd" * 20), "direct-leak")])
    target = Signature.objects.get(public_id="LKS-cdcdcdcdcd")
    SignatureKey.objects.filter(hash="ab" * 20).update(signature=target)
    assert stored_keys(pk, [Named(identity(), "direct-leak")])["v1", "ab" * 20].signature_id == target.pk


@pytest.mark.django_db
def test_two_bugs_whose_ids_begin_alike_stay_two() -> None:
    pk = project().pk
    one, two, three = ("ab" * 5 + tail * 30 for tail in ("1", "2", "3"))
    stored_keys(pk, [Named(identity(one), "direct-leak"), Named(identity(two), "direct-leak")])
    stored_keys(pk, [Named(identity(three), "direct-leak")])
    ids = sorted(Signature.objects.values_list("public_id", flat=True))
    assert ids == ["LKS-ababababab", "LKS-ababababab2222", "LKS-ababababab3333"]


@pytest.mark.django_db
def test_keys_are_looked_up_in_pieces() -> None:
    many = 2 * store_keys.LOOKED_UP + 1
    named = [Named(identity(f"{number:040x}", public_id=f"LKS-{number}"), "direct-leak") for number in range(many)]
    assert len(stored_keys(project().pk, named)) == many
    assert len(stored_keys(project().pk, named)) == many
    assert SignatureKey.objects.count() == many


# --- The rows of a log -----------------------------------------------------------------------------------------------


def test_reports_are_written_in_their_order_with_all_their_stacks(log: Log) -> None:
    freed = PrintedStack(Role.FREED, (B, C), "T1")
    two = leak(20, kind="heap-use-after-free", stacks=(freed,), bytes=None, objects=None, pid=7, test="Pool", count=3)
    write(log, Recognised(leak(), identity()), Recognised(two, identity("cd" * 20, own_frame=None)))
    first, second = Report.objects.all()
    assert (first.ordinal, first.line, first.own, first.own_frame, first.leaked_bytes) == (
        0, 10, True, Frame.objects.get(text=A.text), 64,
    )  # fmt: skip
    assert (second.ordinal, second.own, second.count, second.pid, second.test) == (1, False, 3, 7, "Pool")
    assert (second.leaked_bytes, second.leaked_objects) == (None, None)
    other = ReportStack.objects.get()
    assert (other.report, other.role, other.thread, other.ordinal) == (second, Role.FREED, "T1", 0)
    assert list(other.stack.places.values_list("frame__text", flat=True)) == [B.text, C.text]


def test_reports_of_one_signature_stack_and_kind_are_one_sighting(log: Log) -> None:
    same = [Recognised(leak(line, bytes=10, objects=2, count=2), identity(title=f"t{line}")) for line in (5, 9)]
    indirect = Recognised(leak(12, kind="indirect-leak", finding=False), identity())
    write(log, *same, indirect)
    one, two = Sighting.objects.order_by("first_line")
    assert (one.leaked_bytes, one.leaked_objects, one.count, one.first_line, one.title) == (20, 4, 4, 5, "t5")
    assert (two.kind, two.finding, two.outcome_id) == ("indirect-leak", False, log.part.outcome_id)


def test_suppressions_are_summed_per_template(log: Log) -> None:
    hits = (SuppressionHit(1, 10, "a"), SuppressionHit(2, 20, "b"), SuppressionHit(3, 30, "a"))
    write(log, hits=(*hits, SuppressionHit(1, 1, "x" * 5000)))
    uses = {use.template[:9]: (use.count, use.bytes) for use in SuppressionUse.objects.all()}
    assert uses == {"a": (4, 40), "b": (2, 20), "xxxxxxxxx": (1, 1)}


def test_writing_again_replaces_and_tells_every_signature_that_changed(log: Log) -> None:
    before = write(log, Recognised(leak(), identity()), hits=(SuppressionHit(1, 1, "a"),))
    after = write(log, Recognised(leak(), identity("cd" * 20)))
    assert before < after
    assert len(after) == 2
    assert (Report.objects.count(), Sighting.objects.count(), SuppressionUse.objects.count()) == (1, 1, 0)


def test_a_revision_that_is_no_longer_current_takes_its_rows_away(log: Log) -> None:
    write(log, Recognised(leak(), identity()))
    Log.objects.update(current=False)
    write(Log.objects.get(), Recognised(leak(), identity()))
    assert not Report.objects.exists()
    assert not Sighting.objects.exists()


def test_one_amount_without_the_other_is_completed(log: Log) -> None:
    write(log, Recognised(leak(objects=None), identity()), Recognised(leak(bytes=10**30), identity("cd" * 20)))
    assert list(Report.objects.values_list("leaked_bytes", "leaked_objects")) == [(64, 0), (2**63 - 1, 1)]


# --- Facts as JSON ---------------------------------------------------------------------------------------------------

FACTS = LogFacts(
    lines=9,
    tests=TestSummary("ctest", 3, 2, 1, None, complete=True, line=5, text="66% tests passed"),
    totals=Totals(1, 2, None, None, None),
    suppressions=(SuppressionHit(1, 2, "a", 7),),
    options={"ASAN_OPTIONS": {"detect_leaks": "1"}},
    marks=(Mark(MarkKind.KILLED, 3, "Killed \\u0000", "137"),),
    detectors=(Detector.LEAK,),
    ends_in_block=Line(8, "x"),
)


def test_facts_come_back_from_json_as_they_were() -> None:
    assert facts_from_json(facts_to_json(FACTS)) == FACTS
    assert facts_from_json({}) == LogFacts()
    assert facts_to_json(LogFacts()) == {}


def test_judgements_come_back_from_json_as_they_were() -> None:
    judgement = Judgement(
        Verdict.NO_VERDICT, Reason.KILLED, "killed", (Line(3, "x", "a.log"),), (Flag.KILLED,), EffectiveClaim.FAILURE
    )
    assert judgement_from_json(judgement_to_json(judgement)) == judgement


def test_a_nul_does_not_reach_the_database() -> None:
    odd = LogFacts(last_line=Line(1, "a\0b"), options={"A\0": {"b\0": "c\0"}})
    back = facts_from_json(facts_to_json(odd))
    assert back.last_line == Line(1, "a\N{REPLACEMENT CHARACTER}b")
    assert "\0" not in repr(back)


# --- Stale marks -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_mark_is_one_row_whose_generation_rises() -> None:
    marks.mark([marks.signature(1), marks.signature(1), marks.outcome(2)])
    marks.mark([marks.signature(1)])
    assert sorted(StaleMark.objects.values_list("kind", "subject", "generation")) == [
        ("outcome", "2", 1),
        ("signature", "1", 2),
    ]


@pytest.mark.django_db
def test_a_mark_that_was_set_again_while_it_was_worked_off_stays() -> None:
    marks.mark(marks.signature(number) for number in range(500))
    taken = list(StaleMark.objects.all())
    marks.mark([marks.signature(7)])
    marks.finish(taken)
    assert StaleMark.objects.get().subject == "7"
    marks.finish(StaleMark.objects.all())
    assert not StaleMark.objects.exists()
