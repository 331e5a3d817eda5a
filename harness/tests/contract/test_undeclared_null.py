"""A runner that returns NULL where there is a value: no runner looks for it on the clock, and the
answer is not accepted anyway.
"""

from pathlib import Path

from tests.contract.jobs import Json, database, result_of, write_job
from tests.contract.started import description, each_runner, start

COLUMNS = {
    "i": ("integer", "7"),
    "r": ("real", "7.5"),
    "t": ("text", "'seven'"),
    "b": ("blob", "x'07'"),
}


@each_runner
def test_null_in_place_of_a_value_is_no_answer(name: str, tmp_path: Path) -> None:
    shapes = {"object", "array", "typed"} & {*description(name)["features"]["shapes"]}
    for shape in shapes:
        for column, (kind, right) in COLUMNS.items():
            step: Json = {"operation": "all", "sql": f"SELECT {column} FROM t", "shape": shape}
            step["columns"] = [{"name": column, "type": kind}]
            for told, value in (("right", right), ("wrong", "NULL")):
                file = tmp_path / f"{shape}-{column}-{told}.json"
                made = f"CREATE TABLE t({column}); INSERT INTO t VALUES ({value});"
                path = str(database(file.with_suffix(".db"), made))
                write_job(file, step, database={"path": path})
    done = start(name, "--jobs", tmp_path)
    assert done.returncode in (0, 1), done.stderr
    rights = [*tmp_path.glob("*-right.json")]
    assert len(rights) == len(shapes) * len(COLUMNS)
    for file in rights:
        right = result_of(file)
        wrong = result_of(file.with_name(file.name.replace("right", "wrong")))
        assert right["status"] == "ok", right
        assert wrong["status"] == "failed" or wrong["checksum"] != right["checksum"], wrong
