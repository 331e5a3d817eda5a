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
from sqlitmus.catalog.runners import Installed
from sqlitmus.run import vectors
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.job import Job
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.nouns import ending

TIMEOUT_S = 60.0


def prove(oracle: Installed, scratch: Path, *, fresh: bool) -> None:
    """Raise NotFit unless the oracle gives the expected answers to the vectors in verify mode.

    It is asked as for a case, without a runner's own settings. That it was right is remembered for
    its files and those of the vectors; `fresh` forgets it. `scratch` is a folder to be made.
    """
    questions = {v: expected for v in vectors.folders() if (expected := _answer(v))}
    if not questions:
        raise NotFit("the contract's vectors are gone; restore runners/contract/vectors")
    key = _key(oracle, questions)
    record = paths.cache("memory") / "oracle.txt"
    if not fresh and record.exists() and record.read_text("utf-8") == key:
        return
    record.unlink(missing_ok=True)
    for vector in questions:
        text = vectors.place(vector, scratch / vector.name)
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
    same = vectors.job_of(vector).mode == "verify" and expected["status"] != "unsupported"
    return expected if same else None


def _problem(output: Path, expected: dict[str, Any]) -> str | None:
    try:
        result = json.loads(output.read_bytes())
    except (OSError, ValueError):
        return "it wrote no result"
    # What it does not have it says, and then it has no answer that could be believed.
    if result["status"] == "unsupported":
        return None
    return vectors.difference(result, expected, digested=True)


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
