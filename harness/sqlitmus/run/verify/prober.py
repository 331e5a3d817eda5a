"""Starts a runner once per build to see what no result shows: the harness acts beside it."""

import hashlib
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from bootstrap.guarded import marked
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import process_tree
from sqlitmus.run.processes.process import Invocation, Timing, collect
from sqlitmus.vocabulary.contract import Job, Result
from sqlitmus.vocabulary.verdicts import Outcome

Stop = tuple[float, float]
"""When a process stood still at the latest and the earliest, in seconds of a clock that only
grows."""
Act = Callable[[subprocess.Popen[bytes], BinaryIO], list[Stop]]
"""What is done beside a process until it closes its output; its other lines go to the file."""
Verdict = tuple[Outcome | None, str | None]
"""The outcome, None where nothing was proven, and the reason unless it is ok."""

TRIES = 5  # of a probe that proves nothing, as on a machine that is too busy


@dataclass(frozen=True, slots=True)
class Life:
    """When a process lived, in seconds of one clock, and its `stops`."""

    begun: float
    ended: float
    stops: Sequence[Stop]


class Probe(Protocol):
    """A `job`, with a place for a database, what is done `beside` the process that performs it,
    which makes the database if the job has one, and what its result is `judged`.

    `name` is that of its cell and its files, `asks` says in words what is asked, `facts` what else
    than the job could change the outcome.
    """

    @property
    def name(self) -> str: ...
    @property
    def asks(self) -> str: ...
    def job(self, database: str, output: str, /) -> Job: ...
    def facts(self) -> str: ...
    def beside(self, database: Path, /) -> AbstractContextManager[Act]: ...
    def judged(self, invocation: Invocation, life: Life, /) -> Verdict: ...


def unanswered(invocation: Invocation, asks: str) -> Result | Verdict:
    """The result of an invocation, or what becomes of one without an answer."""
    result = invocation.result
    if result is None:
        return "failed", f"asked {asks}: {invocation.problem}"
    if result.status == "unsupported":
        return "unsupported", result.reason
    if result.status == "failed":
        return "failed", result.error.message if result.error else None
    return result


class Prober:
    """Starts one runner at a time; nothing of it is timed, but it may not take longer than
    `timeout_s`."""

    def __init__(self, scratch: Path, timeout_s: float) -> None:
        self._folder = scratch / "probes"
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, probe: Probe, runner: Installed, log: Path) -> Verdict:
        """What becomes of `runner`.

        Its messages go to `log`; job and result are put beside that unless it is ok.
        """
        verdict: Verdict = None, None
        for _ in range(TRIES):
            verdict = self._ask(probe, runner, log)
            if verdict[0]:
                break
        if verdict[0] != "ok":
            for evidence in ("job", "result"):
                if (self._folder / evidence).exists():
                    shutil.copyfile(self._folder / evidence, log.with_suffix(f".{evidence}.json"))
        return verdict

    def kill(self) -> None:
        if process := self._process:
            process_tree.kill(process)

    def _ask(self, probe: Probe, runner: Installed, log: Path) -> Verdict:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        database, file, output = (self._folder / name for name in ("rows.db", "job", "result"))
        file.write_bytes(probe.job(str(database), str(output)).text().encode())
        begun = time.monotonic()
        with log.open("wb", buffering=0) as messages, probe.beside(database) as act:
            command = [*runner.command, "--job", str(file)]
            invocation, stops = self._perform(command, runner, messages, act)
        life = Life(begun, time.monotonic(), stops)
        if invocation.timing:
            invocation = collect(invocation.timing, output)
        return probe.judged(invocation, life)

    def _perform(
        self, command: list[str], runner: Installed, messages: BinaryIO, act: Act
    ) -> tuple[Invocation, list[Stop]]:
        try:
            process = self._process = subprocess.Popen(
                command,
                env=marked({**runner.environment, **runner.spec.steady_environment}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                start_new_session=True,
                creationflags=process_tree.OWN_GROUP,
            )
        except OSError as error:
            return Invocation(None, None, f"{error.filename}: {error.strerror}"), []
        with _ended_by(process, self._timeout_s) as late:
            stops = act(process, messages)
        self._process = None
        if late.is_set():
            return Invocation(None, None, f"no end within {self._timeout_s:g} s; killed"), stops
        code = process.returncode
        timing = Timing(0, 0, 0, code if code >= 0 else 128 - code)
        return Invocation(timing, None, None), stops


@contextmanager
def _ended_by(process: subprocess.Popen[bytes], timeout_s: float) -> Generator[threading.Event]:
    """Kill `process` after `timeout_s`, which sets the event; when the block ends, it has ended."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        process_tree.kill(process)

    timer = threading.Timer(timeout_s, give_up)
    timer.start()
    try:
        yield late
        process.wait()
    finally:
        timer.cancel()
        process_tree.kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def key(probe: Probe, runner: Installed) -> str:
    """All that could change the outcome, as a hash."""
    parts = [probe.job("", "").text(), probe.facts(), runner.spec.model_dump_json()]
    return hashlib.sha256("\0".join([*parts, runner.fingerprint]).encode()).hexdigest()[:24]
