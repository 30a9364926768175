"""The part of the settings that holds the CODEOWNERS text."""

from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaks.code_owners import set_code_owners
from leaks.models import Project
from leaks.ownership import LONGEST_TEXT, CodeOwnersFile, Fault
from workers.send import hint_marks

SHOWN = 5


class OwnersForm(forms.Form):
    codeowners = forms.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        strip=False,
        label="CODEOWNERS",
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "mono"}),
        help_text="The text of the file, as it stands in the repository. The last line that matches the own frame's file names the owners.",
    )
    reason = forms.CharField(required=False, max_length=500, label="Why", help_text="Stands in the journal.")


def owners_form(project: Project) -> OwnersForm:
    return OwnersForm(initial={"codeowners": project.codeowners}, auto_id="owners-%s")


def faults_of(project: Project) -> list[Fault]:
    """Lines of the text in force that say nothing."""
    return CodeOwnersFile(project.codeowners).faults[:SHOWN]


def save(request: HttpRequest, project: Project) -> HttpResponse:
    form = OwnersForm(request.POST, auto_id="owners-%s")
    if not form.is_valid():
        messages.error(request, " ".join(str(text) for errors in form.errors.values() for text in errors))
        return redirect("settings", project.slug)
    given = form.cleaned_data
    done = set_code_owners(project, cast("AbstractBaseUser", request.user), given["codeowners"], given["reason"])
    hint_marks()
    said = "Saved. Who owns which signature is worked out anew." if done.changed else "Nothing to change."
    messages.success(request, said)
    return redirect("settings", project.slug)
