"""What signatures were made with, and each time that history was signed again.

A recipe is the code's ("v1") together with the project's own roots and plumbing; those have numbered versions. A log
says in `Log.recipe` what its rows are signed with ("v1.3").
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.logs import Frame, Log, Report
from leaks.models.projects import Project
from leaks.models.signatures import Signature, SignatureKey
from leaks.words import ResignState

OPEN = (ResignState.WAITING, ResignState.MOVING, ResignState.UNDOING)


class RecipeVersion(models.Model):
    """Own roots and plumbing as they were from `made_at` on. The current one is also on the project itself."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="recipe_versions")
    number = models.PositiveIntegerField()
    own_roots = models.JSONField(default=list, blank=True)
    plumbing = models.JSONField(default=list, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.TextField(blank=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("project", "number")
        constraints = (models.UniqueConstraint(fields=("project", "number"), name="recipe_version_once"),)

    def __str__(self) -> str:
        return f"version {self.number}"


class Resign(models.Model):
    """One re-application of the recipe to all of a project's history. The row is the queue: `state`, `lease_until` and
    `lease_token` say who works on it.

    `former` is the number of the version that an undo goes back to. `summary` is the stored plan for people.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="resigns")
    recipe = models.CharField(max_length=20)
    former = models.PositiveIntegerField()
    state = word_field(ResignState, default=ResignState.WAITING)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.TextField(blank=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    logs = counter(default=0)
    reports = counter(default=0)
    summary = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ("project", "asked_at")
        constraints = (
            models.UniqueConstraint(fields=("project",), name="one_open_resign", condition=Q(state__in=OPEN)),
            word_constraint("resign_state", "state", ResignState),
        )

    def __str__(self) -> str:
        return f"{self.recipe}: {self.state}"


class KeyMove(models.Model):
    """A key that a re-sign led to another signature. `before` is null for a key that it made."""

    resign = models.ForeignKey(Resign, on_delete=models.CASCADE, related_name="key_moves")
    key = models.ForeignKey(SignatureKey, on_delete=models.CASCADE, related_name="+")
    before = models.ForeignKey(Signature, null=True, on_delete=models.PROTECT, related_name="+")
    after = models.ForeignKey(Signature, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("resign", "key"), name="key_move_once"),)

    def __str__(self) -> str:
        return f"{self.key}: {self.before_id} → {self.after_id}"


class Link(models.Model):
    """A signature that a re-sign linked to another one, like a merge: all that it showed is the other one's now."""

    resign = models.ForeignKey(Resign, on_delete=models.CASCADE, related_name="links")
    signature = models.ForeignKey(Signature, on_delete=models.CASCADE, related_name="+")
    into = models.ForeignKey(Signature, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("resign", "signature"), name="link_once"),)

    def __str__(self) -> str:
        return f"{self.signature_id} → {self.into_id}"


class LogMove(models.Model):
    """A log that a re-sign has done, and the recipe its rows were signed with before."""

    resign = models.ForeignKey(Resign, on_delete=models.CASCADE, related_name="log_moves")
    log = models.ForeignKey(Log, on_delete=models.CASCADE, related_name="+")
    before = models.CharField(max_length=20, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("resign", "log"), name="log_move_once"),)

    def __str__(self) -> str:
        return f"{self.log_id}: {self.before}"


class ReportMove(models.Model):
    """A report that a re-sign gave another key or owner, and what it had before."""

    resign = models.ForeignKey(Resign, on_delete=models.CASCADE, related_name="report_moves")
    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="+")
    before = models.ForeignKey(SignatureKey, on_delete=models.PROTECT, related_name="+")
    own_frame = models.ForeignKey(Frame, null=True, on_delete=models.PROTECT, related_name="+")
    title = models.TextField(blank=True, help_text="of the sighting it was counted under")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("resign", "report"), name="report_move_once"),)

    def __str__(self) -> str:
        return f"{self.report_id}: {self.before_id}"
