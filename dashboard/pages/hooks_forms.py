"""The forms of the settings page about webhooks and job names."""

from typing import Any

from django import forms

from dashboard.pages.settings_forms import OneLine, check_pattern
from leaks.providers import github, gitlab

SHORTEST_SECRET = 16
CLAIMS = ("lane", "alias", "ignore", "list")


class SecretForm(forms.Form):
    provider = forms.ChoiceField(choices=[(github.PROVIDER, "GitHub"), (gitlab.PROVIDER, "GitLab")])
    secret = OneLine(
        200,
        required=False,
        help_text="Leave it empty to have one made. It replaces the former one at once and cannot be read again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    def clean_secret(self) -> str:
        secret: str = self.cleaned_data["secret"]
        if secret and len(secret) < SHORTEST_SECRET:
            raise forms.ValidationError(f"At least {SHORTEST_SECRET} characters.")
        return secret


class JobForm(forms.Form):
    """What to do with the jobs of one base name."""

    base = OneLine(200)
    how = forms.ChoiceField(choices=[(word, word) for word in CLAIMS])
    name = OneLine(200, required=False)
    pattern = OneLine(300, required=False)
    lane = OneLine(200, required=False)

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        if pattern:
            check_pattern(pattern)
        return pattern

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        missing = {"lane": "name", "alias": "lane"}.get(given.get("how", ""))
        if missing and not given.get(missing):
            self.add_error(missing, "Choose a lane, or name one.")
        if given.get("how") == "lane" and {".", ".."} & set(str(given.get("name")).split("/")):
            self.add_error("name", "A lane may not be or hold a folder called . or ..")
        return given
