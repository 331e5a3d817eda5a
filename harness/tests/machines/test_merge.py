"""Several folders become one: what is refused and why, and what was whole before is whole in it."""

import os
import shutil
import sqlite3
import tomllib
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse
from sqlitmus.analysis import read as read_run
from sqlitmus.machines.merge import Done, Given, Inventory, Run, arrange, find, merge
from sqlitmus.machines.merge import merged as read
from sqlitmus.store.file import JOURNAL_OF_SEVERAL, MOST_FILE, samples_of
from sqlitmus.store.folder import latest, point_latest
from tests.machines.folders import FACTS, FILE, NOW, ask, change, merged, opened, replan, write
from tests.refusals import refused, unfit


@pytest.fixture
def fleet(tmp_path: Path) -> list[Path]:
    """A run, another one of the same machine, one of another, and one that nobody can read."""
    runs = tmp_path / "runs"
    (runs / "d").mkdir(parents=True)
    (runs / "d" / FILE).write_text("{}")
    return [
        write(runs / "a"),
        write(runs / "b", created="2026-01-02T00:00:00+00:00"),
        write(runs / "c", machine="arm", facts={"architecture": "arm64"}),
        runs / "d",
    ]


def test_what_is_merged_and_where_it_lies(tmp_path: Path, fleet: list[Path]) -> None:
    done = merged(*fleet, out=tmp_path / "out", expect=["arm", "linux-x64", "mars"])
    assert done.directory == tmp_path / "out/2026-02-03T040506Z-merged"
    assert latest(tmp_path / "out") == done.directory
    kept = read(done.directory / FILE)
    assert kept is not None
    assert [(m.number, m.name, m.kind, m.label, m.plan.run) for m in kept.machines] == [
        (1, "arm", "linux-arm64", "arm", "c"),
        (2, "linux-x64", "linux-x64", "linux-x64", "a"),
    ]
    assert kept.made.expected == done.made.expected == ["mars"]
    assert [refusals.path for refusals in kept.made.refused] == ["b", "d"]
    assert kept.made.created == NOW.isoformat()
    assert {path.name for path in done.directory.iterdir()} == {FILE, "logs"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {done.directory.name, "latest"}


RESULTS = "SELECT case_id, runner, label, block, figure, value FROM result WHERE run = '{}'"


def test_each_run_is_whole_in_the_merged_file(tmp_path: Path, fleet: list[Path]) -> None:
    done = merged(*fleet, out=tmp_path / "out")
    for number, (run, folder) in enumerate(zip("ca", [fleet[2], fleet[0]], strict=True), 1):
        question = RESULTS.format(run) + " ORDER BY 1, 2, 3, 4, 5"
        assert ask(done.directory, question) == ask(folder, question) != []
        with opened(done.directory / FILE) as db, opened(folder / FILE) as own:
            assert samples_of(db, number) == samples_of(own, 1)
            assert analyse(read_run(db, number, {})) == analyse(read_run(own, 1, {}))


def held(done: Done) -> tuple[object, ...]:
    """What was merged, whatever the paths."""
    found = read(done.directory / FILE)
    assert found is not None
    whole = ask(done.directory, "SELECT * FROM result ORDER BY 1, 2, 3, 4, 5, 6, 7")
    return found.machines, found.made.refused, found.made.expected, whole


def test_any_order_gives_the_same_and_merging_again_changes_nothing(
    tmp_path: Path, fleet: list[Path]
) -> None:
    first = merged(*fleet, out=tmp_path / "first", expect=["mars"])
    for number, order in enumerate(permutations(fleet)):
        other = merged(*order, out=tmp_path / str(number), expect=["mars"])
        assert held(other) == held(first)
    again = merged(first.directory, out=tmp_path / "again")
    assert held(again) == held(first)
    both = merged(first.directory, fleet[0], out=tmp_path / "both")
    assert held(both) == held(first)
    assert both.twice == [sorted(["runs/a", f"first/{first.directory.name}/a"])]


def test_of_two_copies_of_a_run_the_fuller_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "x/run")
    shutil.copytree(tmp_path / "x/run", tmp_path / "w/run")
    change(tmp_path / "w/run", "DELETE FROM value WHERE sample = 3")
    change(tmp_path / "w/run", "DELETE FROM sample WHERE id = 3")
    change(tmp_path / "w/run", "UPDATE run SET complete = 0")
    done = merged(tmp_path / "w", tmp_path / "x", out=tmp_path / "out", partial=True)
    assert done.twice == [["w/run", "x/run"]]
    assert ask(done.directory, "SELECT count(*), max(complete) FROM sample, run") == [(6, 1)]


