"""The life of a signature for its page: read from what was computed, without a question to the database."""

from collections.abc import Iterable, Mapping
from typing import Any

from leaks.ledger_words import LifeCycle
from leaks.life_words import RULE, lane_sentence, sentence_of
from leaks.models import Signature
from leaks.rows.leak_pages import HistoryPoint
from leaks.rows.lifecycle import LaneProof
from leaks.rows.signature_parts import LaneLife, LifeRow, RunLink


def life_row(one: Signature, history: Iterable[HistoryPoint]) -> LifeRow:
    """`history` gives the commits of the runs that it shows anyway."""
    commits = {point.outcome: point.sha for point in history}
    lanes: Mapping[str, Mapping[str, Any]] = one.life_proof.get("lanes", {})
    proofs = [_proof(row) for _, row in sorted(lanes.items()) if "seen" in row]
    back = one.life_proof.get("regression") if one.life == LifeCycle.REGRESSED else None
    since = one.life_since
    return LifeRow(
        word=one.life,
        sentence=sentence_of(LifeCycle(one.life), proofs, off_branch=bool(lanes) and not proofs),
        rule=RULE,
        since=RunLink(since.public_id, since.run.commit.sha) if since else None,
        lanes=tuple(_lane(proof, commits) for proof in proofs),
        elsewhere=tuple(sorted(name for name, row in lanes.items() if "seen" not in row)),
        last_before=_link(back["last"], commits) if back else None,
        fixed_at=_link(back["fixed_at"], commits) if back else None,
    )


def _proof(row: Mapping[str, Any]) -> LaneProof:
    """As it was before it became JSON."""
    known = {name: value for name, value in row.items() if name != "main"}
    known["runs"] = tuple(known["runs"])
    known["silent"] = tuple((why, number) for why, number in known["silent"])
    return LaneProof(**known)


def _lane(proof: LaneProof, commits: Mapping[str, str]) -> LaneLife:
    return LaneLife(
        lane=proof.lane,
        sentence=lane_sentence(proof),
        seen=proof.seen,
        of=proof.of,
        low=proof.low,
        needed=proof.needed,
        absent=proof.absent,
        last=_link(proof.last, commits),
        runs=tuple(_link(run, commits) for run in proof.runs),
    )


def _link(outcome: str, commits: Mapping[str, str]) -> RunLink:
    return RunLink(outcome, commits.get(outcome, ""))
