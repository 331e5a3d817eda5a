"""`sqlitmus merge` from end to end: what it says, where, and with which exit code."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from sqlitmus.machines.merge import SAME_MACHINE
from sqlitmus.machines.merge import merged as read
from tests.cli.calling import Call as Rendered
from tests.cli.calling import refusals
from tests.fakes.clone import Clone, Done
from tests.fakes.instant import Desk, even
from tests.machines.folders import change, write
from tests.machines.merged_runs import Directory


class Call:
    """The command line in a folder of its own; stamps and the folder are replaced by words."""

    def __init__(self, root: Path, typed: Rendered) -> None:
        self.root, self.typed = root, typed

    def __call__(self, *arguments: str) -> Done:
        """Merge."""
        done = self.typed("merge", *arguments)
        return Done(done.code, self.plain(done.out), self.plain(done.err))

    def plain(self, text: str) -> str:
        """Without what differs from run to run."""
        return re.sub(r"\d{4}-\d\d-\d\dT\d{6}Z", "STAMP", text.replace(str(self.root), "ROOT"))


@pytest.fixture
def merge(tmp_path: Path, call: Rendered, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setattr("sqlitmus.vocabulary.paths.RESULTS", tmp_path / "results")
    monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(tmp_path))
    return Call(tmp_path, call)


def around(err: str) -> list[str]:
    """The lines before the answer, its title, and the last one."""
    *lines, last = err.splitlines()
    title = next(n for n, line in enumerate(lines) if line.startswith("SQLite across runtimes"))
    return [*lines[: title + 1], last]


def test_runs_of_two_machines_another_of_one_and_what_did_not_come(merge: Call) -> None:
    artifacts = merge.root / "artifacts"
    write(artifacts / "linux/linux", cases=["get"])
    arm = {"architecture": "arm64", "cpu": "M1", "os": "Darwin 24"}
    for name, case in (("arm", "get"), ("more", "all")):
        write(artifacts / name / name, facts=arm, machine="mac", cases=[case])
    done = merge("artifacts", "--expect", "mac", "--expect", "windows-x64", "--label", "all")
    assert (done.code, done.out) == (4, "ROOT/results/STAMP-merged-all\n")
    assert around(done.err) == [
        "linux-x64: CPU EPYC",
        "mac: CPU M1",
        "expected, but not there: windows-x64",
        f"refused: artifacts/more/more: {SAME_MACHINE.format('artifacts/arm/arm')}",
        "SQLite across runtimes on 2 machines",
        "report: ./just report ROOT/results/STAMP-merged-all",
    ]
    merged = read(merge.root / "results/latest/run.sqlite")
    assert merged is not None
    assert [(m.name, m.kind) for m in merged.machines] == [
        ("linux-x64", "linux-x64"),
        ("mac", "macos-arm64"),
    ]
    assert merged.made.expected == ["windows-x64"]


def test_what_is_refused_is_named_and_the_rest_merged(merge: Call) -> None:
    write(merge.root / "a/whole")
    write(merge.root / "b/cut", complete=False, machine="b")
    done = merge("a", "b", "a/whole", "--out", "elsewhere")
    assert done.code == 4
    assert done.out == "ROOT/elsewhere/STAMP-merged\n"
    assert around(done.err) == [
        "linux-x64: CPU EPYC",
        (
            "refused: b/cut: the run was interrupted or is still measured; "
            "finish it with ./just run --resume, or take what there is with --partial"
        ),
        "SQLite across runtimes on 1 machine",
        "report: ./just report ROOT/elsewhere/STAMP-merged",
    ]


def test_quiet_says_only_what_went_wrong(merge: Call) -> None:
    write(merge.root / "runs/whole")
    write(merge.root / "runs/cut", complete=False, machine="b")
    quiet = merge("runs", "-q", "--partial")
    assert (quiet.code, quiet.err) == (0, "")
    done = merge("runs", "-q", "--label", "again", "--expect", "moon")
    assert done.code == 4
    assert [line.partition(":")[0] for line in done.err.splitlines()] == [
        "expected, but not there",
        "refused",
    ]


def test_interrupted_and_repeated_runs_are_told(merge: Call) -> None:
    write(merge.root / "runs/cut", complete=False)
    first = merge("runs", "--partial")
    assert first.err.splitlines()[0] == "linux-x64: interrupted; CPU EPYC"
    again = merge("results/latest", "runs", "--label", "again", "--partial")
    assert again.code == 0
    assert again.err.splitlines()[:2] == [
        "linux-x64: interrupted; CPU EPYC",
        "the same run, counted once: results/latest/cut, runs/cut",
    ]


@refusals("merge")
def test_what_cannot_be_done_is_told(merge: Call, typed: list[str], message: str) -> None:
    (merge.root / "empty").mkdir()
    (merge.root / "file").touch()
    write(merge.root / "runs/a")
    write(merge.root / "others/b", cases=["all"], machine="b")
    done = merge(*typed)
    assert (done.code, done.out) == (3 if "--out" in typed else 2, "")
    assert done.err.startswith(message)
    assert not (merge.root / "results/latest").exists()


def test_runs_as_they_are_measured_become_one_report(
    catalogue: Clone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        catalogue.runner(name)
    desk = Desk.make(catalogue, monkeypatch)
    # no processes for machines as small as these
    monkeypatch.setattr("sqlitmus.machine.system.usable", lambda: 1)
    desk.instant.paces |= {"a": even(1000, "a"), "b": even(500, "b")}
    runs: list[str] = []
    for machine in ("here", "there"):
        asked = ["--case", "get", "--size", "s", "--blocks", "12", "--seed", "1", "-q"]
        place = ["--machine", machine, "--label", machine]
        done = desk.sqlitmus(capsys, "run", *asked, *place)
        assert done.code == 0, done.err
        runs.append(str(desk.clone.latest().path))
    merged = desk.sqlitmus(capsys, "merge", *runs)
    assert merged.code == 0, merged.err
    assert [line.partition(":")[0] for line in merged.err.splitlines()[:2]] == ["here", "there"]
    path = str((desk.clone.root / "results/latest").resolve())
    told = desk.sqlitmus(capsys, "report", path, "--format", "text").out
    assert "SQLite across runtimes on 2 machines" in told
    assert "holds on all 2" in told
    own = desk.sqlitmus(capsys, "report", path, "--machine", "here", "--format", "md").out
    assert "get" in own
    assert len(desk.sqlitmus(capsys, "export", path).out.splitlines()) == 1 + 2 * 2


@pytest.fixture
def rendered(call: Rendered, monkeypatch: pytest.MonkeyPatch) -> Rendered:
    monkeypatch.setattr(
        "sqlitmus.machine.system.usable", lambda: 1
    )  # no processes for machines as small as these
    return partial(call, "report")


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    directory = Directory(tmp_path / "merged")
    directory.add("linux-x64", ratios={"bun": 0.8})
    directory.add("linux-x64 (2)", ratios={"bun": 0.7})
    directory.write()
    return directory.path


def test_the_page_goes_into_the_directory(rendered: Rendered, merged: Path) -> None:
    done = rendered(str(merged))
    assert (done.code, done.out, done.err) == (0, "", f"{merged / 'report.html'}\n")
    assert "Does it hold?" in (merged / "report.html").read_text(encoding="utf-8")


def test_json_text_and_markdown_have_all_rows_on_stdout(rendered: Rendered, merged: Path) -> None:
    done = rendered(str(merged), "--format", "json")
    found = json.loads(done.out)
    assert [machine["name"] for machine in found["machines"]] == ["linux-x64", "linux-x64 (2)"]
    assert {row["text"] for row in found["rows"]} >= {"holds on all 2"}
    assert done.err == ""
    for format_, start in (("md", "# SQLite"), ("text", "SQLite across")):
        done = rendered(str(merged), "--format", format_)
        assert done.out.startswith(start)
        assert "holds on all 2" in done.out


def test_one_machine_has_its_ordinary_report(rendered: Rendered, merged: Path) -> None:
    done = rendered(str(merged), "--machine", "linux-x64 (2)")
    file = merged / "report-linux-x64-2.html"
    assert (done.code, done.err) == (0, f"{file}\n")
    assert 'id="grid"' in file.read_text(encoding="utf-8")
    summary = json.loads(rendered(str(merged), "--machine", "linux-x64", "--format", "json").out)
    assert summary["run"] == "linux-x64-0"


def test_another_reference(rendered: Rendered, merged: Path) -> None:
    found = json.loads(rendered(str(merged), "--format", "json", "--reference", "bun").out)
    assert {row["runner"] for row in found["rows"]} == {"node", "rust-ffi"}


@refusals("merged")
def test_mistakes(rendered: Rendered, merged: Path, typed: list[str], message: str) -> None:
    done = rendered(str(merged), *typed)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("change_", "message"),
    [
        ("plan = '{}' WHERE id = 1", "plan: $.run: Field required"),
        (
            "machine = 'linux-x64'",
            "has several runs of linux-x64, and a machine counts once; merge its runs",
        ),
    ],
)
def test_a_file_that_was_changed_is_an_error_that_says_why(
    rendered: Rendered, merged: Path, change_: str, message: str
) -> None:
    change(merged, f"UPDATE run SET {change_}")
    done = rendered(str(merged))
    assert done.code == 2
    assert message in done.err


def test_a_machine_of_an_ordinary_run_is_a_mistake(rendered: Rendered, merged: Path) -> None:
    done = rendered(str(write(merged.parent / "one")), "--machine", "x")
    assert done.code == 2
    assert "--machine 'x': " in done.err
    assert "is no merged run directory" in done.err
