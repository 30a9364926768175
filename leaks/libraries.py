"""Which library a stack without own frames belongs to, so far as its text tells: the module, else where the source lies, else the namespace."""

import re
from collections.abc import Iterable, Sequence

from leaks.evidence import Frame
from leaks.own import Owner, Ownership
from leaks.parsing.names import qualified

# What stands on top of every stack, and names no library that could be asked.
PASSED_OVER = frozenset(
    {Owner.RUNTIME, Owner.ALLOCATOR, Owner.LIBC, Owner.STANDARD_LIBRARY, Owner.TEST_FRAMEWORK, Owner.LANGUAGE_RUNTIME}
)
# libcuda.so.550.54.14 and libcuda.so.1 are one library.
SO_VERSION = re.compile(r"(\.so|\.dylib)(?:\.\d{1,9}){1,6}$")
# Folders that hold libraries by name.
HOLDS_LIBRARIES = re.compile(
    r"(?:^|/)(?:third[_-]?party|external|vendor|3rdparty|_?deps|site-packages|node_modules|include|registry/src/[^/]{1,200}|pkg/mod)"
    r"/([^/]{1,200})/"
)
UNKNOWN = "no library named"


def library_of(frames: Sequence[Frame], ownership: Ownership) -> str:
    """Of the first frame that is not passed over; of a module passed over, where there is nothing else."""
    judged = [(frame, ownership.owner(frame)) for frame in frames]
    meant = [frame for frame, owner in judged if owner not in PASSED_OVER]
    return next(filter(None, map(_name, meant)), "") or _module([frame for frame, _ in judged]) or UNKNOWN


def _name(frame: Frame) -> str:
    if frame.module:
        return _base(frame.module)
    if frame.file:
        return _folder(frame.file.replace("\\", "/"))
    return _namespace(frame.function or "")


def _base(module: str) -> str:
    return SO_VERSION.sub(r"\1", module.replace("\\", "/").rpartition("/")[2])


def _folder(file: str) -> str:
    found = HOLDS_LIBRARIES.search(file)
    return found[1] if found else file.rpartition("/")[0] or file


def _namespace(function: str) -> str:
    name = qualified(function)
    return name.partition("::")[0] if "::" in name else name


def _module(frames: Iterable[Frame]) -> str:
    return next((_base(frame.module) for frame in frames if frame.module), "")
