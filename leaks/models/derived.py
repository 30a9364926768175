"""Derived rows: rebuilt from the others whenever a stale mark says so, never incremented."""

from django.db import models
from django.db.models import Q

from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.lanes import Lane
from leaks.models.logs import Log, Stack
from leaks.models.runs import Commit, LaneOutcome
from leaks.models.signatures import SignatureKey
from leaks.words import Reason, Verdict


class CommitLane(models.Model):
    """All attempts of a lane on a commit, folded into one verdict. `outcome` is the one that decided."""

    commit = models.ForeignKey(Commit, on_delete=models.CASCADE, related_name="lanes")
    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="commit_lanes")
    verdict = word_field(Verdict)
    reason = word_field(Reason, blank=True)
    outcome = models.ForeignKey(LaneOutcome, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    attempts = models.PositiveIntegerField(default=0)
    flags = models.JSONField(default=list, blank=True)
    rebuilt_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("commit", "lane"), name="one_verdict_per_commit_and_lane"),
            word_constraint("commit_lane_verdict", "verdict", Verdict),
            models.CheckConstraint(
                name="a_folded_reason_just_where_there_is_no_verdict",
                condition=(Q(verdict=Verdict.NO_VERDICT) & ~Q(reason=""))
                | (~Q(verdict=Verdict.NO_VERDICT) & Q(reason="")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.commit} {self.lane}: {self.verdict}"


class LaneDay(models.Model):
    """One lane on one UTC day of the CI's clock. `verdicts` and `reasons` are word -> number of outcomes, zeros left out.

    `leaked_bytes`, `leaked_objects` and `signatures` are those of the last outcome of the default branch that day that had a verdict.
    """

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="days")
    day = models.DateField()
    outcomes = counter(default=0)
    verdicts = models.JSONField(default=dict)
    reasons = models.JSONField(default=dict)
    claimed = models.JSONField(default=dict)
    leaked_bytes = counter(null=True, blank=True)
    leaked_objects = counter(null=True, blank=True)
    signatures = counter(null=True, blank=True)

    class Meta:
        ordering = ("lane", "day")
        constraints = (models.UniqueConstraint(fields=("lane", "day"), name="one_row_a_lane_and_day"),)

    def __str__(self) -> str:
        return f"{self.lane} {self.day}"


class SightingSum(models.Model):
    """What the sightings of one lane that no suppression rule can tell apart add up to, in runs that were not withdrawn.

    `sample` is a log that shows it: a row that may be gone, until the signature is rebuilt. `largest` is the bytes of the largest single record,
    `tests` are names, one a line. `first` and `last` are microseconds since 1970, UTC: many of these rows are read at once, and a database
    driver takes longer for one date than for all the rest of a row.
    """

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="sighting_sums")
    key = models.ForeignKey(SignatureKey, on_delete=models.CASCADE, related_name="sighting_sums")
    stack = models.ForeignKey(Stack, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=40)
    kind = models.CharField(max_length=100)
    shape = models.CharField(max_length=40, blank=True)
    sample = models.ForeignKey(Log, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    sightings = counter()
    records = counter()
    leaked_bytes = counter(default=0)
    largest = counter(null=True, blank=True)
    first = counter()
    last = counter()
    tests = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("lane", "key", "stack", "tool", "kind", "shape"), name="sighting_sum_once"),
        )
        indexes = (models.Index(fields=("lane", "tool"), name="sighting_sums_of_a_tool"),)

    def __str__(self) -> str:
        return f"{self.records} {self.kind}"


class StaleMark(models.Model):
    """Something derived must be rebuilt. `generation` rises when it is marked again while it is being rebuilt.

    `subject` is "<commit id>:<lane id>", "<lane id>:<day>", "<signature id>" or "<outcome id>" by kind.
    """

    class Kind(models.TextChoices):
        OUTCOME = "outcome"
        COMMIT_LANE = "commit_lane"
        LANE_DAY = "lane_day"
        SIGNATURE = "signature"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    subject = models.CharField(max_length=80)
    generation = models.PositiveIntegerField(default=1)
    marked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("kind", "subject"), name="stale_mark_once"),
            models.CheckConstraint(
                name="stale_kind", condition=Q(kind__in=["outcome", "commit_lane", "lane_day", "signature"])
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
