"""Commits, runs, and what one attempt of one lane did: outcomes, their parts and the claims made about them."""

from django.db import models
from django.db.models import Q

from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.lanes import Lane
from leaks.models.projects import Project
from leaks.words import ClaimSource, EffectiveClaim, Reason, Verdict


class Commit(models.Model):
    """A commit, also one that no run ever named. `parents` are shas in git's order; `committed_at` is null where unknown.

    `ordered_at` is what pages sort by: the commit's own time, else the start of the earliest run that named it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="commits")
    sha = models.CharField(max_length=64)
    parents = models.JSONField(default=list, blank=True)
    title = models.CharField(max_length=300, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    ordered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "sha"), name="commit_once"),
            models.CheckConstraint(name="commit_has_a_sha", condition=~Q(sha="")),
        )
        indexes = (models.Index(fields=("project", "-ordered_at"), name="commits_newest_first"),)

    def __str__(self) -> str:
        return self.sha[:9]


class CommitPlace(models.Model):
    """The commit stands on the branch; `position` counts first parents from the oldest known, null until it is known."""

    commit = models.ForeignKey(Commit, on_delete=models.CASCADE, related_name="places")
    branch = models.CharField(max_length=200)
    position = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("commit", "branch"), name="one_place_on_a_branch"),)
        indexes = (models.Index(fields=("branch", "position"), name="places_in_order"),)

    def __str__(self) -> str:
        return f"{self.commit} on {self.branch}"


class Run(models.Model):
    """One CI workflow run. A re-run keeps the external id and raises `attempt`.

    `jobs_seen`: some job of it is known. `commit_from_event`: only the provider named the commit; what a lane checked out outweighs
    that (a pull request is built as a merge that the provider does not name).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    commit = models.ForeignKey(Commit, on_delete=models.PROTECT, related_name="runs")
    provider = models.CharField(max_length=40)
    external_id = models.CharField(max_length=200)
    attempt = models.PositiveIntegerField(default=1)
    branch = models.CharField(max_length=200, blank=True)
    pull_request = models.PositiveIntegerField(null=True, blank=True)
    event = models.CharField(max_length=60, blank=True)
    workflow = models.CharField(max_length=200, blank=True)
    jobs_seen = models.BooleanField(default=False)
    commit_from_event = models.BooleanField(default=False)
    url = models.URLField(max_length=500, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "provider", "external_id", "attempt"), name="run_attempt_once"),
            models.CheckConstraint(name="attempts_count_from_one", condition=Q(attempt__gte=1)),
        )
        indexes = (models.Index(fields=("project", "branch", "-started_at"), name="runs_of_a_branch"),)

    def __str__(self) -> str:
        return self.external_id if self.attempt == 1 else f"{self.external_id}#{self.attempt}"


class LaneOutcome(models.Model):
    """What one attempt of one lane did.

    `conclusion` … `workload` are the merged claim. `verdict` … `own_objects` are written by the digest and follow from the claim, the
    facts of the logs and the lane alone. `superseded_by` and `rerun_of` are standing: recomputed, never written by a digest.
    """

    public_id = models.CharField(max_length=24, unique=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="outcomes")
    lane = models.ForeignKey(Lane, on_delete=models.PROTECT, related_name="outcomes")
    happened_at = models.DateTimeField(help_text="the CI's own start time, else the time of arrival")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    conclusion = models.CharField(max_length=60, null=True, blank=True)  # noqa: DJ001 - "nothing said" differs from an empty word
    exit_code = models.IntegerField(null=True, blank=True)
    ended = models.BooleanField(null=True, blank=True)
    options = models.JSONField(default=dict, blank=True)
    workload = models.JSONField(default=dict, blank=True)

    verdict = word_field(Verdict, default=Verdict.NO_VERDICT)
    reason = word_field(Reason, blank=True, default=Reason.PENDING)
    rule = models.CharField(max_length=80, default="pending")
    because = models.JSONField(default=list, blank=True)  # [{"log", "line", "text"}]
    flags = models.JSONField(default=list, blank=True)
    effective_claim = word_field(EffectiveClaim, default=EffectiveClaim.PENDING)
    build_percent = models.PositiveSmallIntegerField(null=True, blank=True)
    phase = models.CharField(max_length=40, blank=True)  # set-up, build, tests, leak check, ended
    runner = models.CharField(max_length=40, blank=True)
    tests_total = models.IntegerField(null=True, blank=True)
    tests_passed = models.IntegerField(null=True, blank=True)
    tests_failed = models.IntegerField(null=True, blank=True)
    tests_skipped = models.IntegerField(null=True, blank=True)
    tests_complete = models.BooleanField(null=True, blank=True)
    reports = counter(default=0)  # records, folded ones counted as often as they stood in the log
    leaked_bytes = counter(null=True, blank=True)
    leaked_objects = counter(null=True, blank=True)
    summary_bytes = counter(null=True, blank=True)
    summary_objects = counter(null=True, blank=True)
    reconciled = models.BooleanField(null=True, blank=True)
    own_reports = counter(default=0)
    own_bytes = counter(default=0)
    own_objects = counter(default=0)
    digested_at = models.DateTimeField(null=True, blank=True)
    rule_files = models.ManyToManyField("leaks.RuleFile", blank=True, related_name="outcomes")

    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    rerun_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="reruns")
    standing_flags = models.JSONField(default=list, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("run", "lane"), name="one_outcome_per_run_and_lane"),
            word_constraint("outcome_verdict", "verdict", Verdict),
            word_constraint("outcome_reason", "reason", Reason, blank=True),
            word_constraint("outcome_effective_claim", "effective_claim", EffectiveClaim),
            models.CheckConstraint(
                name="a_reason_just_where_there_is_no_verdict",
                condition=(Q(verdict=Verdict.NO_VERDICT) & ~Q(reason=""))
                | (~Q(verdict=Verdict.NO_VERDICT) & Q(reason="")),
            ),
            models.CheckConstraint(
                name="never_clean_with_a_finding",
                condition=~Q(verdict=Verdict.CLEAN) | Q(leaked_bytes=None) | Q(leaked_bytes=0),
            ),
        )
        indexes = (
            models.Index(fields=("lane", "-happened_at"), name="outcomes_newest_first"),
            models.Index(fields=("lane", "verdict", "-happened_at"), name="outcomes_by_verdict"),
        )

    def __str__(self) -> str:
        return f"{self.lane} in {self.run}: {self.verdict}"


