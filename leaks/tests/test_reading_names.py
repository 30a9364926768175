"""Names: what was printed without its clothes, and the form in which builds and compilers agree."""

import pytest

from leaks.parsing.names import normal, qualified

# as printed -> qualified, normal
NAMES = [
    ("main", "main", "main"),
    ("grid::BlockPool::take(unsigned long)", "grid::BlockPool::take", "grid::BlockPool::take"),
    ("Foo::~Foo()", "Foo::~Foo", "Foo::~Foo"),
    ("std::vector<int, std::allocator<int> >::resize(unsigned long)", "std::vector<int, std::allocator<int> >::resize", "std::vector::resize"),
    ("int Catch::Session::run<char>(int, char const* const*)", "Catch::Session::run<char>", "Catch::Session::run"),
    ("decltype (f(x)) ns::g<(ns::E)3>(int&&)", "ns::g<(ns::E)3>", "ns::g"),
    ("decltype(auto) ns::f<int>(int)", "ns::f<int>", "ns::f"),
    ("void std::_Invoker<tuple<void (*)()> >::_M_invoke<0ul>(X)", "std::_Invoker<tuple<void (*)()> >::_M_invoke<0ul>", "std::_Invoker::_M_invoke"),
    ("void (*)()", "void (*)()", "void"),
    ("Foo<(A > B)>::baz() const&&", "Foo<(A > B)>::baz", "Foo::baz"),
    ("(anonymous namespace)::Cache<int>::put(int)", "(anonymous namespace)::Cache<int>::put", "(anonymous namespace)::Cache::put"),
    ("`anonymous namespace'::put(int)", "`anonymous namespace'::put", "(anonymous namespace)::put"),
    ("{anonymous}::put(int)", "{anonymous}::put", "(anonymous namespace)::put"),
    ("non-virtual thunk to X::y()", "X::y", "X::y"),
    # operators
    ("operator new(unsigned long, std::align_val_t)", "operator new", "operator new"),
    ("operator new[](unsigned long)", "operator new[]", "operator new[]"),
    ("operator delete [](void*)", "operator delete []", "operator delete[]"),
    ("Foo::operator()(int) const", "Foo::operator()", "Foo::operator()"),
    ("std::function<void ()>::operator()() const", "std::function<void ()>::operator()", "std::function::operator()"),
    ("std::ostream& std::operator<< <traits<char> >(std::ostream&, char const*)", "std::operator<< <traits<char> >", "std::operator<<"),
    ("bool operator==<int>(X<int> const&, X<int> const&)", "operator==<int>", "operator=="),
    ("a::operator<(a::B const&, a::B const&)", "a::operator<", "a::operator<"),
    ("X::operator->() const", "X::operator->", "X::operator->"),
    ("operator&&", "operator&&", "operator&&"),
    ("Foo::operator unsigned long() const", "Foo::operator unsigned long", "Foo::operator unsigned long"),
    ("Foo::operator std::vector<int, A<int> >() const &", "Foo::operator std::vector<int, A<int> >", "Foo::operator std::vector"),
    ('X::operator"" _km(long double)', 'X::operator"" _km', 'X::operator"" _km'),
    # what compilers append
    ("scratch(int, int) [clone .constprop.0]", "scratch", "scratch"),
    ("scratch.isra.0.constprop.1", "scratch", "scratch"),
    ("scratch.part.2.cold", "scratch", "scratch"),
    ("scratch.llvm.1234567890123456789", "scratch", "scratch"),
    ("part::Reactor::run_once() (.resume)", "part::Reactor::run_once", "part::Reactor::run_once"),
    ("malloc+0x8c", "malloc", "malloc"),
    ("kasan_report+0x1f/0x30 [inline]", "kasan_report", "kasan_report"),
    ("memcpy@@GLIBC_2.14", "memcpy", "memcpy"),
    ("memcpy@plt", "memcpy", "memcpy"),
    ("kasan_report [inlined]", "kasan_report", "kasan_report"),
    ("ns::Foo::~Foo() [deleting]", "ns::Foo::~Foo", "ns::Foo::~Foo"),
    ("a::b(int) requires C<int>", "a::b", "a::b"),
    ("a::operator+[abi:cxx11](int)", "a::operator+[abi:cxx11]", "a::operator+"),
    # closures
    ("setup(Registry&)::$_0::operator()() const", "setup(Registry&)::$_0::operator()", "setup::{lambda}::operator()"),
    ("setup(Registry&)::$_1::operator()() const", "setup(Registry&)::$_1::operator()", "setup::{lambda}::operator()"),
    ("setup(Registry&)::{lambda(int)#3}::operator()(int) const", "setup(Registry&)::{lambda(int)#3}::operator()", "setup::{lambda}::operator()"),
    ("setup(Registry&)::'lambda0'(int)::operator()(int) const", "setup(Registry&)::'lambda0'(int)::operator()", "setup::{lambda}::operator()"),
    ("<lambda(int)>::operator()(int) const", "<lambda(int)>::operator()", "{lambda}::operator()"),
    ("void call<(lambda at /src/a b.cpp:3:4)>(int)", "call<(lambda at /src/a b.cpp:3:4)>", "call"),
    ("closure #1 in closure #2 in Run.run(_:)", "closure #1 in closure #2 in Run.run", "closure in closure in Run.run"),
    ("X()::{lambda()#1}::_FUN()", "X()::{lambda()#1}::_FUN", "X::{lambda}::operator()"),
    ("X()::$_0::__invoke(int)", "X()::$_0::__invoke", "X::{lambda}::operator()"),
    ("f(int)::{lambda(auto:1)#1}::operator()<int>(int) const", "f(int)::{lambda(auto:1)#1}::operator()<int>", "f::{lambda}::operator()"),
    ("ns::f::<lambda_0123456789abcdef>::operator()", "ns::f::<lambda_0123456789abcdef>::operator()", "ns::f::{lambda}::operator()"),
    ("`ns::f'::`2'::<lambda_1>::operator()", "`ns::f'::`2'::<lambda_1>::operator()", "ns::f::{lambda}::operator()"),
    ("f()::{unnamed type#1}::g()", "f()::{unnamed type#1}::g", "f::{unnamed type}::g"),
    ("f()::'unnamed1'::g()", "f()::'unnamed1'::g", "f::{unnamed type}::g"),
    ("__22-[Ledger add:to:]_block_invoke_2", "__22-[Ledger add:to:]_block_invoke_2", "-[Ledger add:to:]::{lambda}"),
    # libraries and test frameworks
    ("std::__1::vector<int>::push_back[abi:ne190107](int&&)", "std::__1::vector<int>::push_back[abi:ne190107]", "std::vector::push_back"),
    ("f(std::__cxx11::basic_string<char> const&)", "f", "f"),
    ("std::__cxx11::basic_string<char>::append(char const*)", "std::__cxx11::basic_string<char>::append", "std::basic_string::append"),
    ("C_A_T_C_H_T_E_S_T_2", "C_A_T_C_H_T_E_S_T_2", "{test}"),
    ("____C_A_T_C_H____T_E_S_T____12()", "____C_A_T_C_H____T_E_S_T____12", "{test}"),
    ("CATCH2_INTERNAL_TEST_4()", "CATCH2_INTERNAL_TEST_4", "{test}"),
    ("TestGrid::DOCTEST_ANON_FUNC_31()", "TestGrid::DOCTEST_ANON_FUNC_31", "TestGrid::{test}"),
    ("_DOCTEST_ANON_FUNC_15", "_DOCTEST_ANON_FUNC_15", "{test}"),
    ("Session_Close_Test::TestBody()", "Session_Close_Test::TestBody", "{test}::TestBody"),
    ("Session_Close_Test::Reset()", "Session_Close_Test::Reset", "Session_Close_Test::Reset"),
    # other languages
    ("<T as Trait>::f::<U>", "<T as Trait>::f::<U>", "<T as Trait>::f"),
    ("<alloc::raw_vec::RawVec<u8>>::allocate_in", "<alloc::raw_vec::RawVec<u8>>::allocate_in", "<alloc::raw_vec::RawVec>::allocate_in"),
    ("<fn() -> u8 as ops::FnOnce<()>>::call_once", "<fn() -> u8 as ops::FnOnce<()>>::call_once", "<fn() -> u8 as ops::FnOnce>::call_once"),
    ("relay::run::{closure#0}", "relay::run::{closure#0}", "relay::run::{closure}"),
    ("relay::run::{{closure}}::h0123456789abcdef", "relay::run::{{closure}}::h0123456789abcdef", "relay::run::{closure}"),
    ("core::ops::FnOnce::call_once::{shim:vtable#0}", "core::ops::FnOnce::call_once::{shim:vtable#0}", "core::ops::FnOnce::call_once::{shim:vtable}"),
    ("example.com/ledger/race.(*Ledger).Add()", "example.com/ledger/race.(*Ledger).Add", "example.com/ledger/race.(*Ledger).Add"),
    ("example.com/ledger/race.Run.func1.2()", "example.com/ledger/race.Run.func1.2", "example.com/ledger/race.Run.func"),
    ("pkg.Map[go.shape.int].Get", "pkg.Map[go.shape.int].Get", "pkg.Map.Get"),
    ("pkg.(*T[...]).M.func1", "pkg.(*T[...]).M.func1", "pkg.(*T).M.func"),
    ("_cgo_0a1b2c3d4e5f_Cfunc_open", "_cgo_0a1b2c3d4e5f_Cfunc_open", "_cgo_Cfunc_open"),
    ("-[Ledger add:to:]", "-[Ledger add:to:]", "-[Ledger add:to:]"),
    ("Java_Bridge_packet", "Java_Bridge_packet", "Java_Bridge_packet"),
    # oddities survive
    ("", "", ""),
    ("operator", "operator", "operator"),
    ("(((", "(((", "((("),
    (">>)(<", ">>)(<", ">>)(<"),
]  # fmt: skip


@pytest.mark.parametrize(("printed", "bare", "_form"), NAMES, ids=[name[0][:50] for name in NAMES])
def test_the_qualified_name_is_printed_text_without_its_clothes(printed, bare, _form):
    assert qualified(printed) == bare


@pytest.mark.parametrize(("printed", "_bare", "form"), NAMES, ids=[name[0][:50] for name in NAMES])
def test_builds_agree_on_the_normal_form(printed, _bare, form):
    assert normal(printed) == form


@pytest.mark.parametrize("printed", [name[0] for name in NAMES if name[0]])
def test_a_normal_form_is_its_own(printed):
    assert normal(normal(printed)) == normal(printed)


@pytest.mark.parametrize(
    "unit",
    [
        "(",
        "<",
        "{",
        "operator",
        "operator<",
        "[clone ",
        "a ",
        "(<",
        "const ",
        "::",
        "x&",
        "a_",
        "_Test::",
        "`",
        "$_1",
        "->",
        ">",
    ],
)
def test_nothing_looks_twice_at_the_same_text(unit):
    # Quadratic work on a megabyte would run into the time limit of the test.
    normal(unit * (1_000_000 // len(unit)))
