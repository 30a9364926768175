"""What people and other systems are told: the facts, who asked for them, and how far each sending is.

A fact is written in the transaction that makes it; it is sent afterwards, from these rows.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaks.models.fields import word_constraint, word_field
from leaks.models.lanes import Lane
from leaks.models.projects import Project
from leaks.models.runs import Commit
from leaks.words import Channel, NoticeKind, SendState, StatusProvider


class NoticeRule(models.Model):
    """Somebody wants to be told. Without a rule nobody is told anything.

    `threshold`: bytes for a new leak, hours for a blind lane, nothing elsewhere. `secret` signs the deliveries of a webhook. What
    happened before `enabled_at` is not told.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notice_rules")
    public_id = models.CharField(max_length=24, unique=True)
    kind = word_field(NoticeKind)
    channel = word_field(Channel)
    target = models.CharField(max_length=500)
    threshold = models.PositiveBigIntegerField(default=0)
    secret = models.CharField(max_length=200, blank=True)
    enabled = models.BooleanField(default=True)
    enabled_at = models.DateTimeField()
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="notice_rules"
    )

    class Meta:
        ordering = ("kind", "channel", "target")
        constraints = (
            models.UniqueConstraint(fields=("project", "kind", "channel", "target"), name="notice_rule_once"),
            word_constraint("notice_rule_kind", "kind", [kind for kind in NoticeKind if kind != NoticeKind.TEST]),
            word_constraint("notice_rule_channel", "channel", Channel),
        )
        indexes = (models.Index(fields=("kind", "project"), name="notice_rules_on", condition=Q(enabled=True)),)

    def __str__(self) -> str:
        return f"{self.kind} by {self.channel} to {self.target}"


class Notice(models.Model):
    """A fact that a rule asked for. `subject` names it once and for all, so that no re-digest and no order of arrival tells it twice."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notices")
    kind = word_field(NoticeKind)
    subject = models.CharField(max_length=200)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "kind", "subject"), name="notice_once"),
            word_constraint("notice_kind", "kind", NoticeKind),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class Sending(models.Model):
    """A notice on its way to whom a rule names. `batch` is given at the first attempt: what goes out together goes out together again."""

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="sendings")
    rule = models.ForeignKey(NoticeRule, on_delete=models.CASCADE, related_name="sendings")
    batch = models.CharField(max_length=32, blank=True)
    state = word_field(SendState, default=SendState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("notice", "rule"), name="sent_once_to_each"),
            word_constraint("sending_state", "state", SendState),
        )
        indexes = (
            models.Index(fields=("rule", "created_at"), name="sendings_to_do", condition=Q(state="waiting")),
            models.Index(fields=("batch",), name="sendings_of_a_batch", condition=~Q(batch="")),
        )

    def __str__(self) -> str:
        return f"{self.notice} to {self.rule_id}: {self.state}"


class StatusTarget(models.Model):
    """Where the commit statuses of a project are posted. `base_url` empty: the provider's own; `token` empty: that of the environment.

    `error`: the provider refused the token, so that nothing is posted until somebody sets another one. `retry_at`: it asked for a rest.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="status_targets")
    provider = word_field(StatusProvider)
    base_url = models.CharField(max_length=300, blank=True)
    repository = models.CharField(max_length=300)
    token = models.CharField(max_length=500, blank=True)
    enabled = models.BooleanField(default=True)
    enabled_at = models.DateTimeField()
    error = models.TextField(blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "provider"), name="one_status_target_per_provider"),
            word_constraint("status_provider", "provider", StatusProvider),
        )

    def __str__(self) -> str:
        return f"{self.provider} {self.repository}"


class CommitStatus(models.Model):
    """What is to be posted about a lane on a commit, and what was posted last. `due`: the two differ, and nobody gave up."""

    target = models.ForeignKey(StatusTarget, on_delete=models.CASCADE, related_name="statuses")
    commit = models.ForeignKey(Commit, on_delete=models.CASCADE, related_name="statuses")
    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="statuses")
    state = models.CharField(max_length=20)
    description = models.CharField(max_length=140)
    posted_state = models.CharField(max_length=20, blank=True)
    posted_description = models.CharField(max_length=140, blank=True)
    due = models.BooleanField(default=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "commit statuses"
        constraints = (
            models.UniqueConstraint(fields=("target", "commit", "lane"), name="one_status_per_commit_and_lane"),
        )
        indexes = (
            models.Index(fields=("target",), name="statuses_to_post", condition=Q(due=True)),
            models.Index(fields=("target",), name="statuses_given_up", condition=~Q(error="")),
        )

    def __str__(self) -> str:
        return f"{self.lane} on {self.commit}: {self.state}"
