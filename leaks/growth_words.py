"""What was measured of a leak's growth, in sentences that claim no more than that, and how to measure what was not."""

from collections.abc import Iterable

from leaks.rows.growth import Fit, Grown, Point, Slope, Steady
from leaks.words import Growth

HOW = (
    "Run the lane with two different amounts of work and say how much each did: workload=NAME=NUMBER with the upload, or an environment "
    "variable of the run whose name is ITERS or ITERATIONS, or ends in _ITERS or _ITERATIONS. Three runs or more give an interval."
)


def headline(grown: Grown) -> str:
    """One line: the answer, and over what range it was measured."""
    fit = grown.fit
    if grown.growth is Growth.NOT_MEASURED or fit is None:
        return "not measured"
    if grown.growth is Growth.GROWS:
        return f"grows: {_bytes(fit.bytes)} for each further unit of {fit.scale}, measured {_range(fit)}"
    return f"at exit, flat: it does not rise with {fit.scale}, measured {_range(fit)}"


def interval(line: Slope) -> str:
    """ "95 % interval 46 to 50", or why there is none."""
    if line.low is None or line.high is None:
        return "no interval: two runs give none"
    if figure(line.low) == figure(line.high):
        return "to the byte in every run"
    return f"95 % interval {figure(line.low)} to {figure(line.high)}"


def _bytes(line: Slope) -> str:
    return f"{figure(line.value)} bytes ({interval(line)})"


def _range(fit: Fit) -> str:
    where = fit.lanes[0] if len(fit.lanes) == 1 else f"{len(fit.lanes)} lanes taken together"
    return f"from {figure(fit.least)} to {figure(fit.most)} in {_counted(fit.runs, 'run')} of {where}"


def figure(value: float) -> str:
    """Three digits behind the point at most, and no minus in front of nothing."""
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def how_to_measure(points: Iterable[Point]) -> str:
    """With what is known so far: one amount of work is a beginning."""
    known = sorted({(point.scale, point.work) for point in points})
    if not known:
        return HOW
    said = ", ".join(f"{scale}={figure(work)}" for scale, work in known[:5])
    return f"So far only {said} was run. {HOW}"


def steady_sentence(steady: Steady) -> str:
    """Over commits: only runs that show it are spoken of, and they are counted."""
    amount = f"{steady.least:,} bytes" if steady.flat else f"{steady.least:,} to {steady.most:,} bytes"
    shows = f"{_counted(steady.runs, 'run')} that {'shows' if steady.runs == 1 else 'show'} it"
    return f"{amount} in {shows}, on {_counted(steady.commits, 'commit')}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def why_flat(grown: Grown, steady: Steady | None) -> str:
    """A reason for a decision, from what is flat over the work and over commits; empty where one of both is not."""
    fit = grown.fit
    if grown.growth is not Growth.CONSTANT or fit is None or steady is None or not steady.flat or steady.commits < 2:
        return ""
    return f"{why_flat_over_work(fit)} Flat over commits: {steady_sentence(steady)}."


def why_flat_over_work(fit: Fit) -> str:
    return f"Flat over the workload: {_range(fit)} ({fit.scale}) the same signature loses no more with more work, {_bytes(fit.bytes)} a unit."


def not_measured(fit: Fit) -> str:
    return f"More work than {fit.scale}={figure(fit.most)}, and lanes other than {', '.join(fit.lanes)}."
