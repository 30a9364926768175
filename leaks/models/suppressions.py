"""Runtime suppressions: the rules under review, what a lane's log says they hid, and the exact files a run used."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from leaks.ledger_words import SuppressionState, SuppressionTool
from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.lanes import Lane
from leaks.models.logs import Log
from leaks.models.projects import Project
from leaks.models.runs import LaneOutcome
from leaks.models.signatures import Signature


class RuleFile(models.Model):
    """The exact text of a suppression file that a run used, stored once by content."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rule_files")
    sha256 = models.CharField(max_length=64)
    name = models.CharField(max_length=300, blank=True)
    tool = models.CharField(max_length=40, blank=True)
    text = models.TextField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "sha256"), name="rule_file_once"),)

    def __str__(self) -> str:
        return self.name or self.sha256[:12]


class SuppressionUse(models.Model):
    """A row of a "Suppressions used" table, summed over the processes of one log."""

    outcome = models.ForeignKey(LaneOutcome, on_delete=models.CASCADE, related_name="suppression_uses")
    log = models.ForeignKey(Log, on_delete=models.CASCADE, related_name="suppression_uses")
    template = models.TextField()
    count = counter()
    bytes = counter()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("log", "template"), name="suppression_use_once"),)

    def __str__(self) -> str:
        return f"{self.template}: {self.count}"


class Suppression(models.Model):
    """A rule under review. `rule` is its text as it stands in the runtime's file, for Valgrind the whole block.

    `revision` rises with each edit of a proposal, and an approval names the one it saw. `lanes` empty: all of the project. `reach` is
    what the rule would have hidden when it was decided. `ends_on` is the last day it is served. `ended_by` null on an ended one: the clock.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="suppressions")
    public_id = models.CharField(max_length=24, unique=True)
    tool = word_field(SuppressionTool)
    rule = models.TextField()
    state = word_field(SuppressionState, default=SuppressionState.PROPOSED)
    revision = models.PositiveIntegerField(default=1)
    signature = models.ForeignKey(
        Signature, null=True, blank=True, on_delete=models.PROTECT, related_name="suppressions"
    )
    lanes = models.ManyToManyField(Lane, blank=True, related_name="suppressions")
    reason = models.TextField()
    alternatives = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    not_measured = models.TextField(blank=True)
    ends_on = models.DateField()
    cap_count = counter(null=True, blank=True)
    cap_bytes = counter(null=True, blank=True)
    imported_from = models.CharField(max_length=300, blank=True)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="proposed_suppressions"
    )
    proposed_at = models.DateTimeField()
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="approved_suppressions"
    )
    approved_at = models.DateTimeField(null=True, blank=True)
    wider_confirmed = models.BooleanField(default=False)
    decision_reason = models.TextField(blank=True)
    reach = models.JSONField(default=dict, blank=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="ended_suppressions"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    over_cap_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("proposed_at", "public_id")
        constraints = (
            word_constraint("suppression_tool", "tool", SuppressionTool),
            word_constraint("suppression_state", "state", SuppressionState),
            models.CheckConstraint(
                name="nobody_approves_their_own_suppression",
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")),
            ),
            models.CheckConstraint(
                name="in_force_only_when_approved",
                condition=Q(state__in=[SuppressionState.PROPOSED, SuppressionState.REJECTED], approved_by=None)
                | Q(
                    state__in=[SuppressionState.APPROVED, SuppressionState.EXPIRED, SuppressionState.REVOKED],
                    approved_by__isnull=False,
                ),
            ),
            models.CheckConstraint(name="suppression_has_a_reason", condition=~Q(reason="")),
            models.CheckConstraint(name="suppression_has_a_rule", condition=~Q(rule="")),
        )
        indexes = (models.Index(fields=("project", "state", "proposed_at"), name="suppressions_by_state"),)

    def __str__(self) -> str:
        return f"{self.public_id} {self.rule.splitlines()[0][:60]}"


class SuppressionComment(models.Model):
    """What somebody said about a proposal. It changes no state."""

    suppression = models.ForeignKey(Suppression, on_delete=models.CASCADE, related_name="comments")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ("at", "pk")

    def __str__(self) -> str:
        return self.text[:60]
