"""Several folders become one; what was whole before is whole in it."""

import shutil
from itertools import permutations
from pathlib import Path

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.analysis import read as read_run
from sqlitmus.machines.merge import Done, Given, merge
from sqlitmus.machines.merge import merged as read
from sqlitmus.store.file import samples_of
from sqlitmus.store.folder import latest
from sqlitmus.vocabulary.errors import NotFit, UsageError
from tests.machines.folders import FILE, NOW, ask, change, merged, opened, replan, write


@pytest.fixture
def fleet(tmp_path: Path) -> list[Path]:
    """Two runs of one machine, another machine, and a run that nobody can read."""
    runs = tmp_path / "runs"
    (runs / "d").mkdir(parents=True)
    (runs / "d" / FILE).write_text("{}")
    return [
        write(runs / "a"),
        write(runs / "b", cases=["all"], created="2026-01-02T00:00:00+00:00"),
        write(runs / "c", machine="arm", facts={"architecture": "arm64"}),
        runs / "d",
    ]


def test_what_is_merged_and_where_it_lies(tmp_path: Path, fleet: list[Path]) -> None:
    done = merged(*fleet, out=tmp_path / "out", expect=["arm", "linux-x64", "mars"])
    assert done.directory == tmp_path / "out/2026-02-03T040506Z-merged"
    assert latest(tmp_path / "out") == done.directory
    kept = read(done.directory / FILE)
    assert kept is not None
    assert [
        (m.name, m.kind, m.label, [p.run for p in m.plans.values()]) for m in kept.machines
    ] == [
        ("arm", "linux-arm64", "arm", ["c"]),
        ("linux-x64", "linux-x64", "linux-x64", ["a", "b"]),
    ]
    assert kept.made.expected == done.expected == ["mars"]
    assert [refused.path for refused in kept.made.refused] == ["d"]
    assert kept.made.created == NOW.isoformat()
    assert {path.name for path in done.directory.iterdir()} == {FILE, "logs"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {done.directory.name, "latest"}


RESULTS = "SELECT case_id, runner, label, block, figure, value FROM result WHERE run = '{}'"


def test_each_run_is_whole_in_the_merged_file(tmp_path: Path, fleet: list[Path]) -> None:
    done = merged(*fleet, out=tmp_path / "out")
    for number, (run, folder) in enumerate(zip("cab", [fleet[2], *fleet[:2]], strict=True), 1):
        question = RESULTS.format(run) + " ORDER BY 1, 2, 3, 4, 5"
        assert ask(done.directory, question) == ask(folder, question) != []
        with opened(done.directory / FILE) as db, opened(folder / FILE) as own:
            assert list(samples_of(db, number)) == list(samples_of(own, 1))
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


def test_the_same_run_twice_is_counted_once(tmp_path: Path) -> None:
    write(tmp_path / "x/run")
    shutil.copytree(tmp_path / "x/run", tmp_path / "y/run")
    done = merged(tmp_path / "x", tmp_path / "y", out=tmp_path / "out")
    assert done.twice == [["x/run", "y/run"]]
    assert [len(machine.runs) for machine in done.machines] == [1]
    assert done.refused == []


def test_other_definitions_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "a")
    other = {"scenario get-pk": "2" * 16}
    write(tmp_path / "b", machine="b", created="2026-01-02T00:00:00Z", definitions=other)
    write(tmp_path / "c", machine="c", size="l")
    done = merged(tmp_path / "a", tmp_path / "b", tmp_path / "c", out=tmp_path / "out")
    assert [machine.name for machine in done.machines] == ["linux-x64"]
    told = {refused.path: refused.reason.partition(";")[0] for refused in done.refused}
    assert told == {
        "b": "plan: scenario get-pk differs from that of a",
        "c": "plan: fixture size differs from that of a",
    }


def test_a_name_before_a_folder_renames_its_machine(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, facts={"cpu": name})
    given = [Given(tmp_path / "a", "laptop"), Given(tmp_path / "b", "server")]
    done = merge(given, tmp_path / "out", "", [], NOW, partial=False)
    assert [machine.name for machine in done.machines] == ["laptop", "server"]
    plain = merged(tmp_path / "a", tmp_path / "b", out=tmp_path / "out2")
    assert [m.name for m in plain.machines] == ["linux-x64", "linux-x64 (2)"]


def test_where_nothing_is_left_all_reasons_are_told_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "runs/a", complete=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as error:
        merged(folder, tmp_path / "empty", out=tmp_path / "out")
    lines = str(error.value).splitlines()
    assert lines[0] == "nothing can be merged:"
    assert [line.partition(": ")[0] for line in lines[1:]] == ["  empty", "  runs/a"]
    assert not (tmp_path / "out").exists()


def test_machines_without_a_common_case_are_not_merged(tmp_path: Path) -> None:
    for number, case in enumerate(["get-pk", "all", "get-pk", "insert"]):
        write(tmp_path / f"runs/{case}-{number}", cases=[case], machine=f"m{number}")
    done = merged(tmp_path / "runs", out=tmp_path / "three")
    assert [machine.name for machine in done.machines] == ["m0", "m2"]
    assert [refused.path for refused in done.refused] == ["runs/all-1", "runs/insert-3"]
    with pytest.raises(UsageError, match=r"nothing can be merged:\n  all-1: plan: "):
        merged(tmp_path / "runs/all-1", tmp_path / "runs/insert-3", out=tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_an_earlier_result_is_not_written_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    merged(folder, out=tmp_path / "out")
    with pytest.raises(UsageError, match="exists already; choose another --label or --out"):
        merged(folder, out=tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    (tmp_path / "out").touch()
    with pytest.raises(NotFit, match=r"out: cannot be written: .*; free some space"):
        merged(folder, out=tmp_path / "out")


def test_what_a_file_says_cannot_move_the_cursor(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    write(tmp_path / "b", facts={"cpu": "\x1b[2J<b>"}, machine="b")
    replan(folder, run="\x1b[2J" + "x" * 999)
    done = merged(folder, tmp_path / "b", out=tmp_path / "out")
    (refused,) = done.refused
    assert refused.reason.isprintable()
    assert len(refused.reason) < 600
    assert done.machines[0].runs[0].hardware[0] == "\x1b[2J<b>"
