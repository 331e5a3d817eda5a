"""The tools of `bench-peers`, each as its users do, on better-sqlite3 ÷ node:sqlite.

All do the work of the plain programs (`runners/plain/work.js`) on copies of the same file. What
they did is held against Python's sqlite3 before a figure counts; NotFit tells where it differs.
"""

import json
import random
import shlex
import sqlite3
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import exp, hypot, log
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from benchmarks.plain_programs import Phase, Program, Programs, Task, text
from benchmarks.truth import exported, published
from sqlitmus.catalog.fixture import fresh_copy
from sqlitmus.stats.estimate import student_t_of
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit

# Runners and their drivers; the ratio is the first's time over the second's.
DRIVERS = {"node-better-sqlite3": "better-sqlite3", "node": "node:sqlite"}
OVER, UNDER = DRIVERS
TIMEOUT_S = 1200
BLOCKS_S = """
SELECT sum(record ->> '$.after.monotonic_ns' - (record ->> '$.before.monotonic_ns')) / 1e9
FROM block
"""


@dataclass(frozen=True, slots=True)
class Effort:
    """What has no default of its tool: pairs of plain programs and their rounds, hyperfine's runs,
    the least ns of an iteration of BenchmarkDotNet's, and options of `./just run`."""

    pairs: int = 3
    rounds: int = 8
    runs: int = 10
    iteration_ns: float = 5e8
    options: Sequence[str] = ("--mode", "quick", "--blocks", "10")


@dataclass(frozen=True, slots=True)
class Setting:
    """A question: `case`, the plain programs' `task`, and `operations` that take these a quarter of
    a second or so. `slow` is the tool in which better-sqlite3 is slower by a fifth."""

    case: str
    task: Task
    operations: int
    programs: Programs
    tools: paths.Tools
    folder: Path
    effort: Effort
    slow: str | None = None

    def copy(self, name: str) -> Path:
        """The database for a program: a fresh copy where it writes."""
        if not self.task.writes:
            return self.task.fixture
        fresh_copy(self.task.fixture, self.folder / f"{name}.db")
        return self.folder / f"{name}.db"

    @contextmanager
    def started(self, names: Sequence[str]) -> Generator[dict[str, Program]]:
        """Their plain programs, whose work is proven in the end."""
        with ExitStack() as stack:
            programs = {
                name: stack.enter_context(self.programs.start(name, self.task)) for name in names
            }
            yield programs
            for program in programs.values():
                program.end()

    def prove(self, tool: str, answer: Mapping[str, Any], database: Path) -> int:
        """The operations from which the rows of an answer come, whose sum must be that of these."""
        rows = self.task.units if self.task.writes else self.task.answers[0][0]
        operations = answer["rows"] // rows
        if problem := self.task.problem(answer, operations, database):
            raise NotFit(f"{tool}, {self.case}: {problem}")
        return operations


@dataclass(frozen=True, slots=True)
class Figure:
    """A ratio by the name of what prints it, with its interval where that is printed, too.
    `seconds` are its own where they are not those of all that the tool did."""

    name: str
    ratio: float
    interval: tuple[float, float] | None = None
    seconds: float | None = None


def shuffled() -> list[str]:
    """The runners, in random order."""
    return random.sample([*DRIVERS], len(DRIVERS))


def plain_totals(setting: Setting) -> list[Figure]:
    """The reference: fresh pairs of plain programs take turns; all time over all operations, less
    what others took of it, and the geometric mean over the pairs."""
    logs: list[float] = []
    for _ in range(setting.effort.pairs):
        ns = dict.fromkeys(DRIVERS, 0.0)
        with setting.started(shuffled()) as programs:
            for program in programs.values():
                program.work(4 * setting.operations)
            for _ in range(setting.effort.rounds):
                for name in shuffled():
                    (phase,) = programs[name].work(setting.operations)
                    ns[name] += phase.worked_ns
        logs.append(log(ns[OVER] / ns[UNDER]))
    return [Figure("plain totals", exp(fmean(logs)))]


