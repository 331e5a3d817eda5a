"""A service with full-text search: FTS5 beside its table, kept in step by triggers."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.clone import Clone
from tests.refusals import refused
from tests.workload.making import Service, verified

pytestmark = pytest.mark.usefixtures("database")

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
def database(service: Service) -> Path:
    bodies = [f"INSERT INTO message(body) VALUES ('fish {n} in water');" for n in range(8)]
    return service.database("\n".join([SCHEMA, *bodies]))


def test_searching_and_writing_are_measured(service: Service) -> None:
    scenarios = service.made(QUERIES).scenarios
    assert scenarios["search"].steps[0].columns == {"rowid": "integer", "part": "text?"}
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


RESETS = """
reset = [
  "BEGIN IMMEDIATE",
  "UPDATE message SET body = 'fish' WHERE id = 1",
  "INSERT INTO found(found) VALUES ('rebuild')",
  "COMMIT",
  "PRAGMA wal_checkpoint(TRUNCATE)",
]
"""


EDIT = 'parameters = ["fish and water"]'


def test_a_reset_may_tend_the_index(service: Service) -> None:
    made = service.made(QUERIES.replace(EDIT, f"{EDIT}{RESETS}"))
    assert len(made.scenarios["edit"].reset) == 5


DROPS = RESETS.replace("INSERT INTO found(found) VALUES ('rebuild')", "DROP TRIGGER gone")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (QUERIES.replace(EDIT, f"{EDIT}{DROPS}"), "query.edit.reset[2]: it drops a trigger;"),
        (f'{QUERIES}reset = ["DELETE FROM place"]\n', "query.near.reset[0]: the query writes to"),
    ],
)
def test_a_reset_leaves_the_schema_and_undoes_writes(
    service: Service, text: str, words: str
) -> None:
    with refused(rf"my.toml:\d+: {re.escape(words)}"):
        service.made(text)
