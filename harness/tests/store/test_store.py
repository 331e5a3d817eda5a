"""A run's file: all of a set or nothing, and readable whenever it was cut off."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.machine.conditions import Conditions
from sqlitmus.store.file import (
    FILE,
    MOST_EXTENDED,
    Block,
    Record,
    Sample,
    Verified,
    extended,
    opened,
    restless,
)
from sqlitmus.store.folder import RunDirectory, free_moment, latest, name_of, point_latest
from sqlitmus.vocabulary.detail import Detail
from tests.fakes.small import PLAN
from tests.machines.folders import ask, change
from tests.refusals import refused, unfit

RECORDS = [
    Verified(case="get", runner="a", outcome="ok"),
    Verified(case="get", runner="b", outcome="wrong"),
]


def record(position: int, **changes: Any) -> Record:
    place = {"block": position, "position": position}
    given = {"case": "get", "runner": "a", "label": "a", "outcome": "ok"}
    sample = Sample.model_validate({**place, **given, **changes})
    return Record(sample, {"steady": 1.5, "cold": 5.0} if sample.outcome == "ok" else {})


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "results/r1", PLAN, {"cpu": "ß"}, RECORDS, '{"a": 1}')


def test_a_new_run_holds_plan_machine_and_verification(run: RunDirectory) -> None:
    assert {path.name for path in run.path.iterdir()} == {FILE, "logs"}
    again = RunDirectory.open(run.path)
    assert again.plan() == PLAN
    assert ask(run.path, "SELECT name, value FROM fact") == [("cpu", "ß")]
    assert again.verified() == RECORDS
    assert (again.samples(), again.complete(), again.concluded()) == ([], False, False)
    assert ask(run.path, "SELECT selftest FROM run") == [('{"a": 1}',)]
    assert RunDirectory.open(run.path / FILE).path == run.path


def test_samples_are_read_back_in_order(run: RunDirectory) -> None:
    records = [record(0), record(1, outcome="failed", reason="crash"), record(2)]
    run.add(records[:2])
    run.add(records[2:])
    assert run.samples() == [each.sample for each in records]
    assert not run.complete()
    run.finish(PLAN)
    assert run.complete()
    assert {path.name for path in run.path.iterdir()} == {FILE, "logs"}
    assert ask(run.path, "SELECT figure, value FROM result WHERE block = 0") == [
        ("steady", 1.5 / PLAN.units(PLAN.cases[0])[0]),
        ("cold", 5.0),
    ]


def test_a_run_from_before_a_figure_goes_on(run: RunDirectory) -> None:
    change(run.path, "DELETE FROM figure WHERE name = 'cold'")
    run.add([record(0)])
    assert ask(run.path, "SELECT value FROM result WHERE figure = 'cold'") == [(5.0,)]


def test_iterations_and_details_stand_beside_the_samples(run: RunDirectory) -> None:
    detail = Detail(latencies=[(5, 3)])
    series: dict[str, Any] = {"warmup_ns": [9], "iterations_ns": [1, 2], "counted": [True, False]}
    run.add([replace(record(7), **series, detail=detail)])
    assert ask(run.path, "SELECT * FROM iteration") == [(1, "[9]", "[1,2]", "[]", "[1,0]")]
    assert ask(run.path, "SELECT record ->> '$.latencies[0][1]' FROM detail") == [(3,)]


@pytest.mark.parametrize(
    ("value", "kept"), [(1e-30, [(0.0,)]), (float("nan"), []), (1e300, []), (None, [])]
)
def test_a_number_that_no_arithmetic_bears_is_not_kept(
    run: RunDirectory, value: float | None, kept: list[tuple[float]]
) -> None:
    run.add([replace(record(0), figures={"cold": value})])
    assert ask(run.path, "SELECT value FROM value") == kept


def test_of_a_set_there_is_all_or_nothing(run: RunDirectory) -> None:
    run.add([record(0), record(1)])
    before = run.samples()
    with pytest.raises(ValueError, match="get/nobody is no cell of run 1"):
        run.add([record(2), record(3, runner="nobody")])
    with unfit("UNIQUE constraint failed"):
        run.add([record(2), record(0)])
    assert run.samples() == before


ADDS = """
import sys
from pathlib import Path
from sqlitmus.store.folder import RunDirectory
from sqlitmus.store.file import Record, Sample
run = RunDirectory(Path(sys.argv[1]))
for n in range(0, 10000, 2):
    of = {"case": "get", "runner": "a", "label": "a", "outcome": "ok"}
    run.add([Record(Sample(block=b, position=b, **of), {"cold": 1.0}) for b in (n, n + 1)])
    print(n, flush=True)
