"""The machine-wide lock: whoever holds it is another run, in this process or in one of its own."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from bootstrap import filelock
from sqlitmus.machine import lock
from tests.fakes.clone import running as lives, until
from tests.refusals import unfit

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals of POSIX")

PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run unattended
from sqlitmus.machine import lock
with lock.hold("night", wait=True, say=lambda text: print(text, flush=True)):
    print("held", flush=True)
    sys.stdin.read()
"""
ME = f"pid {os.getpid()} "


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock of the test's own."""
    monkeypatch.setenv("SQLITMUS_LOCK", str(tmp_path / "lock"))
    return tmp_path / "lock"


def hold(label: str = "mine") -> ExitStack:
    """Take the lock, and keep it until what is returned is closed."""
    with ExitStack() as stack:
        stack.enter_context(lock.hold(label, wait=False, say=print))
        return stack.pop_all()


def claim(pid: int) -> bytes:
    """What a holder of that id, which began long ago, would have written."""
    said = {"pid": pid, "started": 12.0, "label": "night", "command": "./just x"}
    return json.dumps(said).encode()


@contextmanager
def process() -> Generator[subprocess.Popen[str]]:
    """A process that waits for the lock and keeps it until it is ended."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def test_a_second_run_is_refused_with_who_and_what_to_do(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["sqlitmus", "run", "--label", "a night"])
    with hold("a night"):
        said = lock.holder()
        with unfit() as refused:
            hold()
    assert said is not None
    assert said.started == pytest.approx(psutil.Process().create_time(), abs=0.01)
    assert str(said).startswith(f"{ME}since 20")
    assert str(said).endswith(" UTC, label a night: ./just run --label 'a night'")
    assert str(refused.value) == (
        f"another run holds this machine: {said}. Two runs at once would disturb each other. "
        "Wait for it to end, or add --wait."
    )
    assert lock.holder() is None
    assert file.read_bytes() == b""
    with pytest.raises(ZeroDivisionError), hold():
        raise ZeroDivisionError
    hold().close()


def test_a_system_that_hides_its_processes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(pid: int | None = None) -> psutil.Process:
        raise psutil.NoSuchProcess(pid or os.getpid())

    monkeypatch.setattr(psutil, "Process", hidden)
    with unfit() as told:
        hold()
    assert str(told.value) == (
        "the system tells nothing of this process, so that what a run starts could not be ended "
        "with it; mount /proc, without hidepid"
    )


def test_a_killed_run_holds_nothing_and_is_not_named_even_before_it_is_collected(
    file: Path,
) -> None:
    with process() as other:
        assert line(other) == "held\n"
        with unfit(f"pid {other.pid} since "):
            hold()
        other.kill()
        until(lambda: not lives(other.pid), "it does not die")
        assert b"night" in file.read_bytes()
        assert lock.holder() is None
        other.wait()
        assert lock.holder() is None
        hold().close()


@pytest.mark.parametrize("cleaned", [pytest.param(True, marks=posix), False])
def test_waiting_says_so_once_and_goes_on_when_the_other_ends(file: Path, *, cleaned: bool) -> None:
    """Even if the lock's file was cleaned away meanwhile."""
    night, told = hold("night"), list[str]()
    expected = [f"waiting: another run holds this machine: {lock.holder()}"]

    def say(text: str) -> None:
        told.append(text)
        if cleaned:
            file.unlink()
        night.close()

    with lock.hold("late", wait=True, say=say):
        assert told == expected
        with unfit(f"{ME}.* label late: "):
            hold()


@posix
def test_waiting_can_be_interrupted() -> None:
    with hold("night"), process() as other:
        assert line(other).startswith(f"waiting: another run holds this machine: {ME}")
        other.send_signal(signal.SIGINT)
        out, err = other.communicate()
        assert (out, err.splitlines()[-1]) == ("", "KeyboardInterrupt")


def test_what_the_file_says_is_not_believed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "GUARDIAN_S", 0)
    unknown = "another run holds this machine: its name is not known yet. "
    odd = [b"", b"\xff\x00\x01", b"[]", b'{"pid": "me"}', b"x" * 10_000_000]
    odd.append(b'{"pid": 1e400, "started": NaN, "label": "", "command": ""}')
    killed = "what a killed run left running holds this machine: pid "
    dead = map(claim, (os.getpid(), 2**22 + 7, -1, 2**70))
    for content, who in {**dict.fromkeys(odd, unknown), **dict.fromkeys(dead, killed)}.items():
        with hold():
            file.write_bytes(content)
            assert lock.holder() is None
            with unfit(who):
                hold()
        file.write_bytes(content)
        hold().close()


def test_what_a_killed_run_has_left_is_waited_for_without_a_word(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(claim(2**22 + 7))
    heir = os.open(file, os.O_RDWR)
    assert filelock.lock(heir)
    monkeypatch.setattr(time, "sleep", lambda _: os.close(heir))
    hold().close()


def test_control_characters_do_not_reach_the_terminal() -> None:
    shown = str(lock.Holder(pid=1, started=0.0, label="\x1b[2J\n", command="c" * 9_999))
    assert shown == f"pid 1 since 1970-01-01 00:00:00 UTC, label ?[2J : {'c' * 200}…"


@posix
def test_all_users_share_one_place_and_may_take_it_whoever_made_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = os.umask(0o077)
    hold().close()
    os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666
    monkeypatch.delenv("SQLITMUS_LOCK")
    monkeypatch.setenv("TMPDIR", str(file.parent))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert lock.place() == Path("/tmp/sqlitmus.lock")  # noqa: S108 — which is what is shared


@posix
def test_what_is_no_ordinary_file_is_refused_at_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    file.symlink_to(precious)
    with unfit("Remove that file, or name another with SQLITMUS_LOCK"):
        hold()
    assert precious.read_text() == "kept"
    file.unlink()
    os.mkfifo(file)
    with unfit("no ordinary file"):
        hold()
    assert lock.holder() is None
    monkeypatch.setenv("SQLITMUS_LOCK", str(tmp_path / "none/lock"))
    with unfit("cannot be opened: No such file"):
        hold()
    assert lock.holder() is None
