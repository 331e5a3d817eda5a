"""A set-up that is killed leaves nothing running, and keeps its lock until that holds."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from bootstrap import guardian
from bootstrap.filelock import exclusive
from tests.bootstrap.conftest import Bench
from tests.fakes.clone import running, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux marks")
DEADLINE_S = 10.0

SET_UP = """
import sys
from pathlib import Path
from bootstrap import guardian
from bootstrap.context import Context, Settings
from bootstrap.engine import ensure
from bootstrap.progress import Progress
from bootstrap.step import Entry, Step

clone, toolchain, slow = map(Path, sys.argv[1:4])
guardian.VARIABLE = sys.argv[4]

def make(context, folder, commands):
    (folder / "half").touch()
    commands.run(context.logs / "one.log", [slow, "build"], folder, context.environ)
    return {"one": Entry("half")}

step = Step("one", "making one", lambda _: None, lambda _: {"fact": "same"}, make)
ensure([step], Context(clone, toolchain, Settings.load(), {}), Progress())
"""


FIRST_LOOK = """
import os
import sys
from bootstrap import main

main._outlasted(main.Command([sys.argv[3]], dict(os.environ)))
"""


@dataclass
class Killed:
    """A set-up that was killed beside a slow command, by the pipe that those with it hold open."""

    pipe: int

    def gone(self) -> bool:
        """Whether the command and what it started have ended; waits for that, but not for ever."""
        return bool(select.select([self.pipe], [], [], DEADLINE_S)[0]) and not os.read(self.pipe, 1)


@contextmanager
def killed(
    bench: Bench, *, with_guardian: bool = False, program: str = SET_UP
) -> Generator[Killed]:
    """Kill a set-up, and its guardian, too, while its command and a session of that run."""
    pipe = bench.tools / "pipe"
    os.mkfifo(pipe)
    # both hold the pipe open, so that its end tells that both are gone
    slow = bench.tool(
        "slow", f"exec 3>{pipe}; /usr/bin/setsid /bin/sleep 600 & echo $$ $! >&3; wait"
    )
    words = [sys.executable, "-c", program, bench.context.clone, bench.context.toolchain, slow]
    words.append(guardian.VARIABLE)
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(words, env=path, stderr=subprocess.DEVNULL) as process:
        reader = os.open(pipe, os.O_RDONLY)
        pids = [int(word) for word in os.read(reader, 100).split()]
        watching = guardian_of(process.pid)
        if with_guardian and watching:
            os.kill(watching, signal.SIGKILL)
            until(lambda: not running(watching), "the guardian lives on")
        process.kill()
    try:
        yield Killed(reader)
    finally:
        os.close(reader)
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def guardian_of(pid: int) -> int | None:
    """The guardian that watches over a process."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if f"-{pid:010d}-" in file.read_text("utf-8"):
                return int(file.parent.name)
    return None


def test_what_a_killed_set_up_started_ends_before_its_lock_is_free_and_is_made_anew(
    bench: Bench,
) -> None:
    with killed(bench) as set_up:
        with exclusive(bench.context.toolchain / "lock", lambda _: None):
            assert set_up.gone()
        (half,) = (bench.context.toolchain / "one").iterdir()
        assert (half / "half").exists()
        assert bench.ensure(bench.step("one"))["one"].ready
        assert bench.made == ["one"]
        assert not (half / "half").exists()


def test_a_first_look_ends_with_the_command_that_waits_for_it(bench: Bench) -> None:
    with killed(bench, program=FIRST_LOOK) as command:
        assert command.gone()


def test_what_killed_set_up_and_guardian_left_is_ended_by_the_next(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a mark of its own, else a session of another test may be the one that ends it
    monkeypatch.setattr(guardian, "VARIABLE", "SQLITMUS_RUN_OF_A_TEST")
    with killed(bench, with_guardian=True) as set_up:
        bench.ensure(bench.step("one"))
        assert set_up.gone()
        assert "ended what a killed run or set-up had left running: " in bench.said.getvalue()


def test_a_set_up_that_ends_has_no_guardian_any_more(bench: Bench) -> None:
    guardians: list[int | None] = []

    def look(*_: object) -> None:
        guardians.append(guardian_of(os.getpid()))

    assert bench.ensure(bench.step("one", make=look))["one"].ready
    (guardian,) = guardians
    assert guardian
    assert guardian_of(os.getpid()) is None
