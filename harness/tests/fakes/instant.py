"""A session within this process: no process is started, each job is answered at once.

Every runner and the oracle give the same answer, so that all are right; times follow from what a
test says, and a clock of their own goes by. For what the harness does between invocations; whether
it starts and times processes is for the fakes that are processes.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from io import StringIO
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from sqlitmus import machine
from sqlitmus.analysis.assemble import settled
from sqlitmus.catalog import definitions, runners
from sqlitmus.compare import comparison
from sqlitmus.machine import process_tree
from sqlitmus.machine.conditions import Conditions
from sqlitmus.run import session
from sqlitmus.run.measure import blocks
from sqlitmus.run.measure.blocks import Seating
from sqlitmus.run.plan import counts as pace, pilot, planning
from sqlitmus.run.processes.process import Laps, Timing
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.processes.relay import Abandoned, Relay
from sqlitmus.run.verify import context, proof
from sqlitmus.run.verify.invocations import Attempt, Invocations
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Description, Job, Proof
from tests.cli.calling import sqlitmus
from tests.fakes.clone import Clone, Done

PROBE_NS = 30_000_000
START_NS = 50_000_000
CHECKSUM = 5  # of an operation
READ_BACK = Proof(rows=1, checksum=2)
Pace = Callable[[int, int], float]
Lie = Callable[[int], dict[str, Any] | None]


def jitter(seed: str, number: int) -> float:
    """A factor near 1 without chance: within 0.4 %, different for each `seed`."""
    at = sum(seed.encode()) + 7 * number
    return 1 + 0.004 * ((at * at % 101) / 50 - 1)


def even(ns: float, seed: str = "") -> Pace:
    """Operations of about `ns` each, with jitter from one invocation to the next."""
    return lambda _operations, number: ns * jitter(seed, number)


class Measured(NamedTuple):
    """A measured invocation: whose, and what was asked of it."""

    runner: str
    operations: int
    iterations: int
    warmup_ns: int


def add_up(result: dict[str, Any], job: dict[str, Any]) -> None:
    """Tell the answers that go with the times of `result`: a row in each operation, of the same
    checksum. Another one in the result is that of the first operation."""
    each = job["measure"]["operations_per_iteration"]
    counts = [each] * len([*result["warmup_ns"], *result["iterations_ns"]])
    if job["mode"] == "verify":
        counts = [1] * each
    lie = result["checksum"] - CHECKSUM
    answers = [[count, 0, CHECKSUM * count + lie * (not at)] for at, count in enumerate(counts)]
    total = sum(counts)
    result |= {
        "operations": total,
        "rows": total,
        "checksum": CHECKSUM * total + lie * bool(counts),
    }
    result["answers"] = answers


def alternate(time: int, count: int) -> list[int]:
    """So many iterations of `time` ns, every other one longer by a ns: the clock's step."""
    return [time + number % 2 for number in range(count)]


