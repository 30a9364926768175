"""What a recipe would make of all stored reports: which signatures split and join. Reads only.

The plan is that of `leaks.resign_plan`; this module counts the reports it rests on.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from leaks import key_rules, recipes
from leaks.lineage import roots_of, slices
from leaks.models import Project, Report, Signature, SignatureKey
from leaks.own import Ownership
from leaks.resign_plan import Change, Flow, Holder, Place, Plan, changes, plan
from leaks.store_keys import Named, known_keys
from leaks.stored_reports import Stored, StoredReports
from leaks.symbol_names import ProjectSymbols
from leaks.words import SignatureState

AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Forecast:
    """`named`: what stands at each place now. `read`: all reports that were looked at; `cut` if there are more."""

    read: int
    changed: int
    cut: bool
    named: Mapping[Place, Named]
    plan: Plan
    changes: list[Change]


class Signer:
    """Gives stored and new reports their identities, for one project under one ownership."""

    def __init__(self, project: Project, ownership: Ownership | None = None) -> None:
        self._ownership = ownership or recipes.ownership_of(project)
        self._symbols = ProjectSymbols(project)

    def named(self, stored: Iterable[Stored]) -> list[Named]:
        reports = self._symbols.lend([one.report for one in stored])
        return [Named(recipes.CODE.identify(report, self._ownership), report.kind) for report in reports]


def place(one: Named) -> Place:
    return one.identity.recipe, one.identity.hash


def forecast(
    project: Project,
    ownership: Ownership | None = None,
    *,
    most: int | None = None,
    pulse: Callable[[], object] = lambda: None,
) -> Forecast:
    """Look at the newest `most` reports, or at all of them. `pulse` is called between two pieces of work."""
    signer, counts, named, read = Signer(project, ownership), Counter[tuple[int, Place]](), dict[Place, Named](), 0
    for some in _pieces(project, most):
        for stored, one in zip(some, signer.named(some), strict=True):
            counts[stored.key, place(one)] += 1
            named.setdefault(place(one), one)
        read += len(some)
        pulse()
    return _forecast(project, counts, named, read, cut=most is not None and read >= most)


def _pieces(project: Project, most: int | None) -> Iterator[list[Stored]]:
    reader, left = StoredReports(), most
    last: int | None = None
    while left is None or left > 0:
        reports = Report.objects.filter(key__project=project)
        before = reports if last is None else reports.filter(pk__lt=last)
        size = AT_ONCE if left is None else min(AT_ONCE, left)
        ids = list(before.order_by("-pk").values_list("pk", flat=True)[:size])
        if not ids:
            return
        yield reader.of_rows(ids)
        last, left = ids[-1], None if left is None else left - len(ids)


def _forecast(
    project: Project, counts: Mapping[tuple[int, Place], int], named: Mapping[Place, Named], read: int, *, cut: bool
) -> Forecast:
    there = known_keys(project.pk, named)
    keys = {key for key, _ in counts}
    flows = [_flow(key, where, reports, there) for (key, where), reports in counts.items()]
    # A key that no report leads to any more still says whose its place is.
    flows += [Flow(key.pk, where, 0, unchanged=True) for where, key in there.items() if key.pk not in keys]
    holders = _holders(keys | {key.pk for key in there.values()})
    made = plan(flows, holders, _claimed(project, named, there))
    changed = sum(flow.reports for flow in flows if not flow.unchanged)
    return Forecast(read, changed, cut, named, made, changes(flows, holders, made))


def _claimed(project: Project, named: Mapping[Place, Named], there: Mapping[Place, SignatureKey]) -> dict[Place, int]:
    """Places that are new and that a rule of the project gives away, as it would for a digest."""
    return key_rules.claimed(
        project.pk, {where: one.identity.text for where, one in named.items() if where not in there}
    )


def _flow(key: int, where: Place, reports: int, there: Mapping[Place, SignatureKey]) -> Flow:
    return Flow(key, where, reports, unchanged=where in there and there[where].pk == key)


# --- Whose a key is --------------------------------------------------------------------------------------------------


def _holders(keys: Iterable[int]) -> dict[int, Holder]:
    leads = _signatures_of(sorted(keys))
    roots = roots_of(set(leads.values()))
    holders = _as_holders(set(roots.values()))
    return {key: holders[roots[signature]] for key, signature in leads.items()}


def _signatures_of(keys: list[int]) -> dict[int, int]:
    leads: dict[int, int] = {}
    for some in slices(keys):
        leads.update(SignatureKey.objects.filter(pk__in=some).values_list("pk", "signature_id"))
    return leads


def _as_holders(signatures: set[int]) -> dict[int, Holder]:
    holders: dict[int, Holder] = {}
    for some in slices(sorted(signatures)):
        gathered = set(Signature.objects.filter(merged_into__in=some).values_list("merged_into_id", flat=True))
        rows = Signature.objects.filter(pk__in=some)
        holders.update({row.pk: _holder(row, gathered=row.pk in gathered) for row in rows})
    return holders


def _holder(row: Signature, *, gathered: bool) -> Holder:
    taken_up = gathered or bool(row.owner_id or row.issue_url) or row.state != SignatureState.UNTRIAGED
    return Holder(row.pk, row.public_id, taken_up, row.first_seen_at)