def sqlitmus(setting: Setting) -> list[Figure]:
    """`./just run` in the mode quick with 10 blocks: what its export has, with all seconds and once
    more with those of the blocks alone."""
    out = setting.folder / "runs"
    words = [str(paths.CLONE / "just"), "run", "--case", setting.case, "-r", OVER, "-r", UNDER]
    words += ["--reference", UNDER, *setting.effort.options, "--quiet", "--wait", "--out", str(out)]
    _run("sqlitmus", words)
    (row,) = (row for row in exported(out / "latest") if row["runner"] == OVER)
    ratio = published(row).ratio if row["outcome"] == "ok" else None
    if ratio is None:
        raise NotFit(f"sqlitmus, {setting.case}: {row['outcome']}: {row['reason']}")
    with closing(sqlite3.connect(out / "latest" / "run.sqlite")) as connection:
        (seconds,) = connection.execute(BLOCKS_S).fetchone()
    interval = ratio.low, ratio.high
    return [
        Figure("sqlitmus", ratio.value, interval),
        Figure("sqlitmus, blocks alone", ratio.value, interval, seconds),
    ]


def mitata(setting: Setting) -> list[Figure]:
    """Both drivers in a process with the defaults, and with `--expose-gc` as its README asks: the
    mean, which it prints first, and its median. Neither has an interval."""
    times = _npm(setting, "mitata", "--expose-gc")
    return [Figure(f"mitata, {kind}", _ratio(times, kind)) for kind in ("mean", "median")]


def tinybench(setting: Setting) -> list[Figure]:
    """Both drivers in a process with the defaults: the mean with its margin at 95 %, and the
    median, whose ± is a deviation and no interval."""
    times = _npm(setting, "tinybench")
    mean, margins = _ratio(times, "mean"), [each["margin"] / 100 for each in times.values()]
    return [
        Figure("tinybench, mean", mean, _around(mean, *margins)),
        Figure("tinybench, median", _ratio(times, "median")),
    ]


def hyperfine(setting: Setting) -> list[Figure]:
    """The plain program as a command for N and for 4 N operations. A time is the difference of the
    means, so that starting and warming up fall out; what it prints has no interval."""
    few, many = setting.operations, 4 * setting.operations
    times = {
        DRIVERS[name]: {"mean": _command_s(setting, name, many) - _command_s(setting, name, few)}
        for name in shuffled()
    }
    if min(each["mean"] for each in times.values()) <= 0:
        raise NotFit(f"hyperfine, {setting.case}: {many} operations took no longer than {few}")
    return [Figure("hyperfine, two N", _ratio(times, "mean"))]


def benchmarkdotnet(setting: Setting) -> list[Figure]:
    """Its engine's rule on the plain program, a process per driver; its error at 99.9 %."""
    times: dict[str, dict[str, float]] = {}
    for name in shuffled():
        with setting.started([name]) as programs:
            mean, error = iterated(programs[name].work, setting.effort.iteration_ns)
        times[DRIVERS[name]] = {"mean": mean, "margin": error / mean}
    ratio = _ratio(times, "mean")
    margins = [each["margin"] for each in times.values()]
    return [Figure("BenchmarkDotNet's rule", ratio, _around(ratio, *margins))]


TOOLS: Mapping[str, Callable[[Setting], list[Figure]]] = {
    "plain": plain_totals,
    "sqlitmus": sqlitmus,
    "mitata": mitata,
    "tinybench": tinybench,
    "hyperfine": hyperfine,
    "benchmarkdotnet": benchmarkdotnet,
}


