"""Folders that cannot be written, full disks, broken files: told early, and nothing is lost."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from sqlitmus.catalog import definitions, fixture
from sqlitmus.run import session
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.verify import answers
from sqlitmus.store import file as store
from sqlitmus.vocabulary import paths
from tests.cli.calling import together
from tests.fakes.clone import Clone, measured_order, planned_order
from tests.refusals import unfit

IN_THE_WAY = "a file is in the way\n"
NO_CARGO = json.dumps({"hyperfine": {"missing": "no cargo; get Rust"}})
SIZE = "there is no size xl; expected one of s, m"
OUT = "CLONE/results: cannot be written: File exists; choose another with --out"
EARLY = {
    "results that cannot be written": ("results", IN_THE_WAY, ("--size", "s"), 3, OUT),
    "no hyperfine": (
        *("paths.json", NO_CARGO, ("--size", "s"), 3),
        "hyperfine is needed: no cargo; get Rust",
    ),
    "an unknown size": ("notes", "", ("--size", "xl"), 2, SIZE),
}


@pytest.mark.parametrize("name", EARLY)
def test_what_makes_a_run_impossible_is_told_before_anything_runs(clone: Clone, name: str) -> None:
    file, text, options, code, message = EARLY[name]
    clone.runner("a")
    clone.write(file, text)
    done = clone.sqlitmus("run", *options)
    assert (done.code, done.out, done.err) == (code, "", f"sqlitmus: {message}\n")
    assert clone.pids() == []


def test_a_set_up_folder_that_cannot_be_written_is_told(clone: Clone) -> None:
    clone.runner("a")
    clone.write("toolchain", IN_THE_WAY)
    done = clone.sqlitmus("verify", "--size", "s")
    assert done.code == 3
    assert "Set SQLITMUS_TOOLCHAIN to a folder that can be written." in done.err


def test_no_runner_that_was_asked_for_is_there(clone: Clone) -> None:
    clone.runner("odd", "describe-crashes")
    done = clone.sqlitmus("run", "--size", "s")
    assert done.code == 3
    assert done.err.splitlines() == [
        "odd: missing: `describe` failed: exit code 3: no such driver",
        "sqlitmus: no runner is present; run ./just setup and read what it reports",
    ]


def test_a_malformed_catalogue_is_told_with_its_place(clone: Clone) -> None:
    clone.runner("a")
    clone.replace("scenarios/tiny.toml", "operations = 4", "operations = = 4")
    done = clone.sqlitmus("run", "--size", "s")
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "sqlitmus: CLONE/scenarios/tiny.toml: not TOML: Invalid value (at line 9, column 14)\n",
    )


@pytest.fixture
def inside(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """The clone for calls within this process."""
    for name in ("SQLITMUS_TOOLCHAIN", "SQLITMUS_PATHS", "SQLITMUS_LOCK"):
        monkeypatch.setenv(name, clone.environment()[name])
    monkeypatch.setattr(paths, "OWN_RUNNERS", clone.root / "runners")
    monkeypatch.setattr(paths, "RESULTS", clone.root / "results")
    return clone


def run(clone: Clone, resume: Path | None = None, **more: Any) -> session.Ended:
    """A run, or the rest of one, of three blocks; what it says is shown where a test fails."""
    root = clone.root
    known = definitions.read(root / "scenarios", root / "fixtures", root / "runners")
    options = session.Options(size="s", blocks=3, seed=3, **more)
    given = options, known, paths.tools(), Progress()
    return session.resume(resume, *given, force=False) if resume else session.run(*given)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_beside_one_another_runners_have_the_fate_that_they_have_alone(
    inside: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, behaviour in {"a": "honest", "b": "leaves=session", "c": "unsupported"}.items():
        inside.runner(name, behaviour)
    monkeypatch.setattr("sqlitmus.machine.system.usable", lambda: 2)
    fates, started = list[object](), list[int]()
    for least in (1000, 2):
        monkeypatch.setattr("sqlitmus.run.verify.answers.LEAST_BESIDE", least)
        run(inside, fresh=True)
        fates.append([(r.runner, r.outcome, r.reason) for r in inside.latest().verified()])
        started.append(len(inside.pids()))
    assert fates[0] == fates[1]
    assert started[1] == 2 * started[0] + 2, "who left something running was not asked again, alone"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fixture_is_built_once_and_before_another_fork_reads_it(
    inside: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(file: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object) -> object:
            with (inside.root / file).open("a") as stream:
                stream.write(f"{os.getpid()}\n")
            return function(*given)

        return call

    inside.two_of_each()
    monkeypatch.setattr("sqlitmus.machine.system.usable", lambda: 2)
    monkeypatch.setattr(answers, "LEAST_BESIDE", 2)
    monkeypatch.setattr(answers, "oracle_answer", noted("asks", answers.oracle_answer))
    monkeypatch.setattr(fixture, "build", noted("builds", fixture.build))
    run(inside)
    builds, asks = ((inside.root / file).read_text().split() for file in ("builds", "asks"))
    assert len(builds) == 1
    assert not {*builds} & {*asks}


FULL = (sqlite3.SQLITE_FULL, "database or disk is full", "free some space")
FAILS = "see what the system's log says of the disk, move the folder if it fails"
BROKEN = (sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error", FAILS)
OTHER = (sqlite3.SQLITE_BUSY, "database is locked", "see that nothing else writes to the folder")


@pytest.mark.parametrize(
    ("writes", "accident"), [(1, FULL), (4, FULL), (7, FULL), (4, BROKEN), (1, OTHER)]
)
def test_a_disk_that_fails_leaves_the_samples_readable_and_resumable(
    inside: Clone, monkeypatch: pytest.MonkeyPatch, writes: int, accident: tuple[int, str, str]
) -> None:
    code, words, remedy = accident
    inside.runner("a")
    inside.runner("b")
    insert = store.insert_records
    left = writes

    def until_full(db: sqlite3.Connection, run: int, records: Sequence[store.Record]) -> None:
        nonlocal left
        insert(db, run, records)
        left -= 1
        if left < 0:
            error = sqlite3.OperationalError(words)
            error.sqlite_errorcode = code
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(store, "insert_records", until_full)
        with unfit() as told:
            run(inside)
    path = inside.latest().path
    assert str(told.value) == (
        f"{path / store.FILE}: could not be written: {words}. What was written "
        f"stays readable; {remedy} and run: ./just run --resume {path}"
    )
    done = measured_order(inside.latest())
    assert done == planned_order(inside.latest())[: len(done)]
    assert done

    assert run(inside, resume=path).exit == 0
    assert measured_order(inside.latest()) == planned_order(inside.latest())


def test_too_little_space_is_told_before_measuring(
    inside: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside.runner("a")
    almost_full = type(shutil.disk_usage(inside.root))(2**30, 2**30 - 2**20, 2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: almost_full)
    with unfit(r"only 1 MB free, 256 MB are needed; free some or choose"):
        run(inside)
    assert inside.pids() == []


@together
def test_a_table_that_would_grow_beyond_the_disk_is_told_before_the_first_block(
    inside: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two copies: the runner's, and its A/A control's."""
    inside.runner("a")
    inside.replace("scenarios/modes.toml", "pilot = 2", "pilot = 2\nscheme = 'relay'")
    tiny = "scenarios/tiny.toml"
    inside.replace(tiny, 'reset = ["DELETE FROM sink"]\nreset_every = 3\n', "")
    inside.replace(tiny, "sink(a) VALUES (?)", "sink(a) VALUES (zeroblob(100000 + ?))")
    inside.replace(tiny, "id, a FROM sink", "id, length(a) AS a FROM sink")
    least, usage = 256 * 2**20, type(shutil.disk_usage(inside.root))
    room = [5, 3]  # MB
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, least + room[0] * 2**20))
    assert run(inside, mode="piloted", cases=["insert"]).exit == 0
    del room[0]
    with unfit(r"outgrow the disk: insert \(3.5 MB\), and 3.0 MB are free"):
        run(inside, mode="piloted", cases=["insert"])


def test_a_disk_that_is_full_in_a_block_fails_its_cell_with_that_reason(clone: Clone) -> None:
    clone.runner("a", "fills-the-disk")
    clone.runner("b")
    done = clone.sqlitmus("run", "--size", "s", "--case", "insert", "--quiet")
    assert (done.code, clone.outcomes()) == (4, {"a": "failed", "b": "ok"})
    (reason,) = {str(s.reason) for s in clone.samples() if s.runner == "a"}
    assert "database or disk is full (SQLite code 13)" in reason


def test_a_run_leaves_neither_scratch_nor_processes(inside: Clone) -> None:
    inside.runner("a", "crash")
    inside.runner("b")
    before = set(psutil.Process().children(recursive=True))
    assert run(inside).exit == 4
    assert list((inside.root / "toolchain/cache/work").iterdir()) == []
    assert set(psutil.Process().children(recursive=True)) <= before
