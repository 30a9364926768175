"""Whose is what goes through no own frame: the library by its module, by its folder, or by its namespace."""

import pytest

from leaks.evidence import Frame
from leaks.libraries import UNKNOWN, library_of
from leaks.own import Ownership

OURS = Ownership(["src/"], [])


def frame(function=None, file=None, module=None):
    return Frame(text=f"{function} {file} {module}", function=function, file=file, module=module)


MALLOC = frame("malloc", module="/usr/lib/libasan.so.8")


@pytest.mark.parametrize(
    ("frames", "library"),
    [
        ([MALLOC, frame(module="/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14")], "libcuda.so"),
        (
            [MALLOC, frame(module="/usr/local/cuda/lib64/libcublasLt.so.13"), frame(module="/usr/lib/libmpi.so.40")],
            "libcublasLt.so",
        ),
        ([MALLOC, frame("fmt::v9::format", "/usr/include/fmt/format.h")], "fmt"),
        ([MALLOC, frame("absl::Cord::Append", "third_party/abseil-cpp/absl/strings/cord.cc")], "abseil-cpp"),
        (
            [MALLOC, frame("serde::de", "/home/u/.cargo/registry/src/index.crates.io-6f17/serde-1.0.1/src/de.rs")],
            "serde-1.0.1",
        ),
        ([MALLOC, frame("g_object_new", "../glib/gobject/gobject.c")], "../glib/gobject"),
        ([MALLOC, frame("boost::asio::run")], "boost"),
        ([MALLOC, frame("FcInit")], "FcInit"),
        ([MALLOC, frame("std::vector<int>::push_back(int)"), frame("x", module="C:\\libs\\foo.dll")], "foo.dll"),
        ([MALLOC], "libasan.so"),
        ([frame("malloc")], UNKNOWN),
        ([], UNKNOWN),
    ],
)
def test_a_stack_belongs_to(frames, library):
    assert library_of(frames, OURS) == library


def test_a_hostile_path_takes_linear_time():
    path = "include/" * 20_000 + "x.h"
    assert library_of([frame("f", path)], OURS)
