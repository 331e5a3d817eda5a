"""The machine-wide lock, held by real processes; pipes say how far they are."""

import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sqlitmus.machine import lock
from sqlitmus.run.processes.progress import Progress
from tests.fakes.clone import running as lives
from tests.fakes.clone import until
from tests.refusals import unfit

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals of POSIX")

PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run unattended
from sqlitmus.machine import lock
from sqlitmus.run.processes.progress import Progress
with lock.hold(sys.argv[1], wait="--wait" in sys.argv, say=Progress().insist):
    print("held", flush=True)
    sys.stdin.read()
"""

Program = subprocess.Popen[str]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock of the test's own."""
    monkeypatch.setenv("SQLITMUS_LOCK", str(tmp_path / "lock"))
    return tmp_path / "lock"


@contextmanager
def running(*arguments: str) -> Generator[Program]:
    """A process that takes the lock and keeps it until its stdin is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def holding(*arguments: str) -> Generator[Program]:
    """A process that has the lock."""
    with running(*arguments) as process:
        assert _line(process.stdout) == "held"
        yield process


def _line(stream: object) -> str:
    assert isinstance(stream, io.TextIOBase)
    return stream.readline().strip()


def end(process: Program) -> None:
    """Let a holder go on to its end."""
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait() == 0


def take(label: str = "mine") -> None:
    """Take the lock and give it back."""
    with lock.hold(label, wait=False, say=print):
        pass


def test_a_second_run_is_refused_with_who_and_what_to_do() -> None:
    with holding("night") as other:
        since = psutil.Process(other.pid).create_time()
        said = lock.holder()
        with unfit() as refused:
            take()
    assert said is not None
    assert (said.pid, said.label, said.command) == (other.pid, "night", "./just night")
    assert said.started == pytest.approx(since, abs=0.01)
    assert str(refused.value) == (
        f"another run holds this machine: {said}. Two runs at once would disturb each other. "
        "Wait for it to end, or add --wait."
    )
    assert f"pid {other.pid} since 20" in str(said)


def test_a_system_that_hides_its_processes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(pid: int | None = None) -> psutil.Process:
        raise psutil.NoSuchProcess(pid or os.getpid())

    monkeypatch.setattr(psutil, "Process", hidden)
    with unfit() as told, lock.hold("a", wait=False, say=print):
        pass
    assert str(told.value) == (
        "the system tells nothing of this process, so that what a run starts could not be ended "
        "with it; mount /proc, without hidepid"
    )


def test_a_run_that_ended_leaves_nothing(file: Path) -> None:
    with holding("night") as other:
        end(other)
        assert lock.holder() is None
        assert file.read_bytes() == b""
        take()


@pytest.mark.parametrize("collected", [True, False], ids=["collected", "zombie"])
def test_a_killed_run_holds_nothing_and_is_not_named(file: Path, *, collected: bool) -> None:
    with holding("night") as other:
        other.kill()
        if collected:
            other.wait()
        else:
            until(lambda: not lives(other.pid), "it does not die")
        assert b"night" in file.read_bytes()
        assert lock.holder() is None
        take()


def test_an_error_within_gives_the_lock_back() -> None:
    with pytest.raises(ZeroDivisionError), lock.hold("a", wait=False, say=Progress().insist):
        raise ZeroDivisionError
    take()


def test_the_same_process_cannot_hold_it_twice() -> None:
    with (
        lock.hold("a", wait=False, say=Progress().insist),
        unfit(f"pid {os.getpid()} "),
    ):
        take("b")


def test_waiting_says_so_once_and_goes_on_when_the_other_ends() -> None:
    with holding("night") as other, running("late", "--wait") as waiter:
        told = _line(waiter.stderr)
        assert told == f"waiting: another run holds this machine: {lock.holder()}"
        end(other)
        assert _line(waiter.stdout) == "held"
        said = lock.holder()
        assert said is not None
        assert (said.pid, said.label) == (waiter.pid, "late")
        assert waiter.communicate() == ("", "")


@posix
def test_waiting_can_be_interrupted() -> None:
    with holding("night"), running("late", "--wait") as waiter:
        assert _line(waiter.stderr).startswith("waiting: ")
        waiter.send_signal(signal.SIGINT)
        out, err = waiter.communicate()
        assert (out, err.splitlines()[-1]) == ("", "KeyboardInterrupt")


@posix
def test_a_lock_whose_file_was_cleaned_away_is_taken_anew(file: Path) -> None:
    with holding("night") as other, running("late", "--wait") as waiter:
        assert _line(waiter.stderr).startswith("waiting: ")
        file.unlink()
        end(other)
        assert _line(waiter.stdout) == "held"
        with unfit(f"pid {waiter.pid} "):
            take()


def _claim(pid: int, started: float) -> bytes:
    return lock.Holder(pid=pid, started=started, label="x", command="x").model_dump_json().encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00\x01",
        b"[]",
        b'{"pid": "me"}',
        b'{"pid": 1e400, "started": NaN, "label": "", "command": ""}',
        b"x" * 10_000_000,
    ],
    ids=map(str, range(6)),
)
def test_what_the_file_says_is_not_believed(file: Path, content: bytes) -> None:
    with holding("night"):
        file.write_bytes(content)
        assert lock.holder() is None
        with unfit("holds this machine: its name is not known yet"):
            take()
    file.write_bytes(content)
    take()


@pytest.mark.parametrize(
    "content",
    [_claim(pid, 12.0) for pid in (os.getpid(), 2**22 + 7, -1, 2**70)],
    # a process id differs between the workers of xdist, which must agree on names
    ids=map(str, range(4)),
)
def test_a_holder_who_is_dead_is_named_as_killed_when_nothing_comes_free(
    file: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "GUARDIAN_S", 0)
    with holding("night"):
        file.write_bytes(content)
        assert lock.holder() is None
        with unfit("what a killed run left running holds this machine: pid "):
            take()
    file.write_bytes(content)
    take()


@posix
def test_what_a_killed_run_has_left_is_waited_for(file: Path) -> None:
    with holding("heir") as heir, running("dead", "--wait") as waiter:
        file.write_bytes(_claim(2**22 + 7, 12.0))
        end(heir)
        assert _line(waiter.stdout) == "held"


def test_control_characters_do_not_reach_the_terminal() -> None:
    shown = str(lock.Holder(pid=1, started=0.0, label="\x1b[2J\n", command="c" * 9_999))
    assert shown.isprintable()
    assert "label ?[2J : ccc" in shown
    assert len(shown) < 300


def test_all_users_share_one_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SQLITMUS_LOCK")
    before = lock.place()
    assert before.name == "sqlitmus.lock"
    if os.name == "posix":
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", None)
        assert lock.place() == before


@posix
def test_all_users_may_take_it_whoever_made_it(file: Path) -> None:
    mask = os.umask(0o077)
    try:
        take()
    finally:
        os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666


@posix
def test_a_link_is_not_followed(file: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    file.symlink_to(precious)
    with unfit("Remove that file, or name another with SQLITMUS_LOCK"):
        take()
    assert precious.read_text() == "kept"


@posix
def test_a_pipe_in_its_place_is_refused_at_once(file: Path) -> None:
    os.mkfifo(file)
    with unfit("no ordinary file"):
        take()
    assert lock.holder() is None


def test_a_folder_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SQLITMUS_LOCK", str(tmp_path / "none/lock"))
    with unfit("cannot be opened: No such file"):
        take()
    assert lock.holder() is None
