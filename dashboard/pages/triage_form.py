"""The forms with which people decide: why, on what evidence, and what about a signature."""

from typing import Any

from django import forms
from django.http import QueryDict

from leaks.errors import BadSubmission, PermanentError
from leaks.words import SignatureState

CHOICES = {
    SignatureState.CONFIRMED: "Confirmed: a bug of ours",
    SignatureState.INTENDED: "Intended: by design, stays counted and visible",
    SignatureState.THIRD_PARTY: "Third party: not ours to mend",
    SignatureState.CANNOT_TELL: "Cannot tell yet",
    SignatureState.DUPLICATE: "Duplicate of another signature",
    SignatureState.UNTRIAGED: "Untriaged: take the decision back",
}
DRAFTS = ("reason", "evidence", "not_measured")
LONGEST_DRAFT = 2_000
SAY_WHY = "Say why: a decision without a reason helps nobody later."


class GroundsForm(forms.Form):
    """Why, on what evidence, and what was not measured; `status` is what a page with the refused form answers."""

    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), max_length=10_000, error_messages={"required": SAY_WHY}
    )
    evidence = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=12_000)
    not_measured = forms.CharField(
        label="Not measured", required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=10_000
    )
    use_required_attribute = False
    status = 400

    @property
    def offered(self) -> list[str]:
        """Evidence that the page offered and the person ticked."""
        return self.data.getlist("offered") if isinstance(self.data, QueryDict) else []

    def grounds(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "reason": given["reason"],
            "evidence": [*self.offered, *given["evidence"].splitlines()],
            "not_measured": given["not_measured"],
        }

    def refuse(self, error: PermanentError) -> None:
        """Show what the triage said; a conflict is no fault of the form."""
        known = isinstance(error, BadSubmission) and error.field in self.fields
        self.add_error(error.field if known else None, str(error))  # type: ignore[attr-defined]
        self.status = 400 if isinstance(error, BadSubmission) else 409


class ConfirmForm(GroundsForm):
    """What was previewed, to be done. The fingerprint says whether it is still what the person saw."""

    fingerprint = forms.CharField(widget=forms.HiddenInput, max_length=64)


class TriageForm(GroundsForm):
    state = forms.ChoiceField(choices=[("", "Choose…"), *((word.value, words) for word, words in CHOICES.items())])
    duplicate_of = forms.CharField(
        label="Duplicate of",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"placeholder": "LKS-…", "autocomplete": "off"}),
    )
    # The state the person saw: whoever decides second is told what changed.
    seen_state = forms.CharField(widget=forms.HiddenInput, max_length=40)

    @classmethod
    def of(cls, state: str, offered: QueryDict) -> "TriageForm":
        """A page that found evidence leads here with it in the address; it is a proposal to edit, and decides nothing."""
        drafts = {name: offered.get(name, "")[:LONGEST_DRAFT] for name in DRAFTS}
        return cls(initial={"seen_state": state, **drafts})

    def decision(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "state": given["state"],
            "expected": given["seen_state"],
            "duplicate_of": given["duplicate_of"],
            **self.grounds(),
        }


class CareForm(forms.Form):
    """Who takes care of a signature, and where it is followed up: one of them at a time, with what the person saw."""

    owner = forms.CharField(required=False, max_length=150)
    issue_url = forms.CharField(required=False, max_length=500)
    seen = forms.CharField(required=False, max_length=500)
    reason = forms.CharField(required=False, max_length=10_000)
