"""Folders that cannot be written, full disks, broken files: told early, and nothing is lost."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from sqlitmus.catalog import fixture
from sqlitmus.run.verify import answers
from sqlitmus.store import file as store
from tests import known
from tests.cli.calling import Call, together
from tests.fakes.clone import Clone, Done, measured_order, planned_order
from tests.fakes.instant import Desk

RUNNERS = ("a", "b")
RUN = ("run", "--size", "s")
MORE = ("--blocks", "3", "--seed", "3", "--quiet")
IN_THE_WAY = "a file is in the way\n"
NO_CARGO = json.dumps({"hyperfine": {"missing": "no cargo; get Rust"}})
SIZE = "there is no size xl; expected one of s, m"
OUT = "CLONE/results: cannot be written: File exists; choose another with --out"
TINY = "scenarios/tiny.toml"
NOT_TOML = f"CLONE/{TINY}: not TOML: Invalid value (at line 1, column 5)"
EARLY = {
    "results that cannot be written": ("results", IN_THE_WAY, "s", 3, OUT),
    "no hyperfine": ("paths.json", NO_CARGO, "s", 3, "hyperfine is needed: no cargo; get Rust"),
    "an unknown size": ("notes", "", "xl", 2, SIZE),
    "a malformed catalogue": (TINY, "a = = 4", "s", 2, NOT_TOML),
}


@pytest.mark.parametrize("name", EARLY)
def test_what_makes_a_run_impossible_is_told_before_anything_runs(clone: Clone, name: str) -> None:
    file, text, size, code, message = EARLY[name]
    clone.runner("a")
    clone.write(file, text)
    assert clone.sqlitmus("run", "--size", size) == Done(code, "", f"sqlitmus: {message}\n")
    assert clone.pids() == []


def test_a_set_up_folder_that_cannot_be_written_is_told(clone: Clone) -> None:
    clone.runner("a")
    clone.write("toolchain", IN_THE_WAY)
    done = clone.sqlitmus("verify", "--size", "s")
    assert done.code == 3
    assert "Set SQLITMUS_TOOLCHAIN to a folder that can be written." in done.err


def test_no_runner_that_was_asked_for_is_there(clone: Clone) -> None:
    clone.runner("odd", "describe-crashes")
    done = clone.sqlitmus(*RUN)
    assert done.code == 3
    assert done.err.splitlines() == [
        "odd: missing: `describe` failed: exit code 3: no such driver",
        "sqlitmus: no runner is present; run ./just setup and read what it reports",
    ]


@pytest.fixture
def inside(clone: Clone, call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Real runs within this process, where two processors can be used."""
    for name in ("SQLITMUS_TOOLCHAIN", "SQLITMUS_PATHS", "SQLITMUS_LOCK"):
        monkeypatch.setenv(name, clone.environment()[name])
    monkeypatch.setattr("sqlitmus.vocabulary.paths.OWN_RUNNERS", clone.root / "runners")
    monkeypatch.setattr("sqlitmus.vocabulary.paths.RESULTS", clone.root / "results")
    monkeypatch.setattr("sqlitmus.catalog.definitions.load", lambda: known.read(clone.root))
    monkeypatch.setattr("sqlitmus.machine.system.usable", lambda: 2)
    return call


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_beside_one_another_runners_have_the_fate_that_they_have_alone(
    clone: Clone, inside: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, behaviour in {"a": "honest", "b": "leaves=session", "c": "unsupported"}.items():
        clone.runner(name, behaviour)
    before = set(psutil.Process().children(recursive=True))
    fates, started = list[object](), list[int]()
    for least in (1000, 2):
        monkeypatch.setattr(answers, "LEAST_BESIDE", least)
        assert inside(*RUN, *MORE, "--fresh", "--label", str(least)).code == 4
        fates.append([(r.runner, r.outcome, r.reason) for r in clone.latest().verified()])
        started.append(len(clone.pids()))
    assert fates[0] == fates[1]
    assert started[1] == 2 * started[0] + 2, "who left something running was not asked again, alone"
    assert list((clone.root / "toolchain/cache/work").iterdir()) == []
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fixture_is_built_once_and_before_another_fork_reads_it(
    clone: Clone, inside: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(file: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object) -> object:
            with (clone.root / file).open("a") as stream:
                stream.write(f"{os.getpid()}\n")
            return function(*given)

        return call

    clone.two_of_each()
    monkeypatch.setattr(answers, "LEAST_BESIDE", 2)
    monkeypatch.setattr(answers, "oracle_answer", noted("asks", answers.oracle_answer))
    monkeypatch.setattr(fixture, "build", noted("builds", fixture.build))
    assert inside("verify", "--size", "s").code == 0
    builds, asks = ((clone.root / file).read_text().split() for file in ("builds", "asks"))
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
    desk: Desk, at_desk: Call, writes: int, accident: tuple[int, str, str]
) -> None:
    code, words, remedy = accident
    insert = store.insert_records
    left = writes

    def until_full(*given: Any) -> None:
        nonlocal left
        insert(*given)
        left -= 1
        if left < 0:
            error = sqlite3.OperationalError(words)
            error.sqlite_errorcode = code
            raise error

    with desk.monkeypatch.context() as patch:
        patch.setattr(store, "insert_records", until_full)
        done = at_desk(*RUN, *MORE)
    run = desk.clone.latest()
    where = f"CLONE/results/{desk.clone.plain(run.path.name)}"
    told = (
        f"sqlitmus: {where}/run.sqlite: could not be written: {words}. What was written stays "
        f"readable; {remedy} and run: ./just run --resume {where}\n"
    )
    assert done == Done(3, "", told)
    measured = measured_order(run)
    assert measured == planned_order(run)[: len(measured)] != []

    assert at_desk("run", "--resume", str(run.path)).code == 0
    assert measured_order(run) == planned_order(run)


def free_space(monkeypatch: pytest.MonkeyPatch, mb: int) -> None:
    """Let every disk have so much free space; 256 MB are needed for anything."""

    def usage(_: object) -> Any:
        return SimpleNamespace(free=mb * 2**20)

    monkeypatch.setattr(shutil, "disk_usage", usage)


def test_too_little_space_is_told_before_measuring(desk: Desk, at_desk: Call) -> None:
    free_space(desk.monkeypatch, 1)
    done = at_desk(*RUN)
    assert done.code == 3
    assert "only 1 MB free, 256 MB are needed; free some or choose" in done.err
    assert desk.instant.verified == desk.instant.measured == []


@together
def test_a_table_that_would_grow_beyond_the_disk_is_told_before_the_first_block(
    clone: Clone, inside: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two copies: the runner's, and its A/A control's."""
    clone.runner("a")
    clone.replace("scenarios/modes.toml", "pilot = 2", "pilot = 2\nscheme = 'relay'")
    clone.replace(TINY, 'reset = ["DELETE FROM sink"]\nreset_every = 3\n', "")
    clone.replace(TINY, "sink(a) VALUES (?)", "sink(a) VALUES (zeroblob(100000 + ?))")
    clone.replace(TINY, "id, a FROM sink", "id, length(a) AS a FROM sink")
    free_space(monkeypatch, 256 + 5)
    run = (*RUN, "--mode", "piloted", "--case", "insert", *MORE)
    assert inside(*run).code == 0
    free_space(monkeypatch, 256 + 3)
    done = inside(*run, "--label", "short")
    assert (done.code, done.out) == (3, "")
    assert "outgrow the disk: insert (3.5 MB), and 3.0 MB are free" in done.err


def test_a_disk_that_is_full_in_a_block_fails_its_cell_with_that_reason(clone: Clone) -> None:
    clone.runner("a", "fills-the-disk")
    clone.runner("b")
    done = clone.sqlitmus(*RUN, "--case", "insert", "--quiet")
    assert (done.code, clone.outcomes()) == (4, {"a": "failed", "b": "ok"})
    (reason,) = {str(s.reason) for s in clone.samples() if s.runner == "a"}
    assert "database or disk is full (SQLite code 13)" in reason
