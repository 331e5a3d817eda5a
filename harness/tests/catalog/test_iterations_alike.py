"""A process that writes has work to do from its first operation to its last."""

import sqlite3
from contextlib import closing
from math import gcd
from pathlib import Path

import pytest

from sqlitmus.catalog import cases, definitions, fixture, jobs
from sqlitmus.catalog.cases import override_of
from sqlitmus.vocabulary.contract import Step, Value

KNOWN = definitions.load()
WRITING = [name for name, spec in KNOWN.scenarios.items() if spec.writes and spec.fixture]
SIZE = "m"
PARTS = 4


def perform(connection: sqlite3.Connection, steps: list[Step], numbers: range) -> None:
    """Some operations, each in a transaction of its own."""
    for number in numbers:
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
def test_no_operation_finds_its_work_done(name: str, fixtures: Path, tmp_path: Path) -> None:
    """Each quarter of the stated work writes about as many pages as the first."""
    spec = KNOWN.scenarios[name]
    assert spec.fixture
    case = cases.make_case(*cases.parse_case(name, KNOWN), KNOWN, KNOWN.modes["quick"])
    source = fixture.ensure(spec.fixture, KNOWN.fixtures[spec.fixture], SIZE, "wal", fixtures)
    copy = tmp_path / "copy.db"
    fixture.fresh_copy(source, copy)
    size = fixture.rows(KNOWN.fixtures[spec.fixture], SIZE)
    job = jobs.make_job(
        case, KNOWN, mode="measure", cell="a/b", database=copy, size=size, output=tmp_path
    )
    counts = override_of(spec, case.axes)
    total = (counts.warmup_operations or 0) + (counts.timed_operations or 0) or case.total
    steps = job.steps
    if job.writer and all(step.operation != "run" for step in steps):
        iterations = job.measure.warmup_iterations + job.measure.iterations
        steps, total = job.writer.steps, iterations * job.writer.operations
    part = gcd(total // PARTS, job.reset_every or 0)
    log = Path(f"{copy}-wal")
    written: list[int] = []
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        for first in range(0, part * (total // part), part):
            if job.reset and first % (job.reset_every or 1) == 0:
                for sql in job.reset:
                    connection.execute(sql).fetchall()
            assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            perform(connection, steps, range(first, first + part))
            written.append(log.stat().st_size)
    assert len(written) >= PARTS
    # trees that grow deeper, and pages that are half empty, take some more or less
    assert min(written) > 0.7 * written[0]
