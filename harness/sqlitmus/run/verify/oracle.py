"""Whether the oracle is to be believed: it must know the answers of the contract's vectors."""

import contextlib
import hashlib
import json
import sqlite3
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bootstrap.guarded import marked
from sqlitmus.catalog import jobs
from sqlitmus.catalog.authorizer import confined
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.verify.judge import COMPARED
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.text import ending


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


# Whether the oracle is to be believed: it must know the answers of the contract's vectors.


TIMEOUT_S = 60.0


def prove(oracle: Installed, scratch: Path, *, fresh: bool) -> None:
    """Raise NotFit unless the oracle gives the expected answers to the vectors in verify mode.

    It is asked as for a case, without a runner's own settings. That it was right is remembered for
    its files and those of the vectors; `fresh` forgets it. `scratch` is a folder to be made.
    """
    questions = {v: expected for v in folders() if (expected := _answer(v))}
    if not questions:
        raise NotFit("the contract's vectors are gone; restore runners/contract/vectors")
    key = _key(oracle, questions)
    record = paths.cache("memory") / "oracle.txt"
    if not fresh and record.exists() and record.read_text("utf-8") == key:
        return
    record.unlink(missing_ok=True)
    for vector in questions:
        text = place(vector, scratch / vector.name)
        job = jobs.question(Job.model_validate_json(text))
        (scratch / f"{vector.name}.json").write_bytes(job.text().encode())
    words = _perform(oracle, scratch)
    for vector, expected in questions.items():
        if problem := _problem(scratch / vector.name / "result.json", expected):
            raise NotFit(
                f"the oracle does not reproduce the contract's vector {vector.name} ({problem}), "
                "so no answer can be checked by it; restore runners/python, or whatever else was "
                f"changed of Python and its SQLite\n{words}".rstrip()
            )
    with contextlib.suppress(OSError):  # a full disk costs nothing but the memory
        record.write_bytes(key.encode())


def _answer(vector: Path) -> dict[str, Any] | None:
    """The expected answer to a vector; None where the oracle's question would not be the same.

    It is asked in verify mode, and for nothing that a runner may lack.
    """
    expected = json.loads((vector / "expected.json").read_bytes())
    same = job_of(vector).mode == "verify" and expected["status"] != "unsupported"
    return expected if same else None


def _problem(output: Path, expected: dict[str, Any]) -> str | None:
    try:
        result = json.loads(output.read_bytes())
    except (OSError, ValueError):
        return "it wrote no result"
    # What it does not have it says, and then it has no answer that could be believed.
    if result["status"] == "unsupported":
        return None
    return difference(result, expected, digested=True)


def _perform(oracle: Installed, folder: Path) -> str:
    """Let the oracle perform the jobs in `folder`; the last lines of what it says meanwhile."""
    command = [*oracle.command, "--jobs", str(folder)]
    try:
        done = subprocess.run(
            command,
            env=marked(oracle.environment),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            start_new_session=True,  # Ctrl-C stops the session, not an answer half given
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ending(done.stderr.decode(errors="replace"), "its stderr")


def _key(oracle: Installed, questions: Iterable[Path]) -> str:
    """A hash of all that could change whether the oracle answers `questions`."""
    digest = hashlib.sha256(f"{oracle.fingerprint} {sqlite3.sqlite_version}".encode())
    for vector in questions:
        for file in sorted(file for file in vector.rglob("*") if file.is_file()):
            name = file.relative_to(vector.parent).as_posix()
            digest.update(f"\0{name}\0".encode() + file.read_bytes())
    return digest.hexdigest()
