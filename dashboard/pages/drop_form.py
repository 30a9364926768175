"""The form for dropping logs: files, archives or pasted text, and what is known about the run."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any

from django import forms
from django.core.files.uploadedfile import InMemoryUploadedFile, UploadedFile

from dashboard import intake
from leaks.errors import BadSubmission, PermanentError

PASTED = "pasted.log"
SECOND = ("base_log", "base_text", "base_exit_code")
# The names of the form's fields for those that the ingest complains about.
FIELD_OF = {"files": "log", "options": "env", "base_files": "base_log"}


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Any number of files; an empty one is a log too, and says so on its page."""

    widget = ManyFilesInput

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_empty_file=True, **options)

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(ManyFilesField, self).clean(one, initial) for one in files]


class LogForm(forms.Form):
    """What both forms ask for."""

    log = ManyFilesField(label="Log files, a zip or a tar", required=False)
    text = forms.CharField(
        label="…or paste a log",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
    exit_code = forms.IntegerField(label="Exit code", required=False, min_value=-(2**31), max_value=2**32 - 1)
    conclusion = forms.CharField(label="What the CI said", required=False, max_length=60)
    env = forms.CharField(
        label="Environment",
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    use_required_attribute = False

    def clean_env(self) -> dict[str, str]:
        try:
            return intake.options_of(_lines(self.cleaned_data["env"]))
        except BadSubmission as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not given.get("log") and not given.get("text", "").strip() and not self.errors:
            raise forms.ValidationError("Choose a file, or paste a log.")
        return given

    def logs(self) -> Iterable[UploadedFile]:
        return self._logs("log", "text")

    def _logs(self, chosen: str, pasted: str) -> list[UploadedFile]:
        text = self.cleaned_data.get(pasted) or ""
        return [*(self.cleaned_data.get(chosen) or ()), *([_pasted(text)] if text.strip() else [])]

    def values(self) -> dict[str, Any]:
        """What was said, by the names of a submission. Who drops a log drops that of a run which is over."""
        given = self.cleaned_data
        return {
            "exit_code": given["exit_code"],
            "conclusion": given["conclusion"] or None,
            "options": given["env"] or None,
            "ended": True,
        }

    def refuse(self, error: PermanentError) -> None:
        """Show what the ingest said beside the field it is about."""
        field = error.field if isinstance(error, BadSubmission) else "log"
        name = FIELD_OF.get(field or "", field)
        self.add_error(name if name in self.fields else None, str(error))


class DropForm(LogForm):
    """Before any set-up: which sources are the own ones is known to nobody else. A second log may be dropped to hold the first against."""

    base_log = ManyFilesField(label="The log before the change", required=False)
    base_text = forms.CharField(
        label="…or paste it",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )
    base_exit_code = forms.IntegerField(label="Its exit code", required=False, min_value=-(2**31), max_value=2**32 - 1)

    own_roots = forms.CharField(
        label="Own sources",
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )

    def clean_own_roots(self) -> list[str]:
        return _lines(self.cleaned_data["own_roots"])

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        if given.get("base_exit_code") is not None and not self.base_logs() and "base_log" not in self.errors:
            self.add_error("base_log", "An exit code of the run before the change needs its log as well.")
        return given

    def values(self) -> dict[str, Any]:
        return super().values() | {"own_roots": self.cleaned_data["own_roots"]}

    def base_logs(self) -> list[UploadedFile]:
        return self._logs("base_log", "base_text")

    def base_values(self) -> dict[str, Any]:
        """The run before the change ran under the same options. What the CI said was said of the other one."""
        return self.values() | {"exit_code": self.cleaned_data["base_exit_code"], "conclusion": None}

    @property
    def asks_for_two(self) -> bool:
        """Whether the second side stands open: something is in it, or is wrong with it."""
        return self.is_bound and any(self[name].errors or self[name].value() for name in SECOND)


class ProjectDropForm(LogForm):
    """Into a project that is set up: its lane and commit can be named, and its own roots are known."""

    lane = forms.CharField(label="Lane", required=False, max_length=200)
    commit = forms.CharField(label="Commit", required=False, max_length=64)
    parent = forms.CharField(label="Its parent", required=False, max_length=64)
    branch = forms.CharField(label="Branch", required=False, max_length=200)

    def values(self) -> dict[str, Any]:
        named = {name: self.cleaned_data[name] or None for name in ("lane", "commit", "parent", "branch")}
        return super().values() | {name: value for name, value in named.items() if value is not None}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _pasted(text: str) -> UploadedFile:
    # A form sends line ends as CRLF; the log had none of those.
    body = text.replace("\r\n", "\n").encode()
    return InMemoryUploadedFile(BytesIO(body), "log", PASTED, "text/plain", len(body), None)