class Part(models.Model):
    """One shard or matrix job of an outcome; an outcome without shards has one part with the empty name.

    `judgement` is that of the part alone. `heartbeat_at` is when the last sign of life of a lane wrapper arrived, by the database's clock,
    and `progress` the line it told; `silent`: it came from nobody for too long, and nobody said how the part ended.
    """

    outcome = models.ForeignKey(LaneOutcome, on_delete=models.CASCADE, related_name="parts")
    name = models.CharField(max_length=200, blank=True)
    index = models.PositiveIntegerField(null=True, blank=True)
    of = models.PositiveIntegerField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    conclusion = models.CharField(max_length=60, null=True, blank=True)  # noqa: DJ001 - "nothing said" differs from an empty word
    judgement = models.JSONField(default=dict, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    progress = models.CharField(max_length=300, blank=True)
    silent = models.BooleanField(default=False)

    class Meta:
        ordering = ("outcome", "name")
        constraints = (
            models.UniqueConstraint(fields=("outcome", "name"), name="part_once"),
            models.CheckConstraint(
                name="part_within_its_number",
                condition=Q(index=None) | Q(of=None) | (Q(index__gte=1) & Q(index__lte=models.F("of"))),
            ),
        )
        indexes = (
            # The few that still run: the look asks for them every half a minute.
            models.Index(
                fields=("heartbeat_at",),
                name="parts_that_beat",
                condition=Q(heartbeat_at__isnull=False, exit_code=None, conclusion=None, silent=False),
            ),
        )

    def __str__(self) -> str:
        return self.name or "only part"


class Claim(models.Model):
    """One statement of one source about a part. Append-only; unique by the source's delivery id, else by content.

    `fields` are the words of `leaks.claims`; `raw` is the body as it came.
    """

    part = models.ForeignKey(Part, on_delete=models.CASCADE, related_name="claims")
    source = word_field(ClaimSource)
    delivery_id = models.CharField(max_length=200, blank=True)
    content_hash = models.CharField(max_length=64)
    sequence = models.BigIntegerField(null=True, blank=True)
    source_time = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)
    fields = models.JSONField(default=dict)
    raw = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("part", "source", "content_hash"), name="claim_once_by_content"),
            models.UniqueConstraint(
                fields=("part", "source", "delivery_id"), condition=~Q(delivery_id=""), name="claim_once_by_delivery"
            ),
            word_constraint("claim_source", "source", ClaimSource),
        )

    def __str__(self) -> str:
        return f"{self.source}: {self.fields}"


class RunClaim(models.Model):
    """One statement of a provider about a whole run. It holds for each outcome of the run where nothing stronger was said.

    A run that was dropped while it waited has no job, and this is all that is ever said of it.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="claims")
    source = word_field(ClaimSource)
    delivery_id = models.CharField(max_length=200, blank=True)
    content_hash = models.CharField(max_length=64)
    sequence = models.BigIntegerField(null=True, blank=True)
    source_time = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)
    fields = models.JSONField(default=dict)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("run", "source", "content_hash"), name="run_claim_once"),
            word_constraint("run_claim_source", "source", ClaimSource),
        )

    def __str__(self) -> str:
        return f"{self.source}: {self.fields}"
