"""A process that waits at the barrier: what it is connected by, and how it ended."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

from sqlitmus.run.finished import Timing


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
