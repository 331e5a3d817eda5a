"""The vectors as a runner performs them: all that can be in one process, the others alone."""

import hashlib
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlitmus.run.verify import context
from sqlitmus.vocabulary.contract import Job, Level, levels
from tests.contract.started import CONTRACT, description, start
from tests.known import KNOWN

VECTORS = sorted(folder.name for folder in (CONTRACT / "vectors").iterdir())
# Builds that differ from another runner in compile options only do this part of the vectors.
TWINS = [name for name, spec in KNOWN.runners.items() if spec.role == "variant"]
ONE_IN = 10
TIMEOUT_S = 300


@dataclass(frozen=True)
class Performed:
    """A vector's job, the result if there is one, and how the runner's process ended."""

    job: Job
    result: bytes | None
    code: int
    stderr: str
    left: list[str]


@cache
def job_of(vector: str) -> Job:
    """The job of a vector, with its places for paths still in it."""
    return context.job_of(CONTRACT / "vectors" / vector)


def needs_own_process(job: Job) -> bool:
    """Whether `--jobs` takes it not: it changes SQLite for the whole process, or needs stdin."""
    return bool(job.connection.engine or (job.mode == "measure" and job.measure.share))


@cache
def chosen_for_twins(vector: str) -> bool:
    """About one vector in ten, by its name, and all that depend on how SQLite was compiled."""
    job = job_of(vector)
    threads = job.measure.workers > 1 or bool(job.database and job.database.flags)
    one_in = hashlib.sha256(vector.encode()).digest()[0] % ONE_IN == 0
    return one_in or threads or bool(job.connection.engine)


def vectors_of(name: str) -> list[str]:
    """The vectors that a runner performs here."""
    return [v for v in VECTORS if name not in TWINS or chosen_for_twins(v)]


def slow(name: str, vector: str) -> bool:
    """Whether this runner's own tests do a vector instead, as its file says."""
    return vector.partition("-")[0] in KNOWN.runners[name].slow_vectors


def beyond(name: str, vector: str) -> bool:
    """Whether a vector needs a level of the contract that this runner does not have."""
    return not {*levels_of(vector)} <= {*description(name)["features"].get("levels", ["core"])}


@cache
def levels_of(vector: str) -> list[Level]:
    """The levels of the contract that a vector needs."""
    return levels(job_of(vector))


def perform_all(name: str, folder: Path) -> Mapping[str, Performed]:
    """Have a runner perform its vectors below `folder`."""
    names = [
        vector for vector in vectors_of(name) if not (slow(name, vector) or beyond(name, vector))
    ]
    jobs = {vector: written(vector, folder) for vector in names}
    together = {vector for vector, job in jobs.items() if not needs_own_process(job)}
    done = start(name, "--jobs", str(folder / "jobs"), timeout=TIMEOUT_S)
    answers: dict[str, Performed] = {}
    for vector, job in jobs.items():
        if vector not in together:
            plan = job.measure
            lines = "go\n" * (plan.warmup_iterations + plan.iterations)
            alone = start(name, "--job", str(file_of(vector, folder)), lines=lines)
            answers[vector] = _answer(job, alone.returncode, alone.stderr)
        else:
            answers[vector] = _answer(job, done.returncode, done.stderr)
    return answers


def file_of(vector: str, folder: Path) -> Path:
    """Where `written` puts a vector's job."""
    return folder / ("alone" if needs_own_process(job_of(vector)) else "jobs") / f"{vector}.json"


def written(vector: str, folder: Path) -> Job:
    """A vector's job, with its database below `folder` and its file where `file_of` tells."""
    text = context.place(CONTRACT / "vectors" / vector, folder / vector)
    job = Job.model_validate_json(text)
    file = file_of(vector, folder)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return job


def loop_of(name: str, vector: str, folder: Path) -> tuple[Job, subprocess.CompletedProcess[str]]:
    """The job of a vector, and what a runner prints of its loop."""
    job = written(vector, folder)
    return job, start(name, "--print-loop", str(file_of(vector, folder)))


def _answer(job: Job, code: int, stderr: str) -> Performed:
    output = Path(job.output)
    result = output.read_bytes() if output.exists() else None
    left = sorted(f.name for f in output.parent.iterdir() if f.suffix in (".part", ".tmp"))
    return Performed(job, result, code, stderr, left)
