"""An existing suppression file is read, told line by line, and taken over as proposals: three steps on one page."""

import json
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from dashboard.access import may, project_for, require
from dashboard.pages.drop import bounded
from dashboard.pages.shell import page
from dashboard.pages.suppressions_forms import TOOLS, USUAL_DAYS, Refusable
from leaks import rule_import
from leaks.errors import BadSubmission
from leaks.models import Lane, Project
from leaks.queries.rule_import import LARGEST, MOST_AT_ONCE, import_preview, text_of
from leaks.queries.suppressions_clock import LONGEST_DAYS, today
from leaks.rows.suppressions_audit import ImportPreview, Taken
from leaks.rule_import import Source, Wanted
from leaks.words import MemberRole

LONGEST_NAME = 200


class FileForm(Refusable):
    """Which file, and whose rules it holds."""

    file = forms.FileField(required=False, allow_empty_file=True, label="Suppression file")
    tool = forms.ChoiceField(required=False, choices=[("", "as the file itself tells"), *TOOLS], label="For")

    def source(self) -> Source:
        given: UploadedFile | None = self.cleaned_data["file"]
        if given is None:
            raise BadSubmission("Choose a file.", field="file")
        # What is too large is not read: its length tells enough.
        body = given.read(LARGEST + 1) if (given.size or 0) <= LARGEST else bytes(given.size or 0)
        return Source((given.name or "")[:LONGEST_NAME], self.cleaned_data["tool"], text_of(body))


class TakeForm(Refusable):
    """What is said of all chosen lines at once. The file comes along as it was read."""

    name = forms.CharField(required=False, max_length=LONGEST_NAME, widget=forms.HiddenInput)
    tool = forms.ChoiceField(required=False, choices=[("", ""), *TOOLS], widget=forms.HiddenInput)
    # As JSON: a form would send every line end as CRLF, and a lone CR as one too.
    text = forms.CharField(required=False, strip=False, max_length=3 * LARGEST, widget=forms.HiddenInput)
    lines = forms.TypedMultipleChoiceField(required=False, coerce=int, empty_value=[])
    reason = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Why these may be silent. It stands in the served file beside each of them.",
    )
    lanes = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None chosen: all lanes."
    )
    ends_on = forms.DateField(
        required=False,
        label="Last day",
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        error_messages={"invalid": "Write a day such as 2027-02-28."},
    )

    def __init__(self, project: Project, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        day = today(project)
        names = list(Lane.objects.filter(project=project).values_list("name", flat=True))
        self.fields["lanes"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        given = self.data.getlist("lines") if self.is_bound else []  # type: ignore[attr-defined]  # a QueryDict
        self.fields["lines"].choices = [(line, line) for line in given]  # type: ignore[attr-defined]
        self.fields["ends_on"].initial = day + timedelta(days=USUAL_DAYS)
        self.fields["ends_on"].help_text = f"By {day + timedelta(days=LONGEST_DAYS)} at the latest."

    def clean_text(self) -> str:
        try:
            found = json.loads(self.cleaned_data["text"] or '""')
        except ValueError:
            found = None
        if not isinstance(found, str):
            raise forms.ValidationError("Read the file again.")
        return found

    def source(self) -> Source:
        given = self.cleaned_data
        return Source(given["name"], given["tool"], given["text"])

    def wanted(self) -> Wanted:
        given = self.cleaned_data
        return Wanted(given["reason"], given["ends_on"], tuple(given["lanes"]))

    @property
    def chosen(self) -> frozenset[int]:
        return frozenset(int(line) for line in self["lines"].value() or () if str(line).isdecimal())


@bounded
@require_http_methods(["GET", "HEAD", "POST"])
def import_file(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    if request.method != "POST":
        return _answer(request, project, FileForm())
    require(request, project, MemberRole.TRIAGER)
    return _take(request, project) if request.POST.get("do") == "propose" else _read(request, project)


def _read(request: HttpRequest, project: Project) -> HttpResponse:
    form = FileForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            source = form.source()
            preview = import_preview(project, source.name, source.text, source.tool)
        except BadSubmission as error:
            form.refuse(error)
        else:
            kept = {"name": source.name, "tool": preview.tool, "text": json.dumps(source.text, ensure_ascii=False)}
            return _answer(request, project, form, preview=preview, take_form=TakeForm(project, initial=kept))
    return _answer(request, project, form)


def _take(request: HttpRequest, project: Project) -> HttpResponse:
    form = TakeForm(project, request.POST)
    taken = Taken()
    if form.is_valid():
        try:
            taken = rule_import.take_over(
                project,
                request.user,  # type: ignore[arg-type]  # only members come here
                form.source(),
                form.cleaned_data["lines"],
                form.wanted(),
            )
        except BadSubmission as error:
            form.refuse(error)
    if taken.lines and not taken.refused:
        messages.success(request, _said(taken))
        return redirect("suppressions", project.slug)
    return _again(request, project, form, taken)


def _again(request: HttpRequest, project: Project, form: TakeForm, taken: Taken) -> HttpResponse:
    """The same file, with what hindered it; lines that were proposed say so now."""
    first = FileForm(initial={"tool": form.data.get("tool", "")})
    given = form.cleaned_data
    try:
        source = Source(given.get("name", ""), given.get("tool", ""), given.get("text", ""))
        preview = import_preview(project, source.name, source.text, source.tool)
    except BadSubmission as error:
        first = FileForm(form.data)
        first.is_valid()
        first.refuse(error)
        return _answer(request, project, first)
    return _answer(request, project, first, preview=preview, take_form=form, taken=taken)


def _said(taken: Taken) -> str:
    number = taken.proposed
    return (
        f"{number} line{' is' if number == 1 else 's are'} proposed. Another person, with the role approver, decides about "
        f"{'it' if number == 1 else 'each of them'}."
    )


def _answer(
    request: HttpRequest,
    project: Project,
    file_form: FileForm,
    *,
    preview: ImportPreview | None = None,
    take_form: TakeForm | None = None,
    taken: Taken | None = None,
) -> HttpResponse:
    faulty = next((form for form in (take_form, file_form) if form is not None and form.errors), None)
    shown = {
        "file_form": file_form,
        "preview": preview,
        "form": take_form,
        "taken": taken or Taken(),
        "most": MOST_AT_ONCE,
        "may_propose": may(request, project, MemberRole.TRIAGER),
    }
    status = faulty.status if faulty else 200
    return page(request, "pages/suppressions_import.html", project, "suppressions", status, **shown)