def test_a_name_before_a_folder_renames_its_machine(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, facts={"cpu": name})
    given = [Given(tmp_path / "a", "laptop"), Given(tmp_path / "b", "server")]
    done = merge(given, tmp_path / "out", "", [], NOW, partial=False)
    assert list(done.machines) == ["laptop", "server"]
    plain = merged(tmp_path / "a", tmp_path / "b", out=tmp_path / "out2")
    assert list(plain.machines) == ["linux-x64", "linux-x64 (2)"]


def test_where_nothing_is_left_all_reasons_are_told_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "runs/a", complete=False)
    (tmp_path / "empty").mkdir()
    with refused() as error:
        merged(folder, tmp_path / "empty", out=tmp_path / "out")
    lines = str(error.value).splitlines()
    assert lines[0] == "nothing can be merged:"
    assert [line.partition(": ")[0] for line in lines[1:]] == ["  empty", "  runs/a"]
    assert not (tmp_path / "out").exists()


def test_an_earlier_result_is_not_written_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    merged(folder, out=tmp_path / "out")
    with refused("exists already; choose another --label or --out"):
        merged(folder, out=tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    (tmp_path / "out").touch()
    with unfit(r"out: cannot be written: .*; free some space"):
        merged(folder, out=tmp_path / "out")


def test_what_a_file_says_cannot_move_the_cursor(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    write(tmp_path / "b", facts={"cpu": "\x1b[2J<b>"}, machine="b")
    replan(folder, run="\x1b[2J" + "x" * 999)
    done = merged(folder, tmp_path / "b", out=tmp_path / "out")
    (refusals,) = done.made.refused
    assert refusals.reason.isprintable()
    assert len(refusals.reason) < 600
    assert done.machines["b"].hardware[0] == "\x1b[2J<b>"


DAY = "2026-01-0{}T00:00:00+00:00"


def run(name: str, day: int = 1, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "path": name,
        "file": Path(name),
        "number": 1,
        "label": "linux-x64",
        "created": DAY.format(day),
        "complete": True,
        "processes": 10,
        "kind": "linux-x64",
        "hardware": ("EPYC",),
        "cases": frozenset({"get"}),
        "work": {"scenario get": "1"},
        "identity": (name,),
    }
    return Run(**{**given, **changes})


def told(runs: list[Run]) -> tuple[dict[str, str], dict[str, str]]:
    """Paths of runs by machine, and reasons by path; the same in every order."""
    found = arrange(runs)
    for other in permutations(runs):
        assert arrange(list(other)) == found
    machines, refusals = found
    return (
        {name: run.path for name, run in machines.items()},
        {r.path: r.reason for r in refusals},
    )


def test_of_two_that_began_at_one_time_the_complete_one_is_taken() -> None:
    machines, refusals = told([run("a", complete=False), run("b")])
    assert machines == {"linux-x64": "b"}
    assert list(refusals) == ["a"]


@pytest.mark.parametrize("cases", [{"get", "all"}, {"all"}])
def test_another_run_of_a_machine_is_refused_whatever_it_measured(cases: set[str]) -> None:
    machines, refusals = told([run("b", 2, cases=frozenset(cases)), run("a"), run("c", label="c")])
    assert machines == {"c": "c", "linux-x64": "a"}
    assert refusals == {
        "b": "of the same machine as a, and a machine counts once, with one run; ./just run "
        "--again RUN adds a sitting to a run, and NAME=DIR names another machine"
    }


def test_other_hardware_under_one_label_is_another_machine() -> None:
    runs = [run("c", 3, hardware=("Xeon",)), run("a"), run("b", 2, hardware=("A",))]
    machines, refusals = told(runs)
    assert refusals == {}
    assert machines == {"linux-x64": "a", "linux-x64 (2)": "b", "linux-x64 (3)": "c"}

    named = run("d", label="linux-x64 (2)")
    machines, _ = told([*runs, named])
    assert machines["linux-x64 (2) (2)"] == "d"


def test_a_machine_without_a_case_of_another_s_is_refused() -> None:
    get, all_, both = (frozenset(cases) for cases in ({"get"}, {"all"}, {"get", "all"}))
    apart = [run("a", cases=get), run("b", cases=all_, hardware=("Xeon",))]
    machines, refusals = told(apart)
    assert machines == {}
    assert refusals == dict.fromkeys(
        "ab",
        "plan: $.cases: no other machine measured any of these, so they can be compared with "
        "nothing; measure the same cases on each machine",
    )
    machines, refusals = told([*apart, run("c", 2, label="c", cases=get)])
    assert (machines, list(refusals)) == ({"c": "c", "linux-x64": "a"}, ["b"])
    machines, refusals = told([*apart, run("c", 2, label="c", cases=both)])
    assert (len(machines), refusals) == (3, {})


@pytest.mark.parametrize("odd", ["a", "b", "c"])
def test_the_definition_of_most_runs_holds(odd: str) -> None:
    changed: dict[str, Any] = {"work": {"scenario get": "2", "fixture users": "1"}}
    runs = [run(name, label=name, **(changed if name == odd else {})) for name in ("a", "b", "c")]
    machines, refusals = told(runs)
    assert machines == {name: name for name in "abc" if name != odd}
    first = min(machines)
    assert refusals == {
        odd: f"plan: scenario get differs from that of {first}; measure both with the same "
        "scenarios and fixtures"
    }


def test_of_two_definitions_the_earlier_holds_and_each_is_compared_on_its_own() -> None:
    runs = [
        run("a", 2, label="a", work={"fixture size": "m", "scenario all": "1"}),
        run("b", 1, label="b", work={"fixture size": "s"}),
        run("c", 3, label="c", work={"scenario all": "2"}),
    ]
    machines, refusals = told(runs)
    assert machines == {"b": "b", "c": "c"}
    assert refusals["a"].startswith("plan: fixture size differs from that of b")


@st.composite
def run_lists(draw: st.DrawFn) -> list[Run]:
    few = st.sampled_from("ab")
    return [
        run(
            f"run{number}",
            draw(st.integers(1, 3)),
            label=draw(few),
            hardware=(draw(few),),
            cases=frozenset(draw(st.sets(st.sampled_from("xyz"), min_size=1))),
            work={"scenario x": draw(few)},
        )
        for number in range(draw(st.integers(1, 7)))
    ]


@given(run_lists(), st.randoms(use_true_random=False))
def test_any_runs_in_any_order(runs: list[Run], random: Any) -> None:
    machines, refusals = arrange(runs)
    shuffled = random.sample(runs, len(runs))
    assert arrange(shuffled) == (machines, refusals)
    taken = [one.path for one in machines.values()]
    assert sorted([*taken, *(r.path for r in refusals)]) == sorted(r.path for r in runs)
    assert arrange(machines.values()) == (machines, []), "merging again changes nothing"
    assert len({(one.label, one.hardware) for one in machines.values()}) == len(machines)
    for one in machines.values():
        others = {case for other in machines.values() if other is not one for case in other.cases}
        assert len(machines) == 1 or others & one.cases
    for one in refusals:
        names = any(f" {run.path}" in one.reason for run in runs if run.path != one.path)
        assert names or "no other machine" in one.reason


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
    (refusals,) = found.refused
    assert refusals.path == "run"
    return refusals.reason


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


ROWS = tomllib.loads(Path(__file__).with_name("accidents.toml").read_text("utf-8"))
ACCIDENTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "empty file": (cut(0), "run.sqlite: is no run's file, but another database"),
    "cut file": (cut(5000), "run.sqlite: "),
    "no database": (rubbish, "run.sqlite: is no run's file: file is not a database"),
    "another database": (another_database, "run.sqlite: is no run's file, but another database"),
    "a page of zeros": (overwritten, "run.sqlite: "),
    "more than an integer": (
        text("plan", "run", '"operations": 100', f'"operations": {10**400}'),
        "plan: $.cases[0].operations: not a finite number of ordinary size",
    ),
    "a journal of several files": (
        beside("run.sqlite-journal", JOURNAL_OF_SEVERAL),
        "run.sqlite-journal: names a file elsewhere; give the run without it",
    ),
    **{name: (sql(statement), says) for name, (statement, says) in ROWS["sql"].items()},
    **{name: (plan(**changes), says) for name, (changes, says) in ROWS["plan"].items()},
    **{name: (text(*where), says) for name, (where, says) in ROWS["text"].items()},
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
    with refused("none: there is no such folder; give folders that hold"):
        find([Given(tmp_path / "none")], partial=False)


def test_links_are_not_followed_but_for_the_folder_given(tmp_path: Path) -> None:
    run = write(tmp_path / "elsewhere/run")
    results = tmp_path / "results"
    results.mkdir()
    (results / "linked").symlink_to(run, target_is_directory=True)
    found = find([Given(results)], partial=False)
    assert (paths(found), len(found.refused)) == ([], 1)
    (results / FILE).symlink_to(run / FILE)
    (refusals,) = find([Given(results)], partial=False).refused
    assert refusals.reason == "run.sqlite is a link or no file; give a folder that holds it"
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
