"""A small history to sign again: logs of leaks with the stacks that a test wants, and what came of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import transaction

from leaks import recipes
from leaks.ingest import resign
from leaks.models import Project, Report, Resign, Signature
from leaks.tests.ledger import project, settle, submit

FETCH, ROPE, VOCAB, HEAD = "engine::Cache::fetch", "engine::Rope::build", "engine::Vocab::load", "engine::Head::run"
LEAKING = {"exit_code": 1, "conclusion": "failure"}
Calls = tuple[str, ...]


def text(*leaks: Calls, bytes_each: int = 64) -> str:
    """One leak for each stack of own functions, innermost first."""
    return "\n".join(["[doctest] test cases: 9 | 9 passed | 0 failed | 0 skipped", *_check(leaks, bytes_each), ""])


def _check(leaks: Sequence[Calls], size: int) -> Iterator[str]:
    yield from ("=" * 65, "==7==ERROR: LeakSanitizer: detected memory leaks", "")
    for number, calls in enumerate(leaks):
        yield f"Direct leak of {size} byte(s) in 1 object(s) allocated from:"
        yield f"    #0 0x7f00{number:04x} in malloc ../src/libsanitizer/asan/asan_malloc_linux.cpp:69"
        for depth, function in enumerate(calls, 1):
            yield f"    #{depth} 0x55{number:04x}{depth:04x} in {function}(int) /src/engine/{depth}.cpp:{number + 1}"
        yield ""
    yield f"SUMMARY: AddressSanitizer: {size * len(leaks)} byte(s) leaked in {len(leaks)} allocation(s)."


def history(*logs: Sequence[Calls], **fields: Any) -> None:
    """One run for each of the logs, all digested and derived."""
    for number, leaks in enumerate(logs, 1):
        submit(number, text(*leaks), **LEAKING, **fields)
    settle()


def with_settings(*plumbing: str, own_roots: Sequence[str] = ("/src/engine",)) -> int:
    """Put another version in force; the number of the one before."""
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project().pk)
        before = locked.plumbing_version
        recipes.make_version(locked, None, own_roots=own_roots, plumbing=plumbing, reason="as the test has it")
    return before


def sign_again(former: int | None = None, **options: Any) -> Resign:
    made = resign.ask(project(), None, "as the test has it", former=former)
    assert resign.work(made.pk, **options)
    settle()
    made.refresh_from_db()
    return made


def undo() -> Resign:
    made = resign.ask_undo(project(), None, "it was wrong")
    assert resign.work(made.pk)
    settle()
    made.refresh_from_db()
    return made


def titled(word: str) -> Signature:
    """The signature whose title begins with this own function."""
    return Signature.objects.get(title__startswith=f"leak · {word}")


def reports() -> Counter[str]:
    """Public id → number of reports."""
    return Counter(Report.objects.values_list("key__signature__public_id", flat=True))
