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
from hypothesis import given, strategies as st

from sqlitmus.machines.merge import Done, Given, Run, arrange, find
from tests.machines.folders import (
    FACTS,
    FILE,
    NOW,
    ask,
    change,
    merged,
    read,
    replan,
    report,
    write,
)
from tests.refusals import refused, unfit


@pytest.fixture
def fleet(tmp_path: Path) -> list[Path]:
    """An interrupted run, another one of the same machine, one of another, and no run."""
    runs = tmp_path / "runs"
    (runs / "d").mkdir(parents=True)
    (runs / "d" / FILE).write_text("{}")
    return [
        write(runs / "a", complete=False),
        write(runs / "b", created="2026-01-02T00:00:00+00:00"),
        write(runs / "c", machine="arm", facts={"architecture": "arm64"}),
        runs / "d",
    ]


def test_what_is_merged_and_where_it_lies(tmp_path: Path, fleet: list[Path]) -> None:
    out = tmp_path / "out"
    done = merged(*fleet, out=out, partial=True, expect=["arm", "linux-x64", "mars"])
    assert done.directory == out / "2026-02-03T040506Z-merged"
    assert (out / "latest").resolve() == done.directory
    kept = read(done.directory)
    assert [(m.number, m.name, m.kind, m.label, m.plan.run) for m in kept.machines] == [
        (1, "arm", "linux-arm64", "arm", "c"),
        (2, "linux-x64", "linux-x64", "linux-x64", "a"),
    ]
    assert kept.made == done.made
    assert kept.made.expected == ["mars"]
    assert [refusals.path for refusals in kept.made.refused] == ["b", "d"]
    assert kept.made.created == NOW.isoformat()
    assert {path.name for path in done.directory.iterdir()} == {FILE, "logs"}
    assert {path.name for path in out.iterdir()} == {done.directory.name, "latest"}
    results = "SELECT case_id, runner, label, block, figure, value FROM result WHERE run = '{}'"
    for number, (name, folder) in enumerate(zip("ca", [fleet[2], fleet[0]], strict=True), 1):
        question = results.format(name) + " ORDER BY 1, 2, 3, 4, 5"
        assert ask(done.directory, question) == ask(folder, question) != []
        assert report(done.directory, number) == report(folder)


def held(done: Done) -> tuple[object, ...]:
    """What was merged, whatever the paths."""
    found = read(done.directory)
    whole = ask(done.directory, "SELECT * FROM result ORDER BY 1, 2, 3, 4, 5, 6, 7")
    return found.machines, found.made.refused, found.made.expected, whole


def test_any_order_gives_the_same_and_merging_again_changes_nothing(
    tmp_path: Path, fleet: list[Path]
) -> None:
    first = merged(*fleet, out=tmp_path / "first", partial=True, expect=["mars"])
    other = merged(*fleet[::-1], out=tmp_path / "other", partial=True, expect=["mars"])
    assert held(other) == held(first)
    again = merged(first.directory, out=tmp_path / "again")
    assert held(again) == held(first)
    both = merged(first.directory, fleet[0], out=tmp_path / "both", partial=True)
    assert held(both) == held(first)
    assert both.twice == [sorted(["runs/a", f"first/{first.directory.name}/a"])]


def shorten(folder: Path, samples: int) -> None:
    """Let a run have no more than its first samples."""
    change(folder, f"DELETE FROM value WHERE sample > {samples}")
    change(folder, f"DELETE FROM sample WHERE id > {samples}")
    change(folder, "UPDATE run SET complete = 0")


def test_of_two_copies_of_a_run_the_fuller_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "x/run")
    shutil.copytree(tmp_path / "x/run", tmp_path / "w/run")
    shorten(tmp_path / "w/run", 5)
    done = merged(tmp_path / "w", tmp_path / "x", out=tmp_path / "out", partial=True)
    assert done.twice == [["w/run", "x/run"]]
    assert ask(done.directory, "SELECT count(*), max(complete) FROM sample, run") == [(6, 1)]


