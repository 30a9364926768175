"""Inputs that are built to be slow to read: each is a unit that is repeated to a size."""

from collections.abc import Iterator

PIECE = 1 << 16

UNITS: dict[str, bytes] = {
    "open parentheses": b"(",
    "no line end": b"word ",
    "digits": b"7",
    "NULs": b"\0",
    "blank lines": b"\n",
    "blank lines behind a report": b"\n",
    "frames #0": b"    #0 0x55b2e83ec460 in f a.c:1\n",
    "frames #0 behind a header": b"    #0 0x55b2e83ec460 in f a.c:1\n",
    "frames without addresses": b"    #0 f a.c:1 (a+0x1)\n",
    "nested templates": b"    #1 0x55b2e83ec460 in " + b"a<" * 200 + b">" * 200 + b"() /src/a.c:1\n",
    "open templates": b"    #1 0x55b2e83ec460 in " + b"(<" * 400 + b" /src/a.c:1\n",
    "numbers as prefixes": b"1: ",
    "numbers as prefixes of lines": b"1: " * 60 + b"\n",
    "names as prefixes": b"[a] ",
    "names as prefixes of lines": b"[a] " * 50 + b"==1==\n",
    "clocks as prefixes": b"10:11:12 " * 50 + b"\n",
    "a path that ends nowhere": b"a/" * 200 + b": \n",
    "pids": b"==1==",
    "lines of pids": b"==1==\n",
    "equal signs": b"=",
    "lines of equal signs": b"=" * 65 + b"\n",
    "ASan headers": b"==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55d01c8ea0e1 bp 0x1 sp 0x2 T0)\n",
    "LSan headers": b"==1==ERROR: LeakSanitizer: detected memory leaks\n",
    "records": b"Direct leak of 8 byte(s) in 1 object(s) allocated from:\n",
    "TSan headers": b"==================\nWARNING: ThreadSanitizer: data race (pid=1)\n",
    "MSan headers": b"==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n",
    "Valgrind lines": b"==1== Invalid read of size 4\n",
    "CUDA lines": b"========= Invalid __global__ write of size 8 bytes\n",
    "KASAN headers": b"BUG: KASAN: slab-use-after-free in f+0x1/0x2\n",
    "UBSan lines": b"a.c:1:1: runtime error: division by zero\n",
    "UBSan places": b"a:1:1: ",
    "summaries": b"SUMMARY: AddressSanitizer: SEGV a.c:1 in f\n",
    "banners in one line": b"==1==ERROR: AddressSanitizer: ",
    "runtime errors in one line": b"a.c:1:1: runtime error: ",
    "escapes": b"\x1b[",
    "unknown strings of the terminal": b"\x1b]",
    "carriage returns": b"\r",
    "segments": b"x\r",
    "not UTF-8": b"\xe2\x82",
    "started tests": b"[ RUN      ] A.b\n",
    "results in one line": b"1 passed, 1 failed, ",
    "compilers in one line": b" -c gcc",
    "options in one line": b"ASAN_OPTIONS=a=1 ",
    "counts of symbols": b"+ nm a | grep -c __asan\n",
    "masks in one line": b"|| ",
    "XML": b"<kind>",
}
# These are read line by line: a report is open.
BEGINNINGS: dict[str, bytes] = {
    "blank lines behind a report": UNITS["ASan headers"],
    "frames #0 behind a header": UNITS["ASan headers"],
    "frames without addresses": UNITS["TSan headers"],
    "nested templates": UNITS["ASan headers"] + UNITS["frames #0"],
    "open templates": UNITS["ASan headers"] + UNITS["frames #0"],
    "numbers as prefixes of lines": UNITS["ASan headers"],
    "names as prefixes of lines": UNITS["ASan headers"],
    "clocks as prefixes": UNITS["ASan headers"],
    "a path that ends nowhere": UNITS["ASan headers"],
    "lines of pids": UNITS["ASan headers"],
    "lines of equal signs": UNITS["TSan headers"],
}


def chunks(name: str, size: int) -> Iterator[bytes]:
    unit = UNITS[name]
    yield BEGINNINGS.get(name, b"")
    whole = unit * (PIECE // len(unit) + 1)
    for _ in range(size // len(whole)):
        yield whole
    yield unit * (size % len(whole) // len(unit))
