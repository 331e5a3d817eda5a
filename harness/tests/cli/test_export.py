"""`export` as a user calls it, on a run directory; and runs of a catalogue of one's own."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.analysis.runs import Json, checks, plan, write
from tests.cli.calling import Call, check_refusals, data
from tests.export.reading import read
from tests.fakes.clone import Clone
from tests.machines.merged_runs import Directory


def run_of(of: Json, folder: Path) -> Path:
    """A finished run of `of` in which bun does not support one case."""
    verified = checks(of)
    verified[1] |= {"outcome": "unsupported", "reason": "=bun:sqlite has\nno such shape"}
    return write(folder, of, verify=verified)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing is written into it."""
    return run_of(plan(machine="linux-x64"), tmp_path_factory.mktemp("results") / "run")


@pytest.fixture
def export(call: Call) -> Call:
    return partial(call, "export")


def test_csv_is_the_default_and_holds_the_rows_that_json_does(export: Call, run: Path) -> None:
    done = export(run)
    assert (done.code, done.err) == (0, "")
    rows = read(done.out)
    found = json.loads(export(run, "--format", "json").out)
    assert [row.model_dump(mode="json") for row in rows] == found["rows"]
    assert [machine["name"] for machine in found["machines"]] == ["linux-x64"]
    assert rows[1].reason == "=bun:sqlite has\nno such shape"
    assert '"\'=bun:sqlite has\nno such shape"' in done.out
    found = json.loads(export(run, "--format", "json", "--reference", "bun").out)
    assert {row["reference"] for row in found["rows"]} == {"bun"}


def test_the_newest_run_is_the_default(
    export: Call, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run.parent / "latest").symlink_to(run.name)
    monkeypatch.setattr("sqlitmus.vocabulary.paths.RESULTS", run.parent)
    assert export().out == export(run).out != ""


@pytest.mark.parametrize("format_", ["bmf", "gha-benchmark"])
def test_trackers_get_what_has_a_time_and_the_rest_is_told(
    export: Call, run: Path, format_: str
) -> None:
    done = export(run, "--format", format_)
    assert len(json.loads(done.out)) == 5
    assert done.err == f"{format_}: 1 of 6 cells left out: 1 unsupported\n"


def test_markdown_within_a_limit(export: Call, run: Path) -> None:
    whole = export(run, "--format", "markdown").out
    assert "### reads on linux-x64" in whole
    short = export(run, "--format", "markdown", "--limit", len(whole.encode()) - 1).out
    assert "Left out for length: 1 of 2 rows" in short


def test_a_file_holds_what_stdout_would(export: Call, run: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "run.csv"
    done = export(run, "-o", file)
    assert (done.code, done.out, done.err) == (0, "", f"{file}\n")
    assert file.read_text("utf-8") == export(run, "-o", "-").out


def test_a_run_without_a_machines_name_is_unnamed(export: Call, tmp_path: Path) -> None:
    rows = read(export(run_of(plan(), tmp_path / "run")).out)
    assert {row.machine for row in rows} == {"unnamed"}


def test_what_cannot_be_had_is_told(export: Call, run: Path) -> None:
    check_refusals("export", partial(export, run))


def test_a_folder_that_is_no_run_is_told(export: Call, tmp_path: Path) -> None:
    done = export(tmp_path)
    assert done.code == 2
    assert "is no run directory: it holds no run.sqlite" in done.err


def test_a_merged_directory_has_rows_of_each_machine(export: Call, tmp_path: Path) -> None:
    merged = Directory(tmp_path / "merged")
    merged.add("linux-x64")
    merged.add("macos-arm64", kind="macos-arm64", architecture="arm64", ratios={"bun": 0.5})
    merged.write()
    rows = read(export(merged.path).out)
    assert list(dict.fromkeys(row.machine for row in rows)) == ["linux-x64", "macos-arm64"]
    halved = next(row for row in rows if (row.machine, row.runner) == ("macos-arm64", "bun"))
    assert halved.ratio == pytest.approx(0.5, rel=0.05)


ONE = ("--case", "mine", "--size", "s")
SMOKE = ("run", *ONE, "--mode", "smoke")
PRESETS = "scenarios/presets.toml"


@pytest.fixture
def bare(clone: Clone) -> Clone:
    """A catalogue with a scenario, a fixture and a runner, and nothing else."""
    for name in ("profiles", "modes", "suites", "tiny"):
        (clone.root / f"scenarios/{name}.toml").unlink()
    clone.write("scenarios/mine.toml", data("mine.toml"))
    clone.runner("a")
    return clone


def test_modes_and_profiles_are_inherited(bare: Clone) -> None:
    done = bare.sqlitmus(*SMOKE, "--case", "mine@workers=2")
    assert done.code == 0, done.err
    one, case = bare.latest().plan().cases
    assert (one.workers, case.workers) == (1, 2)
    assert case.journal_mode == "wal"
    assert case.notes == [
        "It chooses no profile, so every connection gets the pragmas of `normalised`."
    ]


def test_suites_and_runners_are_those_of_the_clone_and_its_own(bare: Clone) -> None:
    done = bare.sqlitmus("verify", "--suite", "smoke", "--size", "s")
    assert done.out.splitlines() == ["ok           mine/a", "ok           mine/python"]
    (bare.root / "runners/python/runner.toml").unlink()
    done = bare.sqlitmus("verify", *ONE, "-r", "a", "-r", "python", "-r", "node")
    assert done.out.splitlines() == ["ok           mine/python", "ok           mine/a"]
    assert done.err.startswith("node: missing: ")


def test_a_list_of_nothing_says_so_unless_there_is_no_folder_of_scenarios(bare: Clone) -> None:
    (bare.root / "scenarios/mine.toml").unlink()
    done = bare.sqlitmus("list")
    assert (done.code, done.out, done.err) == (0, "there are none\n", "")
    for name in ("scenarios", "fixtures", "runners/python"):
        shutil.rmtree(bare.root / name)
    done = bare.sqlitmus("list")
    assert (done.code, done.err) == (0, "")
    assert "get-pk" in done.out


def test_its_own_presets_decide_its_runs_unless_calls_are_given(bare: Clone) -> None:
    bare.runner("b")
    preset = '[mine]\ntitle = "mine"\nsummary = "all of it"\ncalls = { %s = 10 }\n'
    bare.write(PRESETS, preset % "yours")
    done = bare.sqlitmus(*SMOKE)
    assert done.code == 2
    assert "presets.toml:4: mine.calls.yours: there is no scenario 'yours'" in done.err
    bare.write(PRESETS, preset % "mine")
    done = bare.sqlitmus(*SMOKE)
    assert done.code == 0, done.err
    assert "For mine, too few blocks for a verdict: 1 of 10." in done.out
    (bare.root / PRESETS).unlink()
    done = bare.sqlitmus(*SMOKE, "--weights", "mine=2", "--label", "weights")
    assert done.code == 0, done.err
    assert "For your calls, too few blocks for a verdict" in done.out
    done = bare.sqlitmus("report", "--format", "md", "--out", "-")
    # no preset calls the only case that this catalogue has
    assert "too few blocks for a verdict" not in done.out
    done = bare.sqlitmus("report", "--weights", "yours=1")
    assert (done.code, "there is no case 'yours'" in done.err) == (2, True)
