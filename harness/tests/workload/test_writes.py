"""What proves a workload's writes, and what of that the order of its writers decides."""

import re
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.workload import parts
from tests.fakes.clone import Clone
from tests.refusals import refused
from tests.workload.making import make, rows_of, verified, workload

Made = Callable[[str], dict[str, Scenario]]
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


STAMPED = """
CREATE TABLE entry(id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP, body TEXT);
CREATE TABLE audit(id INTEGER PRIMARY KEY, at REAL);
CREATE TRIGGER audited AFTER INSERT ON entry BEGIN
    INSERT INTO audit(at) VALUES (random()); END;
"""


def test_a_clock_in_what_is_written_makes_nobody_wrong(clone: Clone, tmp_path: Path) -> None:
    with closing(sqlite3.connect(make(tmp_path, STAMPED))) as connection:
        assert list(parts.proof(connection, "entry").sums) == ["id", "body"]
    insert = 'sql = "INSERT INTO entry(body) VALUES (?)"\nparameters = ["1", "2", "7", "8"]\n'
    done = verified(clone, f"[query.add]\n{insert}")
    assert done.code == 0, done.err
    assert "ok           add/a" in done.out


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


@pytest.fixture
def decided(
    write: Callable[[str], Path], catalog: Catalog, tmp_path: Path
) -> Callable[[str], parts.Decided]:
    def of(text: str) -> parts.Decided:
        make(tmp_path, TEAM)
        made = workload(write(text), catalog)
        with closing(sqlite3.connect(made.copy)) as connection:
            proofs = {table: parts.proof(connection, table) for table in ("post", "room")}
        return parts.decided_by_order(made.copy, made.scenarios["mix"], proofs)

    return of


def test_the_last_writer_of_a_row_is_a_matter_of_order_and_sums_are_not(
    decided: Callable[[str], parts.Decided],
) -> None:
    by_order = decided(POST)
    assert by_order.sums == {"post": {parts.WHOLE}, "room": {"last", parts.WHOLE}}
    assert not by_order.affected
    assert str(by_order) == (
        "With several workers their order decides which row is which of post and last of room: "
        "that is not compared, all else that was written is."
    )


def test_how_many_rows_change_is_a_matter_of_order_where_writers_claim_them(
    decided: Callable[[str], parts.Decided],
) -> None:
    by_order = decided(CLAIM)
    assert by_order.affected
    assert "how many rows are changed" in str(by_order)


def test_several_writers_of_one_row_are_verified(clone: Clone, tmp_path: Path) -> None:
    """Nine honest runners were wrong, though all agreed with each other."""
    make(tmp_path, TEAM)
    done = verified(clone, POST)
    assert done.code == 0, done.err
    assert "ok           mix@workers=2/a" in done.out
    assert "order decides which row is which of post and last of room" in done.err


LIKED = """
CREATE TABLE post(id INTEGER PRIMARY KEY);
CREATE TABLE liked(post INTEGER REFERENCES post(id), user INTEGER, PRIMARY KEY(post, user))
    WITHOUT ROWID;
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) INSERT INTO post SELECT i FROM n;
INSERT INTO liked SELECT id, 1 FROM post WHERE id < 100;
"""
LIKES = """workers = 2
[query.likes]
weight = 4
sql = "SELECT count(*) AS likes FROM liked WHERE post = ?"
parameters = "SELECT id FROM post"
[query.like]
weight = 3
transaction = "immediate"
sql = "INSERT INTO liked VALUES (?, 2)"
parameters = "SELECT post FROM liked UNION ALL SELECT post FROM liked"
[query.unlike]
sql = "DELETE FROM liked WHERE post = ? AND user = 1"
parameters = "SELECT id FROM post WHERE id % 2 = 0"
"""
POP = """[query.pop]
sql = "DELETE FROM liked WHERE post = (SELECT min(post) FROM liked)"
"""


@pytest.fixture
def liked(write: Callable[[str], Path], catalog: Catalog, tmp_path: Path) -> Made:
    make(tmp_path, LIKED)
    return lambda text: workload(write(text), catalog).scenarios


def done_by_a_process(scenario: Scenario) -> int:
    return (scenario.warmup_operations or 0) + (scenario.timed_operations or 0)


@pytest.mark.parametrize("pragma", ["", 'journal_mode = "DELETE"', 'synchronous = "FULL"'])
def test_what_nothing_undoes_is_done_with_rows_that_serve_one_after_the_other(
    liked: Made, pragma: str
) -> None:
    scenarios = liked(f"{pragma and 'pragmas.'}{pragma}\n{LIKES}")
    like, unlike = scenarios["like"], scenarios["unlike"]
    assert [spec.steps[0].given for spec in (like, unlike) if spec.reset] == []
    assert len(rows_of(like.steps[0])) == len({*rows_of(like.steps[0])}) == 64
    assert rows_of(unlike.steps[0]) == [*range(2, 66, 2)]
    for spec, most in ((like, 64), (unlike, 32), (scenarios["mix"], 16)):
        assert 0 < done_by_a_process(spec) <= most
        assert 2 * spec.operations <= most, "syncs are counted in twice as many"
    (note,) = unlike.notes
    assert note == (
        "Nothing undoes what it writes (it deletes from liked): on its copy of the database a "
        "process does it 32 times at most. 15 of 64 rows of parameters are left out: at their "
        "turn there is no row to delete, or already one to insert."
    )


