"""What was measured of a leak, as a draft of grounds for a decision: a sentence that claims no more, and the runs that it rests on."""

from leaks.growth_words import not_measured, why_flat, why_flat_over_work
from leaks.rows.grounds import Draft
from leaks.rows.growth import Grown, Steady
from leaks.rows.leak_pages import Amount
from leaks.rows.signature_parts import ControlRow
from leaks.words import Growth

FLAT = "flat over the workload"
IDENTICAL = "identical on the parent"


def flat(grown: Grown, steady: Steady | None, evidence: tuple[str, ...]) -> Draft | None:
    """Where it does not rise with the work; with what is flat over commits as well, where it is."""
    fit = grown.fit
    if grown.growth is not Growth.CONSTANT or fit is None:
        return None
    reason = why_flat(grown, steady) or why_flat_over_work(fit)
    return Draft(FLAT, reason, evidence, not_measured(fit))


ONLY_THESE = "Runs and commits other than these two; ordering: whether what runs before it matters."


def identical(control: ControlRow) -> Draft | None:
    """Where the run on the parent shows just the same bytes: what was there before is not of this change."""
    shown = control.amount
    if control.answer != "same" or shown is None or shown.bytes is None:
        return None
    reason = (
        f"Identical on the parent: the run on {control.parent[:9]} shows it with {_said(shown)}, as the run on {control.sha[:9]} "
        "that was held against it does."
    )
    return Draft(IDENTICAL, reason, (control.head, control.outcome), ONLY_THESE)


def _said(shown: Amount) -> str:
    amounts = ((shown.bytes, "byte"), (shown.objects, "object"), (shown.count, "record"))
    size, *rest = (_counted(number, noun) for number, noun in amounts if number is not None)
    return f"{size} in {' and '.join(rest)}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
