"""Jobs of the contract: those of its vectors, and small ones that a test writes."""

import contextlib
import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

from sqlitmus.run.verify import context
from sqlitmus.vocabulary.contract import Job
from tests.known import RUNNERS

Json = dict[str, Any]
CONTRACT = RUNNERS / "contract"
VECTORS = sorted(folder.name for folder in (CONTRACT / "vectors").iterdir())


def database(file: Path, script: str) -> Path:
    """Make a database of a script."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    return file


def write_job(file: Path, *steps: Json, **changes: Any) -> Path:
    """A job that performs these steps once; its result will be beside its file."""
    job = {
        "contract": 2,
        "mode": "measure",
        "cell": "by/hand",
        "steps": [*steps],
        "measure": {"operations_per_iteration": 1},
        "output": str(file.with_suffix(".result")),
        **changes,
    }
    file.write_text(json.dumps(job), "utf-8")
    return file


def result_of(job: Path) -> Json:
    """The result beside a job's file."""
    return json.loads(job.with_suffix(".result").read_text("utf-8"))


def of_vector(vector: str, name: str = "job") -> Json:
    """The job of a vector as its file has it, or what is `expected` of it."""
    return json.loads((CONTRACT / "vectors" / vector / f"{name}.json").read_bytes())


@cache
def job_of(vector: str) -> Job:
    """The job of a vector, with its places for paths still in it."""
    return context.job_of(CONTRACT / "vectors" / vector)


def needs_own_process(job: Job) -> bool:
    """Whether `--jobs` takes it not: it changes SQLite for the whole process, or needs stdin."""
    return bool(job.connection.engine or (job.mode == "measure" and job.measure.share))


def file_of(vector: str, folder: Path) -> Path:
    """Where `written` puts a vector's job."""
    return folder / ("alone" if needs_own_process(job_of(vector)) else "jobs") / f"{vector}.json"


def written(vector: str, folder: Path) -> Job:
    """A vector's job, with its database below `folder` and its file where `file_of` tells."""
    text = context.place(CONTRACT / "vectors" / vector, folder / vector)
    file = file_of(vector, folder)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return Job.model_validate_json(text)


def problem(job: Job, vector: str, result: Json) -> str | None:
    """How the result of a vector's job differs from what is expected of it, if it does."""
    digested = job.mode == "verify" or job.measure.digest > 0
    return context.difference(result, of_vector(vector, "expected"), digested=digested)
