"""A catalogue of tiny scenarios and fake runners in a folder, driven by the real harness."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import load
from sqlitmus.results import machines
from sqlitmus.results.report import Report
from sqlitmus.run.measure.agenda import schedule
from sqlitmus.store.file import Sample, opened
from sqlitmus.store.folder import RunDirectory
from tests.fakes import warm
from tests.known import RUNNERS

HERE = Path(__file__).parent
CATALOGUE = HERE / "catalogue"
SCENARIOS, PROFILES, MODES = (
    (CATALOGUE / f"scenarios/{name}.toml").read_text("utf-8")
    for name in ("tiny", "profiles", "modes")
)
DEADLINE_S = 60.0
# Few, because each clone has the oracle perform them; tests of the vectors have it perform all.
INHERITED = ("PATH", "DOTNET_ROOT")  # what a runtime is found by
VECTORS = ("get-hit-and-miss-verify", "insert-immediate-verify", "types-all-verify")
T = TypeVar("T")

RUNNER = """
[[runner]]
name = "{name}"
title = "{name}, a fake"
runtime = "{runtime}"
driver = "{behaviour}"
tool = "python"
command = ["{{python}}", "-E", "-S", "-X", "utf8", "{{runners}}/fakes/fake.py", {arguments}]
"""


@dataclass(frozen=True)
class Done:
    """A finished command; texts without what differs from run to run."""

    code: int
    out: str
    err: str


@dataclass
class Clone:
    """Folders of a catalogue, and the command line that works on them."""

    root: Path

    @classmethod
    def make(cls, root: Path, hyperfine: str | None = None) -> "Clone":
        """A catalogue without runners but the oracle; without `hyperfine` nothing can be timed."""
        clone = cls(root)
        shutil.copytree(CATALOGUE, root, dirs_exist_ok=True)
        shutil.copytree(RUNNERS / "python", root / "runners/python")
        for name in VECTORS:
            vector = Path("contract/vectors", name)
            shutil.copytree(RUNNERS / vector, root / "runners" / vector)
        (root / "runners/fakes").mkdir()
        for name in ("fake.py", "behaviours.py"):
            shutil.copy(HERE / name, root / "runners/fakes" / name)
        known = {"python": {"path": sys.executable}, "absent": {"missing": "not for sale"}}
        known["hyperfine"] = {"path": hyperfine or "stands for hyperfine"}
        clone.write("paths.json", json.dumps(known))
        return clone

    def write(self, name: str, text: str) -> Path:
        """Put a file into the clone."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def two_of_each(self) -> None:
        """Runners `a` and `b`, and cases `get` and `all` in the suite `quick`."""
        for name in ("a", "b"):
            self.runner(name)
        self.replace(
            "scenarios/suites.toml",
            'cases = [{ scenario = "get" }]',
            'cases = [{ scenario = "get" }, { scenario = "all" }]',
        )

    def replace(self, name: str, old: str, new: str) -> None:
        """Change a file of the clone in one place."""
        text = (self.root / name).read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} is not exactly once in {name}"
        self.write(name, text.replace(old, new))

    def runner(
        self,
        name: str,
        behaviour: str = "honest",
        *,
        state: str | None = None,
        runtime: str = "Fake",
    ) -> None:
        """Add a fake; runners with the same `state` count their measurements together."""
        given = [f"--behaviour={behaviour}", f"--name={name}", f"--pids={self.root / 'pids'}"]
        given.append(f"--state={self.state(state or name)}")
        arguments = ", ".join(map(json.dumps, given))
        file = self.root / "runners/fakes/runner.toml"
        before = file.read_text("utf-8") if file.exists() else ""
        text = RUNNER.format(name=name, behaviour=behaviour, runtime=runtime, arguments=arguments)
        file.write_text(before + text, "utf-8")

    def core(self) -> None:
        """Add the runner that has the contract's core alone."""
        shutil.copy(RUNNERS / "contract/core.py", self.root / "runners/fakes/core.py")
        text = RUNNER.format(name="core", behaviour="sqlite3", runtime="Python", arguments="")
        self.write("runners/core/runner.toml", text.replace("fake.py", "core.py"))

    def state(self, name: str) -> Path:
        """The file in which a fake counts."""
        return self.root / f"{name}.state"

    def environment(self) -> dict[str, str]:
        """A user's environment in which this catalogue is the clone."""
        return {
            **{name: os.environ[name] for name in INHERITED if name in os.environ},
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PYTHONPATH": os.pathsep.join(map(str, _import_paths())),
            "SQLITMUS_ROOT": str(self.root),
            "SQLITMUS_PATHS": str(self.root / "paths.json"),
            "SQLITMUS_TOOLCHAIN": str(self.root / "toolchain"),
            "SQLITMUS_LOCK": str(self.root / "lock"),
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """`sqlitmus` with `arguments`, under way."""
        return subprocess.Popen(
            [sys.executable, "-m", "sqlitmus", *arguments],
            env=self.environment(),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process: subprocess.Popen[str]) -> Done:
        """Wait for a command."""
        out, err = process.communicate(timeout=DEADLINE_S)
        return Done(process.returncode, self.plain(out), self.plain(err))

    def sqlitmus(self, *arguments: str, memory: int | None = None) -> Done:
        """Run `sqlitmus` with `arguments` to its end, with as much `memory`, in bytes, as it may
        map."""
        if not warm.AVAILABLE:
            return self.finish(self.start(*arguments))
        environment = self.environment()
        code, out, err = warm.warm().run(arguments, environment, self.root, DEADLINE_S, memory)
        return Done(code, self.plain(out), self.plain(err))

    def plain(self, text: str) -> str:
        """`text` with this folder, times of day and durations replaced by words."""
        text = text.replace(str(self.root), "CLONE")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d{6}Z", "STAMP", text)
        return re.sub(r"\b\d+(?:\.\d+ s|:\d\d(?::\d\d)?)", "TIME", text)

    def latest(self) -> RunDirectory:
        """The newest run."""
        return RunDirectory.open(self.root / "results/latest")

    def analysed(self) -> Report:
        """What analysis makes of the newest run."""
        return analyse(load(self.latest().path))

    def summary(self) -> Report:
        """The newest run's summary, as other tools read it."""
        return machines.load((self.latest().path / "summary.json").read_bytes())

    def samples(self) -> list[Sample]:
        """Samples of the newest run."""
        return self.latest().samples()

    def values(self, figure: str) -> dict[int, float]:
        """The values of a figure in the newest run, as they were measured, by position."""
        question = (
            "SELECT position, value FROM value JOIN figure ON figure.id = figure "
            "JOIN sample ON sample.id = sample WHERE name = ?"
        )
        with opened(self.latest().file) as db:
            return dict(db.execute(question, (figure,)).fetchall())

    def outcomes(self) -> dict[str, str]:
        """What became of each runner in the newest run: its samples, else its verification."""
        run = self.latest()
        found = {record.runner: record.outcome for record in run.verified()}
        for sample in run.samples():
            if sample.outcome != "ok":
                found[sample.runner] = sample.outcome
        return dict(sorted(found.items()))

    def evidence(self) -> list[str]:
        """Names of files in the newest run's logs."""
        return sorted(file.name for file in (self.latest().path / "logs").iterdir())

    def pids(self) -> list[int]:
        """Ids of all fakes that ever ran."""
        folder = self.root / "pids"
        return [int(file.stem) for file in folder.glob("[0-9]*")]

    def alive(self) -> list[int]:
        """Fakes that still run."""
        return [pid for pid in self.pids() if running(pid)]


def _import_paths() -> Iterator[Path | str]:
    yield Path(__file__).parents[2]
    yield from filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))


def planned_order(run: RunDirectory) -> list[tuple[int, str, str]]:
    """What the run's plan says will be measured, in order."""
    plan = run.plan()
    slots = schedule(plan.cells, plan.twice(), plan.blocks, plan.seed, plan.compared())
    return [(slot.position, slot.case, slot.label) for slot in slots]


def measured_order(run: RunDirectory) -> list[tuple[int, str, str]]:
    """What was measured, in the order of the file."""
    return [(s.position, s.case, s.label) for s in run.samples()]


def running(pid: int) -> bool:
    """Whether a process lives; one that ended and was not collected yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def long_enough(attempt: Callable[[float], T | None], first_s: float = 0.5) -> T:
    """What `attempt` gives with the first time-out, doubled from `first_s`, that gives anything.

    A time-out has to be long enough for all that comes before it, which depends on the machine.
    """
    timeout_s = first_s
    while (answer := attempt(timeout_s)) is None:
        timeout_s *= 2
        assert timeout_s < DEADLINE_S, f"{timeout_s / 2:g} s were not enough"
    return answer


def until(condition: Callable[[], Any], what: str) -> None:
    """Poll until `condition` holds; fail with `what` at the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE_S:g} s in vain: {what}"
        time.sleep(0.01)
