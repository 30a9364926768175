"""Frames as gcc, clang, MSVC, macOS and Android print them, and stacks told by their bytes."""

import pytest

from leaks.evidence import Frame
from leaks.parsing.frames import FrameTexts, other_splits, understood, with_address, without_address

# text after the address -> function, file, line, column, module, offset, build id
FORMS = [
    ("in aligned_block src/pool.cpp:3", "aligned_block", "src/pool.cpp", 3, None, None, None, None),
    ("in main /home/user/src/leak.cpp:34:12", "main", "/home/user/src/leak.cpp", 34, 12, None, None, None),
    (
        "in grid::Scratch::Scratch(grid::BlockPool&, unsigned long) (/home/user/tiles+0x1012e)",
        "grid::Scratch::Scratch(grid::BlockPool&, unsigned long)", None, None, None, "/home/user/tiles", "0x1012e", None,
    ),
    ("in malloc (/bin/app+0xcb5cf) (BuildId: 9b8ff1)", "malloc", None, None, None, "/bin/app", "0xcb5cf", "9b8ff1"),
    ("(/home/user/supp+0xcb5cf) (BuildId: 9b8ff1)", None, None, None, None, "/home/user/supp", "0xcb5cf", "9b8ff1"),
    ("(/data/app/base.apk!libx.so+0x1f510)  (BuildId: ab)", None, None, None, None, "/data/app/base.apk!libx.so", "0x1f510", "ab"),
    ("(/opt/App (x86)/bin/app+0x12)", None, None, None, None, "/opt/App (x86)/bin/app", "0x12", None),
    ("(<unknown module>)", None, None, None, None, "<unknown module>", None, None),
    ("in __asan_memcpy asan_interceptors.cpp.o", "__asan_memcpy", "asan_interceptors.cpp.o", None, None, None, None, None),
    ("in malloc+0x8c (libclang_rt.asan_osx_dynamic.dylib:arm64+0x3a0c)", "malloc+0x8c", None, None, None,
     "libclang_rt.asan_osx_dynamic.dylib", "0x3a0c", None),
    ("in relay::run() relay.cc:88", "relay::run()", "relay.cc", 88, None, None, None, None),
    (r"in TestGrid::run D:\work area\grid\test_grid.h:57", "TestGrid::run", r"D:\work area\grid\test_grid.h", 57, None, None, None, None),
    ("in main C:/Program Files (x86)/a.cpp:7", "main", "C:/Program Files (x86)/a.cpp", 7, None, None, None, None),
    ("main /src/race.cc:12:3 (race+0x4b8c) (BuildId: ab)", "main", "/src/race.cc", 12, 3, "race", "0x4b8c", "ab"),
    ("main <null> (race+0x4b8c)", "main", None, None, None, "race", "0x4b8c", None),
    ("<null> <null> (libc.so.6+0x1)", None, None, None, None, "libc.so.6", "0x1", None),
    ("Ledger.add() <null>:12 (Ledger:x86_64+0x1)", "Ledger.add()", None, 12, None, "Ledger", "0x1", None),
    ("in ?? ??:0", None, None, None, None, None, None, None),
    ("in _start", "_start", None, None, None, None, None, None),
    ("in run_once() (.resume) /src/reactor.cc:88:3", "run_once() (.resume)", "/src/reactor.cc", 88, 3, None, None, None),
    ("in foo(int) [clone .constprop.0] src/a.c:3", "foo(int) [clone .constprop.0]", "src/a.c", 3, None, None, None, None),
    ("in f(int) const /home/my user/src/x.cpp:3", "f(int) const", "/home/my user/src/x.cpp", 3, None, None, None, None),
    ("in (anonymous namespace)::f src/x.cpp:3", "(anonymous namespace)::f", "src/x.cpp", 3, None, None, None, None),
    ("in std::function<void ()>::operator()() const /usr/include/f.h:591:9", "std::function<void ()>::operator()() const",
     "/usr/include/f.h", 591, 9, None, None, None),
    ("in void grid::fill<int>(int) src/my dir/z.cc:3:1", "void grid::fill<int>(int)", "src/my dir/z.cc", 3, 1, None, None, None),
    ("in main /src/a.cc:7 (discriminator 3)", "main", "/src/a.cc", 7, None, None, None, None),
    ("in malloc ??:?", "malloc", None, None, None, None, None, None),
    ("in relay y.cc:?", "relay", "y.cc", None, None, None, None, None),
    (r"in std::_Impl<`lambda at C:\x.cpp:3:4',void>::_Do_call C:\vs\functional:821", r"std::_Impl<`lambda at C:\x.cpp:3:4',void>::_Do_call",
     r"C:\vs\functional", 821, None, None, None, None),
    ("in call<(lambda at /src/a b.cpp:3:4)>(int) /src/a.cpp:9:1", "call<(lambda at /src/a b.cpp:3:4)>(int)", "/src/a.cpp", 9, 1, None, None, None),
    ("in operator/(A const&, A const&) /src/a.h:9", "operator/(A const&, A const&)", "/src/a.h", 9, None, None, None, None),
    ("in void (*get())() a.c:1", "void (*get())()", "a.c", 1, None, None, None, None),
    ("in <alloc::raw_vec::RawVec<u8>>::with_capacity_in /rustc/ab/library/alloc/src/raw_vec.rs:155:9",
     "<alloc::raw_vec::RawVec<u8>>::with_capacity_in", "/rustc/ab/library/alloc/src/raw_vec.rs", 155, 9, None, None, None),
    ("in closure #1 in Run.run(_:) Run.swift:12", "closure #1 in Run.run(_:)", "Run.swift", 12, None, None, None, None),
    ("in operator new[](unsigned long) ../../../../src/libsanitizer/asan/asan_new_delete.cpp:98", "operator new[](unsigned long)",
     "../../../../src/libsanitizer/asan/asan_new_delete.cpp", 98, None, None, None, None),
    ("in thunk for @callee_guaranteed (@unowned Box) -> (@unowned Box, @error @owned Error) <compiler-generated>",
     "thunk for @callee_guaranteed (@unowned Box) -> (@unowned Box, @error @owned Error)", None, None, None, None, None, None),
    ("closure #1 in keep(_:) <compiler-generated>:0 (Pool:arm64+0x1)", "closure #1 in keep(_:)", None, None, None, "Pool", "0x1", None),
    ("in keep<A, B>(of:_:)+0xe (libswiftCore.dylib:x86_64+0x13ac9e)", "keep<A, B>(of:_:)+0xe", None, None, None,
     "libswiftCore.dylib", "0x13ac9e", None),
    ("in -[Pool(Private) keep:forKey:] Pool.m:12", "-[Pool(Private) keep:forKey:]", "Pool.m", 12, None, None, None, None),
    ("in __21-[Pool keep:forKey:]_block_invoke_2+0x2a (Pool:x86_64+0x1)", "__21-[Pool keep:forKey:]_block_invoke_2+0x2a", None, None, None,
     "Pool", "0x1", None),
    ("in main.(*Pool).Get /src/pool.go:12", "main.(*Pool).Get", "/src/pool.go", 12, None, None, None, None),
    ("in _cgo_0a7e_Cfunc_keep cgo-gcc-prolog:49:11", "_cgo_0a7e_Cfunc_keep", "cgo-gcc-prolog", 49, 11, None, None, None),
    ("in pool::keep::{{closure}} src/lib.rs:3:5", "pool::keep::{{closure}}", "src/lib.rs", 3, 5, None, None, None),
    ("in std::vector<__int64,std::allocator<__int64> >::push_back C:\\VS (x86)\\include\\vector:784",
     "std::vector<__int64,std::allocator<__int64> >::push_back", "C:\\VS (x86)\\include\\vector", 784, None, None, None, None),
    ("in start_main ../../libc_start.c:93 <libc.so>+0x975fe", "start_main", "../../libc_start.c", 93, None, "libc.so", "0x975fe", None),
    ("in keep(int) <<application>>+0x75a95", "keep(int)", None, None, None, "<application>", "0x75a95", None),
    ("in __libc_start_main (??)", "__libc_start_main", None, None, None, None, None, None),
    ("in typeinfo name for pool::Keeper (/bin/app+0x1)", "typeinfo name for pool::Keeper", None, None, None, "/bin/app", "0x1", None),
    ("/build/libc/string/memmove.S:345", None, "/build/libc/string/memmove.S", 345, None, None, None, None),
    ("pool.c", None, "pool.c", None, None, None, None, None),
    ("in f(int) /src/copy (2)/a.cc:12:3", "f(int)", "/src/copy (2)/a.cc", 12, 3, None, None, None),
    ("in f /src/copy [2]/a.cc:12:3", "f", "/src/copy [2]/a.cc", 12, 3, None, None, None),
    ("in plain_c my src/a.cpp:3", "plain_c", "my src/a.cpp", 3, None, None, None, None),
    ("in plain_c /tmp/src/a (1).cpp:3", "plain_c", "/tmp/src/a (1).cpp", 3, None, None, None, None),
    ("in plain_c a (1).cpp:3:7", "plain_c", "a (1).cpp", 3, 7, None, None, None),
    ("in plain_c lib (v2)/a.cpp:3", "plain_c", "lib (v2)/a.cpp", 3, None, None, None, None),
    ("in plain_c /src/a (copy) 2.cpp:3", "plain_c", "/src/a (copy) 2.cpp", 3, None, None, None, None),
    ("in pool::grow(int) const a (copy) 2.cpp:3", "pool::grow(int) const", "a (copy) 2.cpp", 3, None, None, None, None),
    ("in Box::operator()(int) const my dir (v2)+x/a b (c).cpp:8", "Box::operator()(int) const", "my dir (v2)+x/a b (c).cpp", 8, None,
     None, None, None),
    ("in operator() my src/a.cpp:4", "operator()", "my src/a.cpp", 4, None, None, None, None),
    ("in make<unsigned int> my src/a.cpp:4", "make<unsigned int>", "my src/a.cpp", 4, None, None, None, None),
    ("in (anonymous namespace)::f my src/x.cpp:3", "(anonymous namespace)::f", "my src/x.cpp", 3, None, None, None, None),
    ("in f() [clone .part.0] my src/a.c:3", "f() [clone .part.0]", "my src/a.c", 3, None, None, None, None),
    ("grow my src/a.cpp:3 (app+0x12)", "grow", "my src/a.cpp", 3, None, "app", "0x12", None),
    ("in operator unsigned long a.cpp:3", "operator unsigned long", "a.cpp", 3, None, None, None, None),
    ("in Foo::operator new my src/a.cpp:3", "Foo::operator new my", "src/a.cpp", 3, None, None, None, None),  # it cannot be known
    ("", None, None, None, None, None, None, None),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=[form[0][:40] for form in FORMS])
