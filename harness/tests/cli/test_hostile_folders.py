"""Each command that takes a folder refuses one that leads elsewhere, and changes nothing there."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog.plan import MOST
from sqlitmus.run.plan import planning
from sqlitmus.run.processes.progress import Progress
from sqlitmus.store.file import FILE, LOGS, RENDERED
from sqlitmus.store.folder import latest, point_latest
from sqlitmus.vocabulary import paths
from tests.analysis import runs
from tests.cli.calling import Call
from tests.faults.folders import DRIVES
from tests.machines import folders
from tests.refusals import refused, unfit

NAMES = (FILE, f"{FILE}-wal", f"{FILE}-shm", *RENDERED, LOGS)


@pytest.mark.parametrize("command", ["report", "export", "compare", "run --resume"])
@pytest.mark.parametrize("name", NAMES)
def test_a_link_under_any_name_is_refused(
    call: Call, tmp_path: Path, command: str, name: str
) -> None:
    run, diary = folders.write(tmp_path / "run"), tmp_path / "diary.txt"
    diary.write_text("my diary, without a line end")
    if name == LOGS:
        (run / name).rename(tmp_path / "moved")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(diary)
    others = [folders.write(tmp_path / "other")] if command == "compare" else []
    done = call(*command.split(), *others, run)
    assert done.code == 2
    assert f"{run / name} is a link or no f" in done.err
    assert diary.read_text() == "my diary, without a line end"
    assert done.out == ""


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


def test_latest_leads_nowhere_else(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = folders.write(results / "run")
    point_latest(run)
    assert latest(results) == run
    (results / "latest").unlink()
    (results / "latest").symlink_to(folders.write(tmp_path / "elsewhere"))
    with refused(r"leads elsewhere, to .*; name the run that you"):
        latest(results)
    (results / "latest").unlink()
    (results / "latest").write_text("../elsewhere\n")
    with refused("leads elsewhere"):
        latest(results)
    (results / "latest").unlink()
    (results / "latest").mkdir()
    with unfit("cannot be made to point at the newest run: Is a directory"):
        point_latest(run)


def test_programs_are_started_that_the_user_named_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    subjects = ["node@24.1.0", "rust+threading=serialized", "node=/opt/node"]
    planning.check_programs(paths.ROOT, subjects[:2], force=False)
    with refused("would start node=/opt/node, which no run begun on this"):
        planning.check_programs(paths.ROOT, subjects, force=False)
    planning.check_programs(paths.ROOT, subjects, force=True)
    planning.remember(subjects)
    planning.check_programs(paths.ROOT, subjects, force=False)


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
