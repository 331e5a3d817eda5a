"""Each iteration of a scenario that writes has as much to write as the first."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog import cases, databasefiles, definitions, fixture, jobs
from sqlitmus.vocabulary.contract.step import Step, Value

KNOWN = definitions.load()
WRITING = [name for name, spec in KNOWN.scenarios.items() if spec.writes and spec.fixture]
SIZE = "m"


def perform(connection: sqlite3.Connection, steps: list[Step], operations: int) -> None:
    """The operations of an iteration, each in a transaction of its own."""
    for number in range(operations):
        connection.execute("BEGIN IMMEDIATE")
        for step in steps:
            rows: list[list[Value]] = step.parameters.rows if step.parameters else [[]]
            for n in range(number * step.repeat, (number + 1) * step.repeat):
                connection.execute(step.sql, rows[n % len(rows)]).fetchall()
        connection.execute("COMMIT")


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fixtures")


@pytest.mark.parametrize("name", WRITING)
def test_no_iteration_finds_its_work_done(name: str, fixtures: Path, tmp_path: Path) -> None:
    spec = KNOWN.scenarios[name]
    assert spec.fixture
    case = cases.make_case(*cases.parse_case(name, KNOWN), KNOWN, KNOWN.modes["smoke"])
    source = fixture.ensure(spec.fixture, KNOWN.fixtures[spec.fixture], SIZE, "wal", fixtures)
    copy = tmp_path / "copy.db"
    databasefiles.fresh_copy(source, copy)
    size = fixture.rows(KNOWN.fixtures[spec.fixture], SIZE)
    job = jobs.make_job(
        case, KNOWN, mode="measure", cell="a/b", database=copy, size=size, output=tmp_path
    )
    log = Path(f"{copy}-wal")
    written: list[int] = []
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for _ in range(3):
            for sql in job.reset:
                connection.execute(sql)
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            connection.execute("PRAGMA wal_autocheckpoint=0")
            if job.writer and all(step.operation != "run" for step in job.steps):
                perform(connection, job.writer.steps, job.writer.operations)
            else:
                perform(connection, job.steps, case.operations)
            written.append(log.stat().st_size)
    # pages that were free before are taken in another order
    assert min(written[1:]) > 0.95 * written[0]