@dataclass
class Instant:
    """Stands for hyperfine. `paces` says ns per operation from (operations, number of the runner's
    measured invocation, from 1); `lies` what of a result is otherwise at that number (0: when
    verified), None for a crash; `before` is called with each runner and number."""

    paces: dict[str, Pace] = field(default_factory=dict[str, Pace])
    lies: dict[str, Lie] = field(default_factory=dict[str, Lie])
    before: Callable[[str, int], None] = lambda _name, _number: None
    author: Callable[[list[str], Path, Path], Timing] = lambda _a, _b, _c: Timing(1, 1, 0, 127)
    measured: list[Measured] = field(default_factory=list[Measured])
    verified: list[str] = field(default_factory=list[str])
    digested: list[str] = field(default_factory=list[str])
    now_ns: int = 0

    def execute(
        self,
        command: list[str],
        environment: dict[str, str],
        log: Path,
        timeout_s: float,
        folder: Path | None = None,
    ) -> Timing:
        """Answer the job; the exit code is 1 where a lie is None. In a folder of their own there
        are only programs of claims' authors."""
        del environment, timeout_s
        if folder is not None:
            return self.author(command, folder, log)
        job = Job.model_validate_json(Path(command[-1]).read_bytes()).model_dump(mode="json")
        name = job["cell"].partition("/")[2]
        log.write_text("")
        if job["mode"] == "verify":
            self.verified.append(name)
            number = 0
        else:
            plan = job["measure"]
            number = 1 + self.count(name)
            self.measured.append(
                Measured(
                    name, plan["operations_per_iteration"], plan["iterations"], plan["warmup_ns"]
                )
            )
            self.digested += [name] * bool(plan["digest"])
            self.before(name, number)
        named = [word.removeprefix("--name=") for word in command if word.startswith("--name=")]
        result = self.answer(job, name, number, named[0] if named else name)
        lie = self.lies.get(name, lambda _number: {})(number)
        spent = round(START_NS * jitter(f"start of {name}", number))
        spent += sum(result["iterations_ns"])  # a warm-up that is told otherwise took place
        result |= lie or {}
        add_up(result, job)
        spent += sum(result["warmup_ns"])
        self.now_ns += spent
        if lie is None:
            log.write_text("gave up, says the fake\n")
            return Timing(spent, spent, 0, 7)
        Path(job["output"]).write_text(json.dumps(result))
        return Timing(spent, spent * 7 // 10, spent * 3 // 10, 0)

    def answer(self, job: dict[str, Any], name: str, number: int, runner: str) -> dict[str, Any]:
        """The right result, with the times of `name`, which is `runner` or a copy of it."""
        plan = job["measure"]
        operations = plan["operations_per_iteration"]
        pace = self.paces.get(name, even(1100, name))
        time = round(operations * pace(operations, number))
        warm = max(plan["warmup_iterations"], -(-plan["warmup_ns"] // max(time, 1)))
        cold = job["database"] is None or job["mode"] == "verify"
        measured = [] if cold else alternate(time, plan["iterations"])
        return {
            "contract": 2,
            "cell": job["cell"],
            "status": "ok",
            "identity": {**oracle().identity.model_dump(mode="json"), "runner": runner},
            "effective": {"pragmas": dict(job["connection"]["pragmas"])},
            "checksum": CHECKSUM,
            "readback": READ_BACK.model_dump() if job["readback"] else None,
            "digest": "ab" * 32 if job["mode"] == "verify" or plan["digest"] else None,
            "warmup_ns": [] if cold else alternate(time, warm),
            "iterations_ns": measured,
            "cpu_ns": sum(measured),
            "peak_rss_bytes": 40_000_000 + number % 3,
        }

    def kill(self) -> None:
        """Nothing runs."""

    def resident(self) -> int:
        """Nothing runs."""
        return 0

    def count(self, name: str) -> int:
        """Measured invocations of `name` so far."""
        return sum(found.runner == name for found in self.measured)


@cache
def oracle() -> Description:
    """What the oracle says of itself, which the fakes repeat."""
    main = paths.RUNNERS / "python" / "main.py"
    done = subprocess.run([sys.executable, main, "describe"], capture_output=True, check=True)
    return Description.model_validate_json(done.stdout)


def believe(_oracle: runners.Installed, _scratch: Path, *, fresh: bool) -> None:
    """The oracle is not asked; its answers are those of all."""
    del fresh


start_and_describe = runners.describe
read_facts = machine.facts


@cache
def facts() -> dict[str, str]:
    """What this machine is, which no test changes: reading it starts programs."""
    return read_facts(paths.ROOT)


def same_facts(_folder: Path) -> dict[str, str]:
    """The facts again, for each run its own."""
    return dict(facts())


def describe(command: list[str], environment: dict[str, str], fingerprint: str) -> Description:
    """What the runner of `command` would say, without starting it unless it is to misbehave."""
    if any(word.startswith("--behaviour=describe") for word in command):
        return start_and_describe(command, environment, fingerprint)
    names = [word.removeprefix("--name=") for word in command if word.startswith("--name=")]
    identity = oracle().identity.model_copy(update={"runner": names[0] if names else "python"})
    return oracle().model_copy(update={"identity": identity})


def fresh(*_: object) -> tuple[str, str | None]:
    """What comes of probes of a runner."""
    return "ok", None


def one_by_one(
    invocations: Invocations,
    _relay: Relay,
    seatings: Sequence[Seating],
    _seed: str,
    stopped: Callable[[], bool],
) -> list[Attempt]:
    """Stands for a set of turns: each seat is answered at once, by itself."""
    attempts: list[Attempt] = []
    for seat in seatings:
        if stopped():
            raise Abandoned("asked to stop")
        attempt = invocations.attempt(
            seat.case, seat.runner, "measure", seat.answer, digest=seat.digest
        )
        result, rounds = attempt.invocation.result, seat.turns.rounds
        if attempt.outcome == "ok" and result:
            ns = result.iterations_ns
            laps = Laps(ns, ns, float(np.mean(ns)), None, None, [0] * rounds, [True] * rounds)
            attempt = replace(attempt, invocation=replace(attempt.invocation, laps=laps))
        attempts.append(attempt)
    return attempts


@dataclass
class Desk:
    """A clone whose sessions run within this process."""

    clone: Clone
    instant: Instant
    monkeypatch: pytest.MonkeyPatch
    stderr: StringIO = field(default_factory=StringIO)

    @classmethod
    def make(cls, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> "Desk":
        """Put the stand-ins into their places."""
        for name in ("SQLITMUS_TOOLCHAIN", "SQLITMUS_PATHS", "SQLITMUS_LOCK"):
            monkeypatch.setenv(name, clone.environment()[name])
        instant = Instant()
        root = clone.root
        read = definitions.read
        monkeypatch.setattr(paths, "RESULTS", root / "results")

        def executor(_path: str, _scratch: Path) -> Instant:
            return instant

        monkeypatch.setattr(context, "Hyperfine", executor)
        monkeypatch.setattr(blocks, "play", one_by_one)
        monkeypatch.setattr(context, "prove", believe)
        monkeypatch.setattr(context.Prober, "ask", fresh)

        def nothing_outlives(*_held: int) -> AbstractContextManager[SimpleNamespace]:
            return nullcontext(SimpleNamespace(end=dict))

        monkeypatch.setattr(process_tree, "none_outlive", nothing_outlives)
        seconds = (datetime.now(UTC) + timedelta(seconds=number) for number in count())
        # a second later at each look: no run waits until its name is free
        moment = partial(
            planning.free_moment, now=partial(next, seconds), sleep=list[float]().append
        )
        monkeypatch.setattr(planning, "free_moment", moment)
        monkeypatch.setattr(process_tree, "of_the_dead", lambda: 0)

        def look(probe_ns: int) -> Conditions:
            return Conditions(monotonic_ns=instant.now_ns, probe_ns=probe_ns, load_average=0.5)

        def held(*_given: object) -> proof.Held:
            return proof.Held(READ_BACK, "ab" * 32)

        monkeypatch.setattr(proof.Files, "held", held)  # nothing was written
        monkeypatch.setattr(runners, "describe", describe)
        monkeypatch.setattr(machine, "facts", same_facts)
        monkeypatch.setattr(blocks, "conditions", SimpleNamespace(read=look))
        monkeypatch.setattr(os, "fsync", id)  # syncs of hundreds of lines take seconds
        monkeypatch.setattr(blocks, "probe", lambda: PROBE_NS)
        monkeypatch.setattr(pace, "probe", lambda: PROBE_NS)
        clock = SimpleNamespace(monotonic=lambda: instant.now_ns / 1e9)
        for module in (pilot, planning):
            monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(
            definitions,
            "load",
            lambda: read(root / "scenarios", root / "fixtures", root / "runners"),
        )
        return cls(clone, instant, monkeypatch)

    def run(self, **options: Any) -> session.Ended:
        """A new run of size s, seed 3."""
        asked = replace(session.Options(size="s", seed=3), **options)
        told = Progress(self.stderr)
        return session.run(asked, definitions.load(), paths.tools(), told, settled)

    def resume(self, path: Path, *, again: bool = False) -> session.Ended:
        """Go on with the run at `path`, or begin one more sitting of it."""
        given = (session.Options(), definitions.load(), paths.tools(), Progress(self.stderr))
        return session.resume(path, *given, settled, force=False, again=again)

    def compare(self, *subjects: str, **options: Any) -> session.Ended:
        """A new comparison of size s, seed 3."""
        usual = session.Options(kind="compare", correction="holm", size="s", seed=3)
        given = (definitions.load(), paths.tools(), Progress(self.stderr))
        return comparison.measure([*subjects], replace(usual, **options), *given)

    def resume_comparison(self, path: Path) -> session.Ended:
        """Go on with the comparison at `path`, or with its confirmation."""
        given = (session.Options(), definitions.load(), paths.tools(), Progress(self.stderr))
        return comparison.resume(path, *given, force=False)

    def sqlitmus(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> Done:
        """The command line, within this process."""
        done = sqlitmus(capsys, self.monkeypatch, *arguments)
        return Done(done.code, self.clone.plain(done.out), self.clone.plain(done.err))

    def said(self) -> str:
        """Progress since this was last asked, without times of day and durations."""
        text = self.stderr.getvalue()
        self.stderr.seek(0)
        self.stderr.truncate()
        return self.clone.plain(text)

    def probe(self, slow: Callable[[], bool]) -> None:
        """Let a probe take five times as long as usual whenever `slow` holds."""
        self.monkeypatch.setattr(blocks, "probe", lambda: 5 * PROBE_NS if slow() else PROBE_NS)

    def interrupt_at(self, number: int) -> None:
        """Let Ctrl-C come before that invocation of all ends."""

        def interrupt(_name: str, _number: int) -> None:
            if len(self.instant.measured) == number:
                os.kill(os.getpid(), signal.SIGINT)

        self.instant.before = interrupt

    def pace(self, ns: int) -> None:
        """Let a machine be found as fast as a probe of so many ns says."""
        self.monkeypatch.setattr(pace, "probe", lambda: ns)