def test_a_deletion_without_parameters_is_done_while_it_finds_rows(liked: Made) -> None:
    pop = liked(POP)["pop"]
    assert 8 <= done_by_a_process(pop) <= 99
    assert pop.steps[0].given is None
    assert "a process does it 99 times at most." in pop.notes[0]


CHECKED = 'pragmas.foreign_keys = "ON"\n'
DROP = """[query.drop]
sql = "DELETE FROM post WHERE id = ?"
parameters = "SELECT id FROM post"
"""


def test_deletions_that_foreign_keys_forbid_are_left_out_where_they_are_checked(
    liked: Made,
) -> None:
    firsts = [rows_of(liked(f"{pragma}{DROP}")["drop"].steps[0])[0] for pragma in ("", CHECKED)]
    assert firsts == [1, 100]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (POP.replace("= (", "<> ("), "my.toml:2: query.pop: it deletes from liked, so a process "),
        (LIKES.replace("unlike]", "unlike]\nweight = 9"), "it 32 times, and a round of the mix "),
        (f"limits.p99_ms = 5\n{LIKES}", "my.toml:2: limits.p99_ms: it needs 102 rounds of the mix"),
        (f"rates = [8000]\n{LIKES}", "my.toml:2: rates[0]: it needs 800 rounds of the mix in a"),
    ],
)
def test_what_cannot_be_done_often_enough_is_told(liked: Made, text: str, message: str) -> None:
    with refused(re.escape(message)):
        liked(text)


ONCE = """[check]
once = "SELECT post, user FROM liked GROUP BY 1, 2 HAVING count(*) > 1"
"""


def test_what_writes_is_checked_by_sqlite_and_by_the_workloads_own_queries(liked: Made) -> None:
    scenarios = liked(f"{LIKES}{ONCE}")
    names = ["integrity_check", "foreign_key_check", "once"]
    assert [*scenarios["mix"].checks] == [*scenarios["unlike"].checks] == names
    assert scenarios["likes"].checks == {}


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("SELECT post FROM liked", "it finds a row before anything is written"),
        ("DELETE FROM liked", "it is no query without parameters; write a SELECT"),
        ("SELECT 1 WHERE 0 = ?", "it is no query without parameters; write a SELECT"),
        ("SELECT 1 FROM likes", "says: no such table: likes"),
    ],
)
def test_a_check_that_is_none_is_told_by_its_line(liked: Made, check: str, words: str) -> None:
    with refused(f"my.toml:16: check.bad: .*{words}"):
        liked(f'{LIKES}[check]\nbad = "{check}"\n')


DATED = """workers = 2
[query.add]
sql = "INSERT INTO entry(body) VALUES (?)"
parameters = ["1", "2", "7", "8", "9", "10", "11", "12"]
[check]
dated = "SELECT id FROM entry WHERE at < '2000'"
"""


@pytest.mark.parametrize("options", [[], ["--show-values"]])
def test_a_check_finds_what_no_sum_foresees(
    clone: Clone, tmp_path: Path, options: list[str]
) -> None:
    make(tmp_path, STAMPED)
    done = verified(clone, DATED, *options, behaviour="backdates")
    assert done.code == 5, done.err
    assert "check dated finds" in done.out
    assert "in the database after the process ended, and 0 in the oracle's" in done.out
    assert ("the first is id 1" in done.out) == bool(options)


GAPS = """[query.gap]
sql = "INSERT INTO liked VALUES (?, 3)"
parameters = "SELECT post FROM liked WHERE post < 65"
[check]
nobody-else = "SELECT post FROM liked WHERE user > 1"
"""


def test_what_the_workload_itself_breaks_makes_nobody_wrong(clone: Clone, tmp_path: Path) -> None:
    make(tmp_path, LIKED)
    done = verified(clone, GAPS)
    assert done.code == 0, done.err
    assert "ok           gap/a" in done.out


@pytest.mark.parametrize(
    ("behaviour", "wrong"),
    [
        ("honest", set[str]()),
        ("never-commits", {"like", "unlike", "mix"}),
        ("deletes-another", {"unlike", "mix"}),
    ],
)
def test_what_is_deleted_is_proven(
    clone: Clone, tmp_path: Path, behaviour: str, wrong: set[str]
) -> None:
    make(tmp_path, LIKED)
    done = verified(clone, LIKES.replace("workers = 2", ""), behaviour=behaviour)
    outcomes = [line.split() for line in done.out.splitlines()]
    assert {case.partition("/")[0] for outcome, case, *_ in outcomes if outcome == "wrong"} == wrong
    assert {outcome for outcome, *_ in outcomes} <= {"ok", "wrong"}, done.err


def test_writes_that_return_rows_are_verified(clone: Clone, tmp_path: Path) -> None:
    """Every runner was wrong or failed, since no column of theirs was declared."""
    make(tmp_path, TEAM)
    post = "INSERT INTO post(room, body) VALUES (?, 'new') RETURNING id, body"
    clone.write(
        "app.jsonl",
        "".join(
            f'{{"sql": "{sql}", "parameters": [{n % 4 + 1}], "operation": "get"}}\n'
            for n in range(40)
            for sql in ("SELECT last FROM room WHERE id = ?", post)
        ),
    )
    done = verified(clone, 'trace = "app.jsonl"\n')
    assert done.code == 0, done.err + done.out
    assert "ok           insert-post/a" in done.out
