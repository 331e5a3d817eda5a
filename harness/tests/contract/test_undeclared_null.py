"""A runner that returns NULL where there is a value: no runner looks for it on the clock, and the
answer is not accepted anyway.
"""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.contract.started import Json, command, description, each_runner, start

COLUMNS = {
    "i": ("integer", "7"),
    "r": ("real", "7.5"),
    "t": ("text", "'seven'"),
    "b": ("blob", "x'07'"),
}


def answer(name: str, folder: Path, mode: str, column: str, shape: str, value: str) -> Json:
    """The runner's result for all rows of a table with one row that has `value`."""
    file = folder / "t.db"
    file.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(f"CREATE TABLE t({column})")
        connection.execute(f"INSERT INTO t VALUES ({value})")
        connection.commit()
    declared = {"name": column, "type": COLUMNS[column][0]}
    step: dict[str, Any] = {"operation": "all", "sql": f"SELECT {column} FROM t"}
    job = {
        "contract": 2,
        "mode": mode,
        "cell": "null/undeclared",
        "database": {"path": str(file)},
        "steps": [{**step, "columns": [declared], "shape": shape}],
        "measure": {"operations_per_iteration": 1},
        "output": str(folder / "result.json"),
    }
    (folder / "job.json").write_text(json.dumps(job), "utf-8")
    done = start(name, "--job", str(folder / "job.json"))
    assert done.returncode in (0, 1), done.stderr
    return json.loads((folder / "result.json").read_text("utf-8"))


@each_runner
@pytest.mark.parametrize("shape", ["object", "array", "typed"])
def test_null_in_place_of_a_value_is_no_answer(name: str, shape: str, tmp_path: Path) -> None:
    command(name)
    if shape not in description(name)["features"]["shapes"]:
        pytest.skip(f"{name} has no shape {shape}")
    for column, (_, value) in COLUMNS.items():
        right = answer(name, tmp_path, "measure", column, shape, value)
        assert right["status"] == "ok", right
        wrong = answer(name, tmp_path, "measure", column, shape, "NULL")
        told = f"{column}: {wrong}"
        assert wrong["status"] == "failed" or wrong["checksum"] != right["checksum"], told
