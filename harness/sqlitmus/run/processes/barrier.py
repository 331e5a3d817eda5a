"""The harness's side of the contract's barrier: processes that start each iteration together."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

from sqlitmus.machine import system
from sqlitmus.run.processes.process import Timing, how_it_ended


@dataclass(slots=True)
class Child:
    """A process; `owed` times it has to say `ready` before it stands at the barrier again, and
    `ended` holds its end (perf_counter_ns) and its exit code as in Timing."""

    number: int
    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    handle: int
    log: BinaryIO
    started_ns: int
    line: bytes = b""
    owed: int = 1
    ended: tuple[int, int] | None = None

    @classmethod
    def start(cls, number: int, command: list[str], environment: dict[str, str], log: Path) -> Self:
        """Start `command` in a session of its own, stderr to `log`. Raises OSError."""
        file = log.open("wb", buffering=0)
        started = time.perf_counter_ns()
        try:
            process = subprocess.Popen(
                command,
                bufsize=0,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                start_new_session=True,
            )
        except OSError:
            file.close()
            raise
        assert process.stdin
        assert process.stdout
        ends = process.stdin.fileno(), process.stdout.fileno()
        return cls(number, process, *ends, os.pidfd_open(process.pid), file, started)

    def reap(self) -> Timing:
        """Collect the process, and close all that connected it; one killed has exit code None."""
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        end, code = self.ended or (time.perf_counter_ns(), None)
        self.log.write(self.line)
        for file in (self.log, self.process.stdin, self.process.stdout):
            assert file
            file.close()
        os.close(self.handle)
        return Timing(
            wall_ns=end - self.started_ns,
            user_ns=round(used.ru_utime * 1e9),
            system_ns=round(used.ru_stime * 1e9),
            exit_code=code,
        )


READY, RELEASE = b"ready", b"go\n"
PIPE = 65_536  # bytes that a pipe holds: one read empties it


class Broken(Exception):
    """A process that violated the barrier's protocol; the message says how."""

    def __init__(self, message: str, child: Child) -> None:
        super().__init__(message)
        self.child = child


class ProcessGroup:
    """The processes of one invocation, each in its own session; all are killed when the block ends.

    `left` releases are to come; `timings` exist once the block has ended. Between events the
    harness sleeps in the kernel, so nothing runs beside what is measured.
    """

    def __init__(self, releases: int, timeout_s: float) -> None:
        self.children: list[Child] = []
        self.timings: list[Timing] = []
        self.left = releases
        self._killed = False
        self._releases = releases
        self._timeout_s = timeout_s
        self._left_s = timeout_s  # of waiting: what others do meanwhile does not count
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for child in self.children:
            self.timings.append(child.reap())
        self._selector.close()

    def start(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        """Start another process. stderr, and lines on stdout beside the barrier's, go to `log`."""
        child = Child.start(len(self.children), command, environment, log)
        self.children.append(child)
        os.set_blocking(child.stdout, False)
        self._selector.register(child.stdout, selectors.EVENT_READ, (child, self._read))
        self._selector.register(child.handle, selectors.EVENT_READ, (child, self._end))
        if self._killed:  # by a signal, before this process was one of the group
            self.kill()

    def wait_until_ready(self, ahead: int = 0) -> None:
        """Wait until every process stands at the barrier, or has so many of its releases before it,
        or fewer. Raises Broken."""
        self._wait(lambda child: child.owed <= max(ahead, 0))

    def release(self, iterations: int = 1) -> float:
        """Release all; returns the microseconds between the first and the last write.

        Each does so many `iterations` without waiting between them: their lines lie ready. The
        processor is kept until the last write, since the first process released would take it.
        """
        self.left -= iterations
        for child in self.children:
            # After its last iteration a process ends instead.
            child.owed = iterations if self.left else iterations - 1
        lines = RELEASE * iterations
        inputs, now = [child.stdin for child in self.children], time.perf_counter_ns
        written: list[int] = []
        with system.highest():
            for file in inputs:
                # Of a process that is gone, its end tells more than the broken pipe.
                with suppress(BrokenPipeError):
                    os.write(file, lines)
                written.append(now())
        return (written[-1] - written[0]) / 1000

    def wait_until_ended(self) -> None:
        """Wait until every process has ended with exit code 0. Raises Broken."""
        self._wait(lambda child: child.ended is not None)

    def kill(self) -> None:
        self._killed = True
        for child in self.children:
            if child.process.returncode is None:
                # One that has ended keeps its number until it is reaped.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.process.pid, signal.SIGKILL)

    def wall_ns(self) -> int:
        ends = [child.ended[0] for child in self.children if child.ended]
        return max(ends) - self.children[0].started_ns

    def _wait(self, done: Callable[[Child], bool]) -> None:
        deadline = time.monotonic() + self._left_s
        while late := [child for child in self.children if not done(child)]:
            self._left_s = deadline - time.monotonic()
            if self._left_s <= 0:
                raise Broken(self._overdue(late), late[0])
            for key, _ in self._selector.select(self._left_s):
                # An event before it in the batch may have closed the file.
                if key.fd in self._selector.get_map():
                    child, act = key.data
                    act(child)
        self._left_s = deadline - time.monotonic()

    def _overdue(self, late: list[Child]) -> str:
        who = self._name(late[0]) + (f" and {len(late) - 1} more" if len(late) > 1 else "")
        within = f"within {self._timeout_s:g} s; all are killed"
        return f"{who}: {self._at(late[0], 'not ready for', 'no end after')} {within}"

    def _read(self, child: Child) -> None:
        """Read what is on stdout now: `ready`, or lines for the log."""
        try:
            data = os.read(child.stdout, PIPE)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(child.stdout)
        *lines, child.line = (child.line + data).split(b"\n")
        for line in lines:
            self._take(child, line)

    def _take(self, child: Child, line: bytes) -> None:
        if line != READY:
            child.log.write(line + b"\n")
        elif not child.owed:
            raise Broken(
                f"{self._name(child)}: says `ready` once more {self._at(child, 'before', 'after')}",
                child,
            )
        else:
            child.owed -= 1

    def _end(self, child: Child) -> None:
        now = time.perf_counter_ns()
        self._selector.unregister(child.handle)
        exited = os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOWAIT)
        assert exited
        status = exited.si_status
        child.ended = now, status if exited.si_code == os.CLD_EXITED else 128 + status
        if child.stdout in self._selector.get_map():
            self._read(child)
        if self.left or child.owed or child.ended[1]:
            where = self._at(child, "before", "after")
            raise Broken(f"{self._name(child)}: {how_it_ended(child.ended[1])} {where}", child)

    def _name(self, child: Child) -> str:
        return f"process {child.number} of {len(self.children)}"

    def _at(self, child: Child, before: str, after: str) -> str:
        """Where `child` stands, for messages: `before` an iteration, or `after` the last."""
        ahead = max(child.owed - 1, 0) if self.left else child.owed
        number = self._releases - self.left - ahead
        if number == self._releases:
            return f"{after} iteration {number}, the last"
        return f"{before} iteration {number + 1} of {self._releases}"