def test_a_name_before_a_folder_renames_its_machine(tmp_path: Path) -> None:
    a, b = (write(tmp_path / name, facts={"cpu": name}) for name in ("a", "b"))
    done = merged((a, "laptop"), (b, "server"), out=tmp_path / "out")
    assert list(done.machines) == ["laptop", "server"]
    plain = merged(a, b, out=tmp_path / "out2")
    assert list(plain.machines) == ["linux-x64", "linux-x64 (2)"]


def test_what_cannot_be_merged_or_written_is_told(tmp_path: Path) -> None:
    whole, cut = write(tmp_path / "runs/whole"), write(tmp_path / "runs/cut", complete=False)
    (tmp_path / "empty").mkdir()
    with refused() as error:
        merged(cut, tmp_path / "empty", out=tmp_path / "out")
    lines = str(error.value).splitlines()
    assert lines[0] == "nothing can be merged:"
    assert [line.partition(": ")[0] for line in lines[1:]] == ["  empty", "  runs/cut"]
    assert not (tmp_path / "out").exists()
    merged(whole, out=tmp_path / "out")
    with refused("exists already; choose another --label or --out"):
        merged(whole, out=tmp_path / "out")
    (tmp_path / "file").touch()
    with unfit(r"file: cannot be written: .*; free some space"):
        merged(whole, out=tmp_path / "file")


def run(name: str, day: int = 1, cases: str = "get", **changes: Any) -> Run:
    given: dict[str, Any] = {
        "path": name,
        "file": Path(name),
        "number": 1,
        "label": "linux-x64",
        "created": f"2026-01-0{day}T00:00:00+00:00",
        "complete": True,
        "processes": 10,
        "kind": "linux-x64",
        "hardware": ("EPYC",),
        "cases": frozenset(cases.split()),
        "work": {"scenario get": "1"},
        "identity": (name,),
    }
    return Run(**{**given, **changes})


SAME = (
    "of the same machine as {}, and a machine counts once, with one run; ./just run --again RUN "
    "adds a sitting to a run, and NAME=DIR names another machine"
)
ALONE = (
    "plan: $.cases: no other machine measured any of these, so they can be compared with nothing; "
    "measure the same cases on each machine"
)
WORK = "plan: {} differs from that of {}; measure both with the same scenarios and fixtures"
APART = [run("a"), run("b", cases="all", hardware=("Xeon",))]
HARDWARE = [run("c", 3, hardware=("Xeon",)), run("a"), run("b", 2, hardware=("A",))]
CHANGED = {"scenario get": "2", "fixture users": "1"}
ARRANGED: dict[str, tuple[list[Run], dict[str, str], dict[str, str]]] = {
    "of two that began at one time the complete one is taken": (
        [run("a", complete=False), run("b")],
        {"linux-x64": "b"},
        {"a": SAME.format("b")},
    ),
    "another run of a machine is refused, whatever it measured": (
        [run("b", 2, "get all"), run("d", 3, "all"), run("a"), run("c", label="c")],
        {"c": "c", "linux-x64": "a"},
        dict.fromkeys("bd", SAME.format("a")),
    ),
    "other hardware under one label is another machine": (
        [*HARDWARE, run("d", label="linux-x64 (2)")],
        {"linux-x64": "a", "linux-x64 (2)": "b", "linux-x64 (3)": "c", "linux-x64 (2) (2)": "d"},
        {},
    ),
    "two machines without a case in common": (APART, {}, dict.fromkeys("ab", ALONE)),
    "a machine without a case of another's is refused": (
        [*APART, run("c", 2, label="c")],
        {"c": "c", "linux-x64": "a"},
        {"b": ALONE},
    ),
    "a machine with the cases of both": (
        [*APART, run("c", 2, "get all", label="c")],
        {"c": "c", "linux-x64": "a", "linux-x64 (2)": "b"},
        {},
    ),
    "the definition of most runs holds": (
        [run("a", label="a", work=CHANGED), run("b", label="b"), run("c", label="c")],
        {"b": "b", "c": "c"},
        {"a": WORK.format("scenario get", "b")},
    ),
    "of two definitions the earlier holds, and each is compared on its own": (
        [
            run("a", 2, label="a", work={"fixture size": "m", "scenario all": "1"}),
            run("b", 1, label="b", work={"fixture size": "s"}),
            run("c", 3, label="c", work={"scenario all": "2"}),
        ],
        {"b": "b", "c": "c"},
        {"a": WORK.format("fixture size", "b")},
    ),
}


