"""`report` of a merged run directory: formats, one machine, what is said of mistakes."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.calling import Call, sqlitmus
from tests.machines.folders import change, write
from tests.machines.merged_runs import Directory


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setattr(
        "sqlitmus.machine.system.usable", lambda: 1
    )  # no processes for machines as small as these
    return partial(sqlitmus, capsys, monkeypatch, "report")


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    directory = Directory(tmp_path / "merged")
    directory.add("linux-x64", ratios={"bun": 0.8})
    directory.add("linux-x64 (2)", ratios={"bun": 0.7})
    directory.write()
    return directory.path


def test_the_page_goes_into_the_directory(call: Call, merged: Path) -> None:
    done = call(str(merged))
    assert (done.code, done.out, done.err) == (0, "", f"{merged / 'report.html'}\n")
    assert "Does it hold?" in (merged / "report.html").read_text(encoding="utf-8")


def test_json_has_all_rows_on_stdout(call: Call, merged: Path) -> None:
    done = call(str(merged), "--format", "json")
    found = json.loads(done.out)
    assert [machine["name"] for machine in found["machines"]] == ["linux-x64", "linux-x64 (2)"]
    assert {row["text"] for row in found["rows"]} >= {"holds on all 2"}
    assert done.err == ""


@pytest.mark.parametrize(("format_", "start"), [("md", "# SQLite"), ("text", "SQLite across")])
def test_text_and_markdown(call: Call, merged: Path, format_: str, start: str) -> None:
    done = call(str(merged), "--format", format_)
    assert done.out.startswith(start)
    assert "holds on all 2" in done.out


def test_one_machine_has_its_ordinary_report(call: Call, merged: Path) -> None:
    done = call(str(merged), "--machine", "linux-x64 (2)")
    file = merged / "report-linux-x64-2.html"
    assert (done.code, done.err) == (0, f"{file}\n")
    assert 'id="grid"' in file.read_text(encoding="utf-8")
    summary = json.loads(call(str(merged), "--machine", "linux-x64", "--format", "json").out)
    assert summary["run"] == "linux-x64-0"


def test_another_reference(call: Call, merged: Path) -> None:
    found = json.loads(call(str(merged), "--format", "json", "--reference", "bun").out)
    assert {row["runner"] for row in found["rows"]} == {"node", "rust-ffi"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "node-csv"], "a merged run has no format 'node-csv'; expected one of html"),
        (["--machine", "mac"], "there is no machine 'mac' in "),
        (["--reference", "deno"], "'deno' cannot be the reference: it took no part in any of"),
    ],
)
def test_mistakes(call: Call, merged: Path, arguments: list[str], said: str) -> None:
    done = call(str(merged), *arguments)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


def test_a_file_that_was_changed_is_an_error_that_says_why(call: Call, merged: Path) -> None:
    change(merged, "UPDATE run SET plan = '{}' WHERE id = 1")
    done = call(str(merged))
    assert done.code == 2
    assert "plan: $.run: Field required" in done.err


def test_a_machine_of_an_ordinary_run_is_a_mistake(call: Call, merged: Path) -> None:
    done = call(str(write(merged.parent / "one")), "--machine", "x")
    assert done.code == 2
    assert "--machine 'x': " in done.err
    assert "is no merged run directory" in done.err
