"""`sqlitmus merge` from end to end: what it says, where, and with which exit code."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.calling import Call, check_refusals
from tests.fakes.instant import Desk, even
from tests.machines.folders import ask, change, write
from tests.machines.merged_runs import Directory

RUNNERS = ("a", "b")


@pytest.fixture
def merge(desk: Desk, at_desk: Call) -> Call:
    desk.monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(desk.clone.root))
    return partial(at_desk, "merge")


def around(err: str) -> list[str]:
    """The lines before the answer, its title, and the last one."""
    *lines, last = err.splitlines()
    title = next(n for n, line in enumerate(lines) if line.startswith("SQLite across runtimes"))
    return [*lines[: title + 1], last]


def test_runs_of_two_machines_another_of_one_and_what_did_not_come(
    merge: Call, tmp_path: Path
) -> None:
    artifacts = tmp_path / "artifacts"
    write(artifacts / "linux/linux", cases=["get"])
    arm = {"architecture": "arm64", "cpu": "M1", "os": "Darwin 24"}
    for name, case in (("arm", "get"), ("more", "all")):
        write(artifacts / name / name, facts=arm, machine="mac", cases=[case])
    done = merge("artifacts", "--expect", "mac", "--expect", "windows-x64", "--label", "all")
    assert (done.code, done.out) == (4, "CLONE/results/STAMP-merged-all\n")
    assert around(done.err) == [
        "linux-x64: CPU EPYC",
        "mac: CPU M1",
        "expected, but not there: windows-x64",
        (
            "refused: artifacts/more/more: of the same machine as artifacts/arm/arm, and a machine "
            "counts once, with one run; ./just run --again RUN adds a sitting to a run, and "
            "NAME=DIR names another machine"
        ),
        "SQLite across runtimes on 2 machines",
        "report: ./just report CLONE/results/STAMP-merged-all",
    ]
    latest = tmp_path / "results/latest"
    kinds = [("linux-x64", "linux-x64"), ("mac", "macos-arm64")]
    assert ask(latest, "SELECT machine, kind FROM run ORDER BY id") == kinds
    assert ask(latest, "SELECT expected FROM merged") == [('["windows-x64"]',)]


def test_what_is_refused_is_named_and_the_rest_merged(merge: Call, tmp_path: Path) -> None:
    write(tmp_path / "a/whole")
    write(tmp_path / "b/cut", complete=False, machine="b")
    done = merge("a", "b", "a/whole", "--out", "elsewhere")
    assert (done.code, done.out) == (4, "CLONE/elsewhere/STAMP-merged\n")
    assert around(done.err) == [
        "linux-x64: CPU EPYC",
        (
            "refused: b/cut: the run was interrupted or is still measured; "
            "finish it with ./just run --resume, or take what there is with --partial"
        ),
        "SQLite across runtimes on 1 machine",
        "report: ./just report CLONE/elsewhere/STAMP-merged",
    ]
    quiet = merge("a", "b", "-q", "--partial")
    assert (quiet.code, quiet.err) == (0, "")
    done = merge("a", "b", "-q", "--label", "again", "--expect", "moon")
    assert done.code == 4
    assert [line.partition(":")[0] for line in done.err.splitlines()] == [
        "expected, but not there",
        "refused",
    ]


def test_interrupted_and_repeated_runs_are_told(merge: Call, tmp_path: Path) -> None:
    write(tmp_path / "runs/cut", complete=False)
    first = merge("runs", "--partial")
    assert first.err.splitlines()[0] == "linux-x64: interrupted; CPU EPYC"
    again = merge("results/latest", "runs", "--label", "again", "--partial")
    assert again.code == 0
    assert again.err.splitlines()[:2] == [
        "linux-x64: interrupted; CPU EPYC",
        "the same run, counted once: results/latest/cut, runs/cut",
    ]


def test_what_cannot_be_done_is_told(merge: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    write(tmp_path / "runs/a")
    write(tmp_path / "others/b", cases=["all"], machine="b")
    check_refusals("merge", merge)
    done = merge("runs", "--out", "file")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("sqlitmus: CLONE/file: cannot be written: Not a directory;")
    assert not (tmp_path / "results/latest").exists()


@pytest.fixture
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes for machines as small as these."""
    monkeypatch.setattr("sqlitmus.machine.system.usable", lambda: 1)


