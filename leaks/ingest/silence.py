"""Signs of life of lanes that still run, and what is said of those whose signs stopped.

A lane wrapper that is killed says nothing more. Its run would be pending for ever, so silence longer than a limit is a fact of its
own: it is noted here, and the table of the verdict says what it means. A sign that comes later takes it back.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from leaks import marks
from leaks.models import Part
from leaks.rows.intake import Submission

# The conditions of the index `parts_that_beat`, word for word.
STILL_RUNS = Q(heartbeat_at__isnull=False, exit_code=None, conclusion=None, silent=False)


def sign_of_life(part: Part, given: Submission) -> bool:
    """Write down that the lane is alive; whether it was thought silent until now. Called with the part locked."""
    if given.heartbeat is None:
        return False
    # By the database's clock: the lane's own may be wrong by hours, and only the pause between two signs counts.
    fresh = {"heartbeat_at": Now(), "silent": False}
    told = {"progress": given.progress} if given.progress else {}
    Part.objects.filter(pk=part.pk).update(**fresh, **told)
    return part.silent


def note_silence() -> int:
    """Note which lanes fell silent, for the verdicts to be decided anew; how many did."""
    limit = Now() - timedelta(seconds=float(settings.LEAKLEDGER_SILENT_SECONDS))
    overdue = Part.objects.filter(STILL_RUNS, heartbeat_at__lt=limit)
    ids = list(overdue.values_list("pk", "outcome_id"))
    if not ids:
        return 0
    with transaction.atomic():
        # Asked again: a sign may have come meanwhile.
        noted = overdue.filter(pk__in=[pk for pk, _ in ids]).update(silent=True)
        marks.mark([marks.outcome(outcome) for _, outcome in ids])
    return noted
