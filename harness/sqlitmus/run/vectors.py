"""The contract's vectors: jobs whose answers are known, and how a result differs from them."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from sqlitmus.catalog.authorizer import confined
from sqlitmus.run.judge import COMPARED
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.job import Job


def folders() -> list[Path]:
    """The vectors of the catalogue, those of the clone if it has none."""
    for runners in (paths.OWN_RUNNERS, paths.RUNNERS):
        if vectors := sorted((runners / "contract" / "vectors").glob("*/job.json")):
            return [job.parent for job in vectors]
    return []


def job_of(vector: Path) -> Job:
    """The job of a vector, with its places for paths still in it."""
    return Job.model_validate_json((vector / "job.json").read_bytes())


def place(vector: Path, folder: Path) -> str:
    """Make the database of a vector in `folder`; its job as text, which writes its result there."""
    folder.mkdir(parents=True)
    database, output = folder / "vector.db", folder / "result.json"
    script = vector / "database.sql"
    if script.exists():
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            with confined(connection):
                connection.executescript(script.read_text("utf-8"))
    text = (vector / "job.json").read_text("utf-8")
    places = {"{database}": database, "{output}": output, "{vector}": vector.resolve()}
    for word, path in places.items():
        text = text.replace(word, json.dumps(str(path))[1:-1])
    return text


def difference(result: dict[str, Any], expected: dict[str, Any], *, digested: bool) -> str | None:
    """How a result differs from what the vector expects, in the first thing; None for not at all.

    The digest counts only where the job asks for one, which is when it is `digested`.
    """
    if result["status"] != expected["status"]:
        return f"status: {result['status']}, not {expected['status']}"
    names = expected.keys() & {*COMPARED, "answers"} if expected["status"] == "ok" else set[str]()
    names = names if digested else names - {"digest"}
    for name in sorted(names, key=lambda name: (name == "answers", name)):  # the sums are shorter
        if result.get(name) != expected[name]:
            return f"{name}: {result.get(name)}, not {expected[name]}"
    return None
