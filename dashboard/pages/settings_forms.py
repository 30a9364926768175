"""The forms of the settings page: what people may write, checked before anything is changed."""

import re
from datetime import datetime, timedelta
from string import Formatter
from typing import Any

from django import forms
from django.utils import timezone

from leaks.models import Token
from leaks.providers.job_names import compiled_pattern
from leaks.words import Detector, MemberRole

MAX_LINES = 200
MAX_LINE = 300
LONGEST_REASON = 500
LINK_NAMES = {"commit", "file", "line"}
# re2, which matches in linear time whatever the pattern, has neither look-around nor back-references.
NOT_RE2 = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=")
CANARY_DAYS = 14
TOKEN_DAYS = {"30": "30 days", "90": "90 days", "365": "a year", "0": "no end"}


class Lines(forms.CharField):
    """A text area that holds one entry a line; blank lines and repetitions are dropped."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        entries = list(dict.fromkeys(line.strip() for line in str(value or "").splitlines() if line.strip()))
        if len(entries) > MAX_LINES:
            raise forms.ValidationError(f"At most {MAX_LINES} lines.")
        if any(len(entry) > MAX_LINE for entry in entries):
            raise forms.ValidationError(f"At most {MAX_LINE} characters a line.")
        return entries

    def validate(self, value: Any) -> None:
        """An empty list is a value."""


class OneLine(forms.CharField):
    def __init__(self, limit: int, **options: Any) -> None:
        super().__init__(max_length=limit, **options)


class ProjectForm(forms.Form):
    """What the project is, and which frames are its own."""

    name = OneLine(200)
    default_branch = OneLine(200, label="Default branch")
    own_roots = Lines(
        required=False, label="Own source roots", help_text="Path prefixes, one a line: src/, include/vllm/."
    )
    plumbing = Lines(
        required=False,
        label="Plumbing",
        help_text="Functions that never own a leak, one a line: pools, buffers, wrappers.",
    )
    source_link = OneLine(
        500,
        required=False,
        label="Link to source",
        help_text="https://…/blob/{commit}/{file}#L{line}",
    )
    canary_days = forms.IntegerField(
        min_value=1,
        max_value=365,
        required=False,
        label="Days without a canary",
        help_text="A lane whose canary was not found for so many days is shown as unproven.",
    )
    reason = OneLine(500, required=False, label="Why", help_text="Stands in the journal.")

    def clean_canary_days(self) -> int:
        """Left empty, it is what a new project has."""
        return self.cleaned_data["canary_days"] or CANARY_DAYS

    def clean_source_link(self) -> str:
        value: str = self.cleaned_data["source_link"]
        if value and not value.startswith(("https://", "http://")):
            raise forms.ValidationError("A link starts with https:// or http://.")
        if not _names_only(value):
            raise forms.ValidationError("Only {commit}, {file} and {line} can stand in braces.")
        return value


def _names_only(template: str) -> bool:
    try:
        parts = list(Formatter().parse(template))
    except ValueError:
        return False
    return all(name is None or (name in LINK_NAMES and not spec and not how) for _, name, spec, how in parts)


class LaneForm(forms.Form):
    """A lane: how it is recognised and what is expected of it from now on."""

    name = OneLine(200)
    aliases = Lines(required=False, help_text="Other names that mean this lane, one a line.")
    patterns = Lines(
        required=False,
        label="Job patterns",
        help_text="Regular expressions (RE2), each over the whole name of a CI job or the name without its matrix; a group names the part.",
    )
    detectors = forms.MultipleChoiceField(
        required=False,
        choices=[(word.value, word.value) for word in Detector],
        widget=forms.CheckboxSelectMultiple,
        help_text="None: by the tool that is seen in the log.",
    )
    owed_branch = OneLine(
        200,
        required=False,
        label="Owed on branch",
        help_text="Every commit of this branch needs a verdict of this lane.",
    )
    canary = OneLine(
        40, required=False, help_text="A signature that each run must find, so that silence cannot pass for clean."
    )
    reason = OneLine(500, required=False, label="Why", help_text="Stands in the journal.")

    def clean_patterns(self) -> list[str]:
        patterns: list[str] = self.cleaned_data["patterns"]
        for pattern in patterns:
            check_pattern(pattern)
        return patterns


def check_pattern(pattern: str) -> None:
    if NOT_RE2.search(pattern):
        raise forms.ValidationError(f"{pattern}: look-around and back-references are not understood.")
    if compiled_pattern(pattern) is None:
        raise forms.ValidationError(f"{pattern}: RE2 does not take it.")


class MemberForm(forms.Form):
    username = OneLine(150, label="User name")
    role = forms.ChoiceField(choices=[(word.value, word.value) for word in MemberRole], initial=MemberRole.TRIAGER)


class TokenForm(forms.Form):
    kind = forms.ChoiceField(
        choices=[
            ("upload", "upload: a lane writes"),
            ("read", "read: a script asks"),
            ("badge", "badge: stands in a badge's address"),
        ]
    )
    purpose = OneLine(200, help_text="Who uses it: “nightly lane of ci.yml”.")
    days = forms.ChoiceField(choices=list(TOKEN_DAYS.items()), initial="365", label="Valid for")

    def expires(self) -> datetime | None:
        days = int(self.cleaned_data["days"])
        return timezone.now() + timedelta(days=days) if days else None

    def clean_kind(self) -> Token.Kind:
        return Token.Kind(self.cleaned_data["kind"])


class PlumbingForm(forms.Form):
    """Proposals that somebody chose, and why. `version` is the one that they were shown for."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    reason = OneLine(LONGEST_REASON, label="Why", help_text="Stands in the journal.")

    @property
    def functions(self) -> list[str]:
        """The boxes are named by the page's rows, not by the form: what is proposed changes with every log."""
        chosen = self.data.getlist("functions") if hasattr(self.data, "getlist") else []
        return list(dict.fromkeys(name.strip() for name in chosen if name.strip()))[:MAX_LINES]

    def is_valid(self, *, preview: bool = False) -> bool:
        """A preview needs no reason."""
        self.fields["reason"].required = not preview
        valid = super().is_valid()
        if not self.functions:
            self.add_error(None, "Choose at least one function.")
        return valid and bool(self.functions)
