"""What the page of a signature shows: finished values, so that a template holds no arithmetic."""

from dataclasses import dataclass

from leaks.rows.grounds import Draft
from leaks.rows.leak_pages import Amount, HistoryPoint, JournalRow, KindShare, ReportRow, SeenRef, StackRow
from leaks.rows.signature_parts import ControlRow, LifeRow, MatchRow, NotKnown, Reproduce, SimilarRow, VariantRow


@dataclass(frozen=True, slots=True)
class SignaturePage:
    """All that the page of a signature shows. `proven`: outcomes of its lanes with a verdict since it was first seen, among `history`.

    `code_owners`: by the project's CODEOWNERS. `duplicate_of`: what it is a duplicate of, empty for none; `duplicates` are those of it.
    `drafts`: what was measured, as grounds for a decision.
    """

    public_id: str
    title: str
    state: str
    own: bool
    kind: str
    family: str
    place: str
    owner: str
    code_owners: tuple[str, ...]
    issue_url: str
    first_seen: SeenRef | None
    last_seen: SeenRef | None
    seen: int
    proven: int
    commits: int
    last: Amount
    lanes: tuple[str, ...]
    kinds: tuple[KindShare, ...]
    tests: tuple[str, ...]
    stacks: int
    every_run: bool
    report: ReportRow | None
    primary: StackRow | None
    others: tuple[StackRow, ...]
    history: tuple[HistoryPoint, ...]
    history_cut: bool
    journal: tuple[JournalRow, ...]
    life: LifeRow
    control: ControlRow
    variants: tuple[VariantRow, ...]
    similar: tuple[SimilarRow, ...]
    suppressions: tuple[MatchRow, ...]
    reproduce: Reproduce | None
    not_known: tuple[NotKnown, ...]
    duplicate_of: str = ""
    duplicates: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()
