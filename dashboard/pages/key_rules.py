"""Merging and splitting by a rule over the text of keys: previewed, confirmed, ended."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.pages.shell import page
from dashboard.pages.triage import done, person_of, triaged
from dashboard.pages.triage_form import ConfirmForm
from leaks.errors import BadSubmission, Conflict
from leaks.models import Project
from leaks.queries.rule_preview import rule_preview, rules
from leaks.rows.key_moves import RulePreview
from leaks.rule_changes import end_rule, make_rule
from workers.send import hint_marks

ASKED = {"action": 20, "pattern": 600, "signature": 40}


@require_http_methods(["GET", "HEAD", "POST"])
def key_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """`?action=merge|split&pattern=…&signature=ID` previews. A POST of what was previewed makes the rule."""
    project = triaged(request, slug)
    asked = _asked(request.POST if request.method == "POST" else request.GET)
    form = ConfirmForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        try:
            fingerprint = form.cleaned_data["fingerprint"]
            made = make_rule(project, person_of(request), **asked, fingerprint=fingerprint, **form.grounds())
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            hint_marks()
            done(
                request,
                project,
                f"The rule is in force; it moved {made.keys} {'key' if made.keys == 1 else 'keys'} to {made.into}.",
                made.sequence,
            )
            return redirect("signature", slug, made.into)
    preview, wrong = _preview(project, asked)
    shown = {"asked": asked, "preview": preview, "wrong": wrong, "rules": rules(project), "form": form or ConfirmForm()}
    return page(request, "pages/key_rules.html", project, "signatures", form.status if form else 200, **shown)


@require_POST
def end(request: HttpRequest, slug: str, rule: str) -> HttpResponse:
    project = triaged(request, slug)
    try:
        ended = end_rule(project, person_of(request), rule, reason=request.POST.get("reason", ""))
    except (BadSubmission, Conflict) as error:
        messages.error(request, str(error))
    else:
        done(request, project, "The rule moves nothing any more; what it moved stays.", ended.sequence)
    return redirect("key_rules", slug)


def _asked(values: QueryDict) -> dict[str, str]:
    """Longer than it can be is told by what comes next: nothing is cut in silence."""
    return {name: values.get(name, "").strip()[: most + 1] for name, most in ASKED.items()}


def _preview(project: Project, asked: dict[str, str]) -> tuple[RulePreview | None, str]:
    if not asked["pattern"]:
        return None, ""
    try:
        return rule_preview(project, **asked), ""
    except BadSubmission as error:
        return None, str(error)
