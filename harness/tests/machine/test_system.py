"""How operating systems differ: processors, priorities, what is in use, the console."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus.machine import system
from tests.machine.linux import build
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


def grant(monkeypatch: pytest.MonkeyPatch, *processors: int) -> None:
    """Let these processors be used."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(processors), raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)


def refuse(*_: Any) -> None:
    raise PermissionError


def test_a_run_gets_processors_that_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, 5, 2, 7)
    system.check([2, 5, 2])
    with refused(r"pin 3: there is no such .* usable are 2, 5, 7$"):
        system.check([2, 3])
    assert [system.first_processor(count) for count in (0, 2, 3, 4)] == [[], [2, 5], [2, 5, 7], []]
    monkeypatch.delattr(os, "sched_setaffinity")
    assert system.first_processor(2) == []
    assert system.fastest() is None
    system.check([])
    with unfit(r"pins 0, 1: processes cannot be pinned .* Leave the pins"):
        system.check([0, 1])


def test_of_the_fastest_processors_the_last_is_taken_where_there_is_a_choice_and_a_right_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speeds = {0: 5, 1: 9, 2: 5}
    monkeypatch.setattr(system, "_speed", speeds.__getitem__)
    grant(monkeypatch, 0, 1, 2)
    assert system.fastest() == 1
    speeds[1] = 5
    assert system.fastest() == 2
    grant(monkeypatch, 2)
    assert system.fastest() is None
    grant(monkeypatch, 0, 1)
    assert system.fastest() == 1
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert system.fastest() is None


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no scheduling policies")
def test_priority_is_given_back_and_not_had_without_the_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = os.sched_getscheduler(0)
    with system.highest() as granted:
        assert (os.sched_getscheduler(0) == os.SCHED_FIFO) == granted
    assert os.sched_getscheduler(0) == before
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with system.highest() as granted:
        assert not granted
        assert os.sched_getscheduler(0) == before


STAT = """\
cpu  9 9 9 9 9 9 9 9 9 9
cpu0 1 2 3 40 50 6 7 80 1 1
cpu1
cpu2 1 2 3
cpu3 1 0 0 9 0 0 0 0 0 0
cpu4 a b c d e f g h
intr 5
"""


def test_ticks_in_use_and_all_without_idle_waiting_and_stolen_ones(tmp_path: Path) -> None:
    build(tmp_path, {"proc/stat": STAT})
    assert system.ticks(tmp_path) == {"0": (19, 189), "3": (1, 10)}
    assert system.away(tmp_path) == {"0": 93, "3": 0}
    if sys.platform == "linux":
        here = system.ticks()
        assert here
        assert all(0 <= used <= total for used, total in here.values())


def test_shares_are_of_processors_on_which_ticks_passed() -> None:
    before = {"0": (10, 100), "1": (10, 100), "2": (0, 0), "4": (10, 100), "5": (0, 70)}
    after = {"0": (35, 150), "1": (10, 100), "3": (5, 5), "4": (5, 150), "5": (90, 80)}
    assert system.shares(before, after) == {"0": 0.5, "4": 0.0, "5": 1.0}


def test_only_plain_numbers_of_64_bits_are_numbers() -> None:
    most = str(2**64 - 1)
    odd = ("", "-1", "1_0", "0x1", "1e9", "٣", " 1", "9" * 5000, str(2**64))
    assert [system.natural(word) for word in ("0", "007", most)] == [0, 7, 2**64 - 1]
    assert [system.natural(word) for word in odd] == [None] * len(odd)


TEXT = "1.2 µs ± 3 % → ok\n"
PLAIN = "1.2 µs ± 3 % ? ok\n"


@pytest.mark.parametrize(
    ("platform", "encoding", "newline", "shown"),
    [
        ("linux", "iso-8859-1", "\n", PLAIN.encode("iso-8859-1")),
        ("win32", "cp1252", "\r\n", TEXT.encode()),
    ],
)
def test_what_a_locale_lacks_is_replaced_and_windows_writes_utf_8(
    monkeypatch: pytest.MonkeyPatch, platform: str, encoding: str, newline: str, shown: bytes
) -> None:
    fixed: list[str] = []
    colorama = SimpleNamespace(just_fix_windows_console=lambda: fixed.append("win32"))
    monkeypatch.setitem(sys.modules, "colorama", colorama)
    monkeypatch.setattr(sys, "platform", platform)
    written = {"stdout": io.BytesIO(), "stderr": io.BytesIO()}
    for name, raw in written.items():
        stream = io.TextIOWrapper(raw, encoding, newline=newline, write_through=True)
        monkeypatch.setattr(sys, name, stream)
    system.prepare()
    print(TEXT, end="")
    print(TEXT, end="", file=sys.stderr)
    assert [raw.getvalue() for raw in written.values()] == [shown] * 2
    assert fixed == [platform] * (platform == "win32")


def test_a_stream_that_is_none_of_the_system_s_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    system.prepare()
