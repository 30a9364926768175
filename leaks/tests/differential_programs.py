"""Programs with many faults in one process, written from a seed: what the runtimes' own suppression matchers are tried on."""

import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SITES = 36
FILES = ("engine/pool.cpp", "engine/io_util.cpp", "third_party/codec.cpp", "vendor_lib.cpp")
RACES = 16
WORDS = """pool cache index graph table buffer shader mesh socket frame token node parser queue arena slab"""
VERBS = """grow fill load make open read build clone fetch push bind map wrap add keep hold"""
NOT_INLINED = "__attribute__((noinline))"
INLINED = "static inline __attribute__((always_inline))"


@dataclass(frozen=True)
class Program:
    """Sources by file name; those of `library` become a shared one."""

    name: str
    sources: dict[str, str]
    library: str = ""


class Namer:
    """Names that share pieces, so that one pattern matches several of them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._used: set[str] = set()

    def function(self) -> str:
        while True:
            name = f"{self._random.choice(VERBS.split())}_{self._random.choice(WORDS.split())}{self._random.choice(['', '', '2', '_all'])}"
            if name not in self._used:
                self._used.add(name)
                return name


ALLOCATIONS = (
    "malloc({n})",
    "calloc(1, {n})",
    "new char[{n}]",
    "new Block<{n}>",
    "realloc(nullptr, {n})",
    'strdup("{n:032}")',
    "operator new({n})",
)
# How a site is wrapped: `{f}` is its name, `{a}` what it allocates. Each hands its block to `lose`.
SHAPES = (
    "namespace engine {{ {no} void {f}() {{ lose({a}); }} }}\nvoid site_{i}() {{ engine::{f}(); }}",
    "namespace {{ {no} void {f}() {{ lose({a}); }} }}\nvoid site_{i}() {{ {f}(); }}",
    "static {no} void {f}(int) {{ lose({a}); }}\nvoid site_{i}() {{ {f}(1); }}",
    "template <class T> {no} void {f}(T) {{ lose({a}); }}\nvoid site_{i}() {{ {f}(1); {f}('x'); }}",
    "{inl} void* {f}() {{ return {a}; }}\nvoid site_{i}() {{ lose({f}()); }}",
    "{inl} void* in_{f}() {{ return {a}; }}\n{inl} void* {f}() {{ return in_{f}(); }}\nvoid site_{i}() {{ lose({f}()); }}",
    "struct Of_{f} {{ {no} Of_{f}() {{ lose({a}); }} {no} void {f}() const {{ lose({a}); }} }};\nvoid site_{i}() {{ Of_{f} o; o.{f}(); }}",
    "void site_{i}() {{ auto {f} = [](int) {no} {{ lose({a}); }}; {f}(3); }}",
    (
        "namespace engine {{ namespace deep {{ {no} void {f}(int n) {{ if (n) {f}(n - 1); else lose({a}); }} }} }}\n"
        "void site_{i}() {{ engine::deep::{f}(2); }}"
    ),
    (
        "struct Node_{i} {{ Node_{i}* next; char rest[{n}]; }};\n{no} static void* child_{f}() {{ return new Node_{i}{{}}; }}\n"
        "{no} void {f}() {{ Node_{i}* top = new Node_{i}{{}};\n top->next = (Node_{i}*)child_{f}();\n"
        " top->next->next = (Node_{i}*)child_{f}(); lose(top); }}\n"
        "void site_{i}() {{ {f}(); }}"
    ),
    'extern "C" {no} void c_{f}(void) {{ lose({a}); }}\nvoid site_{i}() {{ c_{f}(); }}',
    (
        "struct Op_{i} {{ {no} void operator()(int) {{ lose({a}); }} {no} operator int() {{ lose({a}); return 1; }} }};\n"
        "void site_{i}() {{ Op_{i} o; o(1); int n = o; (void)n; }}"
    ),
)
HEADER = """#include <cstdlib>
#include <cstring>
#include <new>
template <int N> struct Block { char bytes[N]; };
void lose(volatile void* block);
"""
SCRUB = """{declarations}
void lose(volatile void*) {{}}
static {no} void scrub() {{ volatile char rest[16384]; for (int i = 0; i < 16384; i++) rest[i] = 0; }}
"""
# Rule files are named on standard input. Each is tried in a child of its own, whose leak check reads it; nothing is allocated in between.
# What the symbolizer reads once before the children part it need not read again in each.
LEAKS_MAIN = """#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
extern "C" void __sanitizer_symbolize_pc(void*, const char*, char*, size_t);
static char line[4096];
static void warm(void* code) {{ __sanitizer_symbolize_pc((char*)code + 1, "%F %L", line, sizeof line); }}
int main(int, char** argv) {{
    setvbuf(stdin, nullptr, _IONBF, 0);
    {calls}
    {warmed} warm((void*)malloc); warm((void*)usleep); warm((void*)main);
    scrub();
    while (fgets(line, sizeof line, stdin)) {{
        line[strcspn(line, "\\n")] = 0;
        unlink(argv[1]);
        if (line[0] && symlink(line, argv[1])) return 9;
        pid_t child = fork();
        if (!child) exit(0);
        int status = 0;
        waitpid(child, &status, 0);
        dprintf(2, "\\n=== %s %d\\n", line, status);
    }}
    _exit(0);
}}
"""
# Valgrind finds these faults besides the leaks.
VALGRIND_MAIN = """
static {no} void misuse() {{
    char* b = (char*)malloc(8); volatile char c = b[9]; *(int*)(b + 8) = c; int* u = new int;
    if (*u > 3) b[1] = 2;
    free(b + 1); delete[] u; memcpy(b + 1, b, 6);
}}
int main() {{ {calls} scrub(); misuse(); return 0; }}
"""


def leaks(seed: int, main: str = LEAKS_MAIN) -> Program:
    """Leaks in three files and a shared library, called by a chain of functions that the stacks share."""
    chooser, namer = random.Random(seed), Namer(seed)
    bodies: dict[str, list[str]] = {name: [HEADER] for name in FILES}
    for number in range(SITES):
        size = 16 + 8 * number
        names = {"i": number, "f": namer.function(), "n": size, "no": NOT_INLINED, "inl": INLINED}
        text = SHAPES[number % len(SHAPES)].format(a=chooser.choice(ALLOCATIONS).format(n=size), **names)
        bodies[FILES[chooser.choice((0, 0, 1, 2, 3))]].append(text)
    sources = {name: "\n".join(body) for name, body in bodies.items()}
    return Program("leaky_tests", {**sources, "main.cpp": _main(main)}, FILES[3])


def _main(main: str) -> str:
    declarations = "#include <cstring>\n#include <cstdlib>\n" + "".join(f"void site_{n}();\n" for n in range(SITES))
    declarations += "".join(f"{NOT_INLINED} void phase_{p}() {{ {_phase(p)} }}\n" for p in range(4))
    calls = " ".join(f"phase_{p}();" for p in range(4))
    warmed = " ".join(f"warm((void*)site_{n});" for n in range(SITES))
    return (SCRUB + main).format(declarations=declarations, calls=calls, warmed=warmed, no=NOT_INLINED)


def _phase(phase: int) -> str:
    return " ".join(f"site_{number}();" for number in range(phase, SITES, 4))


# --- Races -----------------------------------------------------------------------------------------------------------

RACE_SHAPES = (
    "namespace net {{ long {v}; {no} void {f}() {{ {v}++; }} {no} long {g}() {{ return {v}; }} }}\n#define A_{i} net::{f}\n#define B_{i} net::{g}",
    "static long {v}; static {no} void {f}() {{ {v} = 1; }} static {no} void {g}() {{ {v} = 2; }}\n#define A_{i} {f}\n#define B_{i} {g}",
    (
        "template <class T> {no} void {f}(T* p) {{ *p = 1; }} long* {v} = new long(0);\n"
        "static {no} void {g}() {{ {f}({v}); }} static {no} void {g}_b() {{ {f}({v}); }}\n#define A_{i} {g}\n#define B_{i} {g}_b"
    ),
    (
        "struct S_{i} {{ long {v}; {no} void {f}() {{ {v}++; }} {no} void {g}() {{ {v}--; }} }} s_{i};\n"
        "static void a_{i}() {{ s_{i}.{f}(); }} static void b_{i}() {{ s_{i}.{g}(); }}\n#define A_{i} a_{i}\n#define B_{i} b_{i}"
    ),
    (
        "{inl} void in_{f}(long* p) {{ *p = 5; }} long {v}[2]; {no} void {f}() {{ in_{f}({v}); }} {no} void {g}() {{ in_{f}({v}); }}\n"
        "#define A_{i} {f}\n#define B_{i} {g}"
    ),
    "char {v}[64]; {no} void {f}() {{ memset({v}, 1, 8); }} {no} void {g}() {{ memset({v}, 2, 8); }}\n#define A_{i} {f}\n#define B_{i} {g}",
)
RACES_MAIN = """#include <pthread.h>
#include <cstring>
#include <unistd.h>
{bodies}
static void* first(void*) {{ {firsts} return nullptr; }}
static void* second(void*) {{ usleep(60000); {seconds} return nullptr; }}
static void* lonely(void*) {{ return nullptr; }}
static pthread_mutex_t locks[4];
static {no} void lock_both(int a, int b) {{
    pthread_mutex_lock(&locks[a]); pthread_mutex_lock(&locks[b]); pthread_mutex_unlock(&locks[b]); pthread_mutex_unlock(&locks[a]); }}
