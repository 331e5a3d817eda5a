"""Pauses between sessions: waited for, told, ended by Ctrl-C."""

import os
import signal
from io import StringIO
from types import SimpleNamespace

import pytest

from sqlitmus.run.measure import blocks
from sqlitmus.run.processes.progress import Progress, Stop
from tests.fakes.clone import Clone
from tests.fakes.instant import PROBE_NS, Desk, Instant

EACH = 3  # invocations of a block: a, b, canary


class Clock:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(blocks, "time", SimpleNamespace(monotonic=made.monotonic, sleep=made.sleep))
    return made


def test_a_pause_lasts_as_long_as_asked_and_is_told_once_without_a_terminal(clock: Clock) -> None:
    stream = StringIO()
    assert blocks.pause(90.5, "session 2 of 3 begins", Stop(Instant()), Progress(stream))
    assert clock.now == pytest.approx(190.5)
    assert stream.getvalue() == "session 2 of 3 begins in 1:30\n"


def test_a_request_to_stop_ends_a_pause_within_a_second(clock: Clock) -> None:
    stop = Stop(Instant())
    sleep = clock.sleep

    def interrupted(seconds: float) -> None:
        sleep(seconds)
        if clock.now > 110:
            stop()

    blocks.time.sleep = interrupted
    assert not blocks.pause(3600, "x", stop, Progress(StringIO()))
    assert 110 < clock.now <= 112


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Desk:
    del clock
    for name in ("a", "b"):
        catalogue.runner(name)
    catalogue.replace(
        "scenarios/modes.toml",
        'summary = "warmed up"\nblocks = 2',
        'summary = "warmed up"\nblocks = 9\nsessions = 3\npause_s = 600',
    )
    return Desk.make(catalogue, monkeypatch)


def test_sessions_lie_apart_and_each_begins_with_its_own_look(desk: Desk, clock: Clock) -> None:
    probed: list[float] = []

    def probe() -> int:
        probed.append(clock.now)
        return PROBE_NS

    desk.monkeypatch.setattr(blocks, "probe", probe)
    assert desk.run(mode="standard").exit == 0
    plan = desk.clone.latest().plan()
    assert (plan.blocks, plan.sessions, plan.pause_s) == (27, 3, 600)
    # two looks a block: before and after it
    assert probed == [100.0] * 18 + [700.0] * 18 + [1300.0] * 18
    lines = desk.said().splitlines()
    told = [line for line in lines if line.startswith("session ")]
    assert told == ["session 2 of 3 begins in TIME", "session 3 of 3 begins in TIME"]


def test_a_budget_holds_the_pauses_too(desk: Desk, clock: Clock) -> None:
    def planned(budget_s: float) -> tuple[int, int]:
        label = f"within-{budget_s:g}"
        assert desk.run(mode="standard", time_budget_s=budget_s, label=label).exit == 0
        plan = desk.clone.latest().plan()
        return plan.blocks, plan.sessions

    block_s = 3 * 0.3  # what a process counts as that was never tried
    assert planned(1200 + 33.5 * block_s) == (33, 3)
    assert clock.now == 100 + 1200
    # what is left beside the pauses would give no session a verdict
    assert planned(29.5 * block_s) == (29, 1)


def test_ctrl_c_in_a_pause_keeps_all_and_resume_begins_the_session(
    desk: Desk, clock: Clock
) -> None:
    sleep = clock.sleep

    def interrupted(seconds: float) -> None:
        sleep(seconds)
        if clock.now == 103:
            os.kill(os.getpid(), signal.SIGINT)

    blocks.time.sleep = interrupted
    assert desk.run(mode="standard").exit == 130
    run = desk.clone.latest()
    assert len(list(run.samples())) == 9 * EACH
    assert desk.resume(run.path).exit == 0
    assert len(list(run.samples())) == 27 * EACH
    assert clock.now == pytest.approx(103 + 2 * 600)
