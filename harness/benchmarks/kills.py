"""Kills runs and set-ups at many moments: `./just bench-kills [N] [--phase TEXT]`.

N times in all, aimed at each phase in turn with a random delay within it: the harness of a run with
fake runners gets SIGKILL, which nothing can handle; of a run that `./just` started, one of the
processes above the runners gets SIGTERM, SIGINT, SIGHUP or SIGKILL. After two seconds the processes
left are counted; then the run is resumed, or begun anew where it had no plan yet, and its samples
are held against the plan. A set-up of the cheap steps is killed likewise; then another one must
make, or leave, each file as it is without a kill. Exit 1 if anything was left, lost, doubled or
half-made. Linux only.

Set-ups are made in a copy of this clone with a toolchain of its own, and of cheap steps alone: on
its PATH there is no cargo, dotnet or go. So `doctor`, with which it ends, says that hyperfine is
missing. Python's packages are downloaded once, and npm's come from its cache.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Annotated

import psutil
import typer

from sqlitmus.store.file import FILE
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.verdicts import Scheme
from tests.fakes import clone as clones
from tests.fakes.clone import Clone, measured_order, planned_order, until
from tests.faults.stage import Stage

AFTER_S = 2.0
FAKES = ("--mode", "piloted", "--case", "insert", "-r", "a", "-r", "family")
REAL = ("--mode", "quick", "--case", "insert-transaction", "-r", "node", "-r", "python")
DOORS = {"just", "sh", "dash", "bash"}
ASKING = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]
COPIED = ("harness", "runners", "scenarios", "fixtures", "just", "Justfile")
NOT_COPIED = ("node_modules", "__pycache__", "target", "bin", "obj")
DEAR = {"cargo", "rustc", "dotnet", "go"}
LOCKS = ("requirements.txt", "requirements-just.txt")
MADE = ("python", "npm", "sync-counter")


class SetUps:
    """One set-up that ended well, in `seconds`, as the measure of those that are killed."""

    def __init__(self, folder: Path) -> None:
        self._clone = folder / "clone"
        self._toolchain = folder / "toolchain"
        for name in COPIED:
            _copy(paths.ROOT / name, self._clone / name)
        chosen = {
            "PATH": str(_tools(folder / "tools")),
            "SQLITMUS_TOOLCHAIN": str(self._toolchain),
            "SQLITMUS_LOCK": str(folder / "lock"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(_wheels(folder / "wheels")),
            "npm_config_prefer_offline": "true",
        }
        inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DOTNET_ROOT")}
        self._environment = {**inherited, **chosen}
        begin = time.monotonic()
        self._ending = self._finish()
        self.seconds = time.monotonic() - begin
        self._content = self._made()
        absent = [name for name in MADE if not any(p.startswith(name) for p in self._content)]
        assert not absent, self._ending

    def kill(self, after_s: float) -> bool:
        """Kill a set-up in an empty toolchain; False when it had ended before."""
        shutil.rmtree(self._toolchain)
        process = self._start()
        time.sleep(after_s)
        process.kill()
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def left(self) -> list[psutil.Process]:
        """The processes of a set-up in this toolchain, and their names on stderr."""
        return left_with("SQLITMUS_TOOLCHAIN", self._toolchain)

    def unlike(self) -> int:
        """Files that another set-up makes, or leaves, in another way than an undisturbed one.

        One more when it ends in another way.
        """
        ending, content = self._finish(), self._made()
        differ = sorted(name for name, _ in self._content.items() ^ content.items())
        for name in dict.fromkeys(differ):
            print(f"unlike: {name}", file=sys.stderr)
        if ending != self._ending:
            print(f"it ended with {ending} instead of {self._ending}", file=sys.stderr)
        return len(set(differ)) + (ending != self._ending)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._clone / "just", "setup"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _finish(self) -> int:
        process = self._start()
        process.communicate()
        return process.returncode

    def _made(self) -> dict[str, str]:
        """What the steps made, by path: a hash of the file, or where a link leads."""
        files = (file for name in MADE for file in (self._toolchain / name).rglob("*"))
        return {
            file.relative_to(self._toolchain).as_posix(): _content(file)
            for file in files
            if (file.is_symlink() or file.is_file()) and file.suffix != ".pyc"
        }


def left_with(variable: str, value: Path, *words: str) -> list[psutil.Process]:
    """The processes with `value` in this variable of their environment, or one of the `words` on
    their command line, and their names on stderr."""
    processes: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            marked = process.environ().get(variable) == str(value)
            if marked or any(word in line for word in words):
                print(f"left: {line}", file=sys.stderr)
                processes.append(process)
    return processes


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*NOT_COPIED))
    else:
        shutil.copy(source, target)


def _tools(folder: Path) -> Path:
    """A folder with links to all that is on PATH, apart from what makes dear steps."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        with suppress(OSError):
            for file in Path(place).iterdir():
                link = folder / file.name
                if file.name not in DEAR and not link.is_symlink():
                    link.symlink_to(file)
    return folder


