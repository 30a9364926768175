"""The audit of suppressions: what is silenced now, what it hid, what is wrong with it, and what lanes use that nobody approved."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.access import may, project_for
from dashboard.figures_suppressions import audit_charts
from dashboard.pages.shell import page
from leaks.queries.suppressions_audit import suppression_audit
from leaks.words import MemberRole


@require_safe
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    rows = suppression_audit(project)
    shown: dict[str, Any] = {
        "rows": rows,
        "charts": audit_charts(rows, lambda public_id: reverse("suppression", args=[slug, public_id])),
        "may_propose": may(request, project, MemberRole.TRIAGER),
    }
    return page(request, "pages/suppressions_audit.html", project, "suppressions", **shown)
