"""A service with full-text search: FTS5 beside its table, kept in step by triggers."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from tests.fakes.clone import Clone
from tests.refusals import refused
from tests.workload.making import Workload, make, verified, workload

pytestmark = pytest.mark.usefixtures("database")

Made = Callable[[str], Workload]
SCHEMA = """
CREATE TABLE message(id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);
CREATE VIRTUAL TABLE found USING fts5(body, content='message', content_rowid='id');
CREATE TRIGGER added AFTER INSERT ON message BEGIN
    INSERT INTO found(rowid, body) VALUES (new.id, new.body); END;
CREATE TRIGGER changed AFTER UPDATE ON message BEGIN
    INSERT INTO found(found, rowid, body) VALUES ('delete', old.id, old.body);
    INSERT INTO found(rowid, body) VALUES (new.id, new.body); END;
CREATE TRIGGER gone AFTER DELETE ON message BEGIN
    INSERT INTO found(found, rowid, body) VALUES ('delete', old.id, old.body); END;
CREATE VIEW bodies AS SELECT body FROM message;
CREATE TRIGGER through INSTEAD OF INSERT ON bodies BEGIN
    INSERT INTO message(body) VALUES (new.body); END;
CREATE VIRTUAL TABLE place USING rtree(id, low, high);
INSERT INTO place VALUES (1, 2, 3), (2, 4, 5);
"""
QUERIES = """
[query.search]
sql = "SELECT rowid, snippet(found, 0, '', '', '', 4) AS part FROM found WHERE found MATCH ?"
parameters = ["fish", "fish AND water"]
[query.post]
sql = "INSERT INTO message(body) VALUES (?)"
parameters = "SELECT body FROM found WHERE found MATCH 'fish'"
[query.edit]
sql = "UPDATE message SET body = ? WHERE id = 1"
parameters = ["fish and water"]
[query.through]
sql = "INSERT INTO bodies VALUES (?)"
parameters = ["much water", "more fish"]
[query.near]
sql = "SELECT id, low FROM place WHERE low > ?"
parameters = [1, 3]
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    bodies = [f"INSERT INTO message(body) VALUES ('fish {n} in water');" for n in range(8)]
    return make(tmp_path, "\n".join([SCHEMA, *bodies]))


@pytest.fixture
def made(write: Callable[[str], Path], catalog: Catalog) -> Made:
    """The workload of these queries."""
    return lambda text: workload(write(text), catalog)


def test_searching_and_writing_are_measured(made: Made) -> None:
    scenarios = made(QUERIES).scenarios
    assert scenarios["search"].steps[0].columns == {"rowid": "integer", "part": "text?"}
    assert not scenarios["search"].writes
    assert not scenarios["near"].writes
    index, table = scenarios["through"].readback
    assert index.sql == 'SELECT count(*) AS held FROM "found"'
    assert list(table.columns) == ["held", "sum_1", "sum_2", "sum_3"]


def test_what_was_inserted_goes_without_damage_to_the_index(made: Made) -> None:
    made_of = made(QUERIES)
    post = made_of.scenarios["post"]
    with closing(sqlite3.connect(made_of.copy, isolation_level=None)) as connection:
        ranked = "SELECT rowid, rank FROM found WHERE found MATCH 'water' ORDER BY rowid"
        before = connection.execute(ranked).fetchall()
        for _ in range(4):
            for _ in range(10):
                connection.execute(post.steps[0].sql, ["fish in water, and more of it"])
            for sql in post.reset:
                connection.execute(sql)
        assert connection.execute(ranked).fetchall() == before
        connection.execute("INSERT INTO found(found) VALUES ('integrity-check')")


def test_an_index_without_a_trigger_for_deletions_goes_before_its_table(
    database: Path, made: Made
) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER gone")
    scenarios = made(QUERIES).scenarios
    deletions = [
        sql.split()[2] for sql in scenarios["post"].reset if sql.startswith('DELETE FROM "')
    ]
    assert deletions == ['"found"', '"message"']


def test_runners_answer_and_the_copy_is_what_they_wrote(database: Path, clone: Clone) -> None:
    before = database.read_bytes()
    done = verified(clone, QUERIES)
    assert done.code == 0, done.err
    outcomes = [line.split() for line in done.out.splitlines()]
    assert {outcome for outcome, *_ in outcomes} == {"ok"}
    assert "search/a" in {at.rstrip(":") for _, at, *_ in outcomes}
    assert database.read_bytes() == before


RESETS = """
reset = [
  "BEGIN IMMEDIATE",
  "UPDATE message SET body = 'fish' WHERE id = 1",
  "INSERT INTO found(found) VALUES ('rebuild')",
  "COMMIT",
  "PRAGMA wal_checkpoint(TRUNCATE)",
]
"""


def test_a_reset_may_tend_the_index_and_leaves_the_schema(made: Made) -> None:
    edit = 'parameters = ["fish and water"]'
    scenarios = made(QUERIES.replace(edit, f"{edit}{RESETS}")).scenarios
    assert len(scenarios["edit"].reset) == 5
    drops = RESETS.replace("INSERT INTO found(found) VALUES ('rebuild')", "DROP TRIGGER gone")
    with refused(r"my.toml:\d+: query.edit.reset\[2\]: it drops a trigger;"):
        made(QUERIES.replace(edit, f"{edit}{drops}"))


def test_a_reset_of_what_only_reads_is_told(made: Made) -> None:
    with refused(r"query.near.reset\[0\]: the query writes to no table"):
        made(f'{QUERIES}reset = ["DELETE FROM place"]\n')
