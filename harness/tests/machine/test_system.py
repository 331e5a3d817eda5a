"""How operating systems differ: processors, priorities, what is in use."""

import io
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.machine import conditions, readiness, system
from sqlitmus.machine.host import facts
from tests.machine.linux import CLOCKS, CPUS, LAPTOP, QUIET, build
from tests.refusals import refused, unfit

pins_here = pytest.mark.skipif(system.unsupported() is not None, reason="no pins here")


@pins_here
def test_a_pin_and_keeping_away_hold_inside_the_block_only() -> None:
    here = system.allowed()
    for bind, inside in (
        (system.pinned(here[-1]), [here[-1]]),
        (system.away_from(here[-1]), here[:-1] or here),
        (system.pinned(None), here),
        (system.away_from(None), here),
    ):
        with pytest.raises(ValueError, match="inside"), bind:  # noqa: PT012
            assert system.allowed() == inside
            raise ValueError("inside")
        assert system.allowed() == here
    with system.pinned(here[0]), system.away_from(here[0]):  # there is no other
        assert system.allowed() == [here[0]]


@pins_here
def test_a_pin_must_be_a_processor_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(_pid: int) -> set[int]:
        return {5, 2}

    monkeypatch.setattr(os, "sched_getaffinity", two)
    system.check([2, 5, 2])
    with refused(r"pin 3: there is no such .* usable are 2, 5$"):
        system.check([2, 3])


@pins_here
def test_the_first_processors_are_those_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(_: int) -> set[int]:
        return {5, 2, 7}

    monkeypatch.setattr(os, "sched_getaffinity", some)
    assert [system.first_processor(count) for count in (0, 2, 3, 4)] == [[], [2, 5], [2, 5, 7], []]
    monkeypatch.delattr(os, "sched_setaffinity")
    assert system.first_processor(2) == []


@pins_here
def test_of_the_fastest_processors_the_last_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = {0: 5, 1: 9, 2: 5}
    _grant(monkeypatch, {0, 1, 2})
    monkeypatch.setattr(system, "_speed", speeds.__getitem__)
    assert system.fastest() == 1
    speeds[1] = 5
    assert system.fastest() == 2


@pins_here
def test_nothing_is_bound_where_there_is_no_choice_or_no_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    _grant(monkeypatch, {3})
    assert system.fastest() is None
    _grant(monkeypatch, {0, 1})
    assert system.fastest() is not None
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert system.fastest() is None


def _grant(monkeypatch: pytest.MonkeyPatch, processors: set[int]) -> None:
    def allowed(_: int) -> set[int]:
        return processors

    def set_it(*_: Any) -> None:
        pass

    monkeypatch.setattr(os, "sched_getaffinity", allowed)
    monkeypatch.setattr(os, "sched_setaffinity", set_it)


def test_a_system_without_pins_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    system.check([])
    with unfit(r"pins 0, 1: processes cannot be pinned .* Leave the pins"):
        system.check([0, 1])


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no scheduling policies")
def test_priority_is_given_back() -> None:
    before = os.sched_getscheduler(0)
    with system.highest() as granted:
        assert (os.sched_getscheduler(0) == os.SCHED_FIFO) == granted
    assert os.sched_getscheduler(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no scheduling policies")
def test_without_the_right_to_priority_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    before = os.sched_getscheduler(0)
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with system.highest() as granted:
        assert not granted
        assert os.sched_getscheduler(0) == before


def stat(root: Path, text: str) -> Path:
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc/stat").write_text(text)
    return root


def test_ticks_in_use_and_all_without_idle_waiting_and_stolen_ones(tmp_path: Path) -> None:
    text = (
        "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 50 6 7 80 1 1\ncpu3 1 0 0 9 0 0 0 0 0 0\nintr 5\n"
    )
    assert system.ticks(stat(tmp_path, text)) == {"0": (19, 189), "3": (1, 10)}
    assert system.away(tmp_path) == {"0": 93, "3": 0}


@pytest.mark.parametrize("text", ["", "cpu0\n", "cpu0 1 2 3\n", "cpu0 a b c d e f g h\n"])
def test_what_cannot_be_read_is_not_told(tmp_path: Path, text: str) -> None:
    assert system.ticks(stat(tmp_path, text)) == {}


def test_shares_are_of_processors_on_which_ticks_passed() -> None:
    before = {"0": (10, 100), "1": (10, 100), "2": (0, 0)}
    after = {"0": (35, 150), "1": (10, 100), "3": (5, 5)}
    assert system.shares(before, after) == {"0": 0.5}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's counters")
def test_this_machine_tells() -> None:
    found = system.ticks()
    assert found
    assert all(0 <= used <= total for used, total in found.values())


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


@pytest.mark.parametrize("folders", [{}, LAPTOP], ids=["no files", "folders in their place"])
def test_a_system_without_these_files_tells_nothing(
    tmp_path: Path, folders: dict[str, str]
) -> None:
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    assert every(tmp_path) == NOTHING
    assert system.pressure_us(tmp_path, "cpu") is None


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


def test_a_clock_name_with_other_signs_is_none(tmp_path: Path) -> None:
    root = build(tmp_path, {f"{CLOCKS}/current_clocksource": "\x1b[2J"})
    assert system.clock_source(root) is None


TEXT = "1.2 µs ± 3 % → ok\n"


def streams(
    monkeypatch: pytest.MonkeyPatch, encoding: str, newline: str | None = None
) -> tuple[io.BytesIO, io.BytesIO]:
    """Both streams in `encoding`, as the bytes that leave."""
    both = io.BytesIO(), io.BytesIO()
    for name, raw in zip(("stdout", "stderr"), both, strict=True):
        stream = io.TextIOWrapper(raw, encoding, newline=newline, write_through=True)
        monkeypatch.setattr(sys, name, stream)
    return both


def test_what_a_locale_lacks_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = streams(monkeypatch, "iso-8859-1")
    system.prepare()
    print(TEXT, end="")
    print(TEXT, end="", file=sys.stderr)
    assert out.getvalue() == err.getvalue() == "1.2 µs ± 3 % ? ok\n".encode("iso-8859-1")


def test_windows_writes_utf_8_with_one_character_at_the_end_of_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, err = streams(monkeypatch, "cp1252", "\r\n")
    called: list[bool] = []
    colorama = SimpleNamespace(just_fix_windows_console=lambda: called.append(True))
    monkeypatch.setitem(sys.modules, "colorama", colorama)
    monkeypatch.setattr(sys, "platform", "win32")
    system.prepare()
    print(TEXT, end="")
    print(TEXT, end="", file=sys.stderr)
    assert out.getvalue() == err.getvalue() == TEXT.encode()
    assert called


def test_a_stream_that_is_none_of_the_system_s_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    system.prepare()
