"""The forms of the page of notices: what people may write, checked before anything is changed."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from leaks.words import Channel, NoticeKind, StatusProvider
from workers.outgoing import NotAllowed, place_of

KINDS = [
    (NoticeKind.NEW_SIGNATURE.value, "a new signature on the default branch"),
    (NoticeKind.SIGNATURE_REGRESSED.value, "a signature that was fixed is seen again on the default branch"),
    (NoticeKind.VERDICT_FLIPPED.value, "a lane flips between clean and findings"),
    (NoticeKind.LANE_BLIND.value, "a lane proves nothing for longer than …"),
    (NoticeKind.LOG_FAILED.value, "a log could not be read"),
    (NoticeKind.SUPPRESSION_ENDS.value, "a suppression ends within 14 days"),
    (NoticeKind.SUPPRESSION_OVER_CAP.value, "a suppression hides more than was agreed"),
]
CHANNELS = [(Channel.EMAIL.value, "e-mail"), (Channel.WEBHOOK.value, "webhook")]
PROVIDERS = [(StatusProvider.GITHUB.value, "GitHub"), (StatusProvider.GITLAB.value, "GitLab")]
MOST_ADDRESSES = 10
MOST_HOURS = 24 * 365
LARGEST = 2**62
REPOSITORIES = {
    StatusProvider.GITHUB: (re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII), "owner/name"),
    StatusProvider.GITLAB: (
        re.compile(r"\d{1,15}|[\w.-]{1,100}(?:/[\w.-]{1,100}){1,20}", re.ASCII),
        "group/name, or its number",
    ),
}


class RuleForm(forms.Form):
    """Who is told what."""

    kind = forms.ChoiceField(choices=KINDS, label="Tell when")
    channel = forms.ChoiceField(choices=CHANNELS, label="By")
    target = forms.CharField(
        max_length=500,
        label="To",
        help_text="E-mail addresses separated by commas, or the https:// address of a webhook.",
    )
    threshold = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Leaks: only from so many bytes on. Blind lanes: after so many hours (24 if empty).",
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if "target" in given and "channel" in given:
            given["target"] = self._target(given["channel"], given["target"])
        if "kind" in given:
            given["threshold"] = self._threshold(given["kind"], given.get("threshold"))
        return given

    def _target(self, channel: str, target: str) -> str:
        try:
            return _addresses(target) if channel == Channel.EMAIL else _web_address(target)
        except ValidationError as error:
            self.add_error("target", error)
            return target

    def _threshold(self, kind: str, threshold: int | None) -> int:
        if kind == NoticeKind.LANE_BLIND:
            hours = 24 if threshold is None else threshold
            if not 1 <= hours <= MOST_HOURS:
                self.add_error("threshold", f"From 1 to {MOST_HOURS:,} hours.")
            return hours
        return (threshold or 0) if kind == NoticeKind.NEW_SIGNATURE else 0


def _addresses(text: str) -> str:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not 1 <= len(names) <= MOST_ADDRESSES:
        raise ValidationError(f"From one to {MOST_ADDRESSES} addresses.")
    for name in names:
        validate_email(name)
    return ", ".join(names)


def _web_address(text: str) -> str:
    try:
        place_of(text)
    except NotAllowed as error:
        raise ValidationError(str(error)) from None
    return text


class StatusForm(forms.Form):
    """Where commit statuses are posted, and with which token. The token is never shown again."""

    provider = forms.ChoiceField(choices=PROVIDERS)
    repository = forms.CharField(max_length=300, help_text="GitHub: owner/name. GitLab: group/name, or its number.")
    base_url = forms.CharField(
        required=False,
        max_length=300,
        label="API address",
        help_text="Of a server of your own: https://git.example.org/api/v3 (GitHub), …/api/v4 (GitLab).",
    )
    token = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Needs leave to write commit statuses, and no more. Empty: the one that is set stays.",
    )

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"].rstrip("/")
        return _web_address(url) if url else ""

    def clean_token(self) -> str:
        token: str = self.cleaned_data["token"]
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ValidationError("A token is one word.")
        return token

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if "repository" in given and "provider" in given:
            pattern, form = REPOSITORIES[StatusProvider(given["provider"])]
            names = given["repository"].split("/")
            if not pattern.fullmatch(given["repository"]) or {".", ".."} & set(names):
                self.add_error("repository", f"It looks like this: {form}.")
        return given
