"""The stable identity of a bug, the keys that lead to it, and where it was seen."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.logs import Frame, Log, Stack
from leaks.models.projects import Project
from leaks.models.runs import LaneOutcome
from leaks.words import SignatureState


class Signature(models.Model):
    """`public_id` never changes. `title`, `kind` and `own_frame` follow the first sighting; they, `first_seen` … `last_count` are recomputed
    from the sightings, never incremented.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="signatures")
    public_id = models.CharField(max_length=40)
    title = models.TextField()
    family = models.CharField(max_length=100)
    kind = models.CharField(max_length=100)
    own = models.BooleanField(default=False)
    own_frame = models.ForeignKey(Frame, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    state = word_field(SignatureState, default=SignatureState.UNTRIAGED)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="signatures"
    )
    issue_url = models.URLField(max_length=500, blank=True)
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="merged")
    created_at = models.DateTimeField(auto_now_add=True)
    first_seen = models.ForeignKey(LaneOutcome, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    last_seen = models.ForeignKey(LaneOutcome, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    first_seen_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    seen_outcomes = counter(default=0)
    seen_commits = counter(default=0)
    last_bytes = counter(null=True, blank=True)
    last_objects = counter(null=True, blank=True)
    last_count = counter(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "public_id"), name="signature_once"),
            word_constraint("signature_state", "state", SignatureState),
            models.CheckConstraint(
                name="not_merged_into_itself", condition=Q(merged_into=None) | ~Q(merged_into=F("id"))
            ),
        )
        indexes = (
            models.Index(fields=("project", "-last_seen_at"), name="signatures_last_seen"),
            models.Index(fields=("project", "-last_bytes"), name="signatures_by_bytes"),
        )

    def __str__(self) -> str:
        return f"{self.public_id} {self.title}"


class SignatureKey(models.Model):
    """(recipe, hash) leads to a signature. Merge, split and a new recipe move keys, never sightings."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="signature_keys")
    recipe = models.CharField(max_length=20)
    hash = models.CharField(max_length=64)
    signature = models.ForeignKey(Signature, on_delete=models.PROTECT, related_name="keys")
    text = models.TextField(help_text="the normalised identity that was hashed, for people")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "recipe", "hash"), name="signature_key_once"),)

    def __str__(self) -> str:
        return f"{self.recipe}:{self.hash[:12]}"


class Sighting(models.Model):
    """A signature seen in an outcome with a stack. Bytes, objects and count are sums over the records of one log."""

    outcome = models.ForeignKey(LaneOutcome, on_delete=models.CASCADE, related_name="sightings")
    log = models.ForeignKey(Log, on_delete=models.CASCADE, related_name="sightings")
    key = models.ForeignKey(SignatureKey, on_delete=models.PROTECT, related_name="sightings")
    stack = models.ForeignKey(Stack, on_delete=models.PROTECT, related_name="sightings")
    tool = models.CharField(max_length=40)
    kind = models.CharField(max_length=100)
    title = models.TextField(blank=True, help_text="what the signature would be called by this sighting alone")
    leaked_bytes = counter(null=True, blank=True)
    leaked_objects = counter(null=True, blank=True)
    count = counter(default=1)
    first_line = models.PositiveIntegerField()
    finding = models.BooleanField(default=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("log", "key", "stack", "kind"), name="sighting_once"),
            models.CheckConstraint(name="sighting_counts_from_one", condition=Q(count__gte=1)),
        )
        indexes = (models.Index(fields=("key", "outcome"), name="sightings_of_a_key"),)

    def __str__(self) -> str:
        return f"{self.kind} in {self.outcome_id}"
