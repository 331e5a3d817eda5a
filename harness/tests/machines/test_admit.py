"""What is wrong with a run is told with its place, before any of it is kept."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.machines.merge import Given, Inventory, Run, find
from sqlitmus.store.file import FILE, JOURNAL_OF_SEVERAL, MOST_FILE
from sqlitmus.store.folder import point_latest
from sqlitmus.vocabulary.errors import UsageError
from tests.machines.folders import FACTS, change, merged, replan, write


def taken(folder: Path, *, partial: bool = False) -> Run:
    """The run in `folder`, which is acceptable."""
    found = find([Given(folder)], partial=partial)
    assert not found.refused, found.refused[0].reason
    (run,) = found.runs
    return run


def reason(folder: Path, *, partial: bool = False) -> str:
    """Why the folder is refused."""
    found = find([Given(folder)], partial=partial)
    assert found.runs == []
    (refused,) = found.refused
    assert refused.path == "run"
    return refused.reason


def test_what_merging_knows_of_a_run(tmp_path: Path) -> None:
    run = taken(write(tmp_path / "run"))
    assert (run.label, run.kind, run.hardware[0]) == ("linux-x64", "linux-x64", "EPYC")
    assert (run.processes, run.complete) == (6, True)
    assert run.cases == {"get-pk"}
    assert run.work["scenario get-pk"] == "1" * 16
    assert run.work["fixture size"] == "m"
    assert run.work["metric of get-pk"] == "steady"


@pytest.mark.parametrize(
    ("os_", "architecture", "kind"),
    [
        ("Ubuntu 24.04 LTS", "aarch64", "linux-arm64"),
        ("Darwin Darwin Kernel Version 24", "arm64", "macos-arm64"),
        ("Windows 10.0.26100", "AMD64", "windows-x64"),
        ("Alpine", "<b>", "linux-unknown"),
    ],
)
def test_the_kind_of_machine_comes_from_its_facts(
    tmp_path: Path, os_: str, architecture: str, kind: str
) -> None:
    folder = write(tmp_path / "run", facts={"os": os_, "architecture": architecture}, machine="")
    run = taken(folder)
    assert (run.kind, run.label) == (kind, kind)


def test_hardware_is_what_tells_two_machines_apart(tmp_path: Path) -> None:
    same = taken(write(tmp_path / "a/run")).hardware
    assert taken(write(tmp_path / "b/run", facts={"load at start": "9"})).hardware == same
    for name in FACTS:
        other = taken(write(tmp_path / name / "run", facts={name: "other"})).hardware
        assert other != same, name


def plan(**changes: object) -> Callable[[Path], None]:
    return lambda folder: replan(folder, **changes)


def sql(statement: str, *values: object) -> Callable[[Path], None]:
    return lambda folder: change(folder, statement, *values)


def text(column: str, table: str, old: str, new: str) -> Callable[[Path], None]:
    return sql(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", old, new)


def cut(size: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(folder / FILE, size)


def beside(name: str, data: bytes) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        (folder / name).write_bytes(data)

    return plant


def rubbish(folder: Path) -> None:
    (folder / FILE).write_text("x" * 9000)


def overwritten(folder: Path) -> None:
    """A page in the middle is zeros."""
    with (folder / FILE).open("r+b") as stream:
        stream.seek((folder / FILE).stat().st_size // 4096 // 2 * 4096)
        stream.write(bytes(4096))


def another_database(folder: Path) -> None:
    (folder / FILE).unlink()
    db = sqlite3.connect(folder / FILE)
    db.execute("CREATE TABLE mail(text)")
    db.close()


OTHER_TABLES = "its tables are not those of a run; keep what is yours in a file of its own"
ACCIDENTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "empty file": (cut(0), "run.sqlite: is no run's file, but another database"),
    "cut file": (cut(5000), "run.sqlite: "),
    "no database": (rubbish, "run.sqlite: is no run's file: file is not a database"),
    "another database": (another_database, "run.sqlite: is no run's file, but another database"),
    "a page of zeros": (overwritten, "run.sqlite: "),
    "later version": (
        sql("PRAGMA user_version = 2"),
        "run.sqlite: version 2 of the file, this sqlitmus reads 1; use the one that wrote it",
    ),
    "a trigger": (
        sql("CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM run; END"),
        "run.sqlite: it also has trigger t; keep what is yours in a file of its own",
    ),
    "a view": (sql("CREATE VIEW v AS SELECT 1"), "run.sqlite: it also has view v; keep what is"),
    "a virtual table": (
        sql("CREATE VIRTUAL TABLE f USING fts5(a)"),
        "run.sqlite: it also has table f, table f_config, table f_content; keep what is yours",
    ),
    "another view under our name": (
        sql("UPDATE sqlite_schema SET sql = replace(sql, 'label', 'runner') WHERE name = 'result'"),
        f"run.sqlite: {OTHER_TABLES}",
    ),
    "a table of other types": (
        sql("UPDATE sqlite_schema SET sql = replace(sql, 'REAL', 'TEXT') WHERE name = 'value'"),
        f"run.sqlite: {OTHER_TABLES}",
    ),
    "a number beyond reason": (sql("UPDATE value SET value = 1e308"), "run.sqlite: is damaged: "),
    "an outcome that is none": (sql("UPDATE sample SET outcome = 'x'"), "run.sqlite: is damaged"),
    "a sample that no plan knows": (
        sql("UPDATE sample SET block = 7 WHERE id = 2"),
        "sample 2: the plan has no get-pk/",
    ),
    "no plan": (sql("UPDATE run SET plan = ''"), "plan: not JSON: EOF while"),
    "older plan": (plan(schema_version=1), "plan: $.schema_version: Input should be 2"),
    "comparison": (plan(kind="compare"), "plan: $.kind is compare; only runs of a suite are"),
    "claims": (plan(kind="claims"), "plan: $.kind is claims; only runs of a suite are merged"),
    "path as run": (plan(run="../../etc"), "plan: $.run '../../etc': only letters, digits"),
    "dots as run": (plan(run=".."), "plan: $.run '..': only letters, digits and . _ @ + -"),
    "path as machine": (plan(machine="a/b"), "plan: $.machine 'a/b': only letters, digits"),
    "HTML as machine": (plan(machine="<b>"), "plan: $.machine '<b>': only letters, digits"),
    "no date": (plan(created="soon"), "plan: $.created: Invalid isoformat string: 'soon'"),
    "NaN": (plan(margin=float("nan")), "plan: $.margin: not a finite number of ordinary size"),
    "more than a float": (
        text("plan", "run", '"seed": 7', '"seed": 1e999'),
        "plan: $.seed: not a finite number of ordinary size",
    ),
    "more than an integer": (
        text("plan", "run", '"operations": 100', f'"operations": {10**400}'),
        "plan: $.cases[0].operations: not a finite number of ordinary size",
    ),
    "NaN in a block": (
        text("record", "block", '"load_average":0.5', '"load_average":NaN'),
        "block 0: $.before.load_average: not a finite number of ordinary size",
    ),
    "endless blocks": (plan(blocks=10**9), "plan: $.blocks: 1000000000 is more than 200,000"),
    "no such type": (plan(cases=7), "plan: $.cases: Input should be a valid list"),
    "unknown definitions": (
        plan(definitions={}),
        "plan: $.definitions has no scenario get-pk, so its work cannot be compared with",
    ),
    "a fact as long as a book": (
        sql("UPDATE fact SET value = ?", "x" * 5000),
        "fact cpu: longer than 1000 characters",
    ),
    "broken verification": (
        text("verification", "cell", '"outcome":"ok"', '"outcome":"fine"'),
        "verification of get-pk/node: $.outcome: Input should be 'ok', 'unsupported', 'wrong' or",
    ),
    "broken details": (
        sql("INSERT INTO detail VALUES(1, '7')"),
        "detail of sample 1: $: Input should be ",
    ),
    "interrupted": (
        sql("UPDATE run SET complete = 0"),
        "the run was interrupted or is still measured; finish it with",
    ),
    "a journal of several files": (
        beside("run.sqlite-journal", JOURNAL_OF_SEVERAL),
        "run.sqlite-journal: names a file elsewhere; give the run without it",
    ),
}


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_accidents_are_refused_with_their_place(tmp_path: Path, accident: str) -> None:
    folder = write(tmp_path / "run")
    damage, expected = ACCIDENTS[accident]
    damage(folder)
    assert reason(folder).startswith(expected)


def test_an_interrupted_run_is_taken_where_that_is_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", complete=False)
    change(folder, "DELETE FROM value WHERE sample > 4")
    change(folder, "DELETE FROM sample WHERE id > 4")
    assert reason(folder).startswith("the run was interrupted")
    run = taken(folder, partial=True)
    assert (run.complete, run.processes) == (False, 4)


def test_a_file_of_absurd_size_is_not_opened(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    with (folder / FILE).open("a") as stream:
        stream.truncate(MOST_FILE + 1)
    assert reason(folder) == "run.sqlite: larger than 1024 MB, which no run writes"


@pytest.mark.parametrize("name", [FILE, f"{FILE}-wal", f"{FILE}-shm"])
def test_a_link_to_a_file_elsewhere_is_not_followed(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "run")
    (tmp_path / "elsewhere").write_bytes((folder / FILE).read_bytes())
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "elsewhere")
    assert reason(folder) == f"{name} is a link or no file; give a folder that holds it"


def paths(found: Inventory) -> list[str]:
    return [run.path for run in found.runs]


def test_runs_are_found_in_a_folder_and_two_levels_below(tmp_path: Path) -> None:
    results = tmp_path / "results"
    write(results / "one")
    write(results / "artifact/two")
    write(results / "artifact/deeper/three")
    write(results / ".staging/four")
    assert paths(find([Given(results)], partial=False)) == ["results/artifact/two", "results/one"]
    assert paths(find([Given(results / "one")], partial=False)) == ["one"]
    given = [results / "artifact", results / "one"]
    below = ["artifact/deeper/three", "artifact/two", "one"]
    assert paths(find([Given(folder) for folder in given], partial=False)) == below


def test_a_folder_without_a_run_is_refused_and_one_that_is_not_there_is_an_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty/below").mkdir(parents=True)
    found = find([Given(tmp_path / "empty")], partial=False)
    assert [(r.path, r.reason) for r in found.refused] == [
        ("empty", "holds no run.sqlite, nor does a folder up to two levels below")
    ]
    with pytest.raises(UsageError, match="none: there is no such folder; give folders that hold"):
        find([Given(tmp_path / "none")], partial=False)


def test_links_are_not_followed_but_for_the_folder_given(tmp_path: Path) -> None:
    run = write(tmp_path / "elsewhere/run")
    results = tmp_path / "results"
    results.mkdir()
    (results / "linked").symlink_to(run, target_is_directory=True)
    found = find([Given(results)], partial=False)
    assert (paths(found), len(found.refused)) == ([], 1)
    (results / FILE).symlink_to(run / FILE)
    (refused,) = find([Given(results)], partial=False).refused
    assert refused.reason == "run.sqlite is a link or no file; give a folder that holds it"
    point_latest(run)
    assert paths(find([Given(run.parent)], partial=False)) == ["elsewhere/run"]
    assert paths(find([Given(run.parent / "latest")], partial=False)) == ["latest"]


def test_a_merged_file_is_its_runs(tmp_path: Path) -> None:
    write(tmp_path / "runs/a")
    write(tmp_path / "runs/b", complete=False, facts={"cpu": "Xeon"})
    (tmp_path / "runs/c/logs").mkdir(parents=True)
    (tmp_path / "runs/c" / FILE).touch()
    done = merged(tmp_path / "runs", out=tmp_path, partial=True, expect=["mars"])
    found = find([Given(done.directory)], partial=False)
    name = done.directory.name
    assert [(one.path, one.complete) for one in found.runs] == [
        (f"{name}/a", True),
        (f"{name}/b", False),
    ]
    assert found.refused == done.made.refused != []
    assert found.expected == ["mars"]
