"""The stable identity of a bug, the keys that lead to it, and where it was seen."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from leaks.ledger_words import KeyRuleAction, LifeCycle
from leaks.models.fields import counter, word_constraint, word_field
from leaks.models.logs import Frame, Log, Stack
from leaks.models.projects import Project
from leaks.models.runs import LaneOutcome
from leaks.shapes import NOT_YET
from leaks.words import SignatureState


class Signature(models.Model):
    """`public_id` never changes. `title`, `kind` and `own_frame` follow the first sighting; they, `first_seen` … `last_count` are recomputed
    from the sightings, never incremented.

    `life` … `life_proof` are computed from the outcomes of the lanes: `life_proof` holds what the page says about it, by public ids.
    `code_owners` are the words of the project's CODEOWNERS for the own frame, each with a space before and behind it; `search_text` is
    what free text is looked for in, `seen_with` holds tools, tests, functions and files, one a line, as `leaks.search_lines` writes them.
    `gone_at`: nothing leads here any more (its keys went elsewhere); the page stays as a tombstone.
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
    duplicate_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="duplicates"
    )
    gone_at = models.DateTimeField(null=True, blank=True)
    life = word_field(LifeCycle, default=LifeCycle.NEW)
    life_since = models.ForeignKey(LaneOutcome, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    life_proof = models.JSONField(default=dict, blank=True)
    code_owners = models.TextField(blank=True)
    search_text = models.TextField(blank=True)
    seen_with = models.TextField(blank=True)
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
            word_constraint("signature_life", "life", LifeCycle),
            models.CheckConstraint(
                name="not_a_duplicate_of_itself", condition=Q(duplicate_of=None) | ~Q(duplicate_of=F("id"))
            ),
            models.CheckConstraint(
                name="not_merged_into_itself", condition=Q(merged_into=None) | ~Q(merged_into=F("id"))
            ),
        )
        indexes = (
            models.Index(fields=("project", "-last_seen_at"), name="signatures_last_seen"),
            models.Index(fields=("project", "-last_bytes"), name="signatures_by_bytes"),
            models.Index(fields=("project", "life"), name="signatures_by_life"),
            models.Index(fields=("project", "state"), name="signatures_by_state"),
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


class KeyRule(models.Model):
    """Keys whose text `pattern` matches belong to `signature`: those known, and those still to come.

    `pattern` is a glob over the whole text of a key, `*` and `?`; a rule that ended (`ended_at`) moves nothing any more.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="key_rules")
    public_id = models.CharField(max_length=24, unique=True)
    action = word_field(KeyRuleAction)
    pattern = models.TextField()
    signature = models.ForeignKey(Signature, on_delete=models.PROTECT, related_name="key_rules")
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("made_at", "public_id")
        constraints = (
            word_constraint("key_rule_action", "action", KeyRuleAction),
            models.CheckConstraint(name="key_rule_says_something", condition=~Q(pattern="")),
        )

    def __str__(self) -> str:
        return f"{self.action} {self.pattern}"


class SavedView(models.Model):
    """A search that somebody gave a name, for everybody who reads the project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=80)
    query = models.TextField(blank=True)
    sort = models.CharField(max_length=40, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="saved_view_once"),)

    def __str__(self) -> str:
        return self.name


class GateCase(models.Model):
    """A fix that has to be shown: red before, green after. `after` is empty while nobody named the commit of the fix.

    The answer is computed from the outcomes of the two commits whenever it is asked for; only `withdrawn_at` ends a case.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="gate_cases")
    public_id = models.CharField(max_length=24, unique=True)
    signature = models.ForeignKey(Signature, on_delete=models.PROTECT, related_name="gate_cases")
    lane = models.CharField(max_length=120, blank=True)
    before = models.CharField(max_length=64)
    after = models.CharField(max_length=64, blank=True)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    opened_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-opened_at",)

    def __str__(self) -> str:
        return f"{self.signature} {self.before[:9]}..{self.after[:9]}"


class Sighting(models.Model):
    """A signature seen in an outcome with a stack. Bytes, objects and count are sums over the records of one log.

    `shape` is what else of its reports suppression rules look at, as `leaks.shapes` writes it; `tests` are names, one a line.
    """

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
    shape = models.CharField(max_length=40, default=NOT_YET, blank=True)
    tests = models.TextField(blank=True, default="")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("log", "key", "stack", "kind"), name="sighting_once"),
            models.CheckConstraint(name="sighting_counts_from_one", condition=Q(count__gte=1)),
        )
        indexes = (models.Index(fields=("key", "outcome"), name="sightings_of_a_key"),)

    def __str__(self) -> str:
        return f"{self.kind} in {self.outcome_id}"
