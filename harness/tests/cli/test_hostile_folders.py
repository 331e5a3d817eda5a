"""Each command that takes a folder refuses one that leads elsewhere, and changes nothing there."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from sqlitmus.catalog.plan import MOST
from sqlitmus.run.plan import planning
from sqlitmus.run.processes.progress import Progress
from tests.analysis import runs
from tests.cli.calling import Call
from tests.fakes.instant import Desk
from tests.faults.folders import DRIVES
from tests.machines import folders
from tests.refusals import refused

RUNNERS = ("a",)
NAMES = ("run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "report.html", "summary.json", "logs")


@pytest.mark.parametrize("command", ["report", "export", "compare", "run --resume"])
def test_a_link_under_any_name_is_refused(call: Call, tmp_path: Path, command: str) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("my diary, without a line end")
    others = [folders.write(tmp_path / "other")] if command == "compare" else []
    for name in NAMES:
        run = folders.write(tmp_path / f"with-{name}")
        if name == "logs":
            (run / name).rename(tmp_path / "moved")
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(diary)
        done = call(*command.split(), *others, run)
        assert (done.code, done.out) == (2, "")
        assert f"{run / name} is a link or no f" in done.err
    assert diary.read_text() == "my diary, without a line end"


@pytest.mark.parametrize(("key", "most"), MOST.items())
def test_no_number_is_beyond_what_is_read(call: Call, tmp_path: Path, key: str, most: int) -> None:
    run = folders.write(tmp_path / "run")
    ((text,),) = folders.ask(run, "SELECT plan FROM run")
    raw: dict[str, Any] = json.loads(text)
    changes: dict[str, Any] = {key: most + 1}
    if key in ("cases", "runners"):
        name = "id" if key == "cases" else "name"
        more = [{**raw[key][0], name: str(n)} for n in range(most + 1 - len(raw[key]))]
        changes = {key: [*raw[key], *more]}
    if key == "sessions":
        changes["blocks"] = most + 1
    folders.replan(run, **changes)
    done = call("report", run)
    assert done.code == 2
    assert f"plan: $.{key}: {most + 1} is more than {most:,}, the most that" in done.err


def test_latest_leads_nowhere_else(desk: Desk, at_desk: Call) -> None:
    run = ("run", "--size", "s", "--blocks", "1", "-q")
    assert at_desk(*run).code == 0
    assert at_desk("report").code == 0
    latest = desk.clone.root / "results/latest"
    latest.unlink()
    latest.symlink_to(folders.write(desk.clone.root / "elsewhere"))
    done = at_desk("report")
    assert done.code == 2
    assert re.search(r"leads elsewhere, to .*; name the run that you", done.err)
    latest.unlink()
    latest.write_text("../elsewhere\n")
    done = at_desk("report")
    assert (done.code, "leads elsewhere" in done.err) == (2, True)
    latest.unlink()
    latest.mkdir()
    done = at_desk(*run, "--label", "again")
    assert done.code == 3
    assert "cannot be made to point at the newest run: Is a directory" in done.err


def test_programs_are_started_that_the_user_named_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    subjects = ["node@24.1.0", "rust+threading=serialized", "node=/opt/node"]
    planning.check_programs(tmp_path, subjects[:2], force=False)
    with refused("would start node=/opt/node, which no run begun on this"):
        planning.check_programs(tmp_path, subjects, force=False)
    planning.check_programs(tmp_path, subjects, force=True)
    planning.remember(subjects)
    planning.check_programs(tmp_path, subjects, force=False)


STAIN = "\x1b[2J\x1b]0;x\x07\x9b31m\r\x00\x7f\u202e\u2066\u200f\ufeff|'\""
# Words of closed sets, dates, and what ties files to each other.
STAYS = re.compile(
    r"ok|failed|wrong|suite|none|runner|floor|steady|reads|total|\d{4}-.*|driver|[0-9a-f]{16,}|w?al|canary"
)
FORMATS = {
    "report": ("html", "md", "json", "text"),
    "export": ("csv", "json", "markdown", "bmf", "gha-benchmark"),
}


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


def test_nothing_that_a_command_prints_drives_a_terminal(call: Call, tmp_path: Path) -> None:
    run, other = stained_run(tmp_path / "run"), stained_run(tmp_path / "other")
    for command, formats in FORMATS.items():
        for format_ in formats:
            done = call(command, run, "--format", format_, "--out", "-")
            assert done.code == 0, done.err
            assert "SQL" in done.out or command == "export"
            assert not DRIVES.search(done.out + done.err), (command, format_)
    for format_ in ("node-csv", "text", "md"):
        done = call("compare", run, other, "-r", f"bun{STAIN}", "--format", format_)
        assert done.code == 0, done.err
        assert not DRIVES.search(done.out + done.err), format_
    done = call("report", run, "--reference", "nobody")
    assert (done.code, "?[2J" in done.err) == (2, True)
    assert not DRIVES.search(done.out + done.err)


@given(st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "L"]), max_size=30))
def test_no_line_of_progress_does(text: str) -> None:
    shown = StringIO()
    progress = Progress(shown)
    progress.insist(text)
    progress.step(text, milestone=True)
    assert len(shown.getvalue().split("\n")) == 3
    assert not DRIVES.search(shown.getvalue())
