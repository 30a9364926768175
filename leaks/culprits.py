"""Whose bug is it: the own steps of a stack, under names in which compilers agree, and the one among them that is the culprit.

A stack shows less than the source: what was inlined is gone, gcc prints functions of internal linkage without their namespace, and the
owner of a thread's function may be named only in the template arguments of the library that called it. What is missing is restored
from the frames around, as far as the text goes; the rest is left as it is.
"""

import re
from collections.abc import Container, Iterable, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from leaks.evidence import Frame
from leaks.own import Owner, Ownership
from leaks.parsing.names import ANONYMOUS, normal, qualified

LONGEST_STACK = 256  # own steps looked at; recursion repeats beyond that
MOST_FRAMES = 4096

TEST_BODY = re.compile(
    r"(^|::)(TestBody|main|\{test\}|test_method)$|^[Tt]est_?[A-Z_]|(^|::)tests?::|\.(Test|Benchmark|Fuzz)([A-Z_]\w*)?$|^main\.main$"
    r"|^[-+]\[\w*Tests? test|^LLVMFuzzerTestOneInput$",
    re.ASCII,
)
TEST_FILE = re.compile(r"(^|[/\\])tests?[/\\]|(^|[/\\])test_[^/\\]*$|[_-](unit)?tests?\.\w+$|Tests?\.(cpp|cc|cxx|cu)$")
NAMED_TEST = re.compile(r"\b(\w+_Test)::TestBody")
# As gcc prints functions of internal linkage, and Valgrind what is inlined: neither scope nor parameters.
BARE = re.compile(r"~?[A-Za-z_]\w*(?:<.*>)?|operator\(\)|operator\W{1,3}|<lambda.*>")
# Names that say nothing without the file they are in.
VAGUE = re.compile(
    r"(\(anonymous namespace\)::)?(operator\(\)|\{lambda\}.*|main|\{test\}.*|TestBody|__cxx_global_var_init[.\d]*)$"
)

MEMORY_WORD = re.compile(r"alloc|aligned|acquire|pool|arena|slab|freelist|recycl", re.IGNORECASE)

CLOSURE = re.compile(
    r"(?:::|\.)(?:\{lambda\}|\{closure\}|\{\{closure\}\}|func\b).*|^(?:partial apply for |(?:implicit )?closure in )+"
)
LAMBDA_MARK = re.compile(r"::(?:\$_\d|\{lambda|<lambda|'lambda|'block-literal|__lambda\d)")
# Library functions that call what they were given: the callable's type stands in their template arguments.
INVOKER = re.compile(
    r"invoke|_M_run\b|__call\b|__thread_(?:execute|proxy)|_Function_handler<|__function::__(?:alloc_)?func<|_Func_impl"
)
LONGEST_CALLED = 2000


class Step(NamedTuple):
    """One own function on a stack: what identity and plumbing go by, where it was printed or who names it, and its name for people."""

    name: str
    frame: Frame
    shown: str
    test: bool = False
    plumbing: bool = False  # as the project says: it owns nothing as long as anything else does
    serves: bool = False  # it hands memory on to its caller
    bare: bool = False  # printed without its scope, whether or not that was restored


class Known(NamedTuple):
    """What a frame says whatever stands around it."""

    step: Step | None = None
    called: bool = False  # the step is what a library function was given to call
    file: str = ""  # base name

    @property
    def needs_others(self) -> bool:
        return self.step is not None and (self.called or self.step.bare)


NOTHING = Known()


def steps(frames: Sequence[Frame], ownership: Ownership, *, repeats: bool = False) -> list[Step]:
    """The own steps, innermost first. What repeats at once stands there once, unless asked for."""
    memory = ownership.memory
    own = [
        known
        for frame in frames[:MOST_FRAMES]
        if (known := memory.get(frame.text) or _learn(frame, ownership)) is not NOTHING
    ]
    if not own:
        return []
    found = (
        _restored(own, ownership.plumbing)
        if any(one.needs_others for one in own)
        else [one.step for one in own if one.step]
    )
    if not repeats:
        found = found[:1] + [step for above, step in pairwise(found) if step.name != above.name]
    return found[:LONGEST_STACK]


def _restored(own: Sequence[Known], plumbing: Container[str]) -> list[Step]:
    """From the outermost inwards: a name without scope gets that of its caller in the same file, a bare closure is its caller's."""
    found: list[Step] = []
    scopes: dict[str, str] = {}
    called = ""
    for known in reversed(own):
        step = known.step
        if step is None:
            continue
        if known.called:
            called = step.name
        else:
            step = _in_scope(step, called or scopes.get(known.file, "")) if step.bare else step
            scopes[known.file] = step.name
            called = ""
        if step.name in plumbing:
            step = step._replace(plumbing=True, serves=True)
        found.append(step)
    return found[::-1]


def _in_scope(step: Step, caller: str) -> Step:
    """Internal linkage means that the caller is in the same file, and mostly in the same namespace."""
    if step.name.startswith("operator()"):
        return step._replace(name=caller, shown=caller) if caller else step
    scope = scope_of(caller)
    name = f"{scope}::{step.name}" if scope else step.name
    return step._replace(name=name, shown=name)


