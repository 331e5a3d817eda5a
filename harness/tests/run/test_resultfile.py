"""A result file is read as a stranger's: a bounded regular file, in which each thing is once."""

import json
import os
from pathlib import Path

import pytest

from sqlitmus.run.processes import process
from sqlitmus.run.processes.process import Unreadable
from tests.run.test_hyperfine import RESULT

TEXT = json.dumps(RESULT)
WORKER: dict[str, object] = {"operations": 1, "rows": 1, "checksum": 1, "iterations_ns": []}


def problem(file: Path) -> str:
    with pytest.raises(Unreadable) as raised:
        process.read(file)
    return str(raised.value)


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "result.json"
    file.write_text(text, "utf-8")
    return file


def test_a_result_is_read(tmp_path: Path) -> None:
    assert process.read(written(tmp_path, TEXT)).cell == "a/b"
    with pytest.raises(FileNotFoundError):
        process.read(tmp_path / "none")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ('"rows": 1, "rows": 2', "its result has the key rows twice in one object"),
        (
            '"switches": {"voluntary": 1, "voluntary": 2, "involuntary": 3}',
            "its result has the key voluntary twice in one object",
        ),
        (f'"rows": {10**30}', "its result has an integer of 31 digits: 100000000000…"),
        (
            f'"workers": [{json.dumps(WORKER)[:-1]}, "spans_us": [[0, 1e308]]}}]',
            "its result has the number 1e308, which is out of all bounds",
        ),
        (
            f'"warmup_ns": [{"[" * 100_000}{"]" * 100_000}]',
            "its result does not fit the contract: whole file: Invalid JSON: recursion limit",
        ),
        ('"rows": NaN', "its result does not fit the contract: "),
    ],
)
def test_what_no_runner_means_is_refused(tmp_path: Path, more: str, text: str) -> None:
    assert problem(written(tmp_path, f"{TEXT[:-1]}, {more}}}")).startswith(text)


def test_more_than_any_job_needs_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, TEXT + " " * 2**20)
    assert process.read(file).cell == "a/b"
    monkeypatch.setattr(process, "MOST_BYTES", 2**20)
    assert problem(file).startswith("its result has 1.0 MB; 1 MB are room for any job's")


def test_a_folder_is_no_result(tmp_path: Path) -> None:
    folder = tmp_path / "result.json"
    folder.mkdir()
    # Windows does not open one
    assert problem(folder).startswith(
        ("its result is no regular file", "its result cannot be read")
    )
    (folder / "more").touch()
    process.clear(folder)
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_nothing_waits_for_the_other_end_of_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "result.json"
    os.mkfifo(pipe)
    assert problem(pipe) == "its result is no regular file"
    process.keep(pipe, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    file, link = written(tmp_path, TEXT), tmp_path / "link"
    link.symlink_to(file)
    assert problem(link) == "its result is a link, which the harness does not follow"
    process.keep(link, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    process.clear(link)
    assert (file.exists(), link.is_symlink()) == (True, False)


def test_what_is_kept_as_evidence_is_the_file_as_it_is(tmp_path: Path) -> None:
    process.keep(written(tmp_path, "no JSON"), tmp_path / "copy")
    assert (tmp_path / "copy").read_text("utf-8") == "no JSON"
