"""The form with which people give a signature a state."""

from typing import Any

from django import forms

from leaks.errors import BadSubmission, PermanentError
from leaks.words import SignatureState

# A duplicate needs the other signature; that comes with merging.
CHOICES = {
    SignatureState.CONFIRMED: "Confirmed: a bug of ours",
    SignatureState.INTENDED: "Intended: by design, stays counted and visible",
    SignatureState.THIRD_PARTY: "Third party: not ours to mend",
    SignatureState.CANNOT_TELL: "Cannot tell yet",
    SignatureState.UNTRIAGED: "Untriaged: take the decision back",
}


class TriageForm(forms.Form):
    state = forms.ChoiceField(choices=[("", "Choose…"), *((word.value, words) for word, words in CHOICES.items())])
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=10_000,
        error_messages={"required": "Say why: a decision without a reason helps nobody later."},
    )
    not_measured = forms.CharField(
        label="Not measured", required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=10_000
    )
    # The state the person saw: whoever decides second is told what changed.
    seen_state = forms.CharField(widget=forms.HiddenInput, max_length=40)
    use_required_attribute = False
    status = 400

    @classmethod
    def of(cls, state: str) -> "TriageForm":
        return cls(initial={"seen_state": state})

    def decision(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "state": given["state"],
            "reason": given["reason"],
            "not_measured": given["not_measured"],
            "expected": given["seen_state"],
        }

    def refuse(self, error: PermanentError) -> None:
        """Show what the triage said; a conflict is no fault of the form."""
        known = isinstance(error, BadSubmission) and error.field in self.fields
        self.add_error(error.field if known else None, str(error))  # type: ignore[attr-defined]
        self.status = 400 if isinstance(error, BadSubmission) else 409
