"""One defect under two words is one family; what the kind does not tell, the stacks do."""

import pytest

from leaks.evidence import Frame, Report, Stack
from leaks.families import family
from leaks.words import Role

FRAMES = (Frame("in f() src/a.cpp:1", "f()", "src/a.cpp", 1),)

KINDS = [
    ("direct-leak", "leak"),
    ("valgrind-possibly-lost", "leak"),
    ("heap-buffer-overflow", "overflow"),
    ("data-race", "data-race"),
    ("undefined-behavior:null", "null"),
    ("undefined-behavior:null-pointer-use", "null"),
    ("undefined-behavior:invalid-shift-exponent", "shift-exponent"),
    ("undefined-behavior:misaligned-pointer-use", "alignment"),
    ("undefined-behavior:bounds", "overflow"),
    ("undefined-behavior:out-of-bounds-index", "overflow"),
    ("undefined-behavior:object-size", "overflow"),
    ("undefined-behavior:unrecognised", "unrecognised"),
    ("bounds", "bounds"),
    ("valgrind-invalid-free", "free"),
    ("some-new-kind", "some-new-kind"),
]
BLOCKS = [
    ((Role.FREED, Role.ALLOCATED), "use-after-free"),
    ((Role.FREED,), "use-after-free"),
    ((Role.ALLOCATED,), "overflow"),
    ((Role.OTHER,), "overflow-or-free"),
    ((), "overflow-or-free"),
]
PARAMETERS = [
    ("Syscall param write(buf) points to uninitialised byte(s)", "uninitialized"),
    ("Syscall param write(buf) points to unaddressable byte(s)", "overflow-or-free"),
]


def of(kind: str, *roles: Role, detail: str = "") -> str:
    stacks = tuple(Stack(role, FRAMES) for role in roles)
    return family(Report("x", kind, 1, "", FRAMES, stacks, detail=detail))


@pytest.mark.parametrize(("kind", "expected"), KINDS, ids=[kind for kind, _ in KINDS])
def test_a_kind_belongs_to(kind, expected):
    assert of(kind) == expected


@pytest.mark.parametrize(("roles", "expected"), BLOCKS, ids=[str(len(roles)) + expected for roles, expected in BLOCKS])
def test_an_invalid_access_of_valgrind_is_told_by_the_block_it_names(roles, expected):
    assert of("valgrind-invalid-read", *roles) == of("valgrind-invalid-write", *roles) == expected


@pytest.mark.parametrize(("detail", "expected"), PARAMETERS, ids=[expected for _, expected in PARAMETERS])
def test_a_parameter_of_a_system_call_is_told_by_its_sentence(detail, expected):
    assert of("valgrind-syscall-param", detail=detail) == expected
