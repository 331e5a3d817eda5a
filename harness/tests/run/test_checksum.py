"""Checksum and digest of known rows are those of the contract's vectors."""

import json
import sqlite3
from contextlib import closing

import pytest

from sqlitmus.run.checksum import checksum, digest
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job

VECTORS = paths.RUNNERS / "contract" / "vectors"


@pytest.mark.parametrize("vector", ["bigint-verify", "null-verify", "nul-text-verify"])
def test_a_vector_has_the_checksum_and_digest_of_its_rows(vector: str) -> None:
    folder = VECTORS / vector
    job = Job.model_validate_json((folder / "job.json").read_bytes())
    want = json.loads((folder / "expected.json").read_text("utf-8"))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((folder / "database.sql").read_text("utf-8"))
        executions = [
            connection.execute(step.sql, bound).fetchall()
            for number in range(job.measure.operations_per_iteration)
            for step in job.steps
            for bound in [rows_of(step.parameters, number)]
        ]
    assert checksum(executions) == want["checksum"]
    assert digest(executions) == want["digest"]