@pytest.mark.usefixtures("_alone")
def test_runs_as_they_are_measured_become_one_report(desk: Desk, at_desk: Call) -> None:
    desk.instant.paces |= {"a": even(1000, "a"), "b": even(500, "b")}
    runs: list[Path] = []
    for machine in ("here", "there"):
        desk.run(cases=["get"], blocks=12, machine=machine, label=machine)
        runs.append(desk.clone.latest().path)
    merged = at_desk("merge", *runs)
    assert merged.code == 0, merged.err
    assert [line.partition(":")[0] for line in merged.err.splitlines()[:2]] == ["here", "there"]
    path = (desk.clone.root / "results/latest").resolve()
    told = at_desk("report", path, "--format", "text").out
    assert "SQLite across runtimes on 2 machines" in told
    assert "holds on all 2" in told
    own = at_desk("report", path, "--machine", "here", "--format", "md").out
    assert "get" in own
    assert len(at_desk("export", path).out.splitlines()) == 1 + 2 * 2


@pytest.fixture
def rendered(call: Call, _alone: None) -> Call:
    return partial(call, "report")


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    directory = Directory(tmp_path / "merged")
    directory.add("linux-x64", ratios={"bun": 0.8})
    directory.add("linux-x64 (2)", ratios={"bun": 0.7})
    directory.write()
    return directory.path


def test_a_merged_run_is_rendered_in_each_format_and_each_machines_report_too(
    rendered: Call, merged: Path
) -> None:
    done = rendered(merged)
    assert (done.code, done.out, done.err) == (0, "", f"{merged / 'report.html'}\n")
    assert "Does it hold?" in (merged / "report.html").read_text(encoding="utf-8")

    done = rendered(merged, "--format", "json")
    found = json.loads(done.out)
    assert [machine["name"] for machine in found["machines"]] == ["linux-x64", "linux-x64 (2)"]
    assert {row["text"] for row in found["rows"]} >= {"holds on all 2"}
    assert done.err == ""
    for format_, start in (("md", "# SQLite"), ("text", "SQLite across")):
        done = rendered(merged, "--format", format_)
        assert done.out.startswith(start)
        assert "holds on all 2" in done.out

    found = json.loads(rendered(merged, "--format", "json", "--reference", "bun").out)
    assert {row["runner"] for row in found["rows"]} == {"node", "rust-ffi"}

    done = rendered(merged, "--machine", "linux-x64 (2)")
    file = merged / "report-linux-x64-2.html"
    assert (done.code, done.err) == (0, f"{file}\n")
    assert 'id="grid"' in file.read_text(encoding="utf-8")
    summary = json.loads(rendered(merged, "--machine", "linux-x64", "--format", "json").out)
    assert summary["run"] == "linux-x64-0"


def test_mistakes(rendered: Call, merged: Path) -> None:
    check_refusals("merged", partial(rendered, merged), begins=False)
    done = rendered(write(merged.parent / "one"), "--machine", "x")
    assert done.code == 2
    assert "--machine 'x': " in done.err
    assert "is no merged run directory" in done.err


CHANGES = {
    "plan = '{}' WHERE id = 1": "plan: $.run: Field required",
    "machine = 'linux-x64'": "has several runs of linux-x64, and a machine counts once; merge its",
}


@pytest.mark.parametrize("change_", CHANGES)
def test_a_file_that_was_changed_is_an_error_that_says_why(
    rendered: Call, merged: Path, change_: str
) -> None:
    change(merged, f"UPDATE run SET {change_}")
    done = rendered(merged)
    assert done.code == 2
    assert CHANGES[change_] in done.err