def _wheels(folder: Path) -> Path:
    """A folder with the packages of the harness."""
    for lock in LOCKS:
        words = ["download", "--quiet", "--require-hashes", "--only-binary", ":all:", "--dest"]
        subprocess.run(
            [sys.executable, "-m", "pip", *words, folder, "-r", paths.ROOT / "harness" / lock],
            check=True,
        )
    return folder


def _content(file: Path) -> str:
    if file.is_symlink():
        return f"-> {file.readlink()}"
    data = file.read_bytes()
    if file.name == ".sqlitmus-step.json":  # it says how long the step took
        data = json.dumps({**json.loads(data), "seconds": 0}).encode()
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run: what has happened when it begins, and seconds in which it is under way.

    `just` for a run of `./just` with real runners, `real` for one of the harness with them.
    """

    title: str
    begun: Callable[[Clone], bool]
    lasts_s: float
    real: bool = False
    just: bool = False
    scheme: Scheme = "process"


def samples(clone: Clone) -> int:
    """How many samples the newest run has; none without one."""
    if not (clone.root / "results/latest" / FILE).exists():
        return 0
    return len(clone.samples())


PHASES = [
    Phase("start", lambda _: True, 1.0),
    Phase("verify", lambda clone: bool(clone.pids()), 0.8),
    Phase("pilot", lambda clone: clone.state("a").exists(), 1.0),
    Phase("blocks", lambda clone: samples(clone) > 0, 2.0),
    Phase("pilot of turns", lambda clone: clone.state("a").exists(), 1.0, scheme="relay"),
    Phase("sets", lambda clone: samples(clone) > 0, 2.0, scheme="relay"),
    Phase("footer, report", lambda clone: samples(clone) > 0 and clone.latest().complete(), 0.8),
    Phase("node, any moment", lambda _: True, 12.0, real=True, scheme="relay"),
    Phase("./just, verify", lambda clone: (clone.root / "results").exists(), 3.0, just=True),
    Phase("./just, sets", lambda clone: samples(clone) > 0, 4.0, just=True, scheme="relay"),
]
SET_UP = "set-up"


@dataclass(slots=True)
class Tally:
    """What became of the kills of a phase; `late` are runs that had ended before."""

    kills: int = 0
    late: int = 0
    left: int = 0
    lost: int = 0
    doubled: int = 0
    refused: int = 0
    unlike: int = 0


def main(count: Annotated[int, typer.Argument(min=1)] = 50, seed: int = 1, phase: str = "") -> None:
    """Print a line per phase."""
    clones.DEADLINE_S = 600.0  # on a busy machine
    chance, hyperfine = random.Random(seed), paths.tools().need("hyperfine")
    phases = {each.title: each for each in PHASES}
    tallies = {title: Tally() for title in (*phases, SET_UP) if phase in title}
    with tempfile.TemporaryDirectory() as root:
        set_ups = SetUps(Path(root)) if SET_UP in tallies else None
        for number, title in zip(range(count), cycle(tallies), strict=False):
            tally = tallies[title]
            if title in phases:
                with tempfile.TemporaryDirectory() as folder:
                    kill_once(Stage(Path(folder), hyperfine), phases[title], chance, tally)
            elif set_ups:
                kill_set_up(set_ups, chance, tally)
            print(f"{number + 1} {title}: {tally}", file=sys.stderr, flush=True)
    print(
        f"{'killed in':18} kills  too late  processes left  samples lost  doubled  lock not free  "
        "files unlike"
    )
    for title, t in tallies.items():
        print(
            f"{title:18} {t.kills:5}  {t.late:8}  {t.left:14}  {t.lost:12}  {t.doubled:7}  "
            f"{t.refused:13}  {t.unlike:12}"
        )
    killed = sum(tally.kills for tally in tallies.values())
    amiss = sum(t.left + t.lost + t.doubled + t.refused + t.unlike for t in tallies.values())
    print(f"{killed} kills, {amiss} things amiss")
    raise typer.Exit(1 if amiss or not killed else 0)


def kill_once(stage: Stage, phase: Phase, chance: random.Random, tally: Tally) -> None:
    """Kill one run in `phase`, count what is left of it, resume it, and count its samples."""
    real = phase.real or phase.just
    clone = stage.real() if real else stage.fakes()
    if not real:
        clone.runner("a")
        clone.runner("family", "family=group,session,daemon")
    run = ("run", "--size", "s", "--blocks", "2", *(REAL if real else FAKES))
    run += ("--scheme", phase.scheme)
    start = partial(by_just, clone) if phase.just else clone.start
    harness = start(*run)
    until(lambda: phase.begun(clone) or harness.poll() is not None, f"{phase.title} did not begin")
    time.sleep(chance.uniform(0, phase.lasts_s))
    hang = clone.write("pids/hang", "")  # from now on the family does not end by itself
    if harness.poll() is not None:
        tally.late += 1
        return
    victim = chance.choice(seen(harness.pid)) if phase.just else harness.pid
    os.kill(victim, chance.choice(ASKING) if phase.just else signal.SIGKILL)
    tally.kills += 1
    time.sleep(AFTER_S)
    harness.poll()
    left = processes_of(clone, harness.pid)
    tally.left += len(left)
    for process in left:
        process.kill()
    harness.communicate()
    hang.unlink()
    finish(clone, run, start, tally)


def by_just(clone: Clone, *arguments: str) -> subprocess.Popen[str]:
    """`./just` of this clone, with what it has set up, on the folders of `clone`; under way."""
    return subprocess.Popen(
        [paths.ROOT / "just", *arguments],
        env=clone.environment() | {"SQLITMUS_TOOLCHAIN": os.environ["SQLITMUS_TOOLCHAIN"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def seen(pid: int) -> list[int]:
    """The process that a user has started, and each `just` or shell below it."""
    below = psutil.Process(pid).children(recursive=True)
    return [pid, *(process.pid for process in below if process.name() in DOORS)]


def kill_set_up(set_ups: SetUps, chance: random.Random, tally: Tally) -> None:
    """Kill one set-up, count what is left of it, and hold what the next one makes to the whole."""
    if not set_ups.kill(chance.uniform(0, set_ups.seconds)):
        tally.late += 1
        return
    tally.kills += 1
    time.sleep(AFTER_S)
    left = set_ups.left()
    tally.left += len(left)
    for process in left:
        process.kill()
    tally.unlike += set_ups.unlike()


def finish(
    clone: Clone,
    run: tuple[str, ...],
    start: Callable[..., subprocess.Popen[str]],
    tally: Tally,
) -> None:
    """Resume the killed run, or begin another where it had no plan, and hold it to its plan."""
    begun = (clone.root / "results/latest" / FILE).exists()
    before = measured_order(clone.latest()) if begun else []
    if not (begun and clone.latest().complete()):
        again = ("run", "--resume", str(clone.root / "results/latest")) if begun else run
        done = clone.finish(start(*again))
        tally.refused += "holds this machine" in done.err
        if done.code:
            print(done.err, file=sys.stderr)
    planned, after = planned_order(clone.latest()), measured_order(clone.latest())
    times = Counter(after)
    tally.lost += len(set(planned) - set(after)) + len(set(before) - set(after))
    tally.doubled += sum(times.values()) - len(times)


def processes_of(clone: Clone, harness: int) -> list[psutil.Process]:
    """What is left of a killed run: itself, fakes, runners with a job in the clone, a guardian."""
    words = (str(clone.root), f"-{harness:010d}-")
    left = {process.pid: process for process in left_with("SQLITMUS_ROOT", clone.root, *words)}
    fakes = {pid: psutil.Process(pid) for pid in clone.alive() if pid not in left}
    return [*left.values(), *fakes.values()]


if __name__ == "__main__":
    if not sys.platform.startswith("linux"):
        sys.exit("kills.py: only on Linux does nothing outlive a killed harness; see docs/trust.md")
    typer.run(main)
