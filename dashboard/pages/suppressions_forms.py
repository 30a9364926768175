"""The forms of the review. They read what was typed; what of it can be kept, `leaks.review` says, field by field."""

from datetime import timedelta
from typing import Any

from django import forms

from leaks.errors import BadSubmission, PermanentError
from leaks.ledger_words import SuppressionTool
from leaks.models import Lane, Project, Suppression
from leaks.queries.suppressions_clock import LONGEST_DAYS, today
from leaks.review_rules import NAMES
from leaks.rows.suppressions import Proposal

USUAL_DAYS = 90
TOOLS = [(tool.value, NAMES[tool]) for tool in SuppressionTool]


class Refusable(forms.Form):
    """A form on which the review writes what hinders it."""

    use_required_attribute = False
    status = 400

    def refuse(self, error: PermanentError) -> None:
        known = isinstance(error, BadSubmission) and error.field in self.fields
        self.add_error(error.field if known else None, str(error))  # type: ignore[attr-defined]
        self.status = 400 if isinstance(error, BadSubmission) else 409


def _area(rows: int, **attributes: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


class ProposalForm(Refusable):
    """A proposal. Only what has no shape at all is refused here; empty fields are told by the review."""

    tool = forms.ChoiceField(choices=TOOLS, label="For")
    rule = forms.CharField(
        required=False,
        max_length=20_000,
        widget=_area(2, spellcheck="false", autocapitalize="off", **{"class": "mono"}),
        help_text="As it stands in the runtime's file: type:pattern in one line, or a whole block of Valgrind's.",
    )
    reason = forms.CharField(
        required=False,
        max_length=20_000,
        widget=_area(3),
        help_text="Why this may be silent. It stands in the served file.",
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
    alternatives = forms.CharField(
        required=False, max_length=20_000, widget=_area(2), label="Alternatives considered",
        help_text="What else was thought of, and why it is not done.",
    )  # fmt: skip
    evidence = forms.CharField(
        required=False, max_length=20_000, widget=_area(2),
        help_text="One a line: a run, LOG:LINE, a signature, or a web address.",
    )  # fmt: skip
    not_measured = forms.CharField(required=False, max_length=20_000, widget=_area(2), label="Not measured")
    cap_count = forms.IntegerField(
        required=False, label="At most so many hits in one run", help_text="More are raised as a finding."
    )
    cap_bytes = forms.IntegerField(required=False, label="At most so many bytes in one run")
    signature = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)  # stamp of the preview

    def __init__(self, project: Project, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        day = today(project)
        names = list(Lane.objects.filter(project=project).values_list("name", flat=True))
        self.fields["lanes"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        latest = day + timedelta(days=LONGEST_DAYS)
        self.fields["ends_on"].initial = day + timedelta(days=USUAL_DAYS)
        self.fields["ends_on"].help_text = f"By {latest} at the latest; then it leaves the served file by itself."
        bounds = {"min": (day + timedelta(days=1)).isoformat(), "max": latest.isoformat()}
        self.fields["ends_on"].widget.attrs.update(bounds)

    @classmethod
    def of(cls, one: Suppression) -> "ProposalForm":
        """Filled with what is proposed now."""
        plain = (
            "tool",
            "rule",
            "reason",
            "ends_on",
            "alternatives",
            "not_measured",
            "cap_count",
            "cap_bytes",
            "revision",
        )
        values = {name: getattr(one, name) for name in plain}
        values["lanes"] = [lane.name for lane in one.lanes.all()]
        values["evidence"] = "\n".join(map(str, one.evidence))
        values["signature"] = one.signature.public_id if one.signature else ""
        return cls(one.project, initial=values)

    def proposal(self) -> Proposal:
        given = self.cleaned_data
        return Proposal(
            tool=given["tool"],
            rule=given["rule"],
            reason=given["reason"],
            ends_on=given["ends_on"],
            lanes=tuple(given["lanes"]),
            signature=given["signature"],
            alternatives=given["alternatives"],
            evidence=tuple(given["evidence"].splitlines()),
            not_measured=given["not_measured"],
            cap_count=given["cap_count"],
            cap_bytes=given["cap_bytes"],
        )


class StepForm(Refusable):
    """A decision, or a comment: the reason, and the revision that the person read."""

    reason = forms.CharField(required=False, max_length=20_000, widget=_area(2))
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)
    wider_confirmed = forms.BooleanField(required=False)
