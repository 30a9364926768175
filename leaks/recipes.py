"""The recipe of a project: the code's rules together with its own roots and plumbing, whose versions are numbered.

A new version never touches a row of history: logs read later use it, and history is signed again when somebody asks for that
(`leaks.resign`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models import Count, Max

from leaks import journal
from leaks.errors import BadSubmission, Conflict
from leaks.evidence import Report as Printed
from leaks.identity import RECIPE, Identity
from leaks.models import Log, Project, RecipeVersion, Resign
from leaks.models.recipes import OPEN
from leaks.own import Ownership
from leaks.signature import identify
from leaks.words import LogState

SUBJECT = "project"
MOST_NAMES = 200
LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class Code:
    """The rules in code: how they are called in a key, and what applies them."""

    name: str
    identify: Callable[[Printed, Ownership], Identity]


CODE = Code(RECIPE, identify)


def recipe_of(project: Project) -> str:
    """What rows are signed with from now on: "v1.3" is the code's recipe v1 under the third version of the settings."""
    return f"{CODE.name}.{project.plumbing_version}"


def ownership_of(project: Project) -> Ownership:
    return Ownership(project.own_roots, project.plumbing)


# --- Versions --------------------------------------------------------------------------------------------------------


def make_version(
    project: Project,
    person: AbstractBaseUser | None,
    *,
    own_roots: Sequence[str],
    plumbing: Sequence[str],
    reason: str,
) -> RecipeVersion:
    """The next version, in force at once. `project` is locked by the caller, who also writes the journal."""
    refuse_while_open(project)
    _keep_current(project)
    last = RecipeVersion.objects.filter(project=project).aggregate(last=Max("number"))["last"]
    made = RecipeVersion.objects.create(
        project=project,
        number=last + 1,
        own_roots=list(own_roots),
        plumbing=list(plumbing),
        made_by_id=person.pk if person else None,
        reason=reason,
    )
    put_in_force(project, made)
    return made


def refuse_while_open(project: Project) -> None:
    """Half of history under one version and half under a third would be hard to undo, and harder to explain."""
    if Resign.objects.filter(project=project, state__in=OPEN).exists():
        raise Conflict("History is being signed again just now; wait for its end, then change own roots and plumbing.")


def put_in_force(project: Project, version: RecipeVersion) -> None:
    project.own_roots, project.plumbing = version.own_roots, version.plumbing
    project.plumbing_version = version.number
    project.save(update_fields=["own_roots", "plumbing", "plumbing_version"])


def _keep_current(project: Project) -> None:
    """A project begins without a row: its first settings get one when others take their place."""
    settings = {"own_roots": project.own_roots, "plumbing": project.plumbing}
    RecipeVersion.objects.get_or_create(project=project, number=project.plumbing_version, defaults=settings)


def add_plumbing(
    project: Project, person: AbstractBaseUser, names: Sequence[str], *, reason: str, expected: int, evidence: Any = ()
) -> RecipeVersion:
    """Accept functions as plumbing. `expected` is the number of the version that the person saw; another one is a Conflict."""
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    _check(wanted, reason)
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        if locked.plumbing_version != expected:
            raise Conflict(f"Version {locked.plumbing_version} is in force meanwhile; look at it, then decide again.")
        before = list(locked.plumbing)
        after = before + [name for name in wanted if name not in before]
        if after == before:
            raise BadSubmission("All of these are plumbing already.", field="functions")
        if len(after) > MOST_NAMES:
            raise BadSubmission(f"A project has {MOST_NAMES} plumbing functions at most.", field="functions")
        made = make_version(locked, person, own_roots=locked.own_roots, plumbing=after, reason=reason.strip())
        details = {"version": made.number, "plumbing": {"before": before, "after": after}}
        journal.record(
            locked, person, SUBJECT, locked.slug, "plumbing_accepted", reason=reason, details=details, evidence=evidence
        )
    return made


def _check(names: Sequence[str], reason: str) -> None:
    if not names:
        raise BadSubmission("Choose at least one function.", field="functions")
    if any(len(name) > LONGEST_NAME for name in names):
        raise BadSubmission(f"A name has {LONGEST_NAME} characters at most.", field="functions")
    if not reason.strip():
        raise BadSubmission("Say why: a decision without a reason helps nobody later.", field="reason")


# --- What history is signed with -------------------------------------------------------------------------------------


def signed_with(project: Project) -> dict[str, int]:
    """Recipe → number of logs whose rows are signed with it, for the logs that have rows."""
    logs = Log.objects.filter(part__outcome__lane__project=project, state=LogState.DIGESTED, current=True)
    counted = logs.values("recipe").annotate(n=Count("pk")).order_by("recipe")
    return {row["recipe"]: row["n"] for row in counted}


def former_version(project: Project) -> int:
    """The version that most logs are signed with, apart from the one in force; that one where all of history is."""
    numbers = set(RecipeVersion.objects.filter(project=project).values_list("number", flat=True))
    by_number: Counter[int] = Counter()
    for recipe, logs in signed_with(project).items():
        number = version_of(recipe)
        if number in numbers and number != project.plumbing_version:
            by_number[number] += logs
    return max(by_number, key=lambda number: (by_number[number], number), default=project.plumbing_version)


def version_of(recipe: str) -> int:
    """The number in "v1.3"; 0 in what says none."""
    number = recipe.rpartition(".")[2]
    return int(number) if number.isdecimal() else 0
