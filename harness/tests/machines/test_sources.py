"""Where runs are looked for, and what is never followed."""

import shutil
from pathlib import Path

import pytest

from sqlitmus.machines import admit
from sqlitmus.machines.admit import Given, Inventory, find
from sqlitmus.run.planning import point_latest
from sqlitmus.run.store import MOST_WHOLE
from sqlitmus.vocabulary.errors import UsageError
from tests.machines.folders import NOW, edit, merged, write


def paths(found: Inventory) -> list[str]:
    return [origin.path for origin in found.origins]


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
        ("empty", "holds no run directory, nor does a folder up to two levels below")
    ]
    with pytest.raises(UsageError, match="none: there is no such folder; give folders that hold"):
        find([Given(tmp_path / "none")], partial=False)


def test_links_are_not_followed_but_for_the_folder_given(tmp_path: Path) -> None:
    run = write(tmp_path / "elsewhere/run")
    results = tmp_path / "results"
    results.mkdir()
    (results / "linked").symlink_to(run, target_is_directory=True)
    (results / "plan.json").symlink_to(run / "plan.json")
    assert paths(find([Given(results)], partial=False)) == []
    point_latest(run)
    assert paths(find([Given(run.parent)], partial=False)) == ["elsewhere/run"]
    assert paths(find([Given(run.parent / "latest")], partial=False)) == ["latest"]


def test_a_merged_directory_is_its_sources(tmp_path: Path) -> None:
    write(tmp_path / "runs/a")
    write(tmp_path / "runs/b", complete=False, facts={"cpu": "Xeon"})
    (tmp_path / "runs/c/logs").mkdir(parents=True)
    (tmp_path / "runs/c/samples.jsonl").touch()
    done = merged(tmp_path / "runs", out=tmp_path, partial=True, expect=["mars"])
    found = find([Given(done.directory)], partial=False)
    sources = [source for machine in done.merged.machines for source in machine.sources]
    folder = done.directory.name
    assert [(o.path, o.partial, o.hash) for o in found.origins] == [
        (f"{folder}/sources/{s.hash}", not s.complete, s.hash) for s in sources
    ]
    assert [origin.partial for origin in found.origins] == [False, True]
    assert found.refused == done.merged.refused != []
    assert found.expected == ["mars"]


@pytest.mark.parametrize("file", ["samples.jsonl", "machine.json"])
def test_a_source_changed_in_a_merged_directory_is_refused(tmp_path: Path, file: str) -> None:
    write(tmp_path / "runs/a")
    write(tmp_path / "runs/b", facts={"cpu": "Xeon"})
    done = merged(tmp_path / "runs", out=tmp_path / "one")
    changed = done.merged.machines[0].sources[0].hash
    edit(done.directory / "sources" / changed / file, "0" if file[0] == "s" else "6", "1")
    again = merged(done.directory, out=tmp_path / "two").merged
    assert [(r.path.rpartition("/")[2], "a file was changed" in r.reason) for r in again.refused]
    assert again.refused[0].path.endswith(changed)
    assert "is not the one in merged.json: a file was changed" in again.refused[0].reason
    assert [m.name for m in again.machines] == ["linux-x64"]


@pytest.mark.parametrize("name", ["../../elsewhere", "/", "..", ""])
def test_a_hash_in_merged_json_that_is_a_path_leads_nowhere(tmp_path: Path, name: str) -> None:
    write(tmp_path / "runs/a")
    done = merged(tmp_path / "runs", out=tmp_path)
    write(tmp_path / "elsewhere")
    source = done.merged.machines[0].sources[0].hash
    edit(done.directory / admit.NAME, source, name)
    with pytest.raises(UsageError, match=r"sources/\?: plan.json is missing"):
        merged(done.directory, out=tmp_path / "out")


@pytest.mark.parametrize("level", ["sources", "sources/{}"])
def test_a_merged_directory_whose_folders_are_links_is_refused(tmp_path: Path, level: str) -> None:
    write(tmp_path / "runs/a")
    done = merged(tmp_path / "runs", out=tmp_path)
    linked = done.directory / level.format(done.merged.machines[0].sources[0].hash)
    linked.rename(tmp_path / "moved")
    linked.symlink_to(tmp_path / "moved", target_is_directory=True)
    with pytest.raises(UsageError, match="leads elsewhere through a link; give the folder itself"):
        merged(done.directory, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "merged.json: cannot be read: "),
        ('{"schema_version": 9}', "merged.json: cannot be read: "),
        ("\0" * (MOST_WHOLE + 1), "merged.json: larger than 32 MB, which no run writes"),
    ],
    ids=["torn", "later version", "too large"],  # an id made of the text would have 128 MB
)
def test_a_merged_json_that_cannot_be_read_is_refused(
    tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged" / admit.NAME).write_text(text)
    (one,) = find([Given(tmp_path)], partial=False).refused
    assert one.path.endswith("/merged")
    assert one.reason.startswith(reason)
    assert "\n" not in one.reason


def test_what_a_merged_json_says_beyond_today_s_is_ignored(tmp_path: Path) -> None:
    write(tmp_path / "runs/a")
    done = merged(tmp_path / "runs", out=tmp_path)
    edit(done.directory / admit.NAME, '"kind"', '"missing": [2], "kind"')
    assert admit.read(done.directory) == done.merged


def test_a_merged_json_of_a_later_version_says_so(tmp_path: Path) -> None:
    write(tmp_path / "runs/a")
    done = merged(tmp_path / "runs", out=tmp_path)
    assert admit.read(done.directory) == done.merged
    assert done.merged.created == NOW.isoformat()
    edit(done.directory / admit.NAME, '"schema_version": 1', '"schema_version": 2')
    with pytest.raises(UsageError, match=r"\$.schema_version is 2, this version reads 1"):
        admit.read(done.directory)
    shutil.rmtree(done.directory / "sources")
    with pytest.raises(UsageError, match="is no merged directory: it holds no merged"):
        admit.read(done.directory / "sources")
