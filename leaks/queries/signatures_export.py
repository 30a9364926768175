"""All signatures that a search finds, as lines of an export: read in order, some hundred at a time, never all at once."""

from collections.abc import Iterator
from datetime import datetime

from leaks.models import LaneOutcome, Project, Signature
from leaks.queries.signatures import in_order, matching
from leaks.rows.leak_pages import ExportedSignature, SignatureFilter

CHUNK = 500
COLUMNS = (
    "public_id", "title", "kind", "family", "state", "life", "own", "own_frame__function", "own_frame__file",
    "own_frame__line", "owner__username", "code_owners", "issue_url", "last_bytes", "last_objects", "last_count",
    "seen_outcomes", "seen_commits", "life_proof", "first_seen__run__commit__sha", "first_seen_at",
    "last_seen__run__commit__sha", "last_seen_at",
)  # fmt: skip
RELATED = ("own_frame", "owner", "first_seen__run__commit", "last_seen__run__commit")


def exported(project: Project, wanted: SignatureFilter) -> Iterator[ExportedSignature]:
    """Raises SearchError at once, not with the first line."""
    found = matching(project, wanted.q).order_by(*in_order(wanted)).select_related(*RELATED).only(*COLUMNS)
    return map(_line, found.iterator(chunk_size=CHUNK))


def _line(one: Signature) -> ExportedSignature:
    frame = one.own_frame
    return ExportedSignature(
        id=one.public_id,
        title=one.title,
        kind=one.kind,
        family=one.family,
        state=one.state,
        life=one.life,
        own=one.own,
        function=frame.function if frame else "",
        file=frame.file if frame else "",
        line=frame.line if frame else None,
        owner=one.owner.get_username() if one.owner else "",
        code_owners=one.code_owners.strip(),
        issue=one.issue_url,
        bytes=one.last_bytes,
        objects=one.last_objects,
        records=one.last_count,
        outcomes=one.seen_outcomes,
        commits=one.seen_commits,
        lanes=" ".join(sorted(one.life_proof.get("lanes", ()))),
        first_seen=_moment(one.first_seen_at),
        first_commit=_sha(one.first_seen),
        last_seen=_moment(one.last_seen_at),
        last_commit=_sha(one.last_seen),
    )


def _moment(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def _sha(outcome: LaneOutcome | None) -> str:
    return outcome.run.commit.sha if outcome else ""
