"""The oracle against sums done by hand from CONTRACT.md: it must not be its own proof."""

import contextlib
import json
import sqlite3
import struct
import subprocess
import sys
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.contract.started import CONTRACT

NULL = 0x9E3779B9
ORACLE = CONTRACT.parent / "python" / "main.py"

# value in SQL, declared type, the checksum's x, the digest's tag and bytes
VALUES = [
    ("0", "integer", 0, b"i", b"0"),
    ("-1", "integer", 0xFFFFFFFF, b"i", b"-1"),
    ("4294967297", "integer", 1, b"i", b"4294967297"),
    ("-9223372036854775807 - 1", "integer", 0, b"i", b"-9223372036854775808"),
    ("9007199254740993", "integer", 1, b"i", b"9007199254740993"),
    ("-1.75", "real", 0xFFFFFFFF, b"r", bytes.fromhex("000000000000fcbf")),
    ("2.5", "real", 2, b"r", bytes.fromhex("0000000000000440")),
    ("4294967296.5", "real", 0, b"r", bytes.fromhex("000008000000f041")),
    ("''", "text", 0, b"t", b""),
    ("'a'", "text", 31 * 97 + 97, b"t", b"a"),
    ("'aüz'", "text", 31 * 97 + 122, b"t", b"a\xc3\xbcz"),
    ("x''", "blob", 0, b"b", b""),
    ("x'ff01fe'", "blob", 3 + 31 * 255 + 254, b"b", b"\xff\x01\xfe"),
    ("NULL", "text", NULL, b"n", b""),
    ("NULL", "integer", NULL, b"n", b""),
]


def write_job(file: Path, steps: list[dict[str, Any]], **changes: Any) -> None:
    """A job of steps on a small table; its result will be in `file` with the suffix `.result`."""
    database = file.with_name("oracle.db")
    if not database.exists():
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER);")
    job = {
        "contract": 2,
        "mode": "verify",
        "cell": "by/hand",
        "steps": steps,
        "database": {"path": str(database)},
        "measure": {"operations_per_iteration": 1},
        "output": str(file.with_suffix(".result")),
        **changes,
    }
    file.write_text(json.dumps(job), "utf-8")


