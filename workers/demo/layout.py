"""How gcc's runtimes lay out what they print, so that the demo's logs are read by the same rules as any other.

All of it is deterministic: addresses are derived from the text of the frame, as one process with fixed load addresses would print them.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

EXECUTABLE_BASE = 0x55C2_1A40_0000
LIBRARY_BASE = 0x7F36_CC00_0000
RUNTIME = "../../../../src/libsanitizer/asan"
START = (
    "__libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58",
    "__libc_start_main_impl ../csu/libc-start.c:360",
)


@dataclass(frozen=True, slots=True)
class Record:
    """One leak record. `frames` are printed frames without number and address; a module-only one starts with " (" as gcc prints it."""

    bytes: int
    objects: int
    frames: tuple[str, ...]
    direct: bool = True

    def where(self) -> str:
        return "Direct" if self.direct else "Indirect"


def address(frame: str) -> int:
    """A stable made-up program counter: library frames lie high, as on Linux."""
    base = LIBRARY_BASE if ".so" in frame or "libsanitizer" in frame or "../" in frame else EXECUTABLE_BASE
    return base + (zlib.crc32(frame.encode()) & 0xFF_FFFF)


def frame_line(number: int, frame: str) -> str:
    named = "" if frame.startswith(" (") else "in "
    return f"    #{number} 0x{address(frame):012x} {named}{frame}"


def stack_lines(frames: Iterable[str]) -> Iterator[str]:
    return (frame_line(number, frame) for number, frame in enumerate(frames))


def record_lines(record: Record) -> Iterator[str]:
    yield f"{record.where()} leak of {record.bytes} byte(s) in {record.objects} object(s) allocated from:"
    yield from stack_lines(record.frames)
    yield ""


def in_printing_order(records: Iterable[Record]) -> list[Record]:
    """Direct before indirect, largest first: the order of the runtime."""
    return sorted(records, key=lambda record: (not record.direct, -record.bytes))


def leak_report(pid: int, records: Sequence[Record]) -> Iterator[str]:
    """The whole leak check of one process, with a SUMMARY that adds up."""
    yield from ("", "=" * 65, f"=={pid}==ERROR: LeakSanitizer: detected memory leaks", "")
    for record in in_printing_order(records):
        yield from record_lines(record)
    total, objects = sum(record.bytes for record in records), sum(record.objects for record in records)
    yield f"SUMMARY: AddressSanitizer: {total} byte(s) leaked in {objects} allocation(s)."


def use_after_free(pid: int, access: Sequence[str], freed: Sequence[str], allocated: Sequence[str]) -> Iterator[str]:
    """A heap-use-after-free as gcc 12 prints it, up to its last line."""
    spot = 0x603000000040
    yield "=" * 65
    yield (
        f"=={pid}==ERROR: AddressSanitizer: heap-use-after-free on address 0x{spot:012x} at pc 0x{address(access[0]) + 1:012x} "
        "bp 0x7ffc401c8130 sp 0x7ffc401c8128"
    )
    yield f"READ of size 8 at 0x{spot:012x} thread T0"
    yield from stack_lines(access)
    yield from ("", f"0x{spot:012x} is located 0 bytes inside of 32-byte region [0x{spot:012x},0x{spot + 32:012x})")
    yield "freed by thread T0 here:"
    yield from stack_lines(freed)
    yield from ("", "previously allocated by thread T0 here:")
    yield from stack_lines(allocated)
    name, _, place = access[0].rpartition(" ")
    yield from ("", f"SUMMARY: AddressSanitizer: heap-use-after-free {place} in {name}", f"=={pid}==ABORTING")


def doctest(passed: int, failed: int = 0) -> Iterator[str]:
    """The summary of doctest 2.4."""
    status = "FAILURE!" if failed else "SUCCESS!"
    yield '[doctest] doctest version is "2.4.11"'
    yield "=" * 79
    yield f"[doctest] test cases: {passed + failed:3} | {passed:3} passed | {failed} failed | 0 skipped"
    yield f"[doctest] assertions: {11 * (passed + failed):3} | {11 * (passed + failed) - failed:3} passed | {failed} failed |"
    yield f"[doctest] Status: {status}"


def building(target: str, files: Sequence[str], percent: int) -> Iterator[str]:
    """CMake's progress up to `percent`, over the given source files."""
    yield from ("-- Configuring done", "-- Generating done")
    for number, file in enumerate(files, start=1):
        yield f"[{percent * number // len(files):3}%] Building CXX object CMakeFiles/{target}.dir/{file}.o"


def text(lines: Iterable[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
