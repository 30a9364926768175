"""What a CI provider sends by itself: its deliveries, the secrets they are signed with, and what was turned away."""

from django.db import models
from django.db.models import Q

from leaks.models.fields import word_constraint, word_field
from leaks.models.projects import Project
from leaks.words import HookRefusal, LogState


class HookSecret(models.Model):
    """What a provider's deliveries are checked with: a key (GitHub signs), or the SHA-256 of a token (GitLab sends it in clear)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="hook_secrets")
    provider = models.CharField(max_length=40)
    secret = models.CharField(max_length=200)
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "provider"), name="one_secret_per_provider"),)

    def __str__(self) -> str:
        return f"{self.provider} of {self.project}"


class Delivery(models.Model):
    """One webhook as it came, and the place it has in the queue: the states are those of a log.

    `body` is compressed. `job` is the name of the job it tells of: when a lane learns that name, the delivery is read again.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="deliveries")
    provider = models.CharField(max_length=40)
    event = models.CharField(max_length=60)
    delivery_id = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    body = models.BinaryField()
    job = models.CharField(max_length=200, blank=True)
    state = word_field(LogState, default=LogState.RECEIVED)
    error = models.TextField(blank=True)
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.CharField(max_length=40, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)
    digested_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = (
            models.UniqueConstraint(fields=("project", "provider", "delivery_id"), name="delivery_once"),
            # The id is not signed: a delivery played back under another one is the same delivery.
            models.UniqueConstraint(fields=("project", "provider", "event", "sha256"), name="delivery_once_by_content"),
            word_constraint("delivery_state", "state", LogState),
        )
        indexes = (
            models.Index(
                fields=("received_at",), name="deliveries_to_read", condition=Q(state__in=["received", "reading"])
            ),
            models.Index(fields=("project", "-received_at"), name="deliveries_newest_first"),
            models.Index(fields=("project", "provider", "job"), name="deliveries_of_a_job", condition=~Q(job="")),
        )

    def __str__(self) -> str:
        return f"{self.provider} {self.event} {self.delivery_id}"


class HookRefused(models.Model):
    """How many deliveries of a day were turned away or passed over. Nothing of them is kept, so nobody can fill the disk."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="refused_deliveries")
    provider = models.CharField(max_length=40)
    day = models.DateField()
    reason = word_field(HookRefusal)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "refused deliveries"
        constraints = (
            models.UniqueConstraint(fields=("project", "provider", "day", "reason"), name="refusals_counted_once"),
            word_constraint("refusal_reason", "reason", HookRefusal),
        )

    def __str__(self) -> str:
        return f"{self.day} {self.provider} {self.reason}: {self.count}"


class JobName(models.Model):
    """A job the CI told of, by its full name, and the lane it is of, if any. `base` is the name without matrix and shard."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="job_names")
    provider = models.CharField(max_length=40)
    workflow = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=200)
    base = models.CharField(max_length=200)
    lane = models.ForeignKey("leaks.Lane", null=True, blank=True, on_delete=models.SET_NULL, related_name="job_names")
    ignored = models.BooleanField(default=False)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "provider", "workflow", "name"), name="job_name_once"),
        )
        indexes = (models.Index(fields=("project", "base"), name="job_names_by_base"),)

    def __str__(self) -> str:
        return self.name