def perform(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "utf8", str(ORACLE), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ask(folder: Path, steps: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """The oracle's result for steps on a small table."""
    file = folder / "job.json"
    write_job(file, steps, **changes)
    done = perform("--job", str(file))
    assert done.returncode == 0, done.stderr
    return json.loads(file.with_suffix(".result").read_text("utf-8"))


def piece(tag: bytes, payload: bytes) -> bytes:
    return tag + struct.pack("<I", len(payload)) + payload


def end(count: int) -> bytes:
    return b"E" + struct.pack("<I", count)


def fold(*xs: int) -> int:
    """The checksum of an operation with these values."""
    return reduce(lambda h, x: (h * 31 + x) % 2**32, xs, 0)


def digest(*pieces: bytes) -> str:
    return sha256(b"".join(pieces)).hexdigest()


SELECT = {
    "operation": "get",
    "sql": "SELECT ? AS v",
    "columns": [{"name": "v", "type": "integer"}],
    "parameters": {"types": ["integer"], "rows": [[1], [2], [3], [4]]},
}


def test_each_value(tmp_path: Path) -> None:
    modes = ("verify", "measure")
    for number, (sql, kind, *_) in enumerate(VALUES):
        column = {"name": "v", "type": kind, "nullable": sql == "NULL"}
        step = {"operation": "get", "sql": f"SELECT {sql} AS v", "columns": [column]}
        for mode in modes:
            write_job(tmp_path / f"{number}-{mode}.json", [step], mode=mode)
    done = perform("--jobs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for number, (sql, _, x, tag, payload) in enumerate(VALUES):
        verified, measured = (
            json.loads((tmp_path / f"{number}-{mode}.result").read_text("utf-8")) for mode in modes
        )
        assert verified["checksum"] == measured["checksum"] == x, sql
        assert verified["digest"] == digest(piece(tag, payload), end(1)), sql


def test_values_fold_in_order_by_31(tmp_path: Path) -> None:
    columns = [
        {"name": "a", "type": "integer"},
        {"name": "b", "type": "text", "nullable": True},
    ]
    sql = "SELECT 5 AS a, 'hi' AS b UNION ALL SELECT 7, NULL"
    result = ask(tmp_path, [{"operation": "all", "sql": sql, "columns": columns}])
    assert (result["rows"], result["checksum"]) == (2, fold(5, fold(*b"hi"), 7, NULL))
    said = piece(b"i", b"5") + piece(b"t", b"hi") + piece(b"i", b"7") + piece(b"n", b"") + end(2)
    assert result["digest"] == digest(said)


def test_a_write_folds_its_count_and_a_miss_folds_nothing(tmp_path: Path) -> None:
    column = [{"name": "a", "type": "integer"}]
    steps = [
        {"operation": "run", "sql": "INSERT INTO t(a) VALUES (10), (20)"},
        {"operation": "get", "sql": "SELECT a FROM t WHERE a = 0", "columns": column},
        {"operation": "run", "sql": "UPDATE t SET a = a + 1"},
    ]
    proof = [{"sql": "SELECT a FROM t ORDER BY a", "columns": column}]
    result = ask(tmp_path, steps, readback=proof)
    assert (result["rows"], result["affected"]) == (0, 4)
    assert result["checksum"] == fold(2, 2)
    assert result["answers"] == [[0, 4, fold(2, 2)]]
    assert result["readback"] == {"rows": 2, "checksum": fold(11, 21)}
    said = end(2) + end(0) + end(2) + piece(b"i", b"11") + piece(b"i", b"21") + end(2)
    assert result["digest"] == digest(said)


def test_each_operation_starts_at_zero_and_shares_are_added(tmp_path: Path) -> None:
    # Five operations bind 1, 2, 3, 4, 1; two workers take two and three of them.
    measure = {"operations_per_iteration": 5, "workers": 2}
    shares = (1 + 2, 3 + 4 + 1)
    verified = ask(tmp_path, [SELECT], measure=measure)
    assert verified["checksum"] == sum(shares)
    assert verified["answers"] == [[1, 0, value] for value in (1, 2, 3, 4, 1)]
    measured = ask(tmp_path, [SELECT], measure=measure, mode="measure")
    assert measured["checksum"] == sum(shares)
    assert measured["answers"] == [[5, 0, sum(shares)]]
    assert [(w["operations"], w["checksum"]) for w in measured["workers"]] == [
        (2, shares[0]),
        (3, shares[1]),
    ]


def test_what_is_executed_counts_and_folds_nothing(tmp_path: Path) -> None:
    executed = [{"operation": "execute", "sql": sql} for sql in ("BEGIN", "DELETE FROM t")]
    steps = [
        {"operation": "run", "sql": "INSERT INTO t(a) VALUES (10), (20)"},
        *executed,
        {"operation": "in-transaction"},
        {"operation": "execute", "sql": "SAVEPOINT s", "repeat": 2},
        {"operation": "execute", "sql": "COMMIT"},
    ]
    proof = [{"sql": "SELECT a FROM t", "columns": [{"name": "a", "type": "integer"}]}]
    result = ask(tmp_path, steps, readback=proof)
    assert (result["rows"], result["affected"]) == (0, 2)
    assert result["checksum"] == 2 * 31 + 1
    said = end(2) + end(0) + end(0) + piece(b"i", b"1") + end(0) + end(0) * 3 + end(0)
    assert result["digest"] == digest(said)
    assert result["plans"][1:] == [[]] * len(steps[1:])
    measured = ask(tmp_path, steps, readback=proof, mode="measure")
    counts = ("rows", "affected", "checksum", "readback")
    assert [measured[key] for key in counts] == [result[key] for key in counts]


CONSTRAINT, MISMATCH = 19, 20


def test_an_open_transaction_folds_1_and_none_0(tmp_path: Path) -> None:
    asked = {"operation": "in-transaction"}
    write = {"operation": "run", "sql": "INSERT INTO t(a) VALUES (1), (2)"}
    for transaction, said in (("none", 0), ("deferred", 1), ("immediate", 1)):
        result = ask(tmp_path, [asked, write, asked], transaction=transaction)
        assert (result["rows"], result["affected"]) == (0, 2)
        assert result["checksum"] == (said * 31 + 2) * 31 + said
        number = piece(b"i", str(said).encode()) + end(0)
        assert result["digest"] == digest(number, end(2), number)
    read = ask(tmp_path, [asked], transaction="read", mode="measure")
    assert (read["rows"], read["checksum"]) == (0, 1)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("INSERT INTO strictly VALUES (1, NULL)", CONSTRAINT),
        ("INSERT INTO strictly VALUES ('one', 1)", MISMATCH),
    ],
)
def test_what_must_fail_folds_its_primary_code(tmp_path: Path, sql: str, code: int) -> None:
    setup = ["CREATE TEMP TABLE strictly(id INTEGER PRIMARY KEY, a NOT NULL)"]
    steps = [
        {"operation": "run", "sql": "INSERT INTO strictly(a) VALUES (7)"},
        {"operation": "run", "sql": sql, "fails": code, "repeat": 2},
    ]
    proof = [{"sql": "SELECT a FROM strictly", "columns": [{"name": "a", "type": "integer"}]}]
    asked = {"connection": {"setup": setup}, "readback": proof}
    result = ask(tmp_path, steps, **asked)
    assert (result["rows"], result["affected"]) == (0, 1)
    assert result["checksum"] == (1 * 31 + code) * 31 + code
    assert result["readback"] == {"rows": 1, "checksum": 7}
    number = piece(b"i", str(code).encode()) + end(0)
    said = end(1) + number + number + piece(b"i", b"7") + end(1)
    assert result["digest"] == digest(said)
    measured = ask(tmp_path, steps, mode="measure", **asked)
    assert [measured[key] for key in ("checksum", "affected")] == [result["checksum"], 1]


def test_a_writer_writes_after_the_answer_and_before_the_proof(tmp_path: Path) -> None:
    column = [{"name": "n", "type": "integer"}]
    read = {"operation": "get", "sql": "SELECT count(*) AS n FROM t WHERE a > 2", "columns": column}
    write = {
        "operation": "run",
        "sql": "INSERT INTO t(a) VALUES (?)",
        "parameters": {"types": ["integer"], "rows": [[1], [2]]},
        "repeat": 2,
    }
    proof = [{"sql": "SELECT a AS n FROM t ORDER BY id", "columns": column}]
    asked = {
        "writer": {"steps": [write], "operations": 2, "transaction": "immediate"},
        "reset": ["DELETE FROM t"],
        "reset_every": 1,
        "readback": proof,
        "connection": {"pragmas": [["journal_mode", "WAL"], ["busy_timeout", 5000]]},
    }
    result = ask(tmp_path, [read], **asked)
    assert (result["operations"], result["rows"], result["affected"]) == (1, 1, 0)
    assert result["checksum"] == 0
    written = [1, 2, 1, 2]
    assert result["readback"] == {"rows": 4, "checksum": fold(*written)}
    said = piece(b"i", b"0") + end(1)
    said += b"".join(piece(b"i", b"%d" % a) for a in written) + end(4)
    assert result["digest"] == digest(said)
    measured = ask(tmp_path, [read], mode="measure", **asked)
    assert measured["readback"] == result["readback"]
    worker, writer = measured["workers"]
    assert (worker["role"], worker["operations"], worker["checksum"]) == ("worker", 1, 0)
    assert (writer["role"], writer["operations"], writer["rows"]) == ("writer", 2, 0)
    assert writer["checksum"] == 2 * (1 * 31 + 1)


def test_each_connection_to_memory_has_a_database_of_its_own(tmp_path: Path) -> None:
    column = [{"name": "n", "type": "integer"}]
    write = {"operation": "run", "sql": "INSERT INTO own DEFAULT VALUES"}
    read = {"operation": "get", "sql": "SELECT count(*) AS n FROM own", "columns": column}
    asked = {
        "database": {"path": ":memory:"},
        "connection": {"setup": ["CREATE TABLE own(id INTEGER PRIMARY KEY)"]},
        "measure": {"operations_per_iteration": 2, "workers": 2},
        "readback": [{"sql": "SELECT count(*) AS n FROM own", "columns": column}],
    }
    measured = ask(tmp_path, [write, read], mode="measure", **asked)
    assert measured["checksum"] == 2 * (1 * 31 + 1)
    assert measured["readback"] == {"rows": 1, "checksum": 0}
    # Verified on one connection, the second share finds what the first one wrote.
    verified = ask(tmp_path, [write, read], **asked)
    assert verified["checksum"] == (1 * 31 + 1) + (1 * 31 + 2)
    assert verified["readback"] == {"rows": 1, "checksum": 2}


@pytest.mark.parametrize(
    ("repeat", "mode", "measure", "operations", "answers"),
    [
        (3, "verify", {}, 2, [fold(1, 2, 3), fold(4, 1, 2)]),
        (
            1,
            "measure",
            {"warmup_iterations": 1, "iterations": 2},
            9,
            [1 + 2 + 3, 4 + 1 + 2, 3 + 4 + 1],
        ),
    ],
    ids=["in repeats", "from one iteration to the next"],
)
def test_the_pool_is_bound_on_and_on(
    tmp_path: Path, repeat: int, mode: str, measure: Any, operations: int, answers: list[int]
) -> None:
    measure = {"operations_per_iteration": 3 if measure else 2, **measure}
    result = ask(tmp_path, [{**SELECT, "repeat": repeat}], measure=measure, mode=mode)
    assert result["answers"] == [[3, 0, checksum] for checksum in answers]
    sums = (operations, 3 * len(answers), sum(answers))
    assert (result["operations"], result["rows"], result["checksum"]) == sums


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"mode": "guess"}, '$.mode: "guess"; expected verify or measure'),
    ({"surprise": 1}, "$.surprise: unknown key; expected one of contract, mode, cell,"),
    (
        {"measure": {"operations_per_iteration": "two"}},
        '$.measure.operations_per_iteration: "two"; expected int',
    ),
    ({"steps": [{"operation": "get"}]}, "$.steps[0].sql: missing"),
    (
        {"writer": {"steps": [{"operation": "get"}], "operations": 1}},
        "$.writer.steps[0].sql: missing",
    ),
    ({"database": None}, "$.database: missing; steps need a database"),
    (
        {"steps": [{"operation": "execute", "sql": "COMMIT"}], "transaction": "immediate"},
        "$.transaction: immediate; expected none, because execute can begin one itself",
    ),
]


def test_a_malformed_job_is_told_with_path_and_expectation(tmp_path: Path) -> None:
    columns = [{"name": "v", "type": "integer"}]
    step = {"operation": "get", "sql": "SELECT 1 AS v", "columns": columns}
    for number, (change, _) in enumerate(MALFORMED):
        write_job(tmp_path / f"{number}.json", **{"steps": [step], **change})
    done = perform("--jobs", str(tmp_path))
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    for number, (line, (_, message)) in enumerate(zip(lines, MALFORMED, strict=True)):
        assert line.startswith(f"{tmp_path / f'{number}.json'}: {message}")
