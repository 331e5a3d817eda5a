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
from hypothesis import given, strategies as st

from sqlitmus.store import file as runs
from sqlitmus.store.file import FILE, MOST_EXTENDED, Record, Sample, Verified, extended
from sqlitmus.store.folder import RunDirectory, free_moment, latest, name_of, point_latest
from tests.analysis.runs import Detail
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


def test_what_is_written_is_read_back_in_order(run: RunDirectory) -> None:
    again = RunDirectory.open(run.path / FILE)
    assert again.path == run.path
    change(run.path, "UPDATE run SET plan = json_set(plan, '$.shard', 1)")  # of a later version
    assert again.plan() == PLAN
    assert again.verified() == RECORDS
    assert ask(run.path, "SELECT name, value FROM fact") == [("cpu", "ß")]
    assert ask(run.path, "SELECT selftest FROM run") == [('{"a": 1}',)]
    assert (again.samples(), again.complete(), again.concluded()) == ([], False, False)
    # as of a run from before that figure
    change(run.path, "DELETE FROM figure WHERE name = 'cold'")
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


def test_iterations_and_details_stand_beside_the_samples(run: RunDirectory) -> None:
    detail = Detail(latencies=[(5, 3)])
    series: dict[str, Any] = {"warmup_ns": [9], "iterations_ns": [1, 2], "counted": [True, False]}
    run.add([replace(record(7), **series, detail=detail)])
    assert ask(run.path, "SELECT * FROM iteration") == [(1, "[9]", "[1,2]", "[]", "[1,0]")]
    assert ask(run.path, "SELECT record ->> '$.latencies[0][1]' FROM detail") == [(3,)]


def test_a_number_that_no_arithmetic_bears_is_not_kept(run: RunDirectory) -> None:
    values = (1e-30, float("nan"), 1e300, None, 2.0**63, 2.0**-63)
    run.add([replace(record(n), figures={"cold": value}) for n, value in enumerate(values, 1)])
    kept = [(1, 0.0), (5, 2.0**63), (6, 2.0**-63)]
    assert ask(run.path, "SELECT sample, value FROM value") == kept


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
    run.finish(PLAN)
    db = sqlite3.connect(run.file, isolation_level=None)
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN")
    db.execute("UPDATE run SET gate = printf('%.*c', 99999, 'x')")
    db.execute("UPDATE run SET complete = 0, gate = '?'")
    killed = shutil.copytree(run.path, tmp_path / "killed")
    db.close()
    journal = killed / f"{FILE}-journal"
    assert journal.exists()
    assert RunDirectory.open(killed).complete()
    assert not journal.exists()


def test_a_report_is_made_while_the_run_goes_on_and_ends(run: RunDirectory) -> None:
    run.add([record(0)])
    with runs.opened(run.file) as db:
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
    with unfit(r"database or disk is full.*; free some space and run: ./just run --resume"):
        run.add([replace(record(1), iterations_ns=[10**9] * 99_999)])
    assert [each.position for each in run.samples()] == [0]


@pytest.mark.parametrize("linked", [True, False])
def test_latest_points_at_the_newest_where_links_are_barred_too(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, *, linked: bool
) -> None:
    def barred(*_: object, **__: object) -> None:
        raise OSError("no links here")

    if not linked:
        monkeypatch.setattr(Path, "symlink_to", barred)
    results = run.path.parent
    with refused(r"there is no run in .* yet; start one with ./just"):
        latest(results)
    for path in (run.path, RunDirectory.create(results / "r2", PLAN, {}, []).path):
        point_latest(path)
        assert latest(results) == path
    assert (results / "latest").is_symlink() == linked


SECONDS = st.floats(0.001, 1000)


def test_the_time_saved_becomes_pairs_of_blocks_for_those_that_go_on() -> None:
    saved = [(3.0, 3.0), (1.0, 3.0), (0.0, 3.0), (3.0, 0.0)]  # in the last nobody does
    assert [extended(30, 30, 15, *times) for times in saved] == [44, 34, 30, 15]


@given(st.integers(20, 1000), SECONDS, SECONDS)
def test_a_run_takes_no_longer_than_planned(planned: int, saved_s: float, block_s: float) -> None:
    blocks = planned // 2
    until = extended(planned, planned, blocks, saved_s, block_s)
    assert planned <= until <= MOST_EXTENDED * planned
    whole = (planned - blocks) * (saved_s + block_s)
    assert (until - blocks) * block_s <= whole * (1 + 1e-9)


def test_the_usual_share_of_the_processor_between_turns_is_told() -> None:
    look = {"monotonic_ns": 0}
    idle = [
        {"quiet": 0.0, "allowed": 0.01, "once": 0.0, "often": 0.0},
        {"quiet": 0.0, "allowed": 0.01, "once": 0.009, "often": 0.02, "waited once": 0.3},
        {"quiet": 0.0, "allowed": 0.01, "once": 0.5, "often": 0.5},
    ]
    of = [{"block": n, "before": look, "after": look, "idle": each} for n, each in enumerate(idle)]
    blocks = map(runs.Block.model_validate, of)
    assert runs.restless(blocks) == {"often": 0.02, "waited once": 0.3}
    assert runs.restless([]) == {}


def test_a_name_that_is_taken_waits_for_the_next_second(tmp_path: Path) -> None:
    now, slept = datetime(2026, 1, 31, 23, 59, 59, 250_000, UTC), list[float]()

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
