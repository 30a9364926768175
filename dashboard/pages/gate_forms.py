"""Forms of the gate's page: opening a case, and withdrawing one."""

from django import forms

from leaks.queries.gate_page import Asked

NAMED = 200
LONGEST = 10_000


class OpenForm(forms.Form):
    signature = forms.CharField(max_length=NAMED)
    before = forms.CharField(max_length=NAMED, required=False)
    after = forms.CharField(max_length=NAMED, required=False)
    lane = forms.CharField(max_length=NAMED, required=False)
    reason = forms.CharField(max_length=LONGEST, required=False)

    def asked(self) -> Asked:
        given = self.cleaned_data
        return Asked(given["signature"], given["before"], given["after"], given["lane"])

    def refused(self) -> str:
        """The first thing that is wrong, as a sentence."""
        name, errors = next(iter(self.errors.items()))
        return f"{name.capitalize()}: {errors[0]}"


class WithdrawForm(forms.Form):
    def reason(self) -> str:
        return str(self.data.get("reason", ""))
