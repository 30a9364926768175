"""Django's administration, for what has no page: reading any row, and mending the few that people write by hand.

Each change is an entry of the project's journal, like every other change by a person. What a lane reported, what was
derived from it, and the journal itself can only be read here.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from leaks import journal, models
from leaks.errors import BadSubmission


class ReadOnly(admin.ModelAdmin):
    """Rows that follow from others, or that nobody may change."""

    list_per_page = 50
    # Counting all rows of a large table takes longer than showing a page of it.
    show_full_result_count = False

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


class Journalled(admin.ModelAdmin):
    """Rows that people write: saving and deleting them writes to the journal in the same transaction."""

    subject = ""

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        self._record(request, obj, "administered" if change else "added", {"fields": form.changed_data})

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._record(request, obj, "removed", {})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        # One by one, so that each has its entry.
        for obj in queryset:
            self.delete_model(request, obj)

    def _record(self, request: HttpRequest, obj: Any, what: str, details: dict[str, Any]) -> None:
        if request.user.is_anonymous:
            raise BadSubmission("Only a person can administer.")
        journal.record(self.project_of(obj), request.user, self.subject, str(obj), what, details=details)

    def project_of(self, obj: Any) -> models.Project:
        project: models.Project = obj.project
        return project


@admin.register(models.Project)
class ProjectAdmin(Journalled):
    subject = "project"
    list_display = ("slug", "name", "default_branch", "public", "ends_at")
    search_fields = ("slug", "name")

    def get_readonly_fields(self, _request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        # The key of a journal hangs on the slug, and addresses do too. Whose frame is whose is changed by a new version, on the settings page.
        versioned = ("plumbing_version", "own_roots", "plumbing")
        return ("slug", *versioned) if obj else ("plumbing_version",)

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def project_of(self, obj: Any) -> models.Project:
        project: models.Project = obj
        return project


@admin.register(models.Membership)
class MembershipAdmin(Journalled):
    subject = "member"
    list_display = ("user", "project", "role")
    list_filter = ("role",)


@admin.register(models.Lane)
class LaneAdmin(Journalled):
    subject = "lane"
    list_display = ("name", "project")
    search_fields = ("name",)

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


@admin.register(models.LaneExpectation)
class LaneExpectationAdmin(Journalled):
    subject = "lane"
    list_display = ("lane", "owed_branch", "valid_from", "valid_to")

    def project_of(self, obj: Any) -> models.Project:
        project: models.Project = obj.lane.project
        return project


@admin.register(models.Token)
class TokenAdmin(ReadOnly):
    list_display = ("hint", "kind", "purpose", "project", "expires_at", "last_used_at")
    exclude = ("hash",)


@admin.register(models.Decision)
class DecisionAdmin(ReadOnly):
    list_display = ("project", "sequence", "what", "subject_kind", "subject", "at")


@admin.register(models.LaneOutcome)
class LaneOutcomeAdmin(ReadOnly):
    list_display = ("public_id", "lane", "verdict", "reason", "happened_at")
    list_filter = ("verdict", "reason")


@admin.register(models.Log)
class LogAdmin(ReadOnly):
    list_display = ("public_id", "name", "revision", "state", "attempts", "received_at")
    list_filter = ("state",)


@admin.register(models.Signature)
class SignatureAdmin(ReadOnly):
    list_display = ("public_id", "title", "project", "state", "last_seen_at")
    search_fields = ("public_id", "title")


admin.site.register((models.Run, models.Commit, models.Claim, models.Notice, models.StaleMark), ReadOnly)