static {no} void lock_forth() {{ lock_both(0, 1); }}
static {no} void lock_back() {{ lock_both(1, 0); }}
static {no} void launch_lonely() {{ pthread_t t; pthread_create(&t, nullptr, lonely, nullptr); }}
static {no} void wreck_mutex() {{
    pthread_mutex_t* m = new pthread_mutex_t; pthread_mutex_init(m, nullptr); pthread_mutex_lock(m); pthread_mutex_destroy(m); }}
int main() {{
    pthread_t a, b;
    for (auto& lock : locks) pthread_mutex_init(&lock, nullptr);
    pthread_create(&a, nullptr, first, nullptr); pthread_create(&b, nullptr, second, nullptr);
    pthread_join(a, nullptr); pthread_join(b, nullptr);
    lock_forth(); lock_back(); launch_lonely(); wreck_mutex();
    usleep(10000);
    return 0;
}}
"""


def races(seed: int) -> Program:
    namer = Namer(seed)
    bodies = []
    for number in range(RACES):
        shape = RACE_SHAPES[number % len(RACE_SHAPES)]
        names = {"f": namer.function(), "g": namer.function(), "v": f"{namer.function()}_value"}
        bodies.append(shape.format(i=number, no=NOT_INLINED, inl=INLINED, **names))
    main = RACES_MAIN.format(
        bodies="\n".join(bodies),
        no=NOT_INLINED,
        firsts=" ".join(f"A_{n}();" for n in range(RACES)),
        seconds=" ".join(f"B_{n}();" for n in range(RACES)),
    )
    return Program("racy_tests", {"main.cpp": main})


# --- Undefined behaviour and wrong arguments -------------------------------------------------------------------------

UNDEFINED = f"""#include <cstdio>
#include <climits>
namespace codec {{ {NOT_INLINED} int shift_far(int n) {{ return 1 << n; }} {NOT_INLINED} int add_up(int n) {{ return n + INT_MAX; }} }}
static {NOT_INLINED} int divide(int n) {{ return 7 / n; }}
template <class T> {NOT_INLINED} T shift_back(T n) {{ return n << 40; }}
struct Table {{ int rows[4]; {NOT_INLINED} int row(int n) {{ return rows[n]; }} {NOT_INLINED} bool flag(void* p) {{ return *(bool*)p; }} }};
{NOT_INLINED} int negate(int n) {{ return -n; }}
{NOT_INLINED} int load_odd(char* p) {{ return *(int*)(p + 1); }}
{NOT_INLINED} int of_null(Table* t) {{ return t->rows[1]; }}
int main(int argc, char**) {{
    static char bytes[16]; char seven = 7; Table t{{}};
    volatile int sink; // one by one: a sum of them would overflow too, on some days
    sink = codec::shift_far(40 + argc); sink = codec::add_up(argc); sink = shift_back(argc); sink = t.row(4 + argc);
    sink = t.flag(&seven); sink = negate(INT_MIN + argc - 1); sink = load_odd(bytes);
    (void)sink; (void)divide; (void)of_null;
    return 0;
}}
"""
ARGUMENTS = f"""#include <cstdlib>
#include <cstring>
#include <pthread.h>
{NOT_INLINED} void copy_far(char* d, char* s, volatile int n) {{ memcpy(d, s, n); }}
{NOT_INLINED} void fill_far(char* d, volatile int n) {{ memset(d, 1, n); }}
namespace text {{ {NOT_INLINED} size_t measure(char* s) {{ return strlen(s); }} {NOT_INLINED} char* find_end(char* s) {{ return strchr(s, 'z'); }} }}
{NOT_INLINED} int compare(char* a, char* b, volatile int n) {{ return memcmp(a, b, n); }}
{NOT_INLINED} int read_far(char* s, volatile int n) {{ return s[n]; }}
{NOT_INLINED} void join_over(char* s) {{ strcat(s, s + 1); }}
static void* all(void*) {{
    char* a = (char*)malloc(16); char* b = (char*)malloc(24); memset(a, 'a', 16); memset(b, 'a', 24);
    copy_far(a, b, 20); fill_far(a, 19);
    char* c = (char*)malloc(7); memset(c, 'c', 7);
    volatile size_t n = text::measure(c); text::find_end(c);
    n += compare(a, b, 22) + read_far(c, 8);
    char* d = (char*)malloc(9); strcpy(d, "abcd"); join_over(d);
    return nullptr;
}}
// In a thread: below main() the C library calls what never returns, and the runtime then takes the next function for the caller.
int main() {{ pthread_t t; pthread_create(&t, nullptr, all, nullptr); pthread_join(t, nullptr); return 0; }}
"""
UNDEFINED_TESTS = Program("undefined_tests", {"main.cpp": UNDEFINED})
ARGUMENT_TESTS = Program("argument_tests", {"main.cpp": ARGUMENTS})


def build(program: Program, folder: Path, compiler: str, *flags: str) -> Path:
    """The path of the program, whose shared library lies beside it. All paths are given in full, as a build system does."""
    base = [compiler, "-g", "-O0", "-w", "-pthread", "-fno-omit-frame-pointer", *flags]
    paths = {}
    for name, text in program.sources.items():
        paths[name] = folder / "src" / name
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_text(text)
    objects = [str(path) for name, path in paths.items() if name != program.library]
    binary = folder / program.name
    if program.library:
        shared = folder / "libvendor.so"
        _run([*base, "-shared", "-fPIC", str(paths[program.library]), "-o", str(shared)])
        objects += [str(shared), f"-Wl,-rpath,{folder}"]
    _run([*base, *objects, "-o", str(binary), *(["-rdynamic"] if program.library else [])])
    return binary


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    if done.returncode:
        raise Unbuilt(f"{command[0]} {' '.join(command[6:9])}: {done.stderr[-2000:]}")


class Unbuilt(Exception):
    """The compiler or its runtime is missing."""


def environment(**options: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **options}


def steady() -> list[str]:
    """Old runtimes cannot live with much randomness of addresses."""
    return ["setarch", "-R"] if shutil.which("setarch") else []
