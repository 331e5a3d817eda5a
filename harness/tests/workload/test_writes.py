"""What proves a workload's writes, and what of that the order of its writers decides."""

import sqlite3
from collections.abc import Generator
from contextlib import closing

import pytest

from sqlitmus.workload import parts
from tests.fakes.clone import Clone
from tests.workload.making import WORKLOADS, Service, rows_of, verified

ODD = """
CREATE TABLE odd(id INTEGER PRIMARY KEY, a, b, "it's {c}" TEXT);
INSERT INTO odd VALUES (1, 5, x'00ff', 'é'), (2, 5.5, NULL, ''),
    (3, -9223372036854775808, '', 'ab'), (4, 9e999, -9e999, 'a' || char(0) || 'b');
"""


@pytest.fixture
def odd() -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(ODD)
        yield connection


def held(connection: sqlite3.Connection, table: str = "odd") -> tuple[int, ...]:
    return connection.execute(parts.proof(connection, table).query().sql).fetchone()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM odd WHERE id = 2",
        "UPDATE odd SET a = a + 1 WHERE id = 1",
        "UPDATE odd SET a = 6.5 WHERE id = 2",
        "UPDATE odd SET b = 0 WHERE b IS NULL",
        "UPDATE odd SET b = b || 'x' WHERE id = 1",
        "UPDATE odd SET b = x'00fe' WHERE id = 1",
        """UPDATE odd SET "it's {c}" = 'ba' WHERE id = 3""",
        """UPDATE odd SET "it's {c}" = 'è' WHERE id = 1""",
        "UPDATE odd SET a = 5 WHERE id = 3; UPDATE odd SET a = -9223372036854775808 WHERE id = 1",
    ],
)
def test_no_change_escapes_the_proof(odd: sqlite3.Connection, change: str) -> None:
    before = held(odd)
    odd.executescript(change)
    assert held(odd) != before


def test_a_proof_does_not_depend_on_where_rows_lie(odd: sqlite3.Connection) -> None:
    before = held(odd)
    odd.executescript("CREATE TABLE other AS SELECT * FROM odd ORDER BY id DESC")
    assert held(odd, "other") == before
    assert all(isinstance(value, int) for value in before)


