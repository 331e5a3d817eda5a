"""The oracle against sums done by hand from CONTRACT.md: it must not be its own proof."""

import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.contract.jobs import Json, database, result_of, write_job
from tests.known import RUNNERS

NULL = 0x9E3779B9

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
Rows = Sequence[Sequence[int | str | None]]


@dataclass(frozen=True)
class Number:
    """What a step that reads no row answers, but for counts."""

    value: int


def piece(tag: bytes, payload: bytes) -> bytes:
    return tag + struct.pack("<I", len(payload)) + payload


def end(count: int) -> bytes:
    return b"E" + struct.pack("<I", count)


def fold(*xs: int) -> int:
    """The checksum of an operation with these values."""
    return reduce(lambda h, x: (h * 31 + x) % 2**32, xs, 0)


def of_rows(rows: Rows) -> tuple[list[int], bytes]:
    """What rows fold and say."""
    xs: list[int] = []
    said = b""
    for value in (value for row in rows for value in row):
        if value is None:
            x, tag, payload = NULL, b"n", b""
        elif isinstance(value, int):
            x, tag, payload = value, b"i", b"%d" % value
        else:
            x, tag, payload = fold(*value.encode()), b"t", value.encode()
        xs.append(x)
        said += piece(tag, payload)
    return xs, said + end(len(rows))


def sums(*answers: Rows | int | Number, readback: Rows | None = None) -> Json:
    """What is told of one operation whose steps read rows, write so many, or answer a number."""
    told: Json = {"rows": 0, "affected": 0}
    folded: list[int] = []
    digested = b""
    for answer in answers:
        if isinstance(answer, Number):
            xs, said = [answer.value], piece(b"i", b"%d" % answer.value) + end(0)
        elif isinstance(answer, int):
            xs, said = [answer], end(answer)
            told["affected"] += answer
        else:
            xs, said = of_rows(answer)
            told["rows"] += len(answer)
        folded += xs
        digested += said
    if readback is not None:
        xs, said = of_rows(readback)
        told["readback"] = {"rows": len(readback), "checksum": fold(*xs)}
        digested += said
    return {**told, "checksum": fold(*folded), "digest": sha256(digested).hexdigest()}


