"""What waits to be sent, and who sends it. One UPDATE takes it, and its row count says who won; all times are the database's.

Sent at least once: who dies between the sending and the writing down is followed by one who sends again, under the same id.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import BooleanField, Exists, ExpressionWrapper, F, Max, Min, Q, QuerySet
from django.db.models.functions import Now

from leaks.models import CommitStatus, NoticeRule, Project, Sending, StatusTarget
from leaks.store_facts import storable
from leaks.words import SendState

MOST_ATTEMPTS = 10
MOST_AT_ONCE = 500  # notices of one message
LONGEST_WAIT = timedelta(minutes=10)  # for facts that keep coming
ERROR_LENGTH = 500

FREE = Q(lease_until=None) | Q(lease_until__lt=Now())
RESTED = Q(retry_at=None) | Q(retry_at__lte=Now())
OPEN = Q(state=SendState.WAITING) & FREE & RESTED
POSTABLE = (
    Q(due=True, target__enabled=True, target__error="")
    & (Q(target__retry_at=None) | Q(target__retry_at__lte=Now()))
    & FREE
    & RESTED
)


def anything_to_send() -> bool:
    """One query, cheap when idle: both questions are answered by an index."""
    sendings, statuses = Sending.objects.filter(OPEN), CommitStatus.objects.filter(POSTABLE)
    return Project.objects.filter(Exists(sendings) | Exists(statuses)).exists()


def _lease() -> dict[str, Any]:
    until = Now() + timedelta(seconds=float(settings.LEAKLEDGER_LEASE_SECONDS))
    return {"lease_token": uuid.uuid4().hex, "lease_until": until}


# --- Notices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Notices that go to one rule in one message. `public_id` stays the same however often it is tried."""

    public_id: str
    rule: NoticeRule
    sendings: Sequence[Sending]
    token: str
    attempts: int

    def done(self) -> bool:
        return self._end(state=SendState.SENT, sent_at=Now(), error="")

    def again(self, seconds: float, error: str) -> bool:
        if self.attempts >= MOST_ATTEMPTS:
            return self.failed(f"Given up after {self.attempts} attempts. {error}")
        return self._end(retry_at=Now() + timedelta(seconds=seconds), error=_short(error))

    def failed(self, error: str) -> bool:
        return self._end(state=SendState.FAILED, error=_short(error))

    def _end(self, **columns: Any) -> bool:
        mine = Sending.objects.filter(batch=self.public_id, rule=self.rule, lease_token=self.token)
        return bool(mine.update(lease_until=None, lease_token="", **columns))


def take_batch() -> Batch | None:
    """What was tried before comes first, then the rule whose facts have stopped coming."""
    batch = _tried() or _gathered()
    if batch is None:
        return None
    lease = _lease()
    won = Sending.objects.filter(OPEN, batch=batch, rule__enabled=True).update(attempts=F("attempts") + 1, **lease)
    if not won:
        return None
    mine = Sending.objects.filter(batch=batch, lease_token=lease["lease_token"])
    rows = list(mine.select_related("notice", "rule__project").order_by("notice__created_at", "notice_id"))
    return Batch(batch, rows[0].rule, rows, lease["lease_token"], rows[0].attempts) if rows else None


def _tried() -> str | None:
    tried = Sending.objects.filter(OPEN, rule__enabled=True).exclude(batch="")
    return tried.order_by("created_at", "pk").values_list("batch", flat=True).first()


def _gathered() -> str | None:
    """The facts of one cause come within seconds, in several transactions: they wait for each other, to go out in one message."""
    pause = timedelta(seconds=float(settings.LEAKLEDGER_NOTICE_PAUSE_SECONDS))
    fresh = Sending.objects.filter(OPEN, rule__enabled=True, batch="")
    by_rule = fresh.values("rule").annotate(newest=Max("created_at"), oldest=Min("created_at")).order_by("oldest")
    ripe = by_rule.filter(Q(newest__lte=Now() - pause) | Q(oldest__lte=Now() - LONGEST_WAIT)).first()
    if ripe is None:
        return None
    ids = list(fresh.filter(rule=ripe["rule"]).order_by("created_at", "pk").values_list("pk", flat=True)[:MOST_AT_ONCE])
    batch = uuid.uuid4().hex
    Sending.objects.filter(pk__in=ids, batch="", state=SendState.WAITING).update(batch=batch)
    return batch


def try_again(sendings: QuerySet[Sending]) -> int:
    """By hand: what was given up waits again, with all its attempts, under the id it had."""
    given_up = sendings.filter(state=SendState.FAILED)
    return given_up.update(state=SendState.WAITING, attempts=0, retry_at=None, error="")


# --- Commit statuses -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Post:
    """A commit status on its way; `status` as it was when it was taken."""

    status: CommitStatus
    token: str

    def done(self) -> bool:
        """It may have changed meanwhile: then it stays due."""
        sent = self.status
        same = Q(state=sent.state, description=sent.description)
        return self._end(
            posted_state=sent.state,
            posted_description=sent.description,
            due=ExpressionWrapper(~same, output_field=BooleanField()),
            error="",
            attempts=0,
        )

    def again(self, seconds: float, error: str) -> bool:
        if self.status.attempts >= MOST_ATTEMPTS:
            return self.failed(f"Given up after {self.status.attempts} attempts. {error}")
        return self._end(retry_at=Now() + timedelta(seconds=seconds), error=_short(error))

    def failed(self, error: str) -> bool:
        return self._end(due=False, error=_short(error))

    def rest(self, seconds: float, error: str) -> bool:
        """The provider wants to hear nothing for a while, of no commit."""
        StatusTarget.objects.filter(pk=self.status.target_id).update(retry_at=Now() + timedelta(seconds=seconds))
        return self.again(seconds, error)

    def refused(self, error: str) -> bool:
        """The provider does not take the token: every other commit would be refused too, until somebody sets another one."""
        StatusTarget.objects.filter(pk=self.status.target_id).update(error=_short(error))
        return self._end(attempts=0, error=_short(error))

    def _end(self, **columns: Any) -> bool:
        mine = CommitStatus.objects.filter(pk=self.status.pk, lease_token=self.token)
        return bool(mine.update(lease_until=None, lease_token="", **columns))


def take_status() -> Post | None:
    """The oldest commit first, whichever came first: where two tell of one commit the later one stands."""
    due = CommitStatus.objects.filter(POSTABLE).order_by("commit__ordered_at", "pk")
    pk = due.values_list("pk", flat=True).first()
    if pk is None:
        return None
    lease = _lease()
    free = CommitStatus.objects.filter(FREE, RESTED, pk=pk, due=True)
    if not free.update(attempts=F("attempts") + 1, **lease):
        return None
    related = ("target__project", "commit", "lane")
    status = CommitStatus.objects.select_related(*related).filter(pk=pk, lease_token=lease["lease_token"]).first()
    return Post(status, lease["lease_token"]) if status else None


def _short(error: str) -> str:
    return storable(error, ERROR_LENGTH)
