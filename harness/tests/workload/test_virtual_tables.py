"""A service with full-text search: FTS5 beside its table, kept in step by triggers."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.clone import Clone
from tests.workload.making import WORKLOADS, Service, verified

pytestmark = pytest.mark.usefixtures("database")

SCHEMA, QUERIES = (WORKLOADS["messages"][part] for part in ("database", "right"))


@pytest.fixture
def database(service: Service) -> Path:
    return service.database(SCHEMA)


def test_searching_and_writing_are_measured(service: Service) -> None:
    scenarios = service.made(QUERIES).scenarios
    assert scenarios["search"].steps[0].columns == {"rowid": "integer", "part": "text?"}
    assert len(scenarios["edit"].reset) == 5, "it may tend the index"
    writing = {name for name, spec in scenarios.items() if spec.writes}
    assert writing == {"post", "edit", "through", "mix"}
    index, table = scenarios["through"].readback
    assert index.sql == 'SELECT count(*) AS held FROM "found"'
    assert list(table.columns) == ["held", "sum_1", "sum_2", "sum_3"]


def test_what_was_inserted_goes_without_damage_to_the_index(service: Service) -> None:
    made = service.made(QUERIES)
    post = made.scenarios["post"]
    with closing(sqlite3.connect(made.copy, isolation_level=None)) as connection:
        ranked = "SELECT rowid, rank FROM found WHERE found MATCH 'water' ORDER BY rowid"
        before = connection.execute(ranked).fetchall()
        for _ in range(4):
            for _ in range(10):
                connection.execute(post.steps[0].sql, ["fish in water, and more of it"])
            for sql in post.reset:
                connection.execute(sql)
        assert connection.execute(ranked).fetchall() == before
        connection.execute("INSERT INTO found(found) VALUES ('integrity-check')")


def test_an_index_without_a_trigger_for_deletions_goes_before_its_table(service: Service) -> None:
    service.database("DROP TRIGGER gone")
    reset = service.made(QUERIES).scenarios["post"].reset
    deletions = [sql.split()[2] for sql in reset if sql.startswith('DELETE FROM "')]
    assert deletions == ['"found"', '"message"']


def test_runners_answer_and_the_copy_is_what_they_wrote(database: Path, clone: Clone) -> None:
    before = database.read_bytes()
    done = verified(clone, "", QUERIES)
    assert done.code == 0, done.err
    outcomes = [line.split() for line in done.out.splitlines()]
    assert {outcome for outcome, *_ in outcomes} == {"ok"}
    assert "search/a" in {at.rstrip(":") for _, at, *_ in outcomes}
    assert database.read_bytes() == before