def perform(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "utf8", str(RUNNERS / "python" / "main.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ask(folder: Path, steps: list[Json], **changes: Any) -> tuple[Json, Json]:
    """The oracle's results for steps on a small table, verified and measured."""
    table = "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER);"
    files = [folder / f"{mode}.json" for mode in ("verify", "measure")]
    for file in files:
        file.with_suffix(".db").unlink(missing_ok=True)
        path = str(database(file.with_suffix(".db"), table))
        write_job(file, *steps, **{"mode": file.stem, "database": {"path": path}, **changes})
    done = perform("--jobs", str(folder))
    assert done.returncode == 0, done.stderr
    verified, measured = map(result_of, files)
    return verified, measured


def check(folder: Path, steps: list[Json], want: Json, **changes: Any) -> None:
    """The oracle tells `want`; where it measures, all but the digest."""
    verified, measured = ask(folder, steps, **changes)
    assert {key: verified[key] for key in want} == want
    digest = {"digest": want["digest"]}
    assert {key: measured[key] for key in want if key not in digest} | digest == want


A = [{"name": "a", "type": "integer"}]
INSERT = {"operation": "run", "sql": "INSERT INTO t(a) VALUES (10), (20)"}
SELECT = {
    "operation": "get",
    "sql": "SELECT ? AS v",
    "columns": [{"name": "v", "type": "integer"}],
    "parameters": {"types": ["integer"], "rows": [[1], [2], [3], [4]]},
}


def test_each_value(tmp_path: Path) -> None:
    modes = ("verify", "measure")
    path = {"path": ":memory:"}
    for number, (sql, kind, *_) in enumerate(VALUES):
        column = {"name": "v", "type": kind, "nullable": sql == "NULL"}
        step = {"operation": "get", "sql": f"SELECT {sql} AS v", "columns": [column]}
        for mode in modes:
            write_job(tmp_path / f"{number}-{mode}.json", step, mode=mode, database=path)
    done = perform("--jobs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for number, (sql, _, x, tag, payload) in enumerate(VALUES):
        verified, measured = (result_of(tmp_path / f"{number}-{mode}.json") for mode in modes)
        assert verified["checksum"] == measured["checksum"] == x, sql
        assert verified["digest"] == sha256(piece(tag, payload) + end(1)).hexdigest(), sql


def test_values_fold_in_order_by_31(tmp_path: Path) -> None:
    columns = [*A, {"name": "b", "type": "text", "nullable": True}]
    sql = "SELECT 5 AS a, 'hi' AS b UNION ALL SELECT 7, NULL"
    want = sums([[5, "hi"], [7, None]])
    assert want["checksum"] == fold(5, fold(*b"hi"), 7, NULL)
    check(tmp_path, [{"operation": "all", "sql": sql, "columns": columns}], want)


def test_a_write_folds_its_count_and_a_miss_folds_nothing(tmp_path: Path) -> None:
    steps = [
        INSERT,
        {"operation": "get", "sql": "SELECT a FROM t WHERE a = 0", "columns": A},
        {"operation": "run", "sql": "UPDATE t SET a = a + 1"},
    ]
    proof = [{"sql": "SELECT a FROM t ORDER BY a", "columns": A}]
    want = sums(2, [], 2, readback=[[11], [21]])
    check(tmp_path, steps, {**want, "answers": [[0, 4, 2 * 31 + 2]]}, readback=proof)


def test_each_operation_starts_at_zero_and_shares_are_added(tmp_path: Path) -> None:
    # Five operations bind 1, 2, 3, 4, 1; two workers take two and three of them.
    measure = {"operations_per_iteration": 5, "workers": 2}
    shares = (1 + 2, 3 + 4 + 1)
    verified, measured = ask(tmp_path, [SELECT], measure=measure)
    assert verified["checksum"] == measured["checksum"] == sum(shares)
    assert verified["answers"] == [[1, 0, value] for value in (1, 2, 3, 4, 1)]
    assert measured["answers"] == [[5, 0, sum(shares)]]
    told = [(worker["operations"], worker["checksum"]) for worker in measured["workers"]]
    assert told == [(2, shares[0]), (3, shares[1])]


def test_what_is_executed_counts_and_folds_nothing(tmp_path: Path) -> None:
    steps = [
        INSERT,
        {"operation": "execute", "sql": "BEGIN"},
        {"operation": "execute", "sql": "DELETE FROM t"},
        {"operation": "in-transaction"},
        {"operation": "execute", "sql": "SAVEPOINT s", "repeat": 2},
        {"operation": "execute", "sql": "COMMIT"},
    ]
    want = sums(2, [], [], Number(1), [], [], [], readback=[])
    proof = [{"sql": "SELECT a FROM t", "columns": A}]
    check(tmp_path, steps, want, readback=proof)
    verified, _ = ask(tmp_path, steps)
    assert verified["plans"][1:] == [[]] * len(steps[1:])


def test_an_open_transaction_folds_1_and_none_0(tmp_path: Path) -> None:
    asked = {"operation": "in-transaction"}
    for transaction, said in (("none", 0), ("deferred", 1), ("immediate", 1)):
        want = sums(Number(said), 2, Number(said))
        check(tmp_path, [asked, INSERT, asked], want, transaction=transaction)
    check(tmp_path, [asked], sums(Number(1)), transaction="read")


@pytest.mark.parametrize(("values", "code"), [("(1, NULL)", 19), ("('one', 1)", 20)])
def test_what_must_fail_folds_its_primary_code(tmp_path: Path, values: str, code: int) -> None:
    """SQLITE_CONSTRAINT and SQLITE_MISMATCH."""
    steps = [
        {"operation": "run", "sql": "INSERT INTO strictly(a) VALUES (7)"},
        {
            "operation": "run",
            "sql": f"INSERT INTO strictly VALUES {values}",
            "fails": code,
            "repeat": 2,
        },
    ]
    check(
        tmp_path,
        steps,
        sums(1, Number(code), Number(code), readback=[[7]]),
        connection={"setup": ["CREATE TEMP TABLE strictly(id INTEGER PRIMARY KEY, a NOT NULL)"]},
        readback=[{"sql": "SELECT a FROM strictly", "columns": A}],
    )


def test_a_writer_writes_after_the_answer_and_before_the_proof(tmp_path: Path) -> None:
    read = {"operation": "get", "sql": "SELECT count(*) AS a FROM t WHERE a > 2", "columns": A}
    write = {
        "operation": "run",
        "sql": "INSERT INTO t(a) VALUES (?)",
        "parameters": {"types": ["integer"], "rows": [[1], [2]]},
        "repeat": 2,
    }
    asked: Json = {
        "writer": {"steps": [write], "operations": 2, "transaction": "immediate"},
        "reset": ["DELETE FROM t"],
        "reset_every": 1,
        "readback": [{"sql": "SELECT a FROM t ORDER BY id", "columns": A}],
        "connection": {"pragmas": [["journal_mode", "WAL"], ["busy_timeout", 5000]]},
    }
    want = sums([[0]], readback=[[1], [2], [1], [2]])
    check(tmp_path, [read], {**want, "operations": 1}, **asked)
    worker, writer = ask(tmp_path, [read], **asked)[1]["workers"]
    assert (worker["role"], worker["operations"], worker["checksum"]) == ("worker", 1, 0)
    assert (writer["role"], writer["operations"], writer["rows"]) == ("writer", 2, 0)
    assert writer["checksum"] == 2 * (1 * 31 + 1)


def test_each_connection_to_memory_has_a_database_of_its_own(tmp_path: Path) -> None:
    count = {"sql": "SELECT count(*) AS a FROM own", "columns": A}
    verified, measured = ask(
        tmp_path,
        [
            {"operation": "run", "sql": "INSERT INTO own DEFAULT VALUES"},
            {"operation": "get"} | count,
        ],
        database={"path": ":memory:"},
        connection={"setup": ["CREATE TABLE own(id INTEGER PRIMARY KEY)"]},
        measure={"operations_per_iteration": 2, "workers": 2},
        readback=[count],
    )
    assert measured["checksum"] == 2 * (1 * 31 + 1)
    assert measured["readback"] == {"rows": 1, "checksum": 0}
    # Verified on one connection, the second share finds what the first one wrote.
    assert verified["checksum"] == (1 * 31 + 1) + (1 * 31 + 2)
    assert verified["readback"] == {"rows": 1, "checksum": 2}


def test_the_pool_is_bound_on_and_on(tmp_path: Path) -> None:
    """In repeats, and from one iteration to the next."""
    repeated = {**SELECT, "repeat": 3}
    verified, _ = ask(tmp_path, [repeated], measure={"operations_per_iteration": 2})
    assert verified["answers"] == [[3, 0, fold(1, 2, 3)], [3, 0, fold(4, 1, 2)]]
    iterations = {"operations_per_iteration": 3, "warmup_iterations": 1, "iterations": 2}
    _, measured = ask(tmp_path, [SELECT], measure=iterations)
    assert measured["answers"] == [[3, 0, 1 + 2 + 3], [3, 0, 4 + 1 + 2], [3, 0, 3 + 4 + 1]]
    for told, operations in ((verified, 2), (measured, 9)):
        rows, _, checksums = map(sum, zip(*told["answers"], strict=True))
        sums_told = (told["operations"], told["rows"], told["checksum"])
        assert sums_told == (operations, rows, checksums)


MALFORMED: list[tuple[Json, str]] = [
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
    for number, (change, _) in enumerate(MALFORMED):
        job = {"mode": "verify", "database": {"path": ":memory:"}, **change}
        write_job(tmp_path / f"{number}.json", SELECT, **job)
    done = perform("--jobs", str(tmp_path))
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    for number, (line, (_, message)) in enumerate(zip(lines, MALFORMED, strict=True)):
        assert line.startswith(f"{tmp_path / f'{number}.json'}: {message}")
