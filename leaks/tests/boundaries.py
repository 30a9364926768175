"""The arrows of the house, as a table and a checker over source text.

A module imports lower ranks and, within a rank, what stands left of it; always at the top of the file. The checker
reads text with `ast` and imports nothing, so that a broken module cannot hide from it.

To add a module: write it into `RANKS`, left of whatever imports it.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

ROOMS = ("leaks", "workers", "dashboard")


@dataclass(frozen=True)
class Rank:
    """One row of the table.

    `modules`: names, parted by blanks, in the order in which they may see each other. `name.*` is the package `name`
    and all in it; siblings in it may import each other unless the rank is one of `strangers`.
    """

    modules: str
    strangers: bool = False

    @cached_property
    def patterns(self) -> list[str]:
        return self.modules.split()


RANKS = (
    Rank(
        "leaks.bulk leaks.moments leaks.errors leaks.addresses leaks.visible leaks.words leaks.ledger_words leaks.decision_words "
        "leaks.globs leaks.rows.* leaks.evidence"
    ),
    Rank(
        "leaks.unpacking leaks.parsing.needles leaks.parsing.runs leaks.parsing.lines leaks.parsing.prefixes leaks.parsing.demangling "
        "leaks.parsing.names leaks.parsing.frames "
        "leaks.parsing.cuda_frames leaks.parsing.kernel_frames leaks.parsing.blocks leaks.parsing.summaries "
        "leaks.parsing.valgrind_words leaks.parsing.valgrind_errors leaks.parsing.valgrind_losses leaks.parsing.mark_rows"
    ),
    Rank(
        "leaks.parsing.tools.* leaks.parsing.runners.* leaks.parsing.options leaks.parsing.build leaks.parsing.marks",
        strangers=True,
    ),
    Rank(
        "leaks.parsing.ledger leaks.parsing.streams leaks.parsing.stacks leaks.parsing.known leaks.parsing.small_checks "
        "leaks.parsing.layouts leaks.parsing.passages leaks.parsing.pages leaks.parsing.walk leaks.parsing.progress "
        "leaks.parsing.dispatch leaks.symbols leaks.platforms leaks.own "
        "leaks.rule_types leaks.rule_patterns leaks.rule_commons leaks.rules leaks.rule_breadth leaks.rule_builds leaks.rule_cells "
        "leaks.rule_frames leaks.rule_sets leaks.valgrind_blocks leaks.mangled_names leaks.shapes "
        "leaks.rules_valgrind leaks.rule_diagnosis leaks.reach leaks.providers.*"
    ),
    Rank(
        "leaks.families leaks.culprits leaks.identity leaks.strangers leaks.plumbing leaks.signature leaks.claims leaks.exit_codes "
        "leaks.witnesses leaks.unseen leaks.blindness leaks.situation leaks.because leaks.flags "
        "leaks.verdict leaks.merging leaks.folding leaks.rates leaks.windows leaks.hiding leaks.detecting "
        "leaks.comparison leaks.compare_words "
        "leaks.gate_words leaks.gate leaks.slopes leaks.growth leaks.growth_words leaks.grounds_words "
        "leaks.libraries leaks.lifecycle leaks.life_words "
        "leaks.review_rules leaks.watching leaks.parts leaks.resign_plan leaks.answers leaks.truth_logs "
        "leaks.truth_runs leaks.truth_words leaks.truth leaks.truth_document"
    ),
    Rank("leaks.models.* leaks.store_facts leaks.marks leaks.blobs"),
    Rank(
        "leaks.accounts leaks.tokens leaks.journal leaks.trail leaks.lineage leaks.cited leaks.grounds leaks.key_rules "
        "leaks.recipes leaks.stored_reports leaks.symbol_names leaks.ownership "
        "leaks.search_words leaks.search_nodes leaks.search_values leaks.search_parse leaks.search_lines leaks.search "
        "leaks.lane_views leaks.queries.*"
    ),
    Rank(
        "leaks.store_frames leaks.store_keys leaks.store leaks.resign_forecast leaks.resign_summary leaks.resign_keys "
        "leaks.resign_rows leaks.rollups leaks.successors leaks.life_marks leaks.code_owners leaks.wide_joins leaks.standing_life "
        "leaks.standing_texts leaks.standing_sums "
        "leaks.standing_signatures "
        "leaks.standing leaks.withdraw leaks.statuses leaks.outbox leaks.notices "
        "leaks.triage_changes leaks.triage leaks.triage_many leaks.saved_views leaks.gate_cases leaks.key_moves "
        "leaks.merge_signatures leaks.split_signatures leaks.rule_changes leaks.undo_keys leaks.triage_undo "
        "leaks.review_people leaks.review_fields leaks.review_steps leaks.review_refusals leaks.review "
        "leaks.review_clock leaks.rule_import leaks.retention"
    ),
    Rank("leaks.ingest.*"),
    Rank("leaks.management.exported_journal leaks.management.commands.*"),
    Rank(
        "workers.keys workers.supervisor workers.fsbroker workers.retry workers.outgoing workers.messages workers.telling "
        "workers.posting workers.dispatching workers.celery workers.tasks workers.send "
        "workers.backfill.* workers.demo.* workers.scale.* workers.management.commands.*"
    ),
    Rank(
        "dashboard.env dashboard.settings dashboard.static_finders dashboard.checks dashboard.access dashboard.params "
        "dashboard.params_leaks dashboard.params_journal dashboard.params_gate dashboard.formats "
        "dashboard.figures_parts dashboard.figures_leaks dashboard.figures_growth dashboard.figures_suppressions "
        "dashboard.figures "
        "dashboard.exports.* dashboard.intake"
    ),
    Rank(
        "dashboard.pages.* dashboard.templatetags.* dashboard.api.* dashboard.hooks.* "
        "dashboard.admin dashboard.urls dashboard.wsgi dashboard.management.commands.*"
    ),
)

# Ranks 0 to 4, and what must work before or without Django. They import the standard library and each other.
DJANGO_FREE = (
    *(pattern for rank in RANKS[:5] for pattern in rank.patterns),
    "workers.keys",
    "workers.supervisor",
    "dashboard.formats",
    "dashboard.figures_parts",
    "dashboard.figures_leaks",
    "dashboard.figures_growth",
    "dashboard.figures_suppressions",
    "dashboard.figures",
)
# The only packages from outside that a Django-free module may use.
DJANGO_FREE_PACKAGES = {"ahocorasick_rs", "pycxxfilt", "re2", "zstandard"}

# Runs inside a CI lane, alone: the standard library and nothing from the house.
ALONE = {"workers.lane"}

ARROWS = {"leaks": {"leaks"}, "workers": {"workers", "leaks"}, "dashboard": {"dashboard", "workers", "leaks"}}

NON_EMPTY_INIT = {"leaks.models"}


@dataclass(frozen=True)
class Module:
    """One source file: `path` is relative to the repository, with slashes."""

    path: str
    text: str

    @cached_property
    def name(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def is_test(self) -> bool:
        return "/tests/" in self.path

    @property
    def is_exempt(self) -> bool:
        """What Django makes or prescribes; an empty package has no rank either."""
        empty_package = self.is_package and self.name not in NON_EMPTY_INIT
        return empty_package or self.path.endswith("/apps.py") or "/migrations/" in self.path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)


@dataclass
class House:
    """All modules, by name; `sources` maps a path to its text."""

    sources: dict[str, str]
    modules: dict[str, Module] = field(init=False)

    def __post_init__(self) -> None:
        found = [Module(path, text) for path, text in self.sources.items()]
        self.modules = {module.name: module for module in found}

    def faults(self) -> list[str]:
        """Every breach, as sentences that name the file and line; an empty list is a sound house."""
        found = [fault for module in self.modules.values() for fault in self._faults_of(module)]
        return sorted({*found, *self._cycles()})

    def _faults_of(self, module: Module) -> Iterator[str]:
        if module.is_package and module.text.strip() and module.name not in NON_EMPTY_INIT:
            yield f"{module.path}:1: an __init__ is empty"
        if not module.is_exempt:
            yield from self._nested_imports(module)
        if module.name in ALONE:
            yield from self._not_alone(module)
        elif not module.is_exempt and not module.is_test:
            yield from self._rank_faults(module)

    def _nested_imports(self, module: Module) -> Iterator[str]:
        at_top = set(_top_imports(module.tree))
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and node not in at_top:
                yield f"{module.path}:{node.lineno}: an import stands at the top of the file, not in a block"

    def _not_alone(self, module: Module) -> Iterator[str]:
        for line, name in self._imports(module):
            if name.partition(".")[0] not in sys.stdlib_module_names:
                yield f"{module.path}:{line}: {module.name} runs alone and may not import {name}"

    def _rank_faults(self, module: Module) -> Iterator[str]:
        place = place_of(module.name)
        if place is None:
            yield f"{module.path}:1: {module.name} has no rank; add it to the table in leaks/tests/boundaries.py"
            return
        for line, name in self._imports(module):
            reason = _forbidden(module.name, place, name)
            if reason:
                yield f"{module.path}:{line}: {module.name} may not import {name}: {reason}"

    def _imports(self, module: Module) -> Iterator[tuple[int, str]]:
        """(line, full name of a module) of every import; `from package import module` names the module."""
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = _base_of(module, node)
                yield from ((node.lineno, self._module_or_base(base, alias.name)) for alias in node.names)

    def _module_or_base(self, base: str, name: str) -> str:
        return f"{base}.{name}" if f"{base}.{name}" in self.modules else base

    def _cycles(self) -> Iterator[str]:
        """Rings among siblings of one package; the table already rules out all others."""
        targets = {
            module.name: {name for _, name in self._imports(module)} & self.modules.keys()
            for module in self.modules.values()
            if not module.is_test
        }
        for name in sorted(targets):
            if name in _reachable(targets, name):
                yield f"{self.modules[name].path}:1: {name} imports itself in a ring"


def place_of(name: str) -> tuple[int, int] | None:
    """(rank, place within the rank) of a module, or None when the table does not know it."""
    for number, rank in enumerate(RANKS):
        for place, pattern in enumerate(rank.patterns):
            if _matches(name, pattern):
                return number, place
    return None


def _matches(name: str, pattern: str) -> bool:
    package = pattern.removesuffix(".*")
    return name == package or (pattern.endswith(".*") and name.startswith(package + "."))


def _is_django_free(name: str) -> bool:
    return any(_matches(name, pattern) for pattern in DJANGO_FREE)


def _forbidden(importer: str, place: tuple[int, int], imported: str) -> str:
    """Why the import is forbidden; empty when it is allowed."""
    if imported.partition(".")[0] not in ROOMS:
        return _foreign(importer, imported)
    if imported.partition(".")[0] not in ARROWS[importer.partition(".")[0]]:
        return "no arrow leads from its room to that room"
    if place_of(imported) and _is_django_free(importer) and not _is_django_free(imported):
        return "a Django-free module imports Django-free modules only"
    return _wrong_way(place, place_of(imported))


def _foreign(importer: str, imported: str) -> str:
    root = imported.partition(".")[0]
    if _is_django_free(importer) and root not in sys.stdlib_module_names | DJANGO_FREE_PACKAGES:
        return "a Django-free module uses the standard library"
    return ""


def _wrong_way(place: tuple[int, int], target: tuple[int, int] | None) -> str:
    if target is None:
        return "that module has no rank"
    if target[0] > place[0]:
        return f"rank {target[0]} is above rank {place[0]}"
    if target[0] == place[0] and RANKS[place[0]].strangers:
        return "modules of that rank do not know each other"
    if target[0] == place[0] and target[1] > place[1]:
        return "it stands to the right of it in their rank"
    return ""


def _top_imports(tree: ast.Module) -> Iterator[ast.stmt]:
    """Imports at the top level of the file, or in its `if TYPE_CHECKING:`."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            yield from (inner for inner in node.body if isinstance(inner, ast.Import | ast.ImportFrom))


def _base_of(module: Module, node: ast.ImportFrom) -> str:
    """The absolute name that a `from … import` starts at, dots resolved."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _reachable(targets: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(targets[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(targets.get(name, ()))
    return seen
