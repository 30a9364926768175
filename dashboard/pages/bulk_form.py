"""The form with which people decide about many signatures at once."""

from typing import Any

from django import forms
from django.http import QueryDict

from dashboard.pages.triage_form import GroundsForm
from leaks.triage_many import Change, Chosen
from leaks.words import SignatureState

KEEP = ""
STATES = (
    (KEEP, "leave it"),
    (SignatureState.CONFIRMED.value, "Confirmed: a bug of ours"),
    (SignatureState.INTENDED.value, "Intended: by design, stays counted and visible"),
    (SignatureState.THIRD_PARTY.value, "Third party: not ours to mend"),
    (SignatureState.CANNOT_TELL.value, "Cannot tell yet"),
    (SignatureState.UNTRIAGED.value, "Untriaged: take the decision back"),
)
CHOSEN, ALL = "chosen", "all"


class BulkForm(GroundsForm):
    """`seen` is the end of the journal when the page was made, `number` how many the search found then."""

    state = forms.ChoiceField(choices=STATES, required=False)
    owner = forms.CharField(required=False, max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    no_owner = forms.BooleanField(required=False, label="nobody")
    issue_url = forms.CharField(label="Issue", required=False, max_length=500, widget=forms.URLInput())
    scope = forms.ChoiceField(choices=[(CHOSEN, CHOSEN), (ALL, ALL)], required=False)
    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    number = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    @property
    def everything(self) -> bool:
        return str(self.data.get("scope", "")) == ALL

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self.data.getlist("id")) if isinstance(self.data, QueryDict) else ()

    def chosen(self, q: str) -> Chosen:
        given = self.cleaned_data
        if self.everything:
            return Chosen(seen=given["seen"], q=q, number=given["number"])
        return Chosen(seen=given["seen"], ids=self.ids)

    def change(self) -> Change:
        given: dict[str, Any] = self.cleaned_data
        grounds = self.grounds()
        return Change(
            state=given["state"] or None,
            owner="" if given["no_owner"] else given["owner"] or None,
            issue_url=given["issue_url"] or None,
            reason=grounds["reason"],
            not_measured=grounds["not_measured"],
            evidence=tuple(grounds["evidence"]),
        )
