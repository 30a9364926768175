"""Patterns for the linker's names, held against the names that Valgrind prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.mangled_names import Likeness, likeness
from leaks.rule_patterns import glob

# As the linker knows a function, and as Valgrind prints it.
FUNCTIONS = {
    "_ZN2ns5leak1Ei": "ns::leak1(int)",
    "_Z3inli": "inl(int)",
    "_ZN2ns2mkI1NEEPT_v": "N* ns::mk<N>()",
    "_ZL4dropP4Item": "drop(Item*)",
    "_ZN3FooC2Ei": "Foo::Foo(int)",
    "_ZN3FooD1Ev": "Foo::~Foo()",
    "_ZNK3Foo3getEv": "Foo::get() const",
    "_ZN12_GLOBAL__N_13fooEv": "(anonymous namespace)::foo()",
    "_ZN2nsL4dropEv": "ns::drop()",
    "_ZSt4movei": "std::move(int)",
    "_ZNSt6vectorIiSaIiEE9push_backERKi": "std::vector<int, std::allocator<int> >::push_back(int const&)",
    "_ZZ4mainENKUliE_clEi": "main::{lambda(int)#1}::operator()(int) const",
    "_ZZZ3runvENKUlvE_clEvENKUlvE0_clEv": "run()::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const",
    "_ZN3FooplERKS_": "Foo::operator+(Foo const&)",
    "_ZN3FoocviEv": "Foo::operator int()",
    "_Znwm": "operator new(unsigned long)",
    "_ZNSs3addEv": "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::add()",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm": (
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, unsigned long)"
    ),
    "_ZN1aIiE1bIcE1cEv": "a<int>::b<char>::c()",
    "_ZN4core3fmt5write17h0123456789abcdefE": "core::fmt::write::h0123456789abcdef",
    "main": "main",
    "malloc": "malloc",
    "(below main)": "(below main)",
    "???": "???",
}


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, str]:
    """A linker's name and a pattern cut from it."""
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    start = draw(st.integers(0, len(name)))
    stop = draw(st.integers(start, len(name)))
    wild = draw(st.sampled_from(["*", "?", "*x", "??", "x"]))
    ends = draw(st.sampled_from(["{0}{3}{2}", "{0}{3}", "*{1}*", "*{2}", "{3}{1}{3}"]))
    return name, ends.format(name[:start], name[start:stop], name[stop:], wild)


@given(patterns())
def test_what_is_said_for_certain_is_true_of_the_name(drawn: tuple[str, str]) -> None:
    name, pattern = drawn
    said = likeness(pattern, FUNCTIONS[name])
    assert said is not (Likeness.NO if glob(pattern).matches(name) else Likeness.YES), (pattern, name)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("_ZNSs3addEv", "_ZZ4mainENKUliE_clEi")])
def test_a_whole_name_fits_its_function(name: str) -> None:
    expected = Likeness.MAYBE if name.startswith("_ZZZ") else Likeness.YES
    assert likeness(name, FUNCTIONS[name]) is expected


@pytest.mark.parametrize(
    ("pattern", "printed", "said"),
    [
        ("_ZN4Pool*", "Pool::grow(int)", Likeness.YES),
        ("_ZN4Pool4growE*", "Pool::grow(int)", Likeness.MAYBE),  # not if it were static
        ("*grow*", "Pool::grow(int)", Likeness.YES),
        ("*4growE*", "Pool::grow(int)", Likeness.YES),
        ("*shrink", "Pool::grow(int)", Likeness.MAYBE),  # the parameters may hold that
        ("_ZN4Pool6shrink*", "Pool::grow(int)", Likeness.NO),
        ("Pool::grow*", "Pool::grow(int)", Likeness.NO),  # names of the source match nothing
        ("grow", "grow(int)", Likeness.NO),
        ("grow", "grow", Likeness.YES),
        ("gro?", "grow", Likeness.YES),
        ("*", "Pool::grow(int)", Likeness.YES),
        ("_ZN4Pool4growEi", "Pool::grow(long)", Likeness.NO),
    ],
)
def test_how_surely_a_pattern_fits(pattern: str, printed: str, said: Likeness) -> None:
    assert likeness(pattern, printed) is said
