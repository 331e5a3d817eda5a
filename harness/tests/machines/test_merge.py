"""Several folders become one; what was whole before is whole in it."""

import json
import shutil
from itertools import permutations
from pathlib import Path

import pytest

from sqlitmus.machines import admit
from sqlitmus.machines.admit import Given
from sqlitmus.machines.merge import merge
from sqlitmus.run.planning import latest
from sqlitmus.vocabulary.errors import NotFit, UsageError
from tests.machines.folders import NOW, edit, files, merged, write


@pytest.fixture
def fleet(tmp_path: Path) -> list[Path]:
    """Two runs of one machine, another machine, and a run that nobody can read."""
    runs = tmp_path / "runs"
    (runs / "d").mkdir(parents=True)
    (runs / "d/plan.json").write_text("{}")
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
    assert admit.read(done.directory) == done.merged
    arm, linux = done.merged.machines
    assert (arm.name, arm.kind, linux.name, linux.kind) == (
        "arm",
        "linux-arm64",
        "linux-x64",
        "linux-x64",
    )
    assert [source.run for source in linux.sources] == ["a", "b"]
    assert done.merged.expected == ["mars"]
    assert [refused.path for refused in done.merged.refused] == ["d"]
    held = {folder.name for folder in (done.directory / "sources").iterdir()}
    assert held == {source.hash for m in done.merged.machines for source in m.sources}
    for machine in done.merged.machines:
        for source in machine.sources:
            kept = files(done.directory / "sources" / source.hash)
            assert kept == files(tmp_path / "runs" / source.run)
    assert {path.name for path in done.directory.iterdir()} == {"merged.json", "sources"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {done.directory.name, "latest"}


def test_any_order_gives_the_same_and_merging_again_changes_nothing(
    tmp_path: Path, fleet: list[Path]
) -> None:
    first = merged(*fleet, out=tmp_path / "first", expect=["mars"])
    for number, order in enumerate(permutations(fleet)):
        other = merged(*order, out=tmp_path / str(number), expect=["mars"])
        assert other.merged == first.merged
    again = merged(first.directory, out=tmp_path / "again")
    assert again.merged == first.merged
    both = merged(first.directory, fleet[0], out=tmp_path / "both")
    assert both.merged == first.merged
    assert both.twice == [
        sorted(["runs/a", f"first/{first.directory.name}/sources/{hash_of(first.merged, 'a')}"])
    ]


def hash_of(of: admit.Merged, run: str) -> str:
    return next(s.hash for m in of.machines for s in m.sources if s.run == run)


def test_more_runs_than_are_read_in_this_process(
    tmp_path: Path, fleet: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = merged(*fleet, out=tmp_path / "one")
    monkeypatch.setattr(admit, "FEW", 2)
    assert merged(*fleet, out=tmp_path / "two").merged == one.merged


def test_the_same_run_twice_is_counted_once(tmp_path: Path) -> None:
    write(tmp_path / "x/run")
    shutil.copytree(tmp_path / "x/run", tmp_path / "y/run")
    done = merged(tmp_path / "x", tmp_path / "y", out=tmp_path / "out")
    assert done.twice == [["x/run", "y/run"]]
    assert [len(machine.sources) for machine in done.merged.machines] == [1]
    assert done.merged.refused == []


def test_other_definitions_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "a")
    other = {"scenario get-pk": "2" * 16}
    write(tmp_path / "b", machine="b", created="2026-01-02T00:00:00Z", definitions=other)
    write(tmp_path / "c", machine="c", size="l")
    done = merged(tmp_path / "a", tmp_path / "b", tmp_path / "c", out=tmp_path / "out")
    assert [machine.name for machine in done.merged.machines] == ["linux-x64"]
    told = {refused.path: refused.reason.partition(";")[0] for refused in done.merged.refused}
    assert told == {
        "b": "plan.json: scenario get-pk differs from that of a",
        "c": "plan.json: fixture size differs from that of a",
    }


def test_a_name_before_a_folder_renames_its_machine(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, facts={"cpu": name})
    given = [Given(tmp_path / "a", "laptop"), Given(tmp_path / "b", "server")]
    done = merge(given, tmp_path / "out", "", [], NOW, partial=False)
    assert [machine.name for machine in done.merged.machines] == ["laptop", "server"]
    plain = merged(tmp_path / "a", tmp_path / "b", out=tmp_path / "out2")
    assert [m.name for m in plain.merged.machines] == ["linux-x64", "linux-x64 (2)"]


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
    assert list((tmp_path / "out").iterdir()) == []


def test_machines_without_a_common_case_are_not_merged(tmp_path: Path) -> None:
    for number, case in enumerate(["get-pk", "all", "get-pk", "insert"]):
        write(tmp_path / f"runs/{case}-{number}", cases=[case], machine=f"m{number}")
    done = merged(tmp_path / "runs", out=tmp_path / "three")
    assert [machine.name for machine in done.merged.machines] == ["m0", "m2"]
    assert [refused.path for refused in done.merged.refused] == ["runs/all-1", "runs/insert-3"]
    with pytest.raises(UsageError, match=r"nothing can be merged:\n  all-1: plan\.json: "):
        merged(tmp_path / "runs/all-1", tmp_path / "runs/insert-3", out=tmp_path / "two")
    assert list((tmp_path / "two").iterdir()) == []


def test_an_earlier_result_is_not_written_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    merged(folder, out=tmp_path / "out")
    with pytest.raises(UsageError, match="exists already; choose another --label or --out"):
        merged(folder, out=tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    (tmp_path / "out").touch()
    with pytest.raises(NotFit, match="out: cannot be written: File exists; free some space"):
        merged(folder, out=tmp_path / "out")


def test_what_a_file_says_cannot_move_the_cursor(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    write(tmp_path / "b", facts={"cpu": "\x1b[2J<b>"}, machine="b")
    edit(folder / "plan.json", '"run": "a"', json.dumps({"run": "\x1b[2J" + "x" * 999})[1:-1])
    done = merged(folder, tmp_path / "b", out=tmp_path / "out")
    (refused,) = done.merged.refused
    assert refused.reason.isprintable()
    assert len(refused.reason) < 600
    assert done.merged.machines[0].sources[0].cpu == "?[2J<b>"
