"""Is a submission within its domain? Every refusal names the field; unknown *words* are kept, they are facts of the CI."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from leaks.errors import BadSubmission
from leaks.rows.intake import Submission, SubmittedFile, SubmittedRules

SHA = re.compile(r"[0-9a-f]{7,64}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}")
# Control characters, halves of surrogate pairs, and what stands where bytes were no UTF-8.
NO_TEXT = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffd]")
NO_VALUE = re.compile("[\x00\ud800-\udfff]")
LONGEST = {
    "project": 80,
    "lane": 200,
    "branch": 200,
    "provider": 40,
    "run_id": 200,
    "event": 60,
    "run_url": 500,
    "part": 200,
    "conclusion": 60,
    "delivery_id": 200,
    "superseded_by": 220,
    "progress": 300,
    "canary": 40,
}
REQUIRED = ("project", "lane", "commit", "provider")
NULLABLE = ("branch", "conclusion", "delivery_id", "superseded_by", "progress", "canary")
NUMBERS = {"pull_request": (1, 2**31 - 1), "attempt": (1, 2**31 - 1), "part_index": (1, 10_000), "part_of": (1, 10_000)}
LONGEST_NAME = 200
MOST_FILES = 200
MOST_PAIRS = 100
LONGEST_VALUE = 10_000
MOST_RULE_FILES = 20
LONGEST_RULE_FILE = 1024 * 1024


def checked(submission: Submission) -> Submission:
    """The submission in one spelling (trimmed, sha in lower case, exit code signed), or BadSubmission."""
    spelt = _spell(submission)
    for field in REQUIRED:
        if not getattr(spelt, field):
            raise BadSubmission(f"{field} is missing.", field=field)
    for field, longest in LONGEST.items():
        _check_text(field, getattr(spelt, field), longest)
    _check_lane(spelt)
    _check_commits(spelt)
    _check_numbers(spelt)
    _check_part(spelt)
    _check_times(spelt)
    _check_pairs(spelt)
    _check_rules(spelt)
    return spelt


def _spell(given: Submission) -> Submission:
    texts: dict[str, Any] = {field: (getattr(given, field) or "").strip() for field in LONGEST}
    texts |= {field: texts[field] or None for field in NULLABLE}
    texts["part"] = texts["part"] or _part_name(given)
    return replace(
        given,
        **texts,
        commit=given.commit.strip().lower(),
        parent=(given.parent or "").strip().lower() or None,
        exit_code=_signed(given.exit_code),
        files=tuple(_named(file) for file in given.files),
        rules=tuple(_named_rules(one) for one in given.rules),
    )


def _part_name(given: Submission) -> str:
    """Shards that only say their number are told apart by it."""
    return "" if given.part_index is None else str(given.part_index)


def _signed(exit_code: int | None) -> int | None:
    """Windows prints 3221225477 where others print -1073741819."""
    return exit_code - 2**32 if exit_code is not None and 2**31 <= exit_code < 2**32 else exit_code


def _named(file: SubmittedFile) -> SubmittedFile:
    """A name that is no text does not cost the log: what is wrong with it is replaced."""
    return replace(file, name=NO_TEXT.sub("\ufffd", file.name).strip() or "log")


def _named_rules(given: SubmittedRules) -> SubmittedRules:
    """What is no text in a suppression file matches nothing either; it is replaced, and the rules around it are kept."""
    return SubmittedRules(
        NO_TEXT.sub("\ufffd", given.name).strip() or "suppressions", NO_VALUE.sub("\ufffd", given.text)
    )


def _check_text(field: str, text: str | None, longest: int) -> None:
    if text and NO_TEXT.search(text):
        raise BadSubmission(f"{field} holds control characters, or is not UTF-8.", field=field)
    if text and len(text) > longest:
        raise BadSubmission(f"{field} is longer than {longest} characters.", field=field)


def _check_commits(given: Submission) -> None:
    for field in ("commit", "parent"):
        sha = getattr(given, field)
        if sha is not None and not SHA.fullmatch(sha):
            raise BadSubmission(f"{field} is not a commit: 7 to 64 hexadecimal digits.", field=field)
    if given.run_url and not given.run_url.startswith(("http://", "https://")):
        raise BadSubmission("run_url is not an http or https address.", field="run_url")


def _check_numbers(given: Submission) -> None:
    for field, (least, most) in NUMBERS.items():
        number = getattr(given, field)
        if number is not None and not least <= number <= most:
            raise BadSubmission(f"{field} is not between {least} and {most}.", field=field)
    if given.exit_code is not None and not -(2**31) <= given.exit_code < 2**31:
        raise BadSubmission("exit_code is not a number of 32 bits.", field="exit_code")
    if given.sequence is not None and not -(2**63) <= given.sequence < 2**63:
        raise BadSubmission("sequence is not a number of 64 bits.", field="sequence")
    if given.announced_bytes is not None and not 0 <= given.announced_bytes < 2**63:
        raise BadSubmission("announced_bytes is no number of bytes.", field="announced_bytes")


def _check_lane(given: Submission) -> None:
    # A lane's name stands in the address of its page, and browsers take these for the way up.
    if {".", ".."} & set(given.lane.split("/")):
        raise BadSubmission("lane may not be or hold a folder called . or ..", field="lane")


def _check_part(given: Submission) -> None:
    if given.part_index is not None and given.part_of is not None and given.part_index > given.part_of:
        raise BadSubmission("part_index is greater than part_of.", field="part_index")
    if (given.part or given.part_of) and not given.run_id:
        raise BadSubmission("The parts of an outcome belong together by run_id: it is missing.", field="run_id")


# A zero time of some language, or the end of all time, is no start of a run; and dates around it cannot be reckoned with.
YEARS = range(1990, 2200)


def _check_times(given: Submission) -> None:
    for field in ("started_at", "finished_at", "heartbeat"):
        moment: datetime | None = getattr(given, field)
        if moment is not None and moment.tzinfo is None:
            raise BadSubmission(f"{field} lacks its time zone.", field=field)
        if moment is not None and moment.year not in YEARS:
            raise BadSubmission(f"{field} lies outside the years {YEARS.start} to {YEARS.stop - 1}.", field=field)


def _check_pairs(given: Submission) -> None:
    for field in ("options", "workload"):
        _check_names(field, getattr(given, field))
    if not all(_is_value(value) for value in given.options.values()):
        raise BadSubmission(f"options: a value is a text of at most {LONGEST_VALUE} characters.", field="options")
    if not all(_is_finite(value) for value in given.workload.values()):
        raise BadSubmission("workload: a value is a finite number.", field="workload")


def _check_rules(given: Submission) -> None:
    if len(given.rules) > MOST_RULE_FILES:
        raise BadSubmission(f"More than {MOST_RULE_FILES} suppression files in one submission.", field="rules")
    if any(len(one.name) > LONGEST_NAME for one in given.rules):
        raise BadSubmission(f"The name of a suppression file is longer than {LONGEST_NAME} characters.", field="rules")
    if any(len(one.text) > LONGEST_RULE_FILE for one in given.rules):
        raise BadSubmission(f"A suppression file is longer than {LONGEST_RULE_FILE:,} characters.", field="rules")


def _check_names(field: str, pairs: Mapping[str, object]) -> None:
    if len(pairs) > MOST_PAIRS:
        raise BadSubmission(f"{field} holds more than {MOST_PAIRS} entries.", field=field)
    wrong = next((name for name in pairs if not VARIABLE.fullmatch(name)), None)
    if wrong is not None:
        raise BadSubmission(f"{field}: {NO_TEXT.sub('?', wrong)[:60]!r} is no name of a variable.", field=field)


def _is_value(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_VALUE and not NO_VALUE.search(value)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def check_files(files: tuple[SubmittedFile, ...]) -> None:
    """Bounds on the files as they were named; their bytes are not touched."""
    if len(files) > MOST_FILES:
        raise BadSubmission(f"More than {MOST_FILES} logs in one submission.", field="log")
    if any(len(file.name) > LONGEST_NAME for file in files):
        raise BadSubmission(f"The name of a log is longer than {LONGEST_NAME} characters.", field="log")
    for name in _repeated([file.name for file in files]):
        # One of the two would silently replace the other as its next revision.
        raise BadSubmission(f"Two logs are named {name!r}; give each its own name.", field="log")


def _repeated(names: list[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)
