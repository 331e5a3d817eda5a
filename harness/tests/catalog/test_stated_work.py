"""The work that each scenario states which writes: it fits the pools, the resets and the rounds."""

import itertools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from math import gcd
from pathlib import Path

import pytest

from sqlitmus.catalog import fixture
from sqlitmus.catalog.cases import VERIFIED, PlannedCase, make_case, override_of
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.run.plan.counts import Observed, Turning, allocate, work
from sqlitmus.vocabulary.contract import Step, Value
from tests.known import KNOWN, case_of, job_of

WRITING = [
    name
    for name, spec in KNOWN.scenarios.items()
    if spec.writes and spec.metric == "steady" and not spec.fixed
]
PILOTED = [mode for mode in KNOWN.modes.values() if mode.pilot]


def planned(spec: Scenario, name: str) -> Iterator[PlannedCase]:
    """Each case of a scenario."""
    for values in itertools.product(*spec.axes.values()):
        axes = dict(zip(spec.axes, map(str, values), strict=True))
        yield make_case(name, axes, KNOWN, KNOWN.modes["quick"])


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_states_its_work(name: str) -> None:
    assert all(case.stated for case in planned(KNOWN.scenarios[name], name))


@pytest.mark.parametrize("name", WRITING)
def test_it_is_done_as_stated_whatever_a_pilot_sees(name: str) -> None:
    for case, mode, ns in itertools.product(
        planned(KNOWN.scenarios[name], name), PILOTED, (1e3, 1e6, 1e9)
    ):
        seen = Observed(seconds=0.1, processes=1, window_ms=0, operation_ns=ns)
        for turning in (None, Turning(mode.rounds, 20, mode.lap_ms)):
            made = work(case, [seen], mode, turning)
            counts = allocate(case, {"a": seen}, mode, {}, made, turning)["a"]
            assert counts.operations * counts.warmup_iterations == case.warmup_operations
            assert counts.operations * counts.iterations == case.timed_operations
            if case.reset_every:
                assert case.reset_every % counts.operations == 0


@pytest.mark.parametrize("name", WRITING)
def test_a_reset_falls_between_two_iterations_without_a_pilot_too(name: str) -> None:
    for case in planned(KNOWN.scenarios[name], name):
        assert not case.reset_every or case.reset_every % case.operations == 0


@pytest.mark.parametrize("size", ["m", "l"])
@pytest.mark.parametrize("name", ["upsert", "delete-pk"])
def test_no_row_is_written_twice_where_that_is_other_work(name: str, size: str) -> None:
    spec = KNOWN.scenarios[name]
    assert spec.fixture
    rows = fixture.rows(KNOWN.fixtures[spec.fixture], size)
    for case in planned(spec, name):
        assert case.warmup_operations
        assert case.timed_operations
        made = job_of(case, size=rows)
        (step,) = made.steps
        assert step.parameters
        executed = made.reset_every or case.warmup_operations + case.timed_operations
        keys = [row[0] for row in step.parameters.rows[: executed * step.repeat]]
        assert len(set(keys)) == executed * step.repeat


MOST_ROWS = 5_000_000  # the oracle, Python's sqlite3, gives a digest of some 200,000 in a second


@pytest.mark.parametrize("name", KNOWN.scenarios)
def test_the_oracle_can_answer_a_whole_pool(name: str) -> None:
    for step in KNOWN.scenarios[name].steps:
        limit = re.search(r"LIMIT (\d+)", step.sql or "")
        assert min(step.pool, VERIFIED) * int(limit[1] if limit else 1) <= MOST_ROWS


WRITERS = [name for name, spec in KNOWN.scenarios.items() if spec.writes]
CHANGES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}


def tables(spec: Scenario) -> list[str]:
    """The SQL that makes the tables of a scenario."""
    if spec.fixture is None:
        return [sql for sql in spec.setup if sql.startswith("CREATE")]
    return KNOWN.fixtures[spec.fixture].tables


def touched(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[int, str, str | None]]:
    """What a statement does: action, table, and the column where it is one's."""
    seen: list[tuple[int, str, str | None]] = []

    def note(action: int, table: str | None, column: str | None, *_where: str | None) -> int:
        if table is not None:
            seen.append((action, table, column))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    connection.execute(f"EXPLAIN {sql}", (None,) * sql.count("?"))
    connection.set_authorizer(None)
    return iter(seen)


def unread(spec: Scenario) -> set[str]:
    """Columns of the tables that the scenario changes and its read-back does not read."""
    writer = spec.writer.steps if spec.writer else []
    first = {axis: values[0] for axis, values in spec.axes.items()}
    with closing(sqlite3.connect(":memory:")) as connection:
        for sql in tables(spec):
            connection.execute(sql)
        changed = {
            table
            for step in [*spec.steps, *writer]
            for action, table, _ in touched(connection, step.text(first))
            if action in CHANGES
        }
        columns = {
            f"{table}.{row[1]}"
            for table in changed
            for row in connection.execute(f"PRAGMA table_info({table})")
        }
        read = {
            f"{table}.{column}"
            for query in spec.readback
            for action, table, column in touched(connection, query.sql)
            if action == sqlite3.SQLITE_READ
        }
    assert columns, "it changes nothing"
    return columns - read


@pytest.mark.parametrize("name", WRITERS)
def test_all_that_is_written_is_read_back(name: str) -> None:
    assert unread(KNOWN.scenarios[name]) == set()


@pytest.mark.parametrize("name", WRITERS)
def test_all_rows_are_read_back(name: str) -> None:
    for query in KNOWN.scenarios[name].readback:
        assert not {"WHERE", "LIMIT", "JOIN", "GROUP"} & set(query.sql.upper().split())


def test_a_column_left_out_is_seen() -> None:
    spec = KNOWN.scenarios["update-pk"]
    count = spec.readback[0].model_copy(update={"sql": "SELECT id, owner, balance FROM accounts"})
    assert unread(spec.model_copy(update={"readback": [count]})) == {"accounts.updated"}


GROWING = [name for name, spec in KNOWN.scenarios.items() if spec.writes and spec.fixture]
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


@pytest.mark.parametrize("name", GROWING)
def test_no_operation_finds_its_work_done(name: str, fixtures: Path, tmp_path: Path) -> None:
    """Each quarter of the stated work writes about as many pages as the first."""
    spec = KNOWN.scenarios[name]
    assert spec.fixture
    case = case_of(name)
    source = fixture.ensure(spec.fixture, KNOWN.fixtures[spec.fixture], SIZE, "wal", fixtures)
    copy = tmp_path / "copy.db"
    fixture.fresh_copy(source, copy)
    size = fixture.rows(KNOWN.fixtures[spec.fixture], SIZE)
    job = job_of(case, database=copy, size=size)
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
