"""Each command that takes a folder refuses one that leads elsewhere, and changes nothing there."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog.plan import MOST
from sqlitmus.run.plan import planning
from sqlitmus.store.file import FILE, LOGS, RENDERED
from sqlitmus.store.folder import latest, point_latest
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from tests.cli.calling import Call, sqlitmus
from tests.machines import folders

NAMES = (FILE, f"{FILE}-wal", f"{FILE}-shm", *RENDERED, LOGS)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    return partial(sqlitmus, capsys, monkeypatch)


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
    with pytest.raises(UsageError, match=r"leads elsewhere, to .*; name the run that you"):
        latest(results)
    (results / "latest").unlink()
    (results / "latest").write_text("../elsewhere\n")
    with pytest.raises(UsageError, match="leads elsewhere"):
        latest(results)
    (results / "latest").unlink()
    (results / "latest").mkdir()
    with pytest.raises(NotFit, match="cannot be made to point at the newest run: Is a directory"):
        point_latest(run)


def test_programs_are_started_that_the_user_named_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    subjects = ["node@24.1.0", "rust+threading=serialized", "node=/opt/node"]
    planning.check_programs(paths.ROOT, subjects[:2], force=False)
    with pytest.raises(UsageError, match="would start node=/opt/node, which no run begun on this"):
        planning.check_programs(paths.ROOT, subjects, force=False)
    planning.check_programs(paths.ROOT, subjects, force=True)
    planning.remember(subjects)
    planning.check_programs(paths.ROOT, subjects, force=False)
