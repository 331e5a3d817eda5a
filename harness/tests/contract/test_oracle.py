"""The oracle against sums done by hand from CONTRACT.md: it must not be its own proof."""

import contextlib
import json
import sqlite3
import struct
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sqlitmus import paths

NULL = 0x9E3779B9
ORACLE = paths.RUNNERS / "python" / "main.py"

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


def ask(folder: Path, steps: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """The oracle's result for steps on a small table."""
    database = folder / "oracle.db"
    if not database.exists():
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER);")
    job = {
        "contract": 1,
        "mode": "verify",
        "cell": "by/hand",
        "database": {"path": str(database)},
        "steps": steps,
        "measure": {"operations_per_iteration": 1},
        "output": str(folder / "result.json"),
        **changes,
    }
    file = folder / "job.json"
    file.write_text(json.dumps(job), "utf-8")
    command = [sys.executable, "-X", "utf8", str(ORACLE), "--job", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text("utf-8"))


def piece(tag: bytes, payload: bytes) -> bytes:
    return tag + struct.pack("<I", len(payload)) + payload


def end(count: int) -> bytes:
    return b"E" + struct.pack("<I", count)


@pytest.mark.parametrize(("sql", "kind", "x", "tag", "payload"), VALUES)
def test_one_value(tmp_path: Path, sql: str, kind: str, x: int, tag: bytes, payload: bytes) -> None:
    step = {
        "operation": "get",
        "sql": f"SELECT {sql} AS v",
        "columns": [{"name": "v", "type": kind}],
    }
    result = ask(tmp_path, [step])
    assert result["checksum"] == x
    assert result["digest"] == sha256(piece(tag, payload) + end(1)).hexdigest()
    measured = ask(tmp_path, [step], mode="measure")
    assert measured["checksum"] == x


def test_values_fold_in_order_by_31(tmp_path: Path) -> None:
    columns = [{"name": "a", "type": "integer"}, {"name": "b", "type": "text"}]
    sql = "SELECT 5 AS a, 'hi' AS b UNION ALL SELECT 7, NULL"
    result = ask(tmp_path, [{"operation": "all", "sql": sql, "columns": columns}])
    h = 0
    for x in (5, 31 * ord("h") + ord("i"), 7, NULL):
        h = (h * 31 + x) % 2**32
    assert (result["rows"], result["checksum"]) == (2, h)
    said = piece(b"i", b"5") + piece(b"t", b"hi") + piece(b"i", b"7") + piece(b"n", b"") + end(2)
    assert result["digest"] == sha256(said).hexdigest()


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
    assert result["checksum"] == 2 * 31 + 2
    assert result["readback"] == {"rows": 2, "checksum": 11 * 31 + 21}
    said = end(2) + end(0) + end(2) + piece(b"i", b"11") + piece(b"i", b"21") + end(2)
    assert result["digest"] == sha256(said).hexdigest()


def test_shares_of_workers_start_at_zero_and_are_added(tmp_path: Path) -> None:
    # Five operations bind 1, 2, 3, 4, 1; two workers take two and three of them.
    step = {
        "operation": "get",
        "sql": "SELECT ? AS v",
        "columns": [{"name": "v", "type": "integer"}],
        "parameters": {"types": ["integer"], "rows": [[1], [2], [3], [4]]},
    }
    measure = {"operations_per_iteration": 5, "workers": 2}
    shares = (1 * 31 + 2, (3 * 31 + 4) * 31 + 1)
    verified = ask(tmp_path, [step], measure=measure)
    assert verified["checksum"] == sum(shares)
    measured = ask(tmp_path, [step], measure=measure, mode="measure")
    assert measured["checksum"] == sum(shares)
    assert [(w["operations"], w["checksum"]) for w in measured["workers"]] == [
        (2, shares[0]),
        (3, shares[1]),
    ]


def test_repeats_bind_the_pool_on_and_on(tmp_path: Path) -> None:
    step = {
        "operation": "get",
        "sql": "SELECT ? AS v",
        "columns": [{"name": "v", "type": "integer"}],
        "parameters": {"types": ["integer"], "rows": [[1], [2]]},
        "repeat": 3,
    }
    result = ask(tmp_path, [step], measure={"operations_per_iteration": 2})
    h = 0
    for value in (1, 2, 1, 2, 1, 2):
        h = h * 31 + value
    assert (result["rows"], result["checksum"]) == (6, h % 2**32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "guess"}, '$.mode: "guess"; expected verify or measure'),
        ({"surprise": 1}, "$.surprise: unknown key; expected one of contract, mode, cell,"),
        (
            {"measure": {"operations_per_iteration": "two"}},
            '$.measure.operations_per_iteration: "two"; expected int',
        ),
        ({"steps": [{"operation": "get"}]}, "$.steps[0].sql: missing"),
        ({"database": None}, "$.database: missing; steps need a database"),
    ],
)
def test_a_malformed_job_is_told_with_path_and_expectation(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    step = {
        "operation": "get",
        "sql": "SELECT 1 AS v",
        "columns": [{"name": "v", "type": "integer"}],
    }
    ask(tmp_path, [step])
    file = tmp_path / "job.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **change}), "utf-8")
    command = [sys.executable, str(ORACLE), "--job", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{file}: {message}")
