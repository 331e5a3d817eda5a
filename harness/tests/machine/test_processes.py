"""Waiting for a process and killing it with its children, as each system has it."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus.machine import process_tree
from sqlitmus.run.processes.progress import Stop
from tests.fakes.clone import running, until

CHILD = "import pathlib, os, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))"
FAMILY = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-I", "-S", "-c", {CHILD + "; time.sleep(600)"!r}, sys.argv[1]])
time.sleep(600)
"""


@pytest.fixture
def family(tmp_path: Path) -> Any:
    """A process, and the number of the one that it started."""
    file = tmp_path / "pid"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", FAMILY, str(file)],
        start_new_session=True,
        creationflags=process_tree.OWN_GROUP,
    )
    until(lambda: file.exists() and file.read_text(), "the child did not start")
    yield process, int(file.read_text())
    process_tree.kill(process)
    process.wait()


def test_a_process_is_killed_with_what_it_started(family: Any) -> None:
    process, child = family
    process_tree.kill(process)
    # on a machine that is held up the second signal may come before the first was heard
    ended = (-signal.SIGTERM, -signal.SIGKILL) if os.name == "posix" else (15,)
    assert process.wait() in ended
    until(lambda: not running(child), "the child lives on")


def test_without_process_groups_children_are_looked_up(
    family: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    process, child = family
    process_tree.kill(process)
    process.wait()
    until(lambda: not running(child), "the child lives on")
    process_tree.kill(process)  # nothing is left of it


@pytest.fixture
def reader() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends when its stdin does."""
    code = "import sys; sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE
    ) as process:
        yield process


def test_a_process_that_lives_has_not_ended_in_time(reader: subprocess.Popen[bytes]) -> None:
    assert not process_tree.ended(reader, 0)
    assert not process_tree.ended(reader, 0.001)


def test_its_end_is_waited_for_without_looking_again_and_again(
    reader: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> None:
        pytest.fail("polls, which takes time beside what is measured")

    assert reader.stdin
    ending = threading.Thread(target=reader.stdin.close)
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", look)
        patch.setattr(os, "waitpid", look)
        ending.start()
        assert process_tree.ended(reader, 60)
    ending.join()
    assert reader.wait() == 0


class Fake:
    """A process of another system, as far as waiting for it needs."""

    def __init__(self) -> None:
        self.pid = 4711
        self._handle = 42


def waits(monkeypatch: pytest.MonkeyPatch, answers: list[Any]) -> list[Any]:
    """What WaitForMultipleObjects is asked and, in turn, answers."""
    asked: list[Any] = []

    def wait(handles: list[int], timeout: float) -> Any:
        asked.append((handles, timeout))
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(connection, "wait", wait)
    return asked


@pytest.mark.parametrize(("answer", "told"), [([42], True), ([], False)])
def test_windows_waits_for_the_handle(
    monkeypatch: pytest.MonkeyPatch, answer: list[int], told: bool
) -> None:
    asked = waits(monkeypatch, [answer])
    assert process_tree.ended(Fake(), 5) is told  # pyright: ignore[reportArgumentType]
    assert asked[0][0] == [42]
    assert 0 < asked[0][1] <= 5


def test_windows_goes_on_waiting_after_ctrl_c_for_the_rest_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = iter([100.0, 100.0, 103.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    asked = waits(monkeypatch, [InterruptedError(), [42]])
    assert process_tree.ended(Fake(), 5)  # pyright: ignore[reportArgumentType]
    assert [timeout for _, timeout in asked] == [5.0, 2.0]


class Queue:
    """A kqueue: what it is asked, and what it answers or raises."""

    def __init__(self, answer: list[object] | None) -> None:
        self.answer = answer
        self.asked: list[object] = []
        self.closed = False

    def control(self, changes: list[object], most: int, timeout: float) -> list[object]:
        self.asked = [*changes, most, timeout]
        if self.answer is None:
            raise ProcessLookupError
        return self.answer

    def close(self) -> None:
        self.closed = True


def event(*facts: int) -> tuple[int, ...]:
    """A kevent, as what it is made of."""
    return facts


@pytest.mark.parametrize(("answer", "told"), [(["exit"], True), ([], False), (None, True)])
def test_macos_waits_for_the_event_of_an_exit(
    monkeypatch: pytest.MonkeyPatch, answer: list[object] | None, told: bool
) -> None:
    queue = Queue(answer)
    constants = {"KQ_FILTER_PROC": -5, "KQ_EV_ADD": 1, "KQ_EV_ONESHOT": 16, "KQ_NOTE_EXIT": 2**31}
    for name, value in constants.items():
        monkeypatch.setattr(select, name, value, raising=False)
    monkeypatch.setattr(select, "kevent", event, raising=False)
    monkeypatch.setattr(select, "kqueue", lambda: queue, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert process_tree.ended(Fake(), 3) is told  # pyright: ignore[reportArgumentType]
    assert queue.asked == [(4711, -5, 17, 2**31), 1, 3]
    assert queue.closed


def test_ctrl_break_is_heard_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    set_: dict[int, Callable[..., object]] = {}

    def handle(number: int, handler: Any) -> str:
        set_[number] = handler
        return "before"

    fake = SimpleNamespace(SIGINT=2, SIGTERM=15, SIGBREAK=21, SIG_IGN="ignored", signal=handle)
    monkeypatch.setattr("sqlitmus.run.processes.progress.signal", fake)
    stop = Stop()
    with stop.listening():
        assert set_ == {2: stop, 15: stop, 21: stop}
    assert set(set_.values()) == {"before"}
