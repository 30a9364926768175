"""Signing all of a project's history again, with the recipe that is in force: asked for, planned, moved log by log, undone.

The database is the queue. A `Resign` row says what was asked for and who works on it; the plan is written in one transaction, and then
each batch of logs in a short one. Whoever is killed leaves a consistent state, and the next look goes on where it stands: a log with a
`LogMove` is done. Nothing is read but rows.
"""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks import journal, marks, recipes, trail
from leaks.errors import BadSubmission, Conflict, LostLease
from leaks.ingest import lease as leases
from leaks.ingest.faults import reach
from leaks.ingest.resign_batches import Worker, left_of, move_batch, undo_batch
from leaks.ingest.resign_turn import Turn, due, take
from leaks.models import KeyMove, Link, LogMove, Project, RecipeVersion, ReportMove, Resign
from leaks.models.recipes import OPEN
from leaks.resign_forecast import forecast
from leaks.resign_keys import apply_plan, moved_since, restore_keys, tie_links
from leaks.resign_summary import summary_of
from leaks.words import ResignState

BATCH = 10  # logs in one transaction: others wait for it on SQLite
LOOK_SECONDS = 60.0
SUBJECT = "project"

logger = logging.getLogger(__name__)


# --- Asking ----------------------------------------------------------------------------------------------------------


def ask(project: Project, person: AbstractBaseUser | None, reason: str, *, former: int | None = None) -> Resign:
    """Have history signed again. `former`: the version that an undo goes back to, by default what most of history is signed with."""
    if not reason.strip():
        raise BadSubmission("Say why: a decision without a reason helps nobody later.", field="reason")
    with transaction.atomic():
        current = Project.objects.select_for_update().get(pk=project.pk)
        recipes.refuse_while_open(current)
        made = Resign.objects.create(
            project=current,
            recipe=recipes.recipe_of(current),
            former=former or recipes.former_version(current),
            asked_by_id=person.pk if person else None,
            reason=reason.strip(),
        )
        _record(
            made, person, "resign_started", reason=reason, recipe=made.recipe, signed_with=recipes.signed_with(current)
        )
    return made


def ask_undo(project: Project, person: AbstractBaseUser | None, reason: str) -> Resign:
    """Have the last re-sign undone, and the version before it put in force again."""
    if not reason.strip():
        raise BadSubmission("Say why: a decision without a reason helps nobody later.", field="reason")
    with transaction.atomic():
        current = Project.objects.select_for_update().get(pk=project.pk)
        last = undoable(current)
        if last is None:
            raise Conflict("There is no re-sign that can be undone.")
        if (decided := moved_since(last)) is not None:
            raise Conflict(f"Its keys were moved since, by {trail.sentence_of(decided)}. Undo that first.")
        version = RecipeVersion.objects.filter(project=current, number=last.former).first()
        if version is not None:
            recipes.put_in_force(current, version)
        Resign.objects.filter(pk=last.pk).update(
            state=ResignState.UNDOING,
            ended_at=None,
            error="",
            attempts=0,
            retry_at=None,
            lease_until=None,
            lease_token="",
        )
        last.refresh_from_db()
        _record(last, person, "resign_undo_started", reason=reason, recipe=last.recipe, back_to=last.former)
    return last


def undoable(project: Project) -> Resign | None:
    """The last one, if it moved anything and no other version came into force since."""
    last = Resign.objects.filter(project=project).exclude(state=ResignState.UNDONE).order_by("-asked_at", "-pk").first()
    if last is None or last.state == ResignState.UNDOING:
        return None
    return last if recipes.version_of(last.recipe) == project.plumbing_version else None


def open_resign(project: Project) -> Resign | None:
    return Resign.objects.filter(project=project, state__in=OPEN).first()


# --- Working ---------------------------------------------------------------------------------------------------------


def look(wake: Callable[[], object] = lambda: None) -> int:
    """Go on with whatever is open, for a minute at most; how many. `wake` is called when the minute was too short."""
    until = monotonic() + LOOK_SECONDS
    waiting = list(Resign.objects.filter(due()).values_list("pk", flat=True))
    for pk in waiting:
        if not work(pk, until=until):
            wake()
    return len(waiting)


def work(resign_id: int, *, until: float | None = None, batch: int = BATCH) -> bool:
    """Work on one, unless somebody else does; whether nothing is left of it to do. Never raises for what its rows hold."""
    turn = take(resign_id)
    if turn is None:
        return True
    try:
        return _work(turn, until, batch)
    except LostLease as lost:
        logger.info("%s", lost)
    except Exception as error:
        logger.exception("Signing again %s failed", resign_id)
        turn.back_off(error)
    return True


