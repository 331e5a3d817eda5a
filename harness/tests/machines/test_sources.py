"""Where runs are looked for, and what is never followed."""

from pathlib import Path

import pytest

from sqlitmus.machines.merge import Given, Inventory, find
from sqlitmus.store.folder import point_latest
from sqlitmus.vocabulary.errors import UsageError
from tests.machines.folders import FILE, merged, write


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
    assert found.refused == done.refused != []
    assert found.expected == ["mars"]
