"""Raw logs, the reports read out of them, and the distinct frames and stacks those share."""

from django.db import models
from django.db.models import Q

from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.runs import Part
from leaks.words import LogState, Role


class Blob(models.Model):
    """Bytes, stored once by the SHA-256 of their uncompressed content. `stored_bytes` is what they take on disk."""

    sha256 = models.CharField(max_length=64, unique=True)
    bytes = counter()
    stored_bytes = counter()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256[:12]


class Log(models.Model):
    """One uploaded raw log of a part. Same name, other content: a later revision, and the earlier one is no longer `current`.

    The row is the queue: `state`, `attempts`, `lease_until` and `lease_token` say who reads it; after an attempt that failed nobody takes
    it before `retry_at`. `facts` is the stored `LogFacts`. `recipe` is what its rows are signed with: the code's recipe and the number of
    the project's version ("v1.3").
    """

    public_id = models.CharField(max_length=24, unique=True)
    part = models.ForeignKey(Part, on_delete=models.CASCADE, related_name="logs")
    name = models.CharField(max_length=200)
    revision = models.PositiveIntegerField(default=1)
    current = models.BooleanField(default=True)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="logs")
    announced_bytes = counter(null=True, blank=True)
    state = word_field(LogState, default=LogState.RECEIVED)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.CharField(max_length=40, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    progress = models.PositiveSmallIntegerField(default=0, help_text="percent of the bytes read")
    facts = models.JSONField(default=dict, blank=True)
    recipe = models.CharField(max_length=20, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)
    digested_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("part", "name", "revision"), name="log_revision_once"),
            models.UniqueConstraint(fields=("part", "name"), condition=Q(current=True), name="one_current_revision"),
            word_constraint("log_state", "state", LogState),
            models.CheckConstraint(
                name="a_lease_just_while_reading",
                condition=(Q(state=LogState.READING) & Q(lease_until__isnull=False) & ~Q(lease_token=""))
                | (~Q(state=LogState.READING) & Q(lease_until=None) & Q(lease_token="")),
            ),
        )
        indexes = (
            models.Index(
                fields=("state", "lease_until"), name="logs_to_do", condition=Q(state__in=["received", "reading"])
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} r{self.revision}"


class Frame(models.Model):
    """A distinct printed frame, stored once by the hash of its text and of what was read out of it."""

    hash = models.CharField(max_length=40, unique=True)
    text = models.TextField()
    function = models.TextField(blank=True)
    file = models.TextField(blank=True)
    line = models.PositiveIntegerField(null=True, blank=True)
    column = models.PositiveIntegerField(null=True, blank=True)
    module = models.TextField(blank=True)
    offset = models.CharField(max_length=40, blank=True)
    build_id = models.CharField(max_length=80, blank=True)

    class Meta:
        indexes = (models.Index(fields=("build_id", "offset"), name="frames_by_symbol", condition=~Q(build_id="")),)

    def __str__(self) -> str:
        return self.text


class Stack(models.Model):
    """A distinct stack, stored once by the hash of its frames' hashes. The empty stack is a row too."""

    hash = models.CharField(max_length=40, unique=True)
    frames = models.ManyToManyField(Frame, through="StackFrame", related_name="stacks")

    def __str__(self) -> str:
        return self.hash[:12]


class StackFrame(models.Model):
    stack = models.ForeignKey(Stack, on_delete=models.CASCADE, related_name="places")
    position = models.PositiveIntegerField()
    frame = models.ForeignKey(Frame, on_delete=models.PROTECT, related_name="places")

    class Meta:
        ordering = ("stack", "position")
        constraints = (models.UniqueConstraint(fields=("stack", "position"), name="one_frame_at_a_place"),)

    def __str__(self) -> str:
        return f"#{self.position}"


class Report(models.Model):
    """One thing a sanitizer printed (folded: `count` blocks). `line` is 1-based in the log; `stack` is the primary one."""

    log = models.ForeignKey(Log, on_delete=models.CASCADE, related_name="reports")
    key = models.ForeignKey("leaks.SignatureKey", on_delete=models.PROTECT, related_name="reports")
    stack = models.ForeignKey(Stack, on_delete=models.PROTECT, related_name="reports")
    line = models.PositiveIntegerField()
    ordinal = models.PositiveIntegerField(help_text="order in the log, from 0: two reports can share a line")
    tool = models.CharField(max_length=40)
    kind = models.CharField(max_length=100)
    headline = models.TextField(blank=True)
    detail = models.TextField(blank=True)
    leaked_bytes = counter(null=True, blank=True)
    leaked_objects = counter(null=True, blank=True)
    count = counter(default=1)
    pid = models.BigIntegerField(null=True, blank=True)
    test = models.CharField(max_length=300, blank=True)
    own = models.BooleanField(default=False)
    own_frame = models.ForeignKey(Frame, null=True, blank=True, on_delete=models.PROTECT, related_name="owned_reports")
    place = models.ForeignKey(
        Frame, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="named without a stack"
    )
    finding = models.BooleanField(default=True)
    truncated = models.BooleanField(default=False)
    flags = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ("log", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=("log", "ordinal"), name="report_once"),
            models.CheckConstraint(name="report_counts_from_one", condition=Q(count__gte=1)),
            models.CheckConstraint(
                name="bytes_go_with_objects",
                # Both named as not null: a comparison with null is unknown, and a check lets the unknown pass.
                condition=Q(leaked_bytes=None, leaked_objects=None)
                | Q(
                    leaked_bytes__isnull=False, leaked_bytes__gte=0, leaked_objects__isnull=False, leaked_objects__gte=0
                ),
            ),
        )
        indexes = (models.Index(fields=("log", "line"), name="reports_by_line"),)

    def __str__(self) -> str:
        return f"{self.kind} at line {self.line}"


class ReportStack(models.Model):
    """A stack of a report besides the primary one: who freed it, who allocated it, who created the thread."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="other_stacks")
    ordinal = models.PositiveSmallIntegerField()
    role = word_field(Role)
    thread = models.CharField(max_length=80, blank=True)
    stack = models.ForeignKey(Stack, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("report", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=("report", "ordinal"), name="other_stack_once"),
            word_constraint("stack_role", "role", Role),
        )

    def __str__(self) -> str:
        return self.role
