"""Whatever the texts of a run are, no format of any command drives a terminal or turns a line."""

import re
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.run.processes.progress import Progress
from tests.analysis import runs
from tests.cli.calling import Call, sqlitmus
from tests.faults.folders import DRIVES
from tests.machines import folders

STAIN = "\x1b[2J\x1b]0;x\x07\x9b31m\r\x00\x7f\u202e\u2066\u200f\ufeff|'\""
# Words of closed sets, dates, and what ties files to each other.
STAYS = re.compile(
    r"ok|failed|wrong|suite|none|runner|floor|steady|reads|total|\d{4}-.*|driver|[0-9a-f]{16,}|w?al|canary"
)
FORMATS = [
    *(("report", name) for name in ("html", "md", "json", "text")),
    *(("export", name) for name in ("csv", "json", "markdown", "bmf", "gha-benchmark")),
]


def stained(value: Any, *, keys: bool = True) -> Any:
    """`value` with the stain at the end of each text in it."""
    if isinstance(value, str):
        return value if STAYS.fullmatch(value) else value + STAIN
    if isinstance(value, list):
        return [stained(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        free = ("axes", "pragmas", "definitions", "cells")
        return {
            (key if keys else stained(key)): stained(item, keys=key not in free)
            for key, item in fields.items()
        }
    return value


def stained_run(folder: Path) -> Path:
    """A run with every text stained, one runner missing and one failed."""
    absent = runs.runner("deno", missing="not installed: see there", description=None)
    named = [runs.runner(name) for name in folders.NAMES]
    of = folders.plan(folder.name, ["get-pk"], blocks=12, runners=[*named, absent], rerun="./just")
    lines = runs.samples(of, runs.noisy())
    lines[-2] |= {"outcome": "failed", "reason": "it broke\nhere"}
    return runs.write(
        folder,
        stained(of),
        verify=[*map(stained, runs.checks(of))],
        lines=[*map(stained, lines)],
        machine=stained(folders.FACTS, keys=False),
        blocks=[folders.block(number) for number in range(of["blocks"])],
        gate={"lines": [f"A sentence{STAIN}."]},
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return stained_run(tmp_path / "run")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    return partial(sqlitmus, capsys, monkeypatch)


@pytest.mark.parametrize(("command", "format_"), FORMATS)
def test_no_format_of_a_run(call: Call, run: Path, command: str, format_: str) -> None:
    done = call(command, run, "--format", format_, "--out", "-")
    assert done.code == 0, done.err
    assert "SQL" in done.out or command == "export"
    assert not DRIVES.search(done.out + done.err)


def test_no_sentence_of_a_refusal(call: Call, run: Path) -> None:
    done = call("report", run, "--reference", "nobody")
    assert done.code == 2
    assert "?[2J" in done.err
    assert not DRIVES.search(done.out + done.err)


def test_no_format_of_a_comparison(call: Call, run: Path, tmp_path: Path) -> None:
    other = stained_run(tmp_path / "other")
    for format_ in ("node-csv", "text", "md"):
        done = call("compare", run, other, "-r", f"bun{STAIN}", "--format", format_)
        assert done.code == 0, done.err
        assert not DRIVES.search(done.out + done.err)


@given(st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "L"]), max_size=30))
def test_no_line_of_progress(text: str) -> None:
    lines: list[str] = []

    class Stream:
        def write(self, written: str) -> None:
            lines.append(written)

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return False

    progress = Progress(cast("Any", Stream()))
    progress.insist(text)
    progress.step(text, milestone=True)
    shown = "".join(lines)
    assert len(shown.split("\n")) == 3
    assert not DRIVES.search(shown)