def test_of_many_rows_the_number_is_compared(
    odd: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_ROWS", 3)
    assert held(odd) == (4,)


TEAM = """
CREATE TABLE room(id INTEGER PRIMARY KEY, posts INTEGER NOT NULL DEFAULT 0, last TEXT);
CREATE TABLE post(id INTEGER PRIMARY KEY, room INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TRIGGER posted AFTER INSERT ON post BEGIN
    UPDATE room SET posts = posts + 1, last = new.body WHERE id = new.room; END;
INSERT INTO room(id) VALUES (1), (2);
"""
ROOMS = """workers = 2
[query.rooms]
sql = "SELECT posts FROM room WHERE id = ?"
parameters = [1, 2]
"""
POST = f"""{ROOMS}
[query.post]
sql = "INSERT INTO post(room, body) VALUES (?, ?)"
parameters = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 256) \
SELECT 1 + i % 2, 'body ' || i FROM n"
"""
CLAIM = f"""{ROOMS}
[query.claim]
sql = "UPDATE room SET posts = ? WHERE posts < ?"
parameters = [[5, 5], [7, 7]]
"""


@pytest.mark.parametrize(
    ("text", "sums", "words"),
    [
        (
            POST,
            {"post": {parts.WHOLE}, "room": {"last", parts.WHOLE}},
            "which row is which of post and last of room: that is not compared, all else that was",
        ),
        (CLAIM, None, "how many rows are changed"),
    ],
)
def test_what_the_order_of_writers_decides_is_told_and_sums_are_not(
    service: Service, text: str, sums: dict[str, set[str]] | None, words: str
) -> None:
    service.database(TEAM)
    made = service.made(text)
    with closing(sqlite3.connect(made.copy)) as connection:
        proofs = {table: parts.proof(connection, table) for table in ("post", "room")}
    by_order = parts.decided_by_order(made.copy, made.scenarios["mix"], proofs)
    assert words in str(by_order)
    assert by_order.affected == (sums is None)
    assert sums in (None, by_order.sums)


LIKED, LIKES = (WORKLOADS["liked"][part] for part in ("database", "right"))
POP = """[query.pop]
sql = "DELETE FROM liked WHERE post = (SELECT min(post) FROM liked)"
"""


@pytest.fixture
def liked(service: Service) -> Service:
    service.database(LIKED)
    return service


@pytest.mark.parametrize("pragma", ["", 'journal_mode = "DELETE"', 'synchronous = "FULL"'])
def test_what_nothing_undoes_is_done_with_rows_that_serve_one_after_the_other(
    liked: Service, pragma: str
) -> None:
    queries = LIKES.replace("[check]", f"{POP}[check]")
    scenarios = liked.made(f"{pragma and 'pragmas.'}{pragma}\n{queries}").scenarios
    like, unlike, pop = (scenarios[name] for name in ("like", "unlike", "pop"))
    assert [spec.steps[0].given for spec in (like, unlike) if spec.reset] == []
    assert len(rows_of(like.steps[0])) == len({*rows_of(like.steps[0])}) == 64
    assert rows_of(unlike.steps[0]) == [*range(2, 66, 2)]
    for spec, least, most in (
        (like, 1, 64),
        (unlike, 1, 32),
        (scenarios["mix"], 1, 16),
        (pop, 8, 99),
    ):
        assert least <= (spec.warmup_operations or 0) + (spec.timed_operations or 0) <= most
        assert 2 * spec.operations <= most, "syncs are counted in twice as many"
    (note,) = unlike.notes
    assert note == (
        "Nothing undoes what it writes (it deletes from liked): on its copy of the database a "
        "process does it 32 times at most. 15 of 64 rows of parameters are left out: at their "
        "turn there is no row to delete, or already one to insert."
    )
    assert pop.steps[0].given is None
    assert "a process does it 99 times at most." in pop.notes[0]


CHECKED = 'pragmas.foreign_keys = "ON"\n'
DROP = """[query.drop]
sql = "DELETE FROM post WHERE id = ?"
parameters = "SELECT id FROM post"
"""


def test_deletions_that_foreign_keys_forbid_are_left_out_where_they_are_checked(
    liked: Service,
) -> None:
    made = [liked.made(f"{pragma}{DROP}").scenarios["drop"] for pragma in ("", CHECKED)]
    assert [rows_of(drop.steps[0])[0] for drop in made] == [1, 100]


def test_what_writes_is_checked_by_sqlite_and_by_the_workloads_own_queries(liked: Service) -> None:
    scenarios = liked.made(LIKES).scenarios
    checks = ["integrity_check", "foreign_key_check", "once"]
    found = {name: [*spec.checks] for name, spec in scenarios.items() if spec.checks}
    assert found == dict.fromkeys(("like", "unlike", "mix"), checks)


STAMPED = """
CREATE TABLE entry(id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP, body TEXT);
CREATE TABLE audit(id INTEGER PRIMARY KEY, at REAL);
CREATE TRIGGER audited AFTER INSERT ON entry BEGIN
    INSERT INTO audit(at) VALUES (random()); END;
"""


def test_a_clock_in_what_is_written_is_not_compared(service: Service) -> None:
    with closing(sqlite3.connect(service.database(STAMPED))) as connection:
        assert list(parts.proof(connection, "entry").sums) == ["id", "body"]


DATED = """workers = 2
[query.add]
sql = "INSERT INTO entry(body) VALUES (?)"
parameters = ["1", "2", "7", "8", "9", "10", "11", "12"]
[check]
dated = "SELECT id FROM entry WHERE at < '2000'"
"""
# what the workload itself breaks makes nobody wrong
GAPS = """[query.gap]
sql = "INSERT INTO liked VALUES (?, 3)"
parameters = "SELECT post FROM liked WHERE post < 65"
[check]
nobody-else = "SELECT post FROM liked WHERE user > 1"
"""


@pytest.mark.parametrize(
    ("schema", "text", "cell", "words"),
    [
        pytest.param(STAMPED, DATED, "add", "", id="a clock in what is written"),
        pytest.param(LIKED, GAPS, "gap", "", id="a check that the workload itself breaks"),
        pytest.param(
            *(TEAM, POST, "mix@workers=2"),
            "order decides which row is which of post and last of room",
            id="several writers of one row: nine honest runners were wrong, though all agreed",
        ),
        pytest.param(
            *(TEAM, 'trace = "app.jsonl"\n', "insert-post", ""),
            id="writes that return rows: no column of theirs was declared",
        ),
    ],
)
def test_honest_runners_are_right(
    clone: Clone, schema: str, text: str, cell: str, words: str
) -> None:
    post = "INSERT INTO post(room, body) VALUES (?, 'new') RETURNING id, body"
    lines = [
        f'{{"sql": "{sql}", "parameters": [{n % 4 + 1}], "operation": "get"}}\n'
        for n in range(40)
        for sql in ("SELECT last FROM room WHERE id = ?", post)
    ]
    clone.write("app.jsonl", "".join(lines))
    done = verified(clone, schema, text)
    assert done.code == 0, done.err + done.out
    assert f"ok           {cell}/a" in done.out
    assert words in done.err


@pytest.mark.parametrize("options", [[], ["--show-values"]])
def test_a_check_finds_what_no_sum_foresees(clone: Clone, options: list[str]) -> None:
    done = verified(clone, STAMPED, DATED, *options, behaviour="backdates")
    assert done.code == 5, done.err
    assert "check dated finds" in done.out
    assert "in the database after the process ended, and 0 in the oracle's" in done.out
    assert ("the first is id 1" in done.out) == bool(options)


@pytest.mark.parametrize(
    ("behaviour", "wrong"),
    [
        ("honest", set[str]()),
        ("never-commits", {"like", "unlike", "mix"}),
        ("deletes-another", {"unlike", "mix"}),
    ],
)
def test_what_is_deleted_is_proven(clone: Clone, behaviour: str, wrong: set[str]) -> None:
    done = verified(clone, LIKED, LIKES.replace("workers = 2", ""), behaviour=behaviour)
    outcomes = [line.split() for line in done.out.splitlines()]
    assert {case.partition("/")[0] for outcome, case, *_ in outcomes if outcome == "wrong"} == wrong
    assert {outcome for outcome, *_ in outcomes} <= {"ok", "wrong"}, done.err
