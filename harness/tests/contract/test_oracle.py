"""The oracle's sums against sums done by hand from CONTRACT.md: it must not be its own proof. What
it does in each way that a job can ask for, the vectors have from four languages.
"""

import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.contract.jobs import Json, result_of, write_job
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


def ask(folder: Path, *steps: Json, **changes: Any) -> tuple[Json, Json]:
    """The oracle's results for steps on a small table, verified and measured."""
    asked = {
        "database": {"path": ":memory:"},
        "connection": {"setup": ["CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER NOT NULL)"]},
        **changes,
    }
    modes = ("verify", "measure")
    files = [write_job(folder / f"{mode}.json", *steps, mode=mode, **asked) for mode in modes]
    done = perform("--jobs", str(folder))
    assert done.returncode == 0, done.stderr
    verified, measured = map(result_of, files)
    return verified, measured


A = [{"name": "a", "type": "integer"}]


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


STEPS: list[tuple[Json, Sequence[Rows | int | Number]]] = [
    ({"operation": "in-transaction"}, [Number(0)]),
    ({"operation": "run", "sql": "INSERT INTO t(a) VALUES (10), (20)"}, [2]),
    ({"operation": "get", "sql": "SELECT a FROM t WHERE a = 0", "columns": A}, [[]]),
    ({"operation": "execute", "sql": "BEGIN"}, [[]]),
    ({"operation": "execute", "sql": "DELETE FROM t WHERE a = 10"}, [[]]),
    ({"operation": "in-transaction"}, [Number(1)]),
    ({"operation": "execute", "sql": "SAVEPOINT s", "repeat": 2}, [[], []]),
    ({"operation": "execute", "sql": "COMMIT"}, [[]]),
    ({"operation": "run", "sql": "UPDATE t SET a = a + 1"}, [1]),
    (  # SQLITE_CONSTRAINT
        {"operation": "run", "sql": "INSERT INTO t VALUES (9, NULL)", "fails": 19, "repeat": 2},
        [Number(19), Number(19)],
    ),
    (  # SQLITE_MISMATCH
        {"operation": "run", "sql": "INSERT INTO t VALUES ('x', 1)", "fails": 20},
        [Number(20)],
    ),
    (
        {
            "operation": "all",
            "sql": "SELECT a, 'hi' AS b FROM t UNION ALL SELECT 7, NULL",
            "columns": [*A, {"name": "b", "type": "text", "nullable": True}],
        },
        [[[21, "hi"], [7, None]]],
    ),
]


def test_the_answers_of_all_kinds_of_steps_fold_in_order_by_31(tmp_path: Path) -> None:
    """Rows, a miss, counts of writes, codes of failures and whether a transaction is open; what is
    executed folds nothing."""
    answers = [answer for _, each in STEPS for answer in each]
    want = sums(*answers, readback=[[21]])
    told = [0, 2, 1, 1, 19, 19, 20, 21, fold(*b"hi"), 7, NULL]
    assert (want["rows"], want["affected"], want["checksum"]) == (2, 3, fold(*told))
    proof = [{"sql": "SELECT a FROM t", "columns": A}]
    verified, measured = ask(tmp_path, *(step for step, _ in STEPS), readback=proof)
    want["answers"] = [[2, 3, fold(*told)]]
    assert {key: verified[key] for key in want} == want
    del want["digest"]
    assert {key: measured[key] for key in want} == want
    planned = {"get", "all", "run"}
    plans = zip(STEPS, verified["plans"], strict=True)
    assert not [step for (step, _), plan in plans if plan and step["operation"] not in planned]


SELECT = {
    "operation": "get",
    "sql": "SELECT ? AS v",
    "columns": [{"name": "v", "type": "integer"}],
    "parameters": {"types": ["integer"], "rows": [[1], [2], [3], [4]]},
}


def test_each_operation_starts_at_zero_and_shares_are_added(tmp_path: Path) -> None:
    # Five operations bind 1, 2, 3, 4, 1; two workers take two and three of them.
    measure = {"operations_per_iteration": 5, "workers": 2}
    shares = (1 + 2, 3 + 4 + 1)
    verified, measured = ask(tmp_path, SELECT, measure=measure)
    assert verified["checksum"] == measured["checksum"] == sum(shares)
    assert verified["answers"] == [[1, 0, value] for value in (1, 2, 3, 4, 1)]
    assert measured["answers"] == [[5, 0, sum(shares)]]
    told = [(worker["operations"], worker["checksum"]) for worker in measured["workers"]]
    assert told == [(2, shares[0]), (3, shares[1])]


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
