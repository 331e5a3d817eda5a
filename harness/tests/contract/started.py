"""Each runner of the catalogue, started as the harness does."""

import hashlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from sqlitmus.catalog import runners
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.vocabulary.contract import Job, levels
from tests import left_out
from tests.contract.jobs import VECTORS, Json, file_of, job_of, needs_own_process, written
from tests.known import KNOWN, tools

# those that set-up can make: one whose tool only a user has is another's code with that tool
RUNNERS = [name for name, spec in KNOWN.runners.items() if not spec.without]
# Builds that differ from another runner in compile options only do a part of the vectors.
TWINS = [name for name in RUNNERS if KNOWN.runners[name].role == "variant"]
ONE_IN = 10


def of_runners(names: Sequence[str]) -> pytest.MarkDecorator:
    """A case for each of these runners, as the parameter `name`."""
    return pytest.mark.parametrize("name", names)


each_runner = of_runners(RUNNERS)
each_program = of_runners([name for name in RUNNERS if name not in TWINS])
takes_turns = pytest.mark.skipif(unsupported() is not None, reason="no processes together")


@cache
def installed(name: str) -> Installed:
    """A runner; skips with the reason where its tool is missing."""
    spec, here = KNOWN.runners[name], tools()
    if spec.tool not in here.paths:
        left_out.skip(name, here.missing.get(spec.tool, "run ./just setup"))
    command = runners.expand(spec.command, here)
    return Installed(spec, command, runners.environment(spec, here), None, None, "")


def need_tools(words: Sequence[str]) -> None:
    """Skip the test where a tool of this command line is missing."""
    for word in words:
        if word.startswith("{") and word.endswith("}"):
            left_out.tool(word[1:-1])


def start(
    name: str, *arguments: str | Path, timeout: int = 60, lines: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a runner to its end, in at most `timeout` seconds, with `lines` on its stdin."""
    runner = installed(name)
    return subprocess.run(
        [*runner.command, *arguments],
        env=runner.environment,
        capture_output=True,
        input=lines,
        text=True,
        timeout=timeout,
        check=False,
    )


@cache
def description(name: str) -> Json:
    """What a runner says of itself."""
    done = start(name, "describe")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lacking(features: Json, words: set[str]) -> list[str]:
    """What of a question in these words of the contract a runner says that it lacks."""
    return [lack for lack in features.get("lacks", []) if {*lack.split()} <= words]


@dataclass(frozen=True)
class Performed:
    """A vector's job, and how the runner's process ended."""

    vector: str
    job: Job
    code: int
    stderr: str


def vectors_of(name: str) -> Iterator[str]:
    """The vectors that a runner performs here: none that its own tests do instead, or that need a
    level of the contract that it does not have; of a twin about one in ten, by its name, and all
    that depend on how SQLite was compiled."""
    levels_of = {*description(name)["features"].get("levels", ["core"])}
    for vector in VECTORS:
        job = job_of(vector)
        threads = job.measure.workers > 1 or bool(job.database and job.database.flags)
        one_in = hashlib.sha256(vector.encode()).digest()[0] % ONE_IN == 0
        slow = vector.partition("-")[0] in KNOWN.runners[name].slow_vectors
        chosen = name not in TWINS or one_in or threads or bool(job.connection.engine)
        if chosen and not slow and {*levels(job)} <= levels_of:
            yield vector


def perform_all(name: str, folder: Path) -> Iterator[Performed]:
    """Have a runner perform its vectors below `folder`: all that can be in one process, the others
    alone."""
    jobs = {vector: written(vector, folder) for vector in vectors_of(name)}
    done = start(name, "--jobs", folder / "jobs", timeout=300)
    for vector, job in jobs.items():
        ended = done
        if needs_own_process(job):
            lines = "go\n" * (job.measure.warmup_iterations + job.measure.iterations)
            ended = start(name, "--job", file_of(vector, folder), lines=lines)
        yield Performed(vector, job, ended.returncode, ended.stderr)
