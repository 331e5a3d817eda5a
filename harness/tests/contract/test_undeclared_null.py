"""A runner that returns NULL where there is a value: no runner looks for it on the clock, and the
answer is not accepted anyway.
"""

import contextlib
import json
import sqlite3
from pathlib import Path

from tests.contract.started import command, description, each_runner, start

COLUMNS = {
    "i": ("integer", "7"),
    "r": ("real", "7.5"),
    "t": ("text", "'seven'"),
    "b": ("blob", "x'07'"),
}


def write_job(folder: Path, cell: str, column: str, shape: str, value: str) -> None:
    """A job that reads all rows of a table with one row that has `value`; CELL.result is for it."""
    file = folder / f"{cell}.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(f"CREATE TABLE t({column})")
        connection.execute(f"INSERT INTO t VALUES ({value})")
        connection.commit()
    declared = {"name": column, "type": COLUMNS[column][0]}
    step = {"operation": "all", "sql": f"SELECT {column} FROM t", "shape": shape}
    job = {
        "contract": 2,
        "mode": "measure",
        "cell": "null/undeclared",
        "database": {"path": str(file)},
        "steps": [{**step, "columns": [declared]}],
        "measure": {"operations_per_iteration": 1},
        "output": str(folder / f"{cell}.result"),
    }
    (folder / f"{cell}.json").write_text(json.dumps(job), "utf-8")


@each_runner
def test_null_in_place_of_a_value_is_no_answer(name: str, tmp_path: Path) -> None:
    command(name)
    shapes = {"object", "array", "typed"} & {*description(name)["features"]["shapes"]}
    cells = [(shape, column) for shape in sorted(shapes) for column in COLUMNS]
    for shape, column in cells:
        write_job(tmp_path, f"{shape}-{column}-right", column, shape, COLUMNS[column][1])
        write_job(tmp_path, f"{shape}-{column}-wrong", column, shape, "NULL")
    done = start(name, "--jobs", str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    for shape, column in cells:
        right, wrong = (
            json.loads((tmp_path / f"{shape}-{column}-{value}.result").read_text("utf-8"))
            for value in ("right", "wrong")
        )
        assert right["status"] == "ok", right
        told = f"{shape}, {column}: {wrong}"
        assert wrong["status"] == "failed" or wrong["checksum"] != right["checksum"], told
