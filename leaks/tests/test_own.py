"""Whose frame is it: a table of frames as the tools print them."""

import pytest

from leaks.evidence import Frame, Report
from leaks.own import Owner, Ownership
from leaks.parsing.frames import understood

FRAMES = [
    ("in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69", Owner.RUNTIME),
    ("in malloc (/home/user/build/twice+0xcb5cf) (BuildId: 95a81a77)", Owner.ALLOCATOR),
    ("in operator new(unsigned long) (/home/user/build/asan_clang+0x10cb0d)", Owner.ALLOCATOR),
    ("in operator new[](unsigned long, std::align_val_t) (/home/user/build/asan_clang+0x1)", Owner.ALLOCATOR),
    ("in _Znwm (/usr/lib/libasan.so.8+0xb94c8)", Owner.ALLOCATOR),
    ("in __asan_memcpy (/home/user/build/t+0x11)", Owner.RUNTIME),
    ("in memcpy (/home/user/build/t+0x11)", Owner.LIBC),
    ("in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58", Owner.LIBC),
    ("in _start (/home/user/project/build/asan_rec+0x2330)", Owner.LIBC),
    (
        "in std::vector<int, std::allocator<int> >::resize(unsigned long) /usr/include/c++/12/bits/stl_vector.h:940",
        Owner.STANDARD_LIBRARY,
    ),
    (
        "in void std::__invoke_impl<void, net::Job>(net::Job&&) /usr/include/c++/12/bits/invoke.h:61",
        Owner.STANDARD_LIBRARY,
    ),
    ("in <alloc::raw_vec::RawVec<u8>>::with_capacity_in (/b/t+0x1)", Owner.STANDARD_LIBRARY),
    (
        "in core::ops::function::FnOnce::call_once /rustc/59807616e/library/core/src/ops/function.rs:250",
        Owner.STANDARD_LIBRARY,
    ),
    ("in core::load_profile(char const*) src/core.cpp:6", Owner.OWN),
    ("in alloc::Table::grow() src/alloc.cpp:6", Owner.OWN),
    ("in doctest::Context::run() /usr/include/doctest/doctest.h:6930", Owner.TEST_FRAMEWORK),
    ("in testing::Test::Run() /src/_deps/googletest-src/googletest/src/gtest.cc:2682", Owner.TEST_FRAMEWORK),
    ("in main /usr/include/doctest/doctest.h:7008", Owner.TEST_FRAMEWORK),
    ("in _PyEval_EvalFrameDefault /build/python3.11/Python/ceval.c:4150", Owner.LANGUAGE_RUNTIME),
    ("in ZSTD_createCCtx /usr/lib/zstd/zstd_compress.c:81", Owner.THIRD_PARTY),
    ("in cuInit (/usr/lib/x86_64-linux-gnu/libcuda.so.1+0x2f4a0)", Owner.THIRD_PARTY),
    ("in png_create /work/third_party/libpng/png.c:12", Owner.THIRD_PARTY),
    (" (/usr/lib/x86_64-linux-gnu/libcuda.so.1+0x2f4a0)", Owner.UNNAMED),
    (" (<unknown module>)", Owner.UNNAMED),
    ("in net::poll_session(net::Session*) src/asan.cpp:11", Owner.OWN),
    ("in main src/asan.cpp:45", Owner.OWN),
    ("in grid::Scratch::Scratch(grid::BlockPool&, unsigned long) (/home/user/project/build/tiles+0x1012e)", Owner.OWN),
    # Windows
    (
        "in __scrt_common_main_seh D:\\a\\_work\\1\\s\\src\\vctools\\crt\\vcstartup\\src\\startup\\exe_common.inl:288",
        Owner.LIBC,
    ),
    ("in BaseThreadInitThunk+0x1c (C:\\Windows\\System32\\KERNEL32.DLL+0x18001257c)", Owner.LIBC),
    ("in NtWaitForSingleObject+0x13 (C:\\Windows\\SYSTEM32\\ntdll.dll+0x18009d593)", Owner.THIRD_PARTY),
    # A folder that only begins like a test framework's.
    ("in run(int) /home/ci/gtest-nightly/src/run.cpp:9", Owner.OWN),
    ("in testing_main /src/gtest/src/gtest_main.cc:9", Owner.TEST_FRAMEWORK),
    # A name that only begins like an allocator's or lies in a folder that only sounds like one.
    ("in mallocPool::get(int) src/pool.cpp:3", Owner.OWN),
    ("in newSession() src/session.cpp:3", Owner.OWN),
    ("in read(int) src/reader.cpp:9", Owner.OWN),
    ("in strings::join(int) string/join.cpp:9", Owner.OWN),
    ("in Key::operator=(Key const&) (/home/user/project/build/tiles+0x1)", Owner.PLUMBING),
    ("in Key::operator=(Key const&) src/key.cpp:12", Owner.OWN),
]


