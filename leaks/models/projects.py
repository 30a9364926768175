"""Projects, the people in them, and the tokens that speak for lanes and scripts."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from leaks.models.fields import word_constraint, word_field
from leaks.words import MemberRole


class Project(models.Model):
    """A repository under watch. `own_roots` are path prefixes; `plumbing` are function names that never own a leak.

    The two have versions; `plumbing_version` is the number of the one in force (`RecipeVersion`). `source_link` is a template with
    {commit}, {file} and {line}. A lane whose canary was not found for `canary_days` days is shown as unproven. `ends_at` is set for scratch
    projects (uploads without a project).
    `sample_note` says what of the data is invented; it stands on every page.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    default_branch = models.CharField(max_length=200, default="main")
    own_roots = models.JSONField(default=list, blank=True)
    plumbing = models.JSONField(default=list, blank=True)
    plumbing_version = models.PositiveIntegerField(default=1)
    source_link = models.CharField(max_length=500, blank=True)
    canary_days = models.PositiveSmallIntegerField(default=14)
    codeowners = models.TextField(blank=True, help_text="the text of the repository's CODEOWNERS file")
    public = models.BooleanField(default=False, help_text="readable without signing in")
    sample_note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ends_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = word_field(MemberRole)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "user"), name="one_membership_per_person"),
            word_constraint("membership_role", "role", MemberRole),
        )

    def __str__(self) -> str:
        return f"{self.user} {self.role} of {self.project}"


class Token(models.Model):
    """A secret shown once; only its SHA-256 is kept. `hint` is its first characters, to tell tokens apart on a page.

    One of kind badge stands in addresses that anybody may read, and shows nothing but badges.
    """

    class Kind(models.TextChoices):
        UPLOAD = "upload"
        READ = "read"
        BADGE = "badge"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tokens")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    purpose = models.CharField(max_length=200)
    hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(name="token_kind", condition=Q(kind__in=["upload", "read", "badge"])),
            models.CheckConstraint(
                name="token_ends_after_it_began", condition=Q(expires_at=None) | Q(expires_at__gt=F("created_at"))
            ),
        )

    def __str__(self) -> str:
        return f"{self.hint}… {self.purpose}"