def _learn(frame: Frame, ownership: Ownership) -> Known:
    """Each distinct frame is understood once for a project."""
    owner = ownership.owner(frame)
    known = NOTHING
    if owner in (Owner.OWN, Owner.PLUMBING):
        known = _own(
            frame, plumbing=owner is Owner.PLUMBING or identity_name(frame.function or "") in ownership.plumbing
        )
    elif owner is Owner.STANDARD_LIBRARY and (name := _called(frame.function or "", ownership)):
        known = Known(Step(name, frame, name, serves=hands_memory_on(name)), called=True)
    ownership.memory[frame.text] = known
    return known


def _own(frame: Frame, *, plumbing: bool) -> Known:
    function = frame.function or ""
    name = identity_name(function)
    file = base_name(frame.file or "")
    test = bool(TEST_BODY.search(name) or TEST_FILE.search(frame.file or ""))
    bare = bool(file) and not test and BARE.fullmatch(function) is not None
    # Of what is inlined Valgrind prints not even the class: that it is a pool's may stand in the name of the file alone.
    words = file if bare and frame.module is None and frame.text.endswith(")") else ""
    serves = plumbing or hands_memory_on(name, words)
    name = _vague_name(name, function, file) if test or VAGUE.match(name) else name
    return Known(Step(name, frame, qualified(function), test, plumbing, serves, bare), file=file)


def _called(function: str, ownership: Ownership) -> str:
    """`X` of `std::_Function_handler<void (), X()::{lambda()#1}>::_M_invoke`, if it is an own function."""
    if not INVOKER.search(function):
        return ""
    mark = LAMBDA_MARK.search(function)
    name = enclosing(function, mark.start()) if mark else ""
    if not name or ownership.owner(Frame(name, name)) is not Owner.OWN:
        return ""
    return identity_name(name)


def _vague_name(name: str, function: str, file: str) -> str:
    """Test macros number their functions; what stays is the name of the test where it has one, else the file."""
    found = NAMED_TEST.search(function)
    if found:
        return found[1]
    return f"{name} {file}".rstrip() if VAGUE.match(name) else name


def enclosing(function: str, end: int) -> str:
    """The name that ends at `end` and begins behind the bracket, comma or blank that it stands in."""
    depth = 0
    for at in range(end - 1, max(-1, end - LONGEST_CALLED), -1):
        char = function[at]
        if char in ")>]}":
            depth += 1
        elif char in "(<[{" and depth:
            depth -= 1
        elif char in "(<[{, " and not depth:
            return function[at + 1 : end]
    return ""


def identity_name(function: str) -> str:
    """The name that identity goes by. A closure is part of the function it is written in: whether a compiler inlined it says nothing.

    The unnamed namespace goes, and with it the class of a method in it, because gcc prints neither; without a namespace around it the
    class is all that tells such methods apart, and stays.
    """
    name = normal(function)
    plain = CLOSURE.sub("", name) or name
    around, unnamed, inside = plain.rpartition(f"{ANONYMOUS}::")
    last = inside.rpartition("::")[2]
    if not unnamed or not last:
        return plain
    return around + last if around and not last.startswith("operator") else around + inside


def scope_of(name: str) -> str:
    """The namespace of a function: its qualifiers without the class at their end, which is told by its capital or its constructor."""
    qualifiers = name.split("::")[:-1]
    if qualifiers and qualifiers[-1] == name.rpartition("::")[2].lstrip("~"):
        qualifiers.pop()
    while qualifiers and qualifiers[-1][:1].isupper():
        qualifiers.pop()
    return "::".join(qualifiers)


def base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


# --- Which of the steps ----------------------------------------------------------------------------------------------


def without_tests(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if not step.test]


def first(steps: Sequence[Step]) -> list[Step]:
    """Who did it: the innermost step that is no plumbing; where a test calls plumbing, that."""
    return next(([step] for step in steps if not step.plumbing), list(steps[-1:]))


def who_lost_it(steps: Sequence[Step]) -> list[Step]:
    """The step that a leak is known by: the first that does not merely hand memory on, or the last before a test body.

    A pool's `Get` and a buffer's constructor stand on top of everybody's leaks; who called them lost the block. How deep that lies follows
    from what the frames say of themselves, so that it is the same with one helper or four, inlined or not.
    """
    for step, caller in pairwise(steps):
        if not step.serves or (caller.test and not step.test):
            return [step]
    return list(steps[-1:])


def who_recurs(steps: Sequence[Step]) -> list[Step]:
    """A stack that overflows ends anywhere in its recursion: known by all that take part, whoever came last."""
    turns: dict[str, list[Step]] = {}
    for step in islice(steps, LONGEST_STACK):
        turns.setdefault(step.name, []).append(step)
    again = [turns[name][0] for name in sorted(turns) if len(turns[name]) > 2]
    return again or first(steps)


def hands_memory_on(name: str, words: str = "") -> bool:
    """An allocator, a pool, a constructor or an operator: it serves its caller."""
    names = name.split("::")[-2:]
    is_constructor = len(names) == 2 and names[0] == names[1]
    return is_constructor or names[-1].startswith("operator") or any(map(MEMORY_WORD.search, [*names, words]))
