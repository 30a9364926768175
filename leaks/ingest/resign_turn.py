"""Who works on a re-sign. Its row is the queue, as a log's row is: one UPDATE takes it, and its row count says who won."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Now

from leaks.errors import LostLease
from leaks.ingest import lease as leases
from leaks.models import Resign
from leaks.models.recipes import OPEN
from leaks.store_facts import storable
from leaks.words import ResignState


def due() -> Q:
    free = Q(lease_until=None) | Q(lease_until__lt=Now())
    rested = Q(retry_at=None) | Q(retry_at__lte=Now())
    return Q(state__in=OPEN) & free & rested


@dataclass(slots=True)
class Turn:
    """The right to work on a re-sign, until another one takes it."""

    resign: Resign
    token: str

    def renew(self, **columns: object) -> None:
        """First in each transaction that writes: who lost it writes nothing."""
        mine = Resign.objects.filter(pk=self.resign.pk, lease_token=self.token, state=self.resign.state)
        if not mine.update(lease_until=Now() + timedelta(seconds=leases.seconds()), **columns):
            raise LostLease(f"Somebody else has taken over re-sign {self.resign.pk}, or it was turned round.")

    def end(self, state: ResignState, **columns: object) -> None:
        self.renew(state=state, lease_token="", **columns)
        Resign.objects.filter(pk=self.resign.pk).update(lease_until=None, ended_at=Now())

    def rest(self) -> None:
        """Let go of it for now: there is more to do, by whoever comes next."""
        self.renew(attempts=0)
        Resign.objects.filter(pk=self.resign.pk, lease_token=self.token).update(lease_until=None, lease_token="")

    def back_off(self, error: Exception) -> None:
        """Something unexpected: let it rest, longer each time."""
        sentence = storable(f"{type(error).__name__}: {error}")
        pause = timedelta(seconds=leases.pause(self.resign.attempts))
        Resign.objects.filter(pk=self.resign.pk, lease_token=self.token).update(
            error=sentence, lease_until=None, lease_token="", retry_at=Now() + pause
        )


def take(resign_id: int) -> Turn | None:
    token = uuid.uuid4().hex
    won = Resign.objects.filter(due(), pk=resign_id).update(
        attempts=F("attempts") + 1,
        lease_token=token,
        lease_until=Now() + timedelta(seconds=leases.seconds()),
        retry_at=None,
    )
    return Turn(Resign.objects.select_related("project").get(pk=resign_id), token) if won else None