def _work(turn: Turn, until: float | None, batch: int) -> bool:
    if turn.resign.attempts > leases.MOST_ATTEMPTS:
        _give_up(turn, turn.resign.error or "This ended its worker too often.")
        return True
    if turn.resign.state == ResignState.WAITING:
        _plan(turn)
    if turn.resign.state == ResignState.MOVING and turn.resign.recipe != recipes.recipe_of(turn.resign.project):
        _give_up(turn, "Other code came into use meanwhile: start again.")
        return True
    if turn.resign.state == ResignState.UNDOING:
        _turn_round(turn)
        return _go(turn, undo_batch, until, batch) and _finish_undo(turn)
    return _go(turn, move_batch, until, batch) and _finish(turn)


def _go(turn: Turn, step: Callable[[Worker], bool], until: float | None, batch: int) -> bool:
    """Whether the last batch is done; the time may be up before."""
    worker = Worker(turn, batch)
    while step(worker):
        reach("resign_batch")
        if until is not None and monotonic() > until:
            turn.rest()
            return False
    return True


def _give_up(turn: Turn, sentence: str) -> None:
    with transaction.atomic():
        turn.end(ResignState.FAILED, error=sentence)
        _record(turn.resign, None, "resign_failed", error=sentence)


# --- Forward ---------------------------------------------------------------------------------------------------------


def _plan(turn: Turn) -> None:
    """Look at all reports, then write what becomes of the keys in one transaction."""
    _forget_former(turn)
    found = forecast(turn.resign.project, pulse=turn.renew)
    reach("resign_planned")
    with transaction.atomic():
        turn.renew(state=ResignState.MOVING, summary=summary_of(found), logs=left_of(turn.resign).count(), attempts=0)
        turn.resign.state = ResignState.MOVING
        apply_plan(turn.resign, found)


def _forget_former(turn: Turn) -> None:
    """Only the last re-sign can be undone. What the earlier ones kept for that goes, and with it signatures that only they held."""
    former = Resign.objects.filter(project=turn.resign.project).exclude(pk=turn.resign.pk)
    held = set(ReportMove.objects.filter(resign__in=former).values_list("before__signature_id", flat=True).distinct())
    held |= set(KeyMove.objects.filter(resign__in=former, before__isnull=False).values_list("before_id", flat=True))
    for model in (ReportMove, KeyMove, LogMove, Link):
        turn.renew()
        model.objects.filter(resign__in=former).delete()
    with transaction.atomic():
        marks.mark(map(marks.signature, held))


def _finish(turn: Turn) -> bool:
    resign = turn.resign
    with transaction.atomic():
        turn.renew()
        links = tie_links(resign)
        resign.refresh_from_db()
        turn.end(ResignState.DONE)
        _record(resign, None, "resigned", **_counts(resign), linked=links)
        _mark_all(resign)
    return True


def _mark_all(resign: Resign) -> None:
    """Once more at the end: a digest may have counted under the signature that a key led to when it began."""
    moves = KeyMove.objects.filter(resign=resign).values_list("before_id", "after_id")
    marks.mark(marks.signature(pk) for pair in moves for pk in pair if pk is not None)


# --- Back ------------------------------------------------------------------------------------------------------------


def _turn_round(turn: Turn) -> None:
    with transaction.atomic():
        turn.renew()
        restore_keys(turn.resign)


def _finish_undo(turn: Turn) -> bool:
    resign = turn.resign
    with transaction.atomic():
        turn.renew()
        turn.end(ResignState.UNDONE)
        _record(resign, None, "resign_undone", recipe=resign.recipe, back_to=resign.former)
        _mark_all(resign)
        for model in (ReportMove, KeyMove, Link):
            model.objects.filter(resign=resign).delete()
    return True


# --- What people are told --------------------------------------------------------------------------------------------


def _record(resign: Resign, person: AbstractBaseUser | None, what: str, *, reason: str = "", **details: Any) -> None:
    """An entry with the head of the journal before it, so that a copy of the entry tells where it stood."""
    head = journal.head(resign.project)
    kept = {**details, "head": {"sequence": head.sequence, "hash": head.hash}}
    journal.record(resign.project, person, SUBJECT, resign.project.slug, what, reason=reason, details=kept)


def _counts(resign: Resign) -> dict[str, Any]:
    words = ("splits", "joins", "read", "changed")
    return {"recipe": resign.recipe, "logs": resign.logs, "reports": resign.reports} | {
        word: resign.summary.get(word, 0) for word in words
    }
