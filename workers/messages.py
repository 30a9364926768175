"""What a notice says: the text of a mail and the body of a webhook. Rows in, text out.

Names come out of logs and may hold anything: in a mail they are plain text of one line each, in a webhook JSON.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from leaks.addresses import address, path
from leaks.visible import line
from leaks.words import NoticeKind

LISTED = 200  # notices of one mail
SUBJECT_LENGTH = 150

Payload = Mapping[str, Any]


class Told(NamedTuple):
    """Notices of one kind for one receiver. `site` is the address of the dashboard, "" where nobody has said it."""

    project: str  # slug
    name: str
    branch: str
    kind: NoticeKind
    payloads: Sequence[Payload]
    site: str


# --- Mail ------------------------------------------------------------------------------------------------------------


def subject(told: Told) -> str:
    return line(f"[{told.name}] {HEADS[told.kind](told)}", SUBJECT_LENGTH)


def body(told: Told) -> str:
    shown = [_entry(told, payload) for payload in told.payloads[:LISTED]]
    more = len(told.payloads) - len(shown)
    rest = [f"… and {more:,} more."] if more > 0 else []
    return "\n\n".join([HEADS[told.kind](told) + ".", *shown, *rest, _foot(told)]) + "\n"


def _entry(told: Told, payload: Payload) -> str:
    said = LINES[told.kind](payload)
    where = page_of(told, payload)
    return f"{said}\n  {where}" if where else said


def _foot(told: Told) -> str:
    where = address(told.site, "settings", told.project) or path("settings", told.project)
    return f"-- \nYou get this because an administrator of {line(told.name)} set it up: {where}"


def _new_signatures(told: Told) -> str:
    number = len(told.payloads)
    return f"{number:,} new signature{'s' if number != 1 else ''} on {line(told.branch)}"


def _regressions(told: Told) -> str:
    number = len(told.payloads)
    return f"{number:,} signature{'s' if number != 1 else ''} came back on {line(told.branch)}"


def _flips(told: Told) -> str:
    if len(told.payloads) != 1:
        return f"{len(told.payloads):,} verdicts of {line(told.branch)} flipped"
    one = told.payloads[0]
    return f"{line(one['lane'], 60)} on {line(told.branch)}: {one['before']} before, {one['verdict']} now"


def _blind_lanes(told: Told) -> str:
    if len(told.payloads) != 1:
        return f"{line(told.branch)} is blind for {len(told.payloads):,} lanes"
    return f"{line(told.branch)} is blind for {line(told.payloads[0]['lane'], 60)} since {_moment(told.payloads[0])}"


def _logs(told: Told) -> str:
    number = len(told.payloads)
    return f"{number:,} log{'s' if number != 1 else ''} could not be read"


def _ending(told: Told) -> str:
    if len(told.payloads) != 1:
        return f"{len(told.payloads):,} suppressions end soon"
    return f"{told.payloads[0]['id']} ends after {told.payloads[0]['ends_on']}"


def _over_cap(told: Told) -> str:
    if len(told.payloads) != 1:
        return f"{len(told.payloads):,} suppressions hide more than was agreed"
    return f"{told.payloads[0]['id']} hides more than was agreed"


HEADS: Mapping[NoticeKind, Callable[[Told], str]] = {
    NoticeKind.NEW_SIGNATURE: _new_signatures,
    NoticeKind.SIGNATURE_REGRESSED: _regressions,
    NoticeKind.VERDICT_FLIPPED: _flips,
    NoticeKind.LANE_BLIND: _blind_lanes,
    NoticeKind.LOG_FAILED: _logs,
    NoticeKind.SUPPRESSION_ENDS: _ending,
    NoticeKind.SUPPRESSION_OVER_CAP: _over_cap,
    NoticeKind.TEST: lambda _told: "A test: notices arrive here",
}


def _signature(one: Payload) -> str:
    size = "" if one["bytes"] is None else f", {one['bytes']:,} bytes in {one['objects'] or 0:,} objects"
    whose = "own" if one["own"] else "not own"
    return f"● {line(one['title'])}\n  {line(one['kind'])}{size}, {whose}, {line(one['lane'])} at {one['commit'][:9]}"


def _flip(one: Payload) -> str:
    before = f"{one['before']} at {one['before_commit'][:9]}"
    return f"{line(one['lane'])}: {one['verdict']} at {one['commit'][:9]}, {before}"


def _blind(one: Payload) -> str:
    word = one["verdict"].replace("_", " ") or "not run"
    why = f"{word}, {one['reason'].replace('_', ' ')}" if one["reason"] else word
    proved = f"last proved: {one['last_proved'][:9]}" if one["last_proved"] else "nothing was ever proved"
    return f"{line(one['lane'])}: {one['commits']:,} commits since {_moment(one)} without a verdict ({why}), {proved}"


def _moment(one: Payload) -> str:
    return str(one["since"])[:16].replace("T", " ") + " UTC"


def _log(one: Payload) -> str:
    return f"{line(one['name'])} of {line(one['lane'])} at {one['commit'][:9]}\n  {line(one['error'], 300)}"


def _suppression(one: Payload) -> str:
    lanes = ", ".join(line(lane, 60) for lane in one["lanes"]) or "all lanes"
    return f"{one['id']} {line(one['rule'])} ({one['tool']}, {lanes}), proposed by {line(one['proposed_by'], 60)}"


def _end(one: Payload) -> str:
    return f"{_suppression(one)}\n  after {one['ends_on']} it is served no longer, and what it hides is open again"


def _breach(one: Payload) -> str:
    caps = [
        f"{one[name]:,} {unit}"
        for name, unit in (("cap_count", "hits"), ("cap_bytes", "bytes"))
        if one[name] is not None
    ]
    hidden = f"{one['count']:,} hits and {one['bytes']:,} bytes hidden in one run of {line(one['lane'])} at {one['commit'][:9]}"
    return f"{_suppression(one)}\n  {hidden}; agreed were {' and '.join(caps)}"


LINES: Mapping[NoticeKind, Callable[[Payload], str]] = {
    NoticeKind.NEW_SIGNATURE: _signature,
    NoticeKind.SIGNATURE_REGRESSED: _signature,
    NoticeKind.VERDICT_FLIPPED: _flip,
    NoticeKind.LANE_BLIND: _blind,
    NoticeKind.LOG_FAILED: _log,
    NoticeKind.SUPPRESSION_ENDS: _end,
    NoticeKind.SUPPRESSION_OVER_CAP: _breach,
    NoticeKind.TEST: lambda one: f"Sent by {line(one['by'])}.",
}

# Which page a notice leads to, and the part of its payload that names it.
PAGES = {
    NoticeKind.NEW_SIGNATURE: ("signature", "id"),
    NoticeKind.SIGNATURE_REGRESSED: ("signature", "id"),
    NoticeKind.VERDICT_FLIPPED: ("commit", "commit"),
    NoticeKind.LANE_BLIND: ("lane", "lane"),
    NoticeKind.LOG_FAILED: ("log", "log"),
    NoticeKind.SUPPRESSION_ENDS: ("suppression", "id"),
    NoticeKind.SUPPRESSION_OVER_CAP: ("suppression", "id"),
}


def page_of(told: Told, payload: Payload) -> str:
    if told.kind not in PAGES:
        return address(told.site, "settings", told.project)
    page, name = PAGES[told.kind]
    return address(told.site, page, told.project, payload[name])


# --- Webhook ---------------------------------------------------------------------------------------------------------


def document(told: Told, delivery: str) -> bytes:
    """The same bytes for the same rows: a receiver that sees the delivery id again has seen all of it."""
    content = {
        "delivery": delivery,
        "kind": told.kind,
        "project": told.project,
        "name": told.name,
        "branch": told.branch,
        "count": len(told.payloads),
        "notices": [{**payload, "page": page_of(told, payload)} for payload in told.payloads],
    }
    return json.dumps(content, sort_keys=True, ensure_ascii=True).encode()