def iterated(work: Callable[[int], Sequence[Phase]], least_ns: float) -> tuple[float, float]:
    """Mean ns of an operation and its error, as BenchmarkDotNet's engine finds them.

    The rule's source is `src/BenchmarkDotNet/Engines`: EnginePilotStage doubles the operations of
    an iteration from 16 until it takes `least_ns`; AutoWarmupStoppingCriteria wants 6 to 50 of them
    with four changes between faster and slower; EngineActualStage 15 to 100, until the error is
    below 2 % of the mean: half of Student's interval at 99.9 %, upper outliers left out (beyond
    Tukey's fence, with numpy's quartiles). Not done: its idle loop, which is a nanosecond an
    operation here, and its collections between iterations.
    """
    operations = 16

    def iterate() -> float:
        (phase,) = work(operations)
        return phase.ns / phase.operations

    while iterate() * operations < least_ns:
        operations *= 2
    warm: list[float] = []
    while len(warm) < 6 or (len(warm) < 50 and _changes(warm) < 4):
        warm.append(iterate())
    times: list[float] = []
    mean, error = 0.0, 0.0
    while len(times) < 15 or (len(times) < 100 and error >= 0.02 * mean):
        times.append(iterate())
        low, high = np.percentile(times, [25, 75])
        inner = [each for each in times if each <= high + 1.5 * (high - low)]
        if len(inner) > 1:
            t = float(student_t_of(np.array([len(inner) - 1]), 0.999)[0])
            mean, error = fmean(inner), t * stdev(inner) / len(inner) ** 0.5
    return mean, error


def _changes(times: Sequence[float]) -> int:
    """How often times change direction, downwards at first; an equal time is a change, too."""
    steps = [-1.0, *np.sign(np.diff(times))]
    return sum(after in (-before, 0) for before, after in pairwise(steps))


def _npm(setting: Setting, tool: str, *options: str) -> dict[str, dict[str, float]]:
    """By driver, what a tool from npm says of its operation, in ns."""
    databases = {DRIVERS[name]: setting.copy(name) for name in shuffled()}
    sides = [{"driver": driver, "database": str(file)} for driver, file in databases.items()]
    if setting.slow == tool:
        copy = str(setting.copy("slow"))
        sides = [s | {"slow": copy} if s["driver"] == DRIVERS[OVER] else s for s in sides]
    task = json.loads(text(setting.task, setting.task.fixture))
    file = setting.folder / f"{tool}.json"
    content = {"tool": tool, "module": setting.tools.need(tool), "task": task, "sides": sides}
    file.write_text(json.dumps(content), "utf-8")
    _, environment = setting.programs.command(UNDER)
    words = [setting.tools.need("node"), *options, str(paths.RUNNERS / "peers/peers.js"), str(file)]
    printed = json.loads(_run(tool, words, environment))
    for driver, database in databases.items():
        setting.prove(tool, printed["answers"][driver], database)
    return printed["times"]


def _command_s(setting: Setting, name: str, operations: int) -> float:
    """hyperfine's mean seconds of a plain program that does so many operations."""
    command, environment = setting.programs.command(name)
    database = setting.copy(name)
    task, asked, out, timing = (setting.folder / f"hyperfine.{n}" for n in range(4))
    task.write_text(text(setting.task, database), "utf-8")
    asked.write_text(json.dumps({"operations": operations, "seconds": 0}) + "\n", "utf-8")
    again = ["--prepare", shlex.join(["cp", str(setting.task.fixture), str(database)])]
    words = [setting.tools.need("hyperfine"), "-N", "--style", "none", "--warmup", "1"]
    words += ["--runs", str(setting.effort.runs), *(again if setting.task.writes else [])]
    words += ["--input", str(asked), "--output", str(out), "--export-json", str(timing)]
    _run("hyperfine", [*words, shlex.join([*command, str(task)])], environment)
    answer = json.loads(out.read_text("utf-8").splitlines()[-1])
    if setting.prove("hyperfine", answer, database) != operations:
        raise NotFit(f"hyperfine, {setting.case}: not {operations} operations: {answer}")
    return json.loads(timing.read_text("utf-8"))["results"][0]["mean"]


def _ratio(times: Mapping[str, Mapping[str, float]], kind: str) -> float:
    return times[DRIVERS[OVER]][kind] / times[DRIVERS[UNDER]][kind]


def _around(ratio: float, one: float, other: float) -> tuple[float, float]:
    """Its interval from the relative errors of both times, which are independent."""
    half = ratio * hypot(one, other)
    return ratio - half, ratio + half


def _run(tool: str, words: list[str], environment: Mapping[str, str] | None = None) -> str:
    """What a program prints. Raises NotFit when it fails."""
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    if done.returncode:
        raise NotFit(f"{tool}, exit code {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout
