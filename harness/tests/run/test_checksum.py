"""Checksum and digest of known rows are those of the contract's vectors."""

import json
import sqlite3
from contextlib import closing

import pytest

from sqlitmus.run.verify.proof import checksum, digest
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job, Step

VECTORS = paths.RUNNERS / "contract" / "vectors"


def bound(step: Step, number: int) -> list[object]:
    """What an execution binds."""
    if step.parameters is None:
        return []
    types, rows = step.parameters.types, step.parameters.rows
    return [
        bytes.fromhex(str(value)) if kind == "blob" and value is not None else value
        for kind, value in zip(types, rows[number % len(rows)], strict=True)
    ]


@pytest.mark.parametrize("vector", ["bigint-verify", "nul-text-verify", "empty-blob-verify"])
def test_a_vector_has_the_checksum_and_digest_of_its_rows(vector: str) -> None:
    folder = VECTORS / vector
    job = Job.model_validate_json((folder / "job.json").read_bytes())
    want = json.loads((folder / "expected.json").read_text("utf-8"))
    (step,) = job.steps
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((folder / "database.sql").read_text("utf-8"))
        executions = [
            rows[:1] if step.operation == "get" else rows
            for number in range(job.measure.operations_per_iteration)
            for rows in [connection.execute(step.sql, bound(step, number)).fetchall()]
        ]
    assert sum(checksum([rows]) for rows in executions) % 2**32 == want["checksum"]
    assert digest(executions) == want["digest"]
