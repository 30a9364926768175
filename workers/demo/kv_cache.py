"""The first commissioning report: 2,031 leak records in one test run, 188 of them through own frames, all at one place.

The report gives the totals, the number of records, the own stack and its place. Everything else is invented here and said so in `NOTE`.
"""

from collections.abc import Iterator

from workers.demo.layout import RUNTIME, START, Record, leak_report, text

RECORDS = 2_031
OWN_RECORDS = 188
BYTES = 564_624
OBJECTS = 3_892
COMMIT = "63d217f2"
LANE = "asan"
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:protect_shadow_gap=0:print_stacktrace=1:fast_unwind_on_malloc=0"}
OWN_ROOTS = ("cpp/",)

NOTE = (
    "Replay of a public bug report. Given by it: commit 63d217f2, the sanitizer options, 2,031 leak records, 188 of them through own frames, "
    "all at kvCacheManager.cpp:264, the own stack, SUMMARY 564,624 bytes in 3,892 allocations, the test that passes. Invented here: addresses, "
    "sizes of single records, source lines other than kvCacheManager.cpp:264 and kvCacheManagerTest.cpp:8010, the frames of the 1,843 other "
    "records, the number of tests, the names of the tests that lead to the other own records, run number and times."
)

BINARY = "/code/tensorrt_llm/cpp/build_RelWithDebInfo/tests/unit_tests/batch_manager/kvCacheManagerTest"
KV = "tensorrt_llm::batch_manager::kv_cache_manager"
SOURCE = "cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp"
TEST_SOURCE = "cpp/tests/unit_tests/batch_manager/kvCacheManagerTest.cpp"
TOKENS = "std::vector<tensorrt_llm::runtime::UniqueToken, std::allocator<tensorrt_llm::runtime::UniqueToken> >"
NEW = f"operator new(unsigned long) {RUNTIME}/asan_new_delete.cpp:95"
MALLOC = f"__interceptor_malloc {RUNTIME}/asan_malloc_linux.cpp:69"
CALLOC = f"__interceptor_calloc {RUNTIME}/asan_malloc_linux.cpp:77"
# Line of the call in the reported test, then of the tests that are invented.
REPORTED_TEST = ("testKVCacheManagerLinearAttention_BlockCopying", 8010)
TESTS = tuple(
    (f"testKVCacheManager_{what}", line)
    for what, line in (
        ("BlockReuse", 1204), ("FindBlocksInReuseTree", 2877), ("EvictionOrder", 3391), ("PartialCopy", 4102),
        ("SinkTokens", 4880), ("VariableWindow", 5613), ("LoraIds", 6240), ("Streaming", 7125),
    )
)  # fmt: skip
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/local/cuda/lib64/libcublasLt.so.13",
    "/usr/local/cuda/lib64/libnvrtc.so.13",
    "/usr/lib/x86_64-linux-gnu/libnccl.so.2",
    "/usr/lib/x86_64-linux-gnu/libmpi.so.40",
)


def own_frames(number: int) -> tuple[str, ...]:
    """The reported stack; the call sites below it differ, as they must in records that the runtime did not fold."""
    test, line = REPORTED_TEST if number == 0 else TESTS[number % len(TESTS)]
    return (
        NEW,
        f"{TOKENS}::operator=({TOKENS} const&) ({BINARY}+0x{0x4A1C0:x})",
        f"{KV}::BlockKey::operator=({KV}::BlockKey const&) ({BINARY}+0x{0x4B2E4:x})",
        f"{KV}::KVCacheBlock::setBlockKey({KV}::BlockKey const&, bool) {SOURCE}:264",
        f"{KV}::WindowBlockManager::onboardAndAllocateBlocks({KV}::GenerationRequest&) {SOURCE}:1187",
        f"{KV}::WindowBlockManager::addSequenceBatch({KV}::GenerationRequest&, int) {SOURCE}:{1302 + 3 * (number % 7)}",
        f"{KV}::BlockManager::addSequenceBatch({KV}::GenerationRequest&, int) {SOURCE}:1544",
        f"{KV}::KVCacheManager::addSequenceBatch(unsigned long, int, int) {SOURCE}:2210",
        f"{test}() {TEST_SOURCE}:{line + 2 * number if number else line}",
        f"main {TEST_SOURCE}:9001",
        *START,
    )


def other_frames(number: int) -> tuple[str, ...]:
    """A stack inside a driver library, without symbols: the same few entry points over ever other callers."""
    library = LIBRARIES[number % len(LIBRARIES)]
    entry = 0x1F3A0 + 0x140 * (number % 45)
    callers = (f" ({library}+0x{0x52000 + 0x1D3 * number + 0x71 * depth:x})" for depth in range(3 + number % 5))
    return (CALLOC if number % 3 else MALLOC, f" ({library}+0x{entry:x})", *callers)


def sizes(total: int, parts: int, least: int, step: int) -> list[int]:
    """`parts` sizes that differ, are multiples of `step` but for the last, and add up to `total` exactly."""
    spread = [least + step * (number % 11) for number in range(parts - 1)]
    return [*spread, total - sum(spread)]


def own_records() -> list[Record]:
    """188 direct leaks: the keys of blocks that were never destroyed. One object each."""
    return [Record(8 * (16 + number % 24), 1, own_frames(number)) for number in range(OWN_RECORDS)]


def other_records(byte_total: int, object_total: int) -> list[Record]:
    count = RECORDS - OWN_RECORDS
    objects = sizes_of_objects(object_total, count)
    sized = sizes(byte_total, count, 96, 24)
    return [Record(sized[n], objects[n], other_frames(n), direct=n % 4 == 0) for n in range(count)]


def sizes_of_objects(total: int, parts: int) -> list[int]:
    """Objects per record: one or more each, adding up exactly."""
    base, rest = divmod(total, parts)
    return [base + (1 if number < rest else 0) for number in range(parts)]


def records() -> list[Record]:
    own = own_records()
    rest = other_records(BYTES - sum(r.bytes for r in own), OBJECTS - sum(r.objects for r in own))
    return own + rest


def lines() -> Iterator[str]:
    yield "[==========] Running 1 test from 1 test suite."
    yield "[----------] 1 test from KVCacheManagerTest"
    yield "[ RUN      ] KVCacheManagerTest.LinearAttention_BlockCopying"
    yield "[       OK ] KVCacheManagerTest.LinearAttention_BlockCopying (412 ms)"
    yield "[----------] 1 test from KVCacheManagerTest (412 ms total)"
    yield "[==========] 1 test from 1 test suite ran. (412 ms total)"
    yield "[  PASSED  ] 1 test."
    yield from leak_report(48_211, records())


def log() -> bytes:
    return text(lines())
