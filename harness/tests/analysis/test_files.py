from dataclasses import replace
from pathlib import Path

import pytest

from sqlitmus.analysis import RunDataError, analyse, load
from sqlitmus.catalog import presets
from tests.analysis.runs import make, write


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A finished run."""
    return write(tmp_path)


def test_a_run_directory_is_read_as_it_was_written(directory: Path) -> None:
    run = load(directory)
    assert run.presets == presets.load()
    assert analyse(replace(run, presets={})) == analyse(make())


def test_a_last_line_cut_short_is_left_out_and_noted(directory: Path) -> None:
    with (directory / "samples.jsonl").open("rb+") as stream:
        stream.seek(-3, 2)
        stream.truncate()
    run = load(directory)
    assert run.truncated
    assert not run.samples.complete
    assert run.samples.strays == 0


def test_rubbish_in_the_middle_is_refused_with_its_line(directory: Path) -> None:
    file = directory / "samples.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:4], "{oops\n", *lines[4:]]))
    with pytest.raises(RunDataError, match=r"samples.jsonl line 5: not JSON"):
        load(directory)


def test_a_run_killed_before_its_first_sample_is_still_a_run(directory: Path) -> None:
    (directory / "samples.jsonl").write_bytes(b"")
    for name in ("verify.jsonl", "machine.json"):
        (directory / name).unlink()
    run = load(directory)
    assert (run.checks, run.machine, run.truncated) == ({}, {}, False)


@pytest.mark.parametrize(
    ("text", "message"), [(None, "cannot be read"), ("{", "not JSON"), ("[]", "a JSON object")]
)
def test_a_run_without_a_plan_is_refused(directory: Path, text: str | None, message: str) -> None:
    (directory / "plan.json").unlink()
    if text is not None:
        (directory / "plan.json").write_text(text)
    with pytest.raises(RunDataError, match=rf"plan.json: .*{message}"):
        load(directory)
