"""Mangled names: what becomes of them, and that no name can harm the process that shows it to the demangler."""

import subprocess
import sys
from pathlib import Path

import pytest

from leaks.parsing.demangling import MOST_EXPANDED, demangled, is_harmless
from leaks.parsing.names import normal, qualified

ROOT = Path(__file__).resolve().parents[2]
IMPL = "_$LT$app..Row$u20$as$u20$core..fmt..Debug$GT$"

DEMANGLED = [
    ("_ZN3net4pollEi", "net::poll(int)"),
    ("__ZN3net4pollEi", "net::poll(int)"),  # macOS
    ("_Znwm", "operator new(unsigned long)"),
    ("_ZN12_GLOBAL__N_14pollEv", "(anonymous namespace)::poll()"),
    ("_ZZN3net4pollEvENKUlvE_clEv", "net::poll()::'lambda'()::operator()() const"),
    ("_ZN3net4pollEv.isra.0", "net::poll() (.isra.0)"),
    ("_RNvCs15kBYyAo9fc_5relay3run", "relay::run"),
    ("__RNvCs15kBYyAo9fc_5relay3run", "relay::run"),
    ("_ZN5relay3run17h0123456789abcdefE", "relay::run::h0123456789abcdef"),
    (f"_ZN{len(IMPL)}{IMPL}3fmt17h0123456789abcdefE", "<app::Row as core::fmt::Debug>::fmt::h0123456789abcdef"),
    ("___Z3runv_block_invoke", "invocation function for block in run()"),
]
PLAIN = [
    "main",
    "poll",
    "_start",
    "__libc_start_main",
    "_Rb_tree_insert",
    "_Reset",
    "_Z",
    "_ZN3net",
    "_ZZZZ",
    "$s6ledger3runyyF",
    "_T06ledger3runyyF",
    "_Z\0bad",
    "_Zü",
    "",
]
FORMS = [
    ("_ZN3net4pollEi", "net::poll", "net::poll"),
    ("_ZN3net4pollEv.constprop.1", "net::poll", "net::poll"),
    ("_ZN3net4pollB5cxx11Ev", "net::poll[abi:cxx11]", "net::poll"),
    ("_ZN5relay3run17h0123456789abcdefE", "relay::run::h0123456789abcdef", "relay::run"),
    ("___Z3runv_block_invoke", "run", "run"),
]


@pytest.mark.parametrize(("name", "plain"), DEMANGLED, ids=[name[:40] for name, _ in DEMANGLED])
def test_a_mangled_name_is_what_the_source_calls_it(name, plain):
    assert demangled(name) == plain


@pytest.mark.parametrize("name", PLAIN, ids=[repr(name) for name in PLAIN])
def test_any_other_name_stays_as_it_is(name):
    assert demangled(name) == name


@pytest.mark.parametrize(("name", "bare", "form"), FORMS, ids=[name[:40] for name, *_ in FORMS])
def test_names_are_demangled_for_display_and_identity(name, bare, form):
    assert (qualified(name), normal(name)) == (bare, form)


def doubling(levels: int) -> str:
    """`f(B<B<A,A>,B<A,A>>)` and so on: each level refers to the one before twice."""
    name = "_Z1f1A1BIS_S_E"
    for level in range(levels):
        name += f"S0_IS{base36(level)}_S{base36(level)}_E"
    return name


def base36(number: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[number + 1] if number < 35 else f"1{digits[number - 35]}"


HOSTILE = {
    "64 KB of F": "_Z" + "F" * 65_536,
    "4 KB of F": "_Z" + "F" * 4_000,
    "deep nested names": "_Z" + "N" * 30_000 + "1a" + "E" * 30_000,
    "deep template arguments": "_Z1f" + "1AI" * 20_000 + "i" + "E" * 20_000 + "v",
    "deep pointers": "_Z1f" + "P" * 60_000 + "i",
    "deep local names": "_" + "Z" * 60_000 + "1fvE",
    "deep Rust generics": "_R" + "I" * 60_000,
    "deep Rust paths": "_R" + "Nv" * 30_000 + "C1a1f",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_nesting_never_reaches_the_demangler(name):
    assert not is_harmless(name)
    assert demangled(name) == name


def test_the_process_survives_hostile_names_of_any_size():
    """In a process of its own, which a crash of native code would end. A thread has the smaller stack."""
    program = (
        "import threading\n"
        "from leaks.parsing.names import normal\n"
        "def run():\n"
        "    for size in (200, 255, 1000, 4000, 16000, 65536):\n"
        "        for unit in ('F', 'N', 'P', 'I', 'Z', 'X', 'L', 'DT', '1AI', 'N1a', 'Nv', 'T_', 'S_', 'Dp', 'PF'):\n"
        "            for start in ('_Z', '_Z1f', '_ZN', '_ZZ', '_R', '_RI'):\n"
        "                normal(start + unit * (size // len(unit)))\n"
        "threading.stack_size(512 * 1024)\n"
        "thread = threading.Thread(target=run)\n"
        "thread.start()\n"
        "thread.join()\n"
        "print('alive')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


def test_references_that_double_each_other_are_refused_before_they_grow():
    assert demangled(doubling(2)).startswith("f(A, B<A, A>, B<")
    assert max(len(demangled(doubling(levels))) for levels in range(40)) <= MOST_EXPANDED
    assert not any(is_harmless(doubling(levels)) for levels in range(16, 40))


def test_names_of_ordinary_templates_are_not_refused():
    name = "_ZN3net4pollERSt6vectorISt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt10shared_ptrINS_7SessionEEESaISC_EE"
    assert demangled(name).startswith("net::poll(std::vector<std::pair<std::__cxx11::basic_string<char")
