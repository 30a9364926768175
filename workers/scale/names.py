"""Names as a large C++ project has them. Everything follows from the seed."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

SPACES = ("engine", "engine::kv", "engine::batch", "runtime", "runtime::cuda", "net::http", "store::wal", "tools")
NOUNS = (
    "Pool", "Block", "Cache", "Queue", "Session", "Tensor", "Graph", "Stream", "Window", "Router", "Planner", "Arena",
    "Ledger", "Shard", "Cursor", "Buffer", "Decoder", "Sampler", "Weights", "Kernel", "Socket", "Timer",
)  # fmt: skip
ROLES = ("Manager", "Builder", "Registry", "Reader", "Writer", "Store", "Impl", "Handle", "Worker", "Map")
VERBS = ("Allocate", "Build", "Get", "Load", "Open", "Push", "Run", "Resize", "Attach", "Clone", "Parse", "Flush")
ALLOCATORS = ("malloc", "operator new(unsigned long)", "aligned_alloc", "calloc", "realloc")
FOREIGN = ("FcInit", "g_malloc", "SSL_CTX_new", "std::vector<int>::_M_realloc_insert", "cuInit", "PyObject_Malloc")


class Place(NamedTuple):
    """A function and where its frame points."""

    function: str
    file: str
    line: int


def places(random: Random, number: int) -> list[Place]:
    return [_place(random, one) for one in range(number)]


def _place(random: Random, number: int) -> Place:
    """The number keeps functions apart that chance would give one name."""
    space, name = random.choice(SPACES), random.choice(NOUNS) + random.choice(ROLES)
    folder = space.replace("::", "/")
    function = f"{space}::{name}::{random.choice(VERBS)}{random.choice(NOUNS)}{number}"
    return Place(function, f"src/{folder}/{_snake(name)}.cpp", random.randrange(20, 2_000))


def tests(number: int) -> list[str]:
    nouns = len(NOUNS)
    return [
        f"test_{NOUNS[one % nouns].lower()}_{ROLES[one // nouns % len(ROLES)].lower()}_{one}" for one in range(number)
    ]


def stack(random: Random, own: Sequence[Place], shared: Sequence[Place], depth: int) -> list[Place]:
    """An allocator, what owns the leak, what calls it, and main."""
    top = Place(random.choice(ALLOCATORS), "", 0)
    callers = random.sample(shared, depth)
    return [top, *own, *callers, Place("main", "tests/main.cpp", 12)]


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
