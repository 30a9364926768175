"""Which rules can be proposed and which cannot, with the reason a person is told."""

import pytest

from leaks.ledger_words import SuppressionTool
from leaks.review_rules import refusal, tidy, warnings

LSAN, ASAN, TSAN, UBSAN, VALGRIND = SuppressionTool

TAKEN = [
    (LSAN, "leak:engine::Pool::get"),
    (LSAN, "leak:^engine::Pool::get(unsigned long)$"),
    (LSAN, "leak:libfontconfig.so.1"),
    (LSAN, "leak:src/pool.cpp"),
    (LSAN, "leak:^ab$"),
    (LSAN, "leak:engine::*::get"),
    (LSAN, "leak:operator new(unsigned long, std::align_val_t)"),
    (LSAN, "leak:Größe"),
    (ASAN, "interceptor_via_fun:-[NSThing load]"),
    (ASAN, "odr_violation:^kTable$"),
    (TSAN, "race:engine::Queue::push"),
    (TSAN, "called_from_lib:libvendor.so"),
    (TSAN, "deadlock:engine::Lock"),
    (UBSAN, "signed-integer-overflow:src/hash.cpp"),
    (UBSAN, "vptr:engine::Node"),
]

REFUSED = [
    ("", "its type, a colon"),
    ("leak:", "matches everything"),
    ("leak:*", "matches everything"),
    ("leak:^*$", "matches everything"),
    ("leak:a", "matches everything"),
    ("leak:*a*b*", "matches everything"),
    ("leak:::", "matches everything"),
    ("leak:.so", "matches everything"),
    ("leak:/*/", "matches everything"),
    ("leak:main", "the frame main"),
    ("leak:malloc", "the frame malloc"),
    ("leak:alloc", "the frame malloc"),
    ("leak:operator new", "the frame operator new"),
    ("leak:_start", "the frame _start"),
    ("leak:Pool\nleak:*", "one line"),
    ("leak:Pool\r", "Windows"),
    ("leak:Pool\r\nleak:b", "one line"),
    ("leak:\tPool", "tab"),
    ("leak:Pool # the pool keeps it", "no comment behind a rule"),
    ("# leak:Pool", "comment and hides nothing"),
    ("leak:Po\u202eol", "cannot be seen"),
    ("leak:Pool\u200b", "cannot be seen"),
    ("leak:Pool\0", "cannot be seen"),
    ("leak: Pool", "blank behind the colon"),
    ("leak:Pool$Other", "end of the text"),
    ("leak:" + "P" * 1000, "1,000 characters"),
    ("Pool", "begins with leak:"),
    ("leaks:Pool", "begins with leak:"),
    ("Leak:Pool", "begins with leak:"),
    ("race:Pool", "a type of ThreadSanitizer"),
    ("interceptor_name:memcpy", "a type of AddressSanitizer"),
]

BLOCK = "{\n  the pool\n  Memcheck:Leak\n  match-leak-kinds: definite\n  ...\n  fun:_ZN6engine4Pool3getEm\n}"
BLOCKS = [
    ("", "Write the block"),
    ("leak:Pool", "begins with a line {"),
    (BLOCK + "\n" + BLOCK, "One block a proposal"),
    (BLOCK + "\nleak:x", "begins with a line {"),
    ("{\n  x\n  Memcheck:Leak\n  ...\n}", "at least one frame is not"),
    ("{\n  x\n  Memcheck:Leak\n  fun:*\n}", "matches everything"),
    ("{\n  x\n  Memcheck:Leak\n  fun:*\n  obj:*\n  ...\n}", "matches everything"),
    ("{\n  x\n  Memcheck:Leak\n  fun:malloc\n  ...\n}", "matches everything"),
    ("{\n  x\n  Memcheck:Leak\n  fun:_Znwm\n  fun:ma*\n}", "matches everything"),
    ("{\n  x\n  Memcheck:Nothing\n  fun:pool_get\n}", "unknown kind"),
    ("{\n  x\n  fun:pool_get\n}", "passes it over"),
    ("{\n  Memcheck:Leak\n  fun:pool_get\n}", "passes it over"),
    ("{\n  x\n  Memcheck:Leak\n  fun:pool_get # why\n}", "no comment behind a frame"),
    ("{\n  x\n  Memcheck:Leak\n" + "  ...\n" * 12 + "  fun:pool_get\n}", "first 12 frames"),
    ("{\n  x\n  nothing\n  fun:pool_get\n}", "TOOL:KIND"),
    ("{\n  x\n  memcheck:Leak\n  fun:pool_get\n}", "passes it over"),
    ("{\n  x\n  Memcheck:Leak\n  match-leak-kinds: some\n  fun:pool_get\n}", "known kinds"),
    ("{\n  x\n  Memcheck:Leak\n  # why\n  fun:pool_get\n}", "comments out of the block"),
    ("{\n  x\n  Memcheck:Leak\n  fun:po\tol\n}", "tab"),
    ("{\n" + "  fun:pool_get\n" * 40 + "}", "30 lines"),
]


@pytest.mark.parametrize(("tool", "rule"), TAKEN, ids=[rule for _, rule in TAKEN])
def test_a_rule_that_the_runtime_reads_and_that_says_something_is_taken(tool, rule):
    assert refusal(tool, tidy(tool, rule)) is None


@pytest.mark.parametrize(("rule", "why"), REFUSED, ids=[repr(rule[:30]) for rule, _ in REFUSED])
def test_a_rule_is_refused_with_what_would_be_right(rule, why):
    refused = refusal(LSAN, tidy(LSAN, rule))
    assert refused is not None
    assert why in refused.why
    assert refused.broad is (why.startswith(("matches", "the frame")))


@pytest.mark.parametrize(("rule", "why"), BLOCKS, ids=[repr(rule[:40]) for rule, _ in BLOCKS])
def test_a_block_is_refused_with_what_would_be_right(rule, why):
    refused = refusal(VALGRIND, tidy(VALGRIND, rule))
    assert refused is not None
    assert why in refused.why


def test_a_block_may_come_with_line_ends_of_windows_as_a_browser_sends_it():
    assert tidy(VALGRIND, "\r\n" + BLOCK.replace("\n", "\r\n") + "\r\n\r\n") == BLOCK
    assert refusal(VALGRIND, BLOCK) is None


def test_every_other_type_than_the_tools_own_is_refused():
    for tool, rule in ((TSAN, "leak:Pool"), (UBSAN, "leak:Pool"), (ASAN, "leak:Pool"), (ASAN, "vptr:Pool")):
        refused = refusal(tool, rule)
        assert refused is not None
        assert "ends at its start" in refused.why


def test_of_ubsan_only_the_innermost_frame_counts_so_main_is_a_function_like_others():
    assert refusal(UBSAN, "null:main") is None


def test_what_an_older_runtime_does_not_know_is_said():
    assert "LLVM 19" in warnings(ASAN, "alloc_dealloc_mismatch:engine::Pool")[0]
    assert warnings(LSAN, "leak:Pool^Get")
    assert warnings(LSAN, "leak:^Pool") == ()
    assert warnings(VALGRIND, BLOCK) == ()
