"""Signatures and suppressions as SARIF 2.1.0, a piece at a time, for pages that show code-scanning results.

The rules are the kinds of reports, the fingerprint is the signature's public id. What has no place in the format stands in `properties`: the
end of a suppression, the state of a signature (an intended one stays a result that nobody silenced), the head of the journal.
"""

import json
import posixpath
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote

from dashboard.formats import number
from leaks.ledger_words import SuppressionState
from leaks.rows.journal import JournalHead
from leaks.rows.sarif import SarifResult, SarifSuppression

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"
CONTENT_TYPE = "application/sarif+json"
SOURCE_ROOT = "%SRCROOT%"
FINGERPRINT = "leakledger/v1"
STATUS = {
    SuppressionState.PROPOSED: "underReview",
    SuppressionState.APPROVED: "accepted",
    SuppressionState.REJECTED: "rejected",
}
Link = Callable[[str], str]


def sarif_pieces(
    slug: str, kinds: Iterable[tuple[str, str]], results: Iterable[SarifResult], head: JournalHead, link: Link
) -> Iterator[str]:
    """`link` makes the address of a signature's page, with its scheme."""
    run = {
        "tool": {"driver": {"name": "Leakledger", "rules": [_rule(kind, family) for kind, family in kinds]}},
        "automationDetails": {"id": f"leakledger/{slug}/"},
        "originalUriBaseIds": {SOURCE_ROOT: {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "properties": {"journalHead": {"sequence": head.sequence, "hash": head.hash}},
    }
    yield f'{{"$schema": "{SCHEMA}", "version": "{VERSION}", "runs": [{json.dumps(run)[:-1]}, "results": ['
    for place, one in enumerate(results):
        yield (",\n" if place else "\n") + json.dumps(_result(one, link))
    yield "\n]}]}\n"


def _rule(kind: str, family: str) -> dict[str, Any]:
    words = kind.replace("-", " ").replace(":", ": ")
    return {
        "id": kind,
        "shortDescription": {"text": words[:1].upper() + words[1:]},
        "properties": {"tags": ["sanitizer", *dict.fromkeys([family] if family else [])]},
    }


def _result(one: SarifResult, link: Link) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": one.kind,
        "kind": "fail",
        "level": _level(one),
        "message": {"text": _message(one)},
        "partialFingerprints": {FINGERPRINT: one.public_id},
        "occurrenceCount": max(one.records, 1),
        "hostedViewerUri": link(one.public_id),
        "suppressions": [_suppression(said) for said in one.suppressions],
        "properties": _properties(one),
    }
    if where := _location(one):
        found["locations"] = [where]
    if one.issue:
        found["workItemUris"] = [one.issue]
    return found


def _level(one: SarifResult) -> str:
    if one.memory_error:
        return "error"
    return "warning" if one.own else "note"


def _message(one: SarifResult) -> str:
    amount = f": {number(one.bytes)} bytes in {number(one.objects)} objects" if one.bytes is not None else ""
    runs = f"{number(one.outcomes)} run{'s' if one.outcomes != 1 else ''}"
    return f"{one.title}{amount}; seen in {runs} ({one.public_id})."


def _location(one: SarifResult) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if one.file:
        region = {"region": {"startLine": one.line}} if one.line else {}
        found["physicalLocation"] = {"artifactLocation": _artifact(one.file), **region}
    if one.function:
        found["logicalLocations"] = [{"fullyQualifiedName": one.function, "kind": "function"}]
    return found


def _artifact(file: str) -> dict[str, str]:
    """Relative to the root of the repository; a path of which that cannot be told stays what it is."""
    path = posixpath.normpath(file)
    if path.startswith("/") or path[1:2] == ":":
        return {"uri": "file:///" + quote(path.lstrip("/"), safe="/:")}
    return {"uri": quote(path, safe="/"), "uriBaseId": SOURCE_ROOT}


def _properties(one: SarifResult) -> dict[str, Any]:
    shown = {
        "id": one.public_id,
        "state": one.state,
        "lifeCycle": one.life,
        "own": one.own,
        "bytes": one.bytes,
        "objects": one.objects,
        "runs": one.outcomes,
    }
    return {**shown, "otherSuppressions": [_suppression(said) for said in one.others]} if one.others else shown


def _suppression(one: SarifSuppression) -> dict[str, Any]:
    """The justification is what was decided, with the reason of the proposal where nobody has decided yet."""
    return {
        "guid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"leakledger:{one.public_id}")),
        "kind": "external",
        "status": STATUS[SuppressionState(one.state)],
        "justification": one.decision_reason if one.state == SuppressionState.REJECTED else one.reason,
        "properties": {
            "id": one.public_id,
            "tool": one.tool,
            "rule": one.rule,
            "endsOn": one.ends_on.isoformat(),
            "lanes": list(one.lanes),
            "reason": one.reason,
            "decision": one.decision_reason,
        },
    }