"""


def test_whoever_is_killed_has_lost_nothing_but_a_set(run: RunDirectory) -> None:
    """Killed at some moment, the file is read without having been repaired, and goes on."""
    command = [sys.executable, "-c", ADDS, run.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as adding:
        assert adding.stdout
        said = [int(adding.stdout.readline()) for _ in range(5)]
        adding.send_signal(signal.SIGKILL)
        said += [int(line) for line in adding.stdout.read().split()]
    positions = [each.position for each in RunDirectory.open(run.path).samples()]
    assert positions[: said[-1] + 2] == [*range(said[-1] + 2)]
    assert len(positions) % 2 == 0
    assert len(positions) <= said[-1] + 4
    run.add([record(20_000)])
    assert len(run.samples()) == len(positions) + 1


def test_a_commit_that_a_kill_cut_off_is_undone(run: RunDirectory, tmp_path: Path) -> None:
    """A finished run has a rollback journal while its gate is written."""
    run.add([record(0)])
    run.finish(PLAN)
    db = sqlite3.connect(run.file, isolation_level=None)
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN")
    db.execute("UPDATE run SET gate = printf('%.*c', 99999, 'x')")
    db.execute("UPDATE run SET complete = 0, gate = '?'")
    shutil.copytree(run.path, tmp_path / "killed")
    db.close()
    killed = tmp_path / "killed"
    assert (killed / f"{FILE}-journal").exists()
    assert RunDirectory.open(killed).complete()
    assert not (killed / f"{FILE}-journal").exists()


def test_a_report_is_made_while_the_run_goes_on_and_ends(run: RunDirectory) -> None:
    run.add([record(0)])
    with opened(run.file) as db:
        for do in (lambda: None, lambda: run.add([record(1)]), lambda: run.finish(PLAN)):
            do()
            assert db.execute("SELECT count(*) FROM sample").fetchone() == (1,)
    assert (len(run.samples()), run.complete()) == (2, True)


def test_a_file_where_no_log_can_be_is_read(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder that nobody may write to, which bars nothing to root."""
    run.add([record(0)])
    connect = sqlite3.connect

    def barred(file: str, **more: Any) -> sqlite3.Connection:
        if "mode=ro" in file:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(file, **more)

    monkeypatch.setattr(sqlite3, "connect", barred)
    assert len(run.samples()) == 1
    (run.path / f"{FILE}-wal").touch()
    with refused("cannot be opened: unable to open database file"):
        run.samples()


def test_a_run_is_not_written_where_another_or_a_file_is(run: RunDirectory, tmp_path: Path) -> None:
    with refused("exists already; choose another --label or --out"):
        RunDirectory.create(run.path, PLAN, {}, [])
    (tmp_path / "file").touch()
    with unfit("results cannot be written: Not a directory"):
        RunDirectory.create(tmp_path / "file/r1", PLAN, {}, [])
    with refused(r"is no run directory: it holds no run\.sqlite"):
        RunDirectory.open(tmp_path)


def test_a_full_disk_is_told_and_what_was_written_stays(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.add([record(0)])
    pages = run.file.stat().st_size // 4096
    connect = sqlite3.connect

    def small(*arguments: Any, **more: Any) -> sqlite3.Connection:
        db = connect(*arguments, **more)
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    monkeypatch.setattr(sqlite3, "connect", small)
    many = replace(record(1), iterations_ns=[10**9] * 99_999)
    with unfit(r"database or disk is full.*run: ./just run --resume"):
        run.add([many])
    assert [each.position for each in run.samples()] == [0]


def test_what_a_plan_says_beyond_today_s_is_ignored(run: RunDirectory) -> None:
    change(run.path, "UPDATE run SET plan = json_set(plan, '$.shard', 1)")
    assert run.plan() == PLAN


def test_latest_points_at_the_newest(run: RunDirectory) -> None:
    results = run.path.parent
    with refused(r"there is no run in .* yet; start one with ./just"):
        latest(results)
    point_latest(run.path)
    assert latest(results) == run.path.resolve()
    second = RunDirectory.create(results / "r2", PLAN, {}, [])
    point_latest(second.path)
    assert latest(results) == second.path.resolve()


def test_latest_works_where_links_are_barred(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def barred(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", barred)
    point_latest(run.path)
    assert (run.path.parent / "latest").read_text("utf-8") == "r1\n"
    assert latest(run.path.parent) == run.path


SECONDS = st.floats(0.001, 1000)


def test_the_time_saved_becomes_pairs_of_blocks_for_those_that_go_on() -> None:
    assert extended(30, 30, 15, saved_s=3.0, block_s=3.0) == 44
    assert extended(30, 30, 15, saved_s=1.0, block_s=3.0) == 34
    assert extended(30, 30, 15, saved_s=0.0, block_s=3.0) == 30
    assert extended(30, 30, 15, saved_s=3.0, block_s=0.0) == 15  # nobody does


@given(st.integers(20, 1000), SECONDS, SECONDS)
def test_a_run_takes_no_longer_than_planned(planned: int, saved_s: float, block_s: float) -> None:
    blocks = planned // 2
    until = extended(planned, planned, blocks, saved_s, block_s)
    assert planned <= until <= MOST_EXTENDED * planned
    whole = (planned - blocks) * (saved_s + block_s)
    assert (until - blocks) * block_s <= whole * (1 + 1e-9)


@pytest.mark.parametrize(
    ("shares", "busy"),
    [
        ([0.0, 0.0, 0.0], {}),
        ([0.01, 0.01, 0.01], {}),  # as much as is allowed
        ([0.0, 0.009, 0.5], {}),  # once, for whatever reason
        ([0.0, 0.02, 0.5], {"other": 0.02}),
        ([None, 0.3, None], {"other": 0.3}),  # blocks in which it did not wait
        ([], {}),
    ],
)
def test_the_usual_share_of_the_processor_between_turns_is_told(
    shares: list[float | None], busy: dict[str, float]
) -> None:
    look = Conditions(monotonic_ns=0)
    idle = [{"quiet": 0.0} | ({} if share is None else {"other": share}) for share in shares]
    blocks = [Block(block=n, before=look, after=look, idle=of) for n, of in enumerate(idle)]
    assert restless(blocks) == busy


BEGIN = datetime(2026, 1, 31, 23, 59, 59, 250_000, UTC)


def test_a_name_that_is_taken_waits_for_the_next_second(tmp_path: Path) -> None:
    now, slept = BEGIN, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += timedelta(seconds=seconds)

    names: list[str] = []
    for label in ("quick", "quick", "full"):
        names.append(name_of(free_moment(tmp_path, label, lambda: now, sleep), label))
        (tmp_path / names[-1]).mkdir()
    assert names == [
        "2026-01-31T235959Z-quick",
        "2026-02-01T000000Z-quick",
        "2026-02-01T000000Z-full",
    ]
    assert slept == [0.75]
