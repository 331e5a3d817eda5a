"""A workload as scenarios: what is measured, how often, and how writes are undone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.workload.database import snapshot
from sqlitmus.workload.file import read
from sqlitmus.workload.scenarios import catalogue, shares

Write = Callable[[str], Path]
SERVICE = """
workers = 4
[query.read]
weight = 16
operation = "get"
sql = "SELECT id, title FROM document WHERE id = ?"
parameters = "SELECT id FROM document ORDER BY random() LIMIT 64"
[query.list]
weight = 3
sql = "SELECT id, size FROM document WHERE owner = ? ORDER BY id LIMIT 50"
parameters = "SELECT DISTINCT owner FROM document"
[query.add]
weight = 1
transaction = "immediate"
statements = [
    { sql = "INSERT INTO event(document) VALUES (?)", parameters = "SELECT id FROM document" },
    { sql = "UPDATE word SET hits = 2 WHERE word = 'a'" },
]
"""


@pytest.fixture
def made(write: Write, catalog: Catalog, database: Path) -> Callable[[str], Catalog]:
    folder = database.parent / "copies"
    folder.mkdir()
    copy = snapshot(database, folder)
    return lambda text: catalogue(read(write(text), catalog), copy, catalog)


def test_each_query_is_a_scenario_beside_the_mix_and_the_start(
    made: Callable[[str], Catalog],
) -> None:
    whole = made(SERVICE)
    assert list(whole.scenarios) == ["read", "list", "add", "start", "mix"]
    assert {s.group for s in whole.scenarios.values()} == {"queries", "mix", "start-up"}
    reading, listing = whole.scenarios["read"], whole.scenarios["list"]
    assert (reading.steps[0].operation, listing.steps[0].operation) == ("get", "all")
    assert listing.steps[0].columns == {"id": "integer", "size": "real?"}
    assert not reading.writes
    assert whole.scenarios["start"].metric == "cold"


def test_the_mix_has_each_query_as_often_as_its_weight_says(
    made: Callable[[str], Catalog],
) -> None:
    mix = made(SERVICE).scenarios["mix"]
    assert [(s.operation, s.repeat) for s in mix.steps] == [
        ("get", 16),
        ("all", 3),
        ("execute", 1),
        ("run", 1),
        ("run", 1),
        ("execute", 1),
    ]
    assert [s.sql for s in mix.steps if s.operation == "execute"] == ["BEGIN IMMEDIATE", "COMMIT"]
    assert mix.per_operation == 20
    assert mix.axes["workers"] == ["1", "4"]
    assert mix.mixed


def test_inserted_rows_go_again_and_what_tables_hold_is_read_back(
    made: Callable[[str], Catalog],
) -> None:
    add = made(SERVICE).scenarios["add"]
    assert add.reset == [
        'DELETE FROM "event" WHERE rowid > 50',
        "UPDATE sqlite_sequence SET seq = 50 WHERE name = 'event'",
    ]
    assert [query.sql for query in add.readback] == [
        'SELECT count(*) AS held FROM "event"',
        'SELECT count(*) AS held FROM "word"',
    ]
    assert add.reset_every == 64, "100 documents: the next power of two below"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[query.a]\nsql = "SELECT id FROM documents"\n',
            "my.toml:3: query.a.sql: line 1, column 16: SQLite",
        ),
        (
            (
                '[query.a]\noperation = "get"\nsql = "DELETE FROM event WHERE id = ?"\n'
                "parameters = [1]\n"
            ),
            "my.toml:4: query.a.sql: operation is get, but the statement writes to event; use run",
        ),
        (
            '[query.a]\nsql = "DELETE FROM event WHERE id = ?"\nparameters = [1, 2]\n',
            "my.toml:2: query.a: it deletes from event; say in `reset` how the rows come back",
        ),
        (
            '[query.a]\nsql = "INSERT INTO word VALUES (?, 1)"\nparameters = ["x"]\n',
            "my.toml:2: query.a: word has no rowid",
        ),
        (
            (
                '[query.a]\nsql = "SELECT 1 AS n WHERE 1 = ?"\n'
                'parameters = "SELECT id FROM event WHERE id < 0"\n'
            ),
            "my.toml:4: query.a.parameters: the query for parameters finds no row",
        ),
        ('[query.mix]\nsql = "SELECT 1 AS n"\n', "my.toml:2: query.mix: mix is the name of a case"),
    ],
)
def test_what_cannot_be_measured_is_told_with_its_line(
    made: Callable[[str], Catalog], text: str, message: str
) -> None:
    with pytest.raises(UsageError) as told:
        made(text)
    assert message in str(told.value)


def test_all_faults_are_told_at_once(made: Callable[[str], Catalog]) -> None:
    with pytest.raises(UsageError) as told:
        made('[query.a]\nsql = "SELECT x"\n[query.b]\nsql = "SELECT y"\n')
    assert len(str(told.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("weights", "parts"),
    [
        ([80, 15, 5], [16, 3, 1]),
        ([1], [1]),
        ([0.8, 0.15, 0.05], [80, 15, 5]),
        ([1000, 1], [100, 1]),
        ([1 / 3, 1 / 3, 1 / 3], [33, 33, 33]),
    ],
)
def test_weights_become_small_whole_parts(weights: list[float], parts: list[int]) -> None:
    assert shares(weights) == parts