def frame(text: str) -> Frame:
    return understood(text)


@pytest.mark.parametrize(("text", "owner"), FRAMES, ids=[text.strip()[:60] for text, _ in FRAMES])
def test_a_frame_belongs_to(text: str, owner: Owner) -> None:
    assert Ownership().owner(frame(text)) is owner


# As Valgrind prints them: base names, of what is inlined no namespace, and glibc's system calls with a file of their own.
VGPRELOAD = "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"
OF_VALGRIND = [
    (Frame(f"malloc (in {VGPRELOAD})", "malloc", module=VGPRELOAD), Owner.ALLOCATOR),
    (Frame(f"bcmp (in {VGPRELOAD})", "bcmp", module=VGPRELOAD), Owner.RUNTIME),
    (Frame("__memcpy_avx_unaligned_erms (memmove.S:250)", "__memcpy_avx_unaligned_erms", "memmove.S", 250), Owner.LIBC),
    (Frame("write (write.c:26)", "write", "write.c", 26), Owner.LIBC),
    (Frame("write (journal.c:26)", "write", "journal.c", 26), Owner.OWN),
    (Frame("allocate (alloc_traits.h:464)", "allocate", "alloc_traits.h", 464), Owner.STANDARD_LIBRARY),
    (Frame("make_shared<kv::Block> (shared_ptr.h:1009)", "make_shared<kv::Block>", "shared_ptr.h", 1009), Owner.STANDARD_LIBRARY),
    (Frame("kv::hashtable::put(int) (hashtable.h:9)", "kv::hashtable::put(int)", "hashtable.h", 9), Owner.OWN),
    (Frame("allocate /src/kv/alloc_traits.h:9", "allocate", "/src/kv/alloc_traits.h", 9), Owner.OWN),
]  # fmt: skip


@pytest.mark.parametrize(("printed", "owner"), OF_VALGRIND, ids=[one.text for one, _ in OF_VALGRIND])
def test_a_base_name_tells_a_library_only_where_no_namespace_or_path_says_otherwise(
    printed: Frame, owner: Owner
) -> None:
    assert Ownership().owner(printed) is owner


def test_own_roots_decide_where_they_are_given() -> None:
    ownership = Ownership(own_roots=["cpp/", "/opt/engine/src"])
    assert ownership.owner(frame("in a() cpp/kv/manager.cpp:1")) is Owner.OWN
    assert ownership.owner(frame("in a() /build/x/cpp/kv/manager.cpp:1")) is Owner.OWN
    assert ownership.owner(frame("in a() /opt/engine/src/third_party.cpp:1")) is Owner.OWN
    assert ownership.owner(frame("in a() other/manager.cpp:1")) is Owner.THIRD_PARTY
    assert ownership.owner(frame("in a() mycpp/manager.cpp:1")) is Owner.THIRD_PARTY