def test_a_frame_is_split_from_the_right(form):
    assert understood(form[0]) == Frame(*form)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("in plain_c my src/a.cpp:3", []),
        ("in plain_c /tmp/my src/a (1).cpp:3", []),
        ("in eng::grow(int) const my src/a b.cpp:3", []),
        ("in void eng::grow<int>(int) my src/a.cpp:3", []),
        ("in operator unsigned long /src/a.cpp:3", []),
        ("in <T as Pool>::grow src/lib.rs:3", []),
        ("in Foo::operator new my a.cpp:3", [("Foo::operator", "new my a.cpp"), ("Foo::operator new", "my a.cpp")]),
        ("in grow my src/Run.swift:3", [("grow my", "src/Run.swift")]),
        ("in plain_c my a(1) b.cpp:3", [("plain_c", "my a(1) b.cpp"), ("plain_c my", "a(1) b.cpp")]),
    ],
)
def test_a_frame_that_may_be_split_in_several_places_tells_them(text, others):
    frame = understood(text)
    assert list(other_splits(frame.function, frame.file)) == others


def test_a_frame_that_was_split_elsewhere_is_known_again():
    assert other_splits("plain_c my", "src/a.cpp") == (("plain_c", "my src/a.cpp"),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    #0 0x7f30d7eb7e68 in malloc a.c:1", (0, "7f30d7eb7e68", "in malloc a.c:1")),
        ("    #12 0x4f2b3c  (/bin/app+0x1)", (12, "4f2b3c", "(/bin/app+0x1)")),
        ("    #3 0x4f2b3c (/bin/app+0x1)", (3, "4f2b3c", "(/bin/app+0x1)")),
        ("host # [   24.7] #1 0x4f2b3c in f", (1, "4f2b3c", "in f")),
        ("    #0 0x12a4e7c01954", (0, "12a4e7c01954", "")),
        ("#12 0.532 -- Configuring done", None),
        ("#12 [build 3/5] RUN cmake", None),
        ("issue #4 0xbeef was fixed", (4, "beef", "was fixed")),
        ("    # 0 0x7f30d7eb7e68 in f", None),
        ("    #0 0xnothex in f", None),
        ("    #12345 0x1 in f", None),
    ],
)
def test_an_address_makes_a_line_a_frame(line, expected):
    assert with_address(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    #0 main race.cc:12 (race+0x1)", (0, "", "main race.cc:12 (race+0x1)")),
        ("#0 main race.cc:12 (race+0x1)", None),
        ("#7 DONE 0.3s", None),
    ],
)
def test_without_an_address_a_frame_is_indented(line, expected):
    assert without_address(line) == expected


def test_a_text_is_understood_once():
    texts = FrameTexts()
    assert texts("in main a.c:1") is texts("in main a.c:1")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 60_000,
        ")" * 60_000,
        ":1" * 30_000,
        " /" * 30_000,
        "+0x1" * 15_000 + ")",
        "<" * 60_000,
        "(" * 20_000 + " /)" * 20_000 + ":1",
        "f" + " (a)" * 15_000 + " b:1",
        "a " * 30_000 + "b:1",
        "operator " * 7_000 + "b:1",
    ],
)
def test_brackets_without_end_cost_no_time(text):
    frame = understood("in " + text)
    assert frame.text == "in " + text
    assert len(other_splits(frame.function or "", frame.file or "")) <= 64