@pytest.mark.parametrize("what", ARRANGED)
def test_which_run_a_machine_has_in_any_order(what: str) -> None:
    runs, machines, refusals = ARRANGED[what]
    for order in permutations(runs):
        taken, others = arrange(order)
        assert {name: run.path for name, run in taken.items()} == machines
        assert {refusal.path: refusal.reason for refusal in others} == refusals


@st.composite
def run_lists(draw: st.DrawFn) -> list[Run]:
    few = st.sampled_from("ab")
    return [
        run(
            f"run{number}",
            draw(st.integers(1, 3)),
            " ".join(draw(st.sets(st.sampled_from("xyz"), min_size=1))),
            label=draw(few),
            hardware=(draw(few),),
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


def found(*folders: Path, partial: bool = False) -> tuple[dict[str, Run], dict[str, str]]:
    """The runs in folders that are acceptable, and why others are not, by path."""
    inventory = find([Given(folder) for folder in folders], partial=partial)
    refusals = {refusal.path: refusal.reason for refusal in inventory.refused}
    return {run.path: run for run in inventory.runs}, refusals


def test_what_merging_knows_of_a_run(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    run = found(folder)[0]["run"]
    assert (run.label, run.kind, run.hardware[0]) == ("linux-x64", "linux-x64", "EPYC")
    assert (run.processes, run.complete) == (6, True)
    assert run.cases == {"get-pk"}
    assert run.work["scenario get-pk"] == "1" * 16
    assert run.work["fixture size"] == "m"
    assert run.work["metric of get-pk"] == "steady"
    shorten(folder, 4)
    taken, refusals = found(folder)
    assert taken == {}
    assert refusals["run"].startswith("the run was interrupted or is still measured; finish it")
    run = found(folder, partial=True)[0]["run"]
    assert (run.complete, run.processes) == (False, 4)


def with_facts(folder: Path, **facts: str) -> Run:
    """The run with other facts of its machine, which has no name."""
    for name, value in {**FACTS, **facts}.items():
        change(folder, "UPDATE fact SET value = ? WHERE name = ?", value, name)
    return found(folder)[0]["run"]


def test_kind_and_hardware_of_a_machine_come_from_its_facts(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", facts={"load at start": "1"}, machine="")
    same = with_facts(folder)
    assert with_facts(folder, **{"load at start": "9"}).hardware == same.hardware
    others = [with_facts(folder, **{name: "other"}).hardware for name in FACTS]
    assert len({same.hardware, *others}) == len(FACTS) + 1
    kinds = {
        ("Ubuntu 24.04 LTS", "aarch64"): "linux-arm64",
        ("Darwin Darwin Kernel Version 24", "arm64"): "macos-arm64",
        ("Windows 10.0.26100", "AMD64"): "windows-x64",
        ("Alpine", "<b>"): "linux-unknown",
    }
    for (system, architecture), kind in kinds.items():
        run = with_facts(folder, os=system, architecture=architecture)
        assert (run.kind, run.label) == (kind, kind)


Damage = Callable[[Path], None]


def plan(**changes: object) -> Damage:
    return lambda folder: replan(folder, **changes)


def sql(statement: str, *values: object) -> Damage:
    return lambda folder: change(folder, statement, *values)


def text(column: str, table: str, old: str, new: str) -> Damage:
    return sql(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", old, new)


def content(changed: Callable[[bytes], bytes], name: str = FILE) -> Damage:
    """Other bytes in a file of the folder."""

    def put(folder: Path) -> None:
        (folder / name).write_bytes(changed((folder / FILE).read_bytes()))

    return put


def zeros(data: bytes) -> bytes:
    """A page in the middle is zeros."""
    at = len(data) // 4096 // 2 * 4096
    return data[:at] + bytes(4096) + data[at + 4096 :]


def another_database(folder: Path) -> None:
    (folder / FILE).unlink()
    db = sqlite3.connect(folder / FILE)
    db.execute("CREATE TABLE mail(text)")
    db.close()


def linked(name: str) -> Damage:
    """A link to a file elsewhere."""

    def link(folder: Path) -> None:
        shutil.copy(folder / FILE, folder.parent / "elsewhere")
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(folder.parent / "elsewhere")

    return link


ROWS = tomllib.loads(Path(__file__).with_name("accidents.toml").read_text("utf-8"))
ACCIDENTS: dict[str, tuple[Damage, str]] = {
    "empty file": (content(lambda _: b""), "run.sqlite: is no run's file, but another database"),
    "cut file": (content(lambda data: data[:5000]), "run.sqlite: "),
    "no database": (
        content(lambda _: b"x" * 9000),
        "run.sqlite: is no run's file: file is not a database",
    ),
    "a page of zeros": (content(zeros), "run.sqlite: "),
    "another database": (another_database, "run.sqlite: is no run's file, but another database"),
    "of absurd size": (
        lambda folder: os.truncate(folder / FILE, 2**30 + 1),
        "run.sqlite: larger than 1024 MB, which no run writes",
    ),
    **{
        f"{name} is a link": (linked(name), f"{name} is a link or no file; give a folder that hold")
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm")
    },
    "more than an integer": (
        text("plan", "run", '"operations": 100', f'"operations": {10**400}'),
        "plan: $.cases[0].operations: not a finite number of ordinary size",
    ),
    "a journal of several files": (
        content(lambda _: bytes.fromhex("d9d505f920a163d7"), "run.sqlite-journal"),
        "run.sqlite-journal: names a file elsewhere; give the run without it",
    ),
    "a name that drives a terminal": (plan(run="\x1b[2J" + "x" * 999), r"plan: $.run '\x1b[2Jxxx"),
    **{name: (sql(statement), says) for name, (statement, says) in ROWS["sql"].items()},
    **{name: (plan(**changes), says) for name, (changes, says) in ROWS["plan"].items()},
    **{name: (text(*where), says) for name, (where, says) in ROWS["text"].items()},
}


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_accidents_are_refused_with_their_place(tmp_path: Path, accident: str) -> None:
    folder = write(tmp_path / "run")
    damage, expected = ACCIDENTS[accident]
    damage(folder)
    taken, refusals = found(folder)
    assert (taken, list(refusals)) == ({}, ["run"])
    assert refusals["run"].startswith(expected)
    assert refusals["run"].isprintable()
    assert len(refusals["run"]) < 600


def test_runs_are_found_in_a_folder_and_two_levels_below(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for name in ("one", "artifact/two", "artifact/deeper/three", ".staging/four"):
        write(results / name)
    assert [*found(results)[0]] == ["results/artifact/two", "results/one"]
    assert [*found(results / "one")[0]] == ["one"]
    below = ["artifact/deeper/three", "artifact/two", "one"]
    assert [*found(results / "artifact", results / "one")[0]] == below
    (tmp_path / "empty/below").mkdir(parents=True)
    nothing = {"empty": "holds no run.sqlite, nor does a folder up to two levels below"}
    assert found(tmp_path / "empty") == ({}, nothing)
    with refused("none: there is no such folder; give folders that hold"):
        found(tmp_path / "none")


def test_links_are_not_followed_but_for_the_folder_given(tmp_path: Path) -> None:
    run = write(tmp_path / "elsewhere/run")
    results = tmp_path / "results"
    results.mkdir()
    (results / "linked").symlink_to(run, target_is_directory=True)
    taken, refusals = found(results)
    assert (taken, [*refusals]) == ({}, ["results"])
    assert [*found(results / "linked")[0]] == ["linked"]
    (results / FILE).symlink_to(run / FILE)
    link = {"results": "run.sqlite is a link or no file; give a folder that holds it"}
    assert found(results) == ({}, link)
    (run.parent / "latest").symlink_to("run")
    assert [*found(run.parent)[0]] == ["elsewhere/run"]
