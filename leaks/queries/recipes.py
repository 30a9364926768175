"""The recipe of a project for its settings page and the API: versions, what history is signed with, the last re-sign."""

from collections.abc import Mapping
from typing import Any

from leaks import recipes
from leaks.models import LogMove, Project, RecipeVersion, Resign
from leaks.models.recipes import OPEN
from leaks.queries import plumbing
from leaks.rows.recipe_page import ChangeLine, Preview, RecipePage, ResignLine, ShareLine, SignedShare, VersionLine
from leaks.words import ResignState

VERSIONS_SHOWN = 20


def recipe_page(project: Project) -> RecipePage:
    proposals, stacks = plumbing.proposals(project)
    recipe = recipes.recipe_of(project)
    signed = tuple(SignedShare(name, logs, name == recipe) for name, logs in recipes.signed_with(project).items())
    return RecipePage(
        version=project.plumbing_version,
        recipe=recipe,
        own_roots=tuple(project.own_roots),
        plumbing=tuple(project.plumbing),
        versions=_versions(project),
        signed=signed,
        stale=sum(share.logs for share in signed if not share.in_force),
        resign=last_resign(project),
        proposals=proposals,
        stacks=stacks,
        stacks_cut=stacks >= plumbing.MOST_STACKS,
    )


def _versions(project: Project) -> tuple[VersionLine, ...]:
    """Newest first. Settings that nobody has changed yet have no row: they are the first version."""
    rows = RecipeVersion.objects.filter(project=project).select_related("made_by").order_by("number")
    last = list(rows.reverse()[: VERSIONS_SHOWN + 1])[::-1]
    if not last:
        row = RecipeVersion(number=project.plumbing_version, own_roots=project.own_roots, plumbing=project.plumbing)
        return (_version(row, None, project),)
    lines = [_version(row, before, project) for row, before in zip(last, [None, *last], strict=False)]
    return tuple(lines[::-1][:VERSIONS_SHOWN])


def _version(row: RecipeVersion, before: RecipeVersion | None, project: Project) -> VersionLine:
    now = _entries(row.own_roots, row.plumbing)
    was = _entries(before.own_roots, before.plumbing) if before else []
    return VersionLine(
        number=row.number,
        in_force=row.number == project.plumbing_version,
        made_by=row.made_by.get_username() if row.made_by else "",
        made_at=row.made_at if before else None,
        reason=row.reason,
        added=tuple(one for one in now if one not in was),
        removed=tuple(one for one in was if one not in now),
    )


def _entries(own_roots: list[str], names: list[str]) -> list[str]:
    return [*(f"own root {root}" for root in own_roots), *names]


# --- The last re-sign ------------------------------------------------------------------------------------------------


def last_resign(project: Project) -> ResignLine | None:
    row = Resign.objects.filter(project=project).select_related("asked_by").order_by("-asked_at", "-pk").first()
    if row is None:
        return None
    moved = LogMove.objects.filter(resign=row).count()
    # An undo takes the rows of what was moved away, one by one.
    done = max(0, row.logs - moved) if row.state == ResignState.UNDOING else moved
    number = recipes.version_of(row.recipe)
    may_undo = row.state not in (ResignState.UNDONE, ResignState.UNDOING) and number == project.plumbing_version
    return ResignLine(
        recipe=row.recipe,
        state=row.state,
        busy=row.state in OPEN,
        asked_by=row.asked_by.get_username() if row.asked_by else "",
        asked_at=row.asked_at,
        ended_at=row.ended_at,
        reason=row.reason,
        error=row.error,
        logs=row.logs,
        done=done,
        percent=min(100, 100 * done // row.logs) if row.logs else 0,
        reports=row.reports,
        may_undo=may_undo,
        found=preview(row.summary) if row.summary else None,
    )


def preview(summary: Mapping[str, Any]) -> Preview:
    """A stored or fresh summary as rows."""
    counts = {name: summary[name] for name in ("read", "changed", "cut", "splits", "joins", "left_out")}
    return Preview(**counts, changes=tuple(_change(line) for line in summary["changes"]))


def _change(line: Mapping[str, Any]) -> ChangeLine:
    shares = tuple(ShareLine(**share) for share in line["shares"])
    return ChangeLine(line["signature"], line["title"], line["state"], line["linked_to"], shares)
