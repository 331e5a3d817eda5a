"""What is wrong with a folder is told with file and place, before any of it is kept."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.machine import plainfiles
from sqlitmus.machines import admit
from sqlitmus.machines.admit import Origin, RefusedRun, Run, take
from sqlitmus.run import store as folder_of
from tests.machines.folders import FACTS, edit, write


def taken(folder: Path, *, partial: bool = False) -> Run:
    """The run in `folder`, which is acceptable."""
    found = take(Origin(folder, "a/run", partial), folder.parent / "copy")
    assert isinstance(found, Run), found.reason
    return found


def reason(folder: Path, *, partial: bool = False) -> str:
    """Why the folder is refused."""
    found = take(Origin(folder, "a/run", partial), folder.parent / "copy")
    assert isinstance(found, RefusedRun), "not refused"
    assert found.path == "a/run"
    return found.reason


def test_what_merging_knows_of_a_run(tmp_path: Path) -> None:
    run = taken(write(tmp_path / "run"))
    assert (run.run, run.label, run.kind, run.cpu) == ("run", "linux-x64", "linux-x64", "EPYC")
    assert (run.blocks, run.complete) == (2, True)
    assert run.cases == {"get-pk"}
    assert run.work["scenario get-pk"] == "1" * 16
    assert run.work["fixture size"] == "m"
    assert run.work["metric of get-pk"] == "steady"
    assert run.settings == {
        "reference": "node",
        "canary": "node",
        "floor": "none",
        "correction": "none",
        "margin": "0.02",
        "sessions": "1",
        "looks": "1",
    }


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
    def change(folder: Path) -> None:
        raw = json.loads((folder / "plan.json").read_text())
        (folder / "plan.json").write_text(json.dumps({**raw, **changes}))

    return change


def replace(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: edit(folder / name, old, new)


def append(name: str, text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with (folder / name).open("a") as stream:
            stream.write(text)

    return change


def cut(name: str, size: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(folder / name, size)


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


ACCIDENTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no plan": (remove("plan.json"), "plan.json is missing; give the whole run directory"),
    "no samples": (remove("samples.jsonl"), "samples.jsonl is missing; give the whole"),
    "cut plan": (cut("plan.json", 200), "plan.json: not JSON: EOF while"),
    "empty plan": (cut("plan.json", 0), "plan.json: not JSON: EOF while"),
    "older plan": (
        plan(schema_version=1),
        "plan.json: $.schema_version is 1, this version reads 2; measure again, or merge with the",
    ),
    "older samples": (
        replace("samples.jsonl", '"schema":4', '"schema":3'),
        "samples.jsonl line 1: schema 3, this version reads 4; use the sqlitmus that wrote the run",
    ),
    "another run's samples": (
        replace("samples.jsonl", '"run":"run"', '"run":"other"'),
        "samples.jsonl line 1: belongs to run 'other', plan.json to 'run'; restore the two",
    ),
    "no header": (
        replace("samples.jsonl", '{"schema"', '{"scheme"'),
        "samples.jsonl line 1: the header, which names the columns, stands in line 1 and only",
    ),
    "another header": (
        append("samples.jsonl", '{"schema":3,"run":"x"}\n'),
        "samples.jsonl line 9: the header, which names the columns, stands in line 1 and only",
    ),
    "comparison": (plan(kind="compare"), "plan.json: $.kind is compare; only runs of a suite are"),
    "claims": (plan(kind="claims"), "plan.json: $.kind is claims; only runs of a suite are merged"),
    "path as run": (plan(run="../../etc"), "plan.json: $.run '../../etc': only letters, digits"),
    "dots as run": (plan(run=".."), "plan.json: $.run '..': only letters, digits and . _ @ + -"),
    "path as machine": (plan(machine="a/b"), "plan.json: $.machine 'a/b': only letters, digits"),
    "HTML as machine": (plan(machine="<b>"), "plan.json: $.machine '<b>': only letters, digits"),
    "no date": (plan(created="soon"), "plan.json: $.created: Invalid isoformat string: 'soon'"),
    "NaN": (plan(margin=float("nan")), "plan.json: $.margin: not a finite number of ordinary size"),
    "more than a float": (
        replace("plan.json", '"seed": 7', '"seed": 1e999'),
        "plan.json: $.seed: not a finite number of ordinary size",
    ),
    "more than an integer": (
        replace("plan.json", '"operations": 100', f'"operations": {10**400}'),
        "plan.json: $.cases[0].operations: not a finite number of ordinary size",
    ),
    "NaN in a block": (
        replace("blocks.jsonl", '"load_average":0.5', '"load_average":NaN'),
        "blocks.jsonl line 1: $.before.load_average: not a finite number of ordinary size",
    ),
    "endless blocks": (plan(blocks=10**9), "plan.json: $.blocks: 1000000000 is more than 200,000"),
    "no such type": (plan(cases=7), "plan.json: $.cases: Input should be a valid list"),
    "unknown definitions": (
        plan(definitions={}),
        "plan.json: $.definitions has no scenario get-pk, so its work cannot be compared with",
    ),
    "facts that are none": (
        replace("machine.json", '"4"', '["4"]'),
        "machine.json: $.cores: expected a short text",
    ),
    "cut verification": (
        cut("verify.jsonl", 300),
        "verify.jsonl: the last line is cut off; fetch the file again",
    ),
    "broken sample": (
        replace("samples.jsonl", "[0,0,1,", "[0,0,1,,"),
        "samples.jsonl line 3: not JSON: expected value at line 1 column 8",
    ),
    "broken verification": (
        replace("verify.jsonl", '"outcome":"ok"', '"outcome":"fine"'),
        "verify.jsonl line 1: $.outcome: Input should be 'ok', 'unsupported', 'wrong' or 'failed'",
    ),
    "broken details": (
        append("details.jsonl", "7\n"),
        "details.jsonl line 1: expected a JSON object",
    ),
    "no footer": (
        replace("samples.jsonl", '{"complete":true}\n', ""),
        "samples.jsonl: no footer: the run was interrupted or is still measured; finish it with",
    ),
    "something behind the footer": (
        append("samples.jsonl", "[1,"),
        "samples.jsonl: the last line is cut off; fetch the file again",
    ),
}


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_accidents_are_refused_with_file_and_place(tmp_path: Path, accident: str) -> None:
    folder = write(tmp_path / "run")
    change, expected = ACCIDENTS[accident]
    change(folder)
    assert reason(folder).startswith(expected)


def test_bad_samples_are_left_to_analysis(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    edit(folder / "samples.jsonl", "40000000", "NaN")
    assert taken(folder).complete


@pytest.mark.parametrize("cut", [0, 5])
def test_an_interrupted_run_is_taken_where_that_is_asked_for(tmp_path: Path, cut: int) -> None:
    folder = write(tmp_path / "run", complete=False)
    blocks = (folder / "blocks.jsonl").read_text().splitlines(keepends=True)
    (folder / "blocks.jsonl").write_text(blocks[0] + blocks[1][:9])
    size = (folder / "samples.jsonl").stat().st_size
    os.truncate(folder / "samples.jsonl", size - cut)
    assert reason(folder).startswith("samples.jsonl: no footer")
    run = take(Origin(folder, "run", True), tmp_path / "partial")
    assert isinstance(run, Run)
    assert (run.complete, run.blocks) == (False, 1)


def test_a_file_with_one_endless_line_is_told_without_reading_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    os.truncate(folder / "samples.jsonl", folder_of.MOST_LINES)  # zeros, which take no place
    assert reason(folder) == "samples.jsonl line 9: longer than 4 MB, which no run writes"
    assert (tmp_path / "copy/samples.jsonl").stat().st_size <= folder_of.MOST_LINE + admit.CHUNK


def test_a_line_across_chunks_is_measured_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admit, "CHUNK", 64)
    folder = write(tmp_path / "run")
    longest = max(map(len, (folder / "samples.jsonl").read_bytes().split(b"\n")))
    others = [f for f in folder.iterdir() if f.is_file() and f.name != "samples.jsonl"]
    longer = max(longest, *(max(map(len, f.read_bytes().split(b"\n"))) for f in others))
    monkeypatch.setattr(admit, "MOST_LINE", longer)
    assert taken(folder).complete
    monkeypatch.setattr(admit, "MOST_LINE", longer - 1)
    told = take(Origin(folder, "run", False), tmp_path / "again")
    assert isinstance(told, RefusedRun)
    assert "longer than" in told.reason


@pytest.mark.parametrize("name", ["plan.json", "samples.jsonl", "details.jsonl"])
def test_a_file_of_absurd_size_is_not_opened(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "run")
    with (folder / name).open("a") as stream:
        stream.truncate(folder_of.SIZES[name] + 1)
    assert reason(folder).startswith(f"{name}: larger than {folder_of.SIZES[name] >> 20} MB")


def test_a_link_to_a_file_elsewhere_is_not_followed(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    (folder / "machine.json").rename(tmp_path / "elsewhere.json")
    (folder / "machine.json").symlink_to(tmp_path / "elsewhere.json")
    assert reason(folder) == "machine.json is a link or no file; give a folder that holds it"


def test_a_run_that_grows_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "run")
    sized = plainfiles.size

    def then_grown(file: Path) -> int | None:
        size = sized(file)
        if file.name == "samples.jsonl":
            append(file.name, "[]\n")(folder)
        return size

    monkeypatch.setattr(plainfiles, "size", then_grown)
    assert reason(folder).startswith("samples.jsonl: changed while it was read; merge when the run")


def test_only_known_files_are_copied_and_each_counts_for_the_hash(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    (folder / "report.html").write_text("<p>")
    first = admit.copy(folder, tmp_path / "copy")
    names = {"plan.json", "machine.json", "verify.jsonl", "samples.jsonl", "blocks.jsonl"}
    assert {file.name for file in (tmp_path / "copy").iterdir()} == names
    for name in names:
        assert (tmp_path / "copy" / name).read_bytes() == (folder / name).read_bytes()
    assert admit.copy(folder, tmp_path / "same") == first
    for name in names:
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(before[:-1] + b" ")
        assert admit.copy(folder, tmp_path / f"other-{name}") != first
        (folder / name).write_bytes(before)


def test_the_same_bytes_under_another_name_are_another_run(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    (folder / "gate.json").write_text("{}")
    first = admit.copy(folder, tmp_path / "first")
    (folder / "gate.json").rename(folder / "selftest.json")
    assert admit.copy(folder, tmp_path / "second") != first
