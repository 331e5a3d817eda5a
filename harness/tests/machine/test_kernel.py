"""What Linux tells, and that nothing which a file may hold is more than unknown."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.machine import conditions, readiness, system
from sqlitmus.machine.host import facts
from tests.machine.linux import CLOCKS, CPUS, LAPTOP, QUIET, build

READERS = {
    "boost": system.Boost(on=True, forbid=f"echo 1 | sudo tee /{CPUS}/intel_pstate/no_turbo"),
    "clock_source": ("hpet", ["tsc", "hpet", "acpi_pm"]),
    "context_switches": 777,
    "cores": (2, 4),
    "cpu_ticks": (100 + 1 + 20 + 1000 + 5 + 2 + 3 + 4, 4),
    "frequency_khz": 4_000_000,
    "governors": ["powersave"],
    "temperature_c": 63.5,
    "throttle_count": 0 + 1 + 2 + 3,
    "unwritten_bytes": 3 * 2**20,
    "virtualised": False,
}
NOTHING: dict[str, object] = {**dict.fromkeys(READERS), "governors": [], "virtualised": False}


def every(root: Path) -> dict[str, object]:
    """All that the readers say."""
    return {name: getattr(system, name)(root) for name in READERS}


def test_each_fact_is_read(tmp_path: Path) -> None:
    assert every(build(tmp_path, LAPTOP)) == READERS
    assert [system.pressure_us(tmp_path, name) for name in ("cpu", "io", "memory")] == [3711, 42, 7]


def test_a_system_without_these_files_tells_nothing(tmp_path: Path) -> None:
    assert every(tmp_path) == NOTHING
    assert system.pressure_us(tmp_path, "cpu") is None


def test_a_folder_in_place_of_a_file_tells_nothing(tmp_path: Path) -> None:
    for name in LAPTOP:
        (tmp_path / name).mkdir(parents=True)
    assert every(tmp_path) == NOTHING


@pytest.mark.parametrize(
    ("name", "content", "on"),
    [
        ("intel_pstate/no_turbo", "1", False),
        ("intel_pstate/no_turbo", "0", True),
        ("cpufreq/boost", "1", True),
        ("cpufreq/boost", "0", False),
    ],
)
def test_boost_by_the_driver_s_switch(tmp_path: Path, name: str, content: str, on: bool) -> None:
    found = system.boost(build(tmp_path, {f"{CPUS}/{name}": content}))
    assert found is not None
    assert found.on is on
    assert found.forbid.endswith(f"tee /{CPUS}/{name}")
    if on:
        build(tmp_path, {f"{CPUS}/{name}": found.forbid.split()[1]})
        assert system.boost(tmp_path) == system.Boost(on=False, forbid=found.forbid)


def test_a_hypervisor_is_seen(tmp_path: Path) -> None:
    cpuinfo = "flags : fpu hypervisor sse2\n"
    assert system.virtualised(build(tmp_path, {"proc/cpuinfo": cpuinfo}))


WORDS = st.sampled_from(
    [
        *("cpu", "ctxt", "some", "total=", "total=12", "flags", "flags:", "hypervisor", ":", "\n"),
        *("Dirty:", "Writeback:", "-1", "0", "1", "99999999999999999999", "9" * 5000, "1e9", "\0"),
        *("nan", "inf", "٣", "1_0", "0x1", "performance", "model name\t:", "PRETTY_NAME="),
    ]
)
CONTENT = st.binary(max_size=40) | st.lists(WORDS, max_size=14).map(lambda w: " ".join(w).encode())
FILES = st.dictionaries(st.sampled_from(sorted(LAPTOP)), CONTENT)


@given(FILES)
def test_whatever_the_files_hold_nothing_is_raised(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = build(Path(folder), files)
        every(root)
        before, after = conditions.read(root=root), conditions.read(root=root)
        conditions.difference(before, after)
        for check in (
            readiness.governor(root),
            readiness.boost(root),
            readiness.threads(root),
            readiness.clock(root, 1),
            readiness.temperature(QUIET, root),
            readiness.steal(QUIET, root),
            readiness.disk_traffic(QUIET, root),
        ):
            assert check.finding
            assert bool(check.advice) == (check.state != "ok")


def test_facts_of_a_machine_that_tells_garbage_are_words(tmp_path: Path) -> None:
    known = facts(tmp_path, build(tmp_path, dict.fromkeys(LAPTOP, b"\xff\0 :=\n")))
    assert all(value for value in known.values())


@given(st.text(max_size=30))
def test_only_plain_numbers_of_64_bits_are_numbers(word: str) -> None:
    number = system.natural(word)
    plain = word.isascii() and word.isdecimal() and int(word) < 2**64 and len(word) <= 20
    assert number == (int(word) if plain else None)


def test_the_bounds_of_a_number() -> None:
    assert system.natural(str(2**64 - 1)) == 2**64 - 1
    assert system.natural(str(2**64)) is None
    for word in ("٣", "1_0", "+1", " 1", "9" * 5_000):
        assert system.natural(word) is None


def test_a_clock_name_with_other_signs_is_none(tmp_path: Path) -> None:
    root = build(tmp_path, {f"{CLOCKS}/current_clocksource": "\x1b[2J"})
    assert system.clock_source(root) is None