def test_a_frame_without_a_file_is_judged_by_its_module_even_with_roots() -> None:
    ownership = Ownership(own_roots=["cpp/"])
    assert ownership.owner(frame("in a::b() (/code/build/tests/t+0x12)")) is Owner.OWN
    assert ownership.owner(frame("in a::b() (/usr/lib/libx.so.1+0x12)")) is Owner.THIRD_PARTY


def test_plumbing_is_known_by_its_name_without_parameters_and_template_arguments() -> None:
    ownership = Ownership(plumbing=["vllm::DevicePool::Get"])
    assert ownership.owner(frame("in vllm::DevicePool::Get(unsigned long) include/device_pool.h:151")) is Owner.PLUMBING
    assert ownership.owner(frame("in vllm::DevicePool::GetAll() include/device_pool.h:152")) is Owner.OWN


def test_the_own_frame_is_the_first_own_one_of_the_primary_stack() -> None:
    frames = tuple(map(frame, ("in malloc (/b/t+0x1)", "in pool::get() src/pool.h:3", "in user() src/user.cpp:9")))
    report = Report(tool="lsan", kind="direct-leak", line=1, headline="", frames=frames)
    assert Ownership().own_frame(report) is frames[1]
    assert Ownership(plumbing=["pool::get"]).own_frame(report) is frames[2]


def test_a_report_without_own_frames_has_no_owner() -> None:
    frames = (frame("in malloc (/b/t+0x1)"), frame(" (/usr/lib/libcuda.so.1+0x2)"))
    assert Ownership().own_frame(Report(tool="lsan", kind="direct-leak", line=1, headline="", frames=frames)) is None


def test_a_report_that_names_only_a_place_is_owned_by_it() -> None:
    place = Frame("src/a.cpp:3:4", file="src/a.cpp", line=3, column=4)
    report = Report(tool="ubsan", kind="undefined-behavior:null", line=1, headline="", place=place)
    assert Ownership().own_frame(report) is place
    assert Ownership(own_roots=["lib/"]).own_frame(report) is None


def test_the_definition_of_a_global_owns_nothing() -> None:
    place = Frame("shared_limits", function="shared_limits", file="src/a.cpp", line=3)
    report = Report(tool="asan", kind="odr-violation", line=1, headline="", place=place)
    assert Ownership().own_frame(report) is None


def test_a_summary_whose_stack_is_lost_still_names_its_culprit() -> None:
    place = Frame("net::poll src/a.cpp:3", function="net::poll", file="src/a.cpp", line=3)
    report = Report(tool="asan", kind="heap-use-after-free", line=1, headline="", place=place, truncated=True)
    assert Ownership().own_frame(report) is place


@pytest.mark.parametrize(
    ("function", "owner"),
    [
        ("eng::leak_one()", Owner.OWN),
        ("eng::Cache<int>::fill(std::vector<int> const&)", Owner.OWN),
        ("std::vector<int>::push_back(int&&)", Owner.STANDARD_LIBRARY),
        ("__gnu_cxx::new_allocator<int>::allocate(unsigned long)", Owner.STANDARD_LIBRARY),
        ("allocate", Owner.STANDARD_LIBRARY),
        ("make_shared<eng::Node, int>", Owner.STANDARD_LIBRARY),
        ("void std::_Construct<eng::Node>(eng::Node*)", Owner.STANDARD_LIBRARY),
    ],
)
@pytest.mark.parametrize("roots", [(), ("src/",)])
def test_an_own_function_may_have_its_line_in_a_standard_header(
    function: str, owner: Owner, roots: tuple[str, ...]
) -> None:
    path = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/new_allocator.h"
    assert Ownership(roots).owner(Frame(function, function, path, 137)) is owner


def test_a_file_without_a_folder_is_not_outside_the_own_roots() -> None:
    frame = Frame("eng::use_after(int) (heap.cpp:15)", "eng::use_after(int)", "heap.cpp", 15)
    assert Ownership(["src/"]).owner(frame) is Owner.OWN
