"""Runs whose processes take turns: whole sets, in order, whatever befalls one of them."""

import json
import os
import signal

import numpy as np
import pytest

from sqlitmus.run.processes.turns import Turns, laps, level_ns, timed
from tests.cli.calling import together
from tests.cli.test_interrupt import resume, under_way
from tests.fakes.clone import Clone, measured_order, planned_order, until
from tests.machines.folders import ask

pytestmark = together

# every runner of a case at once: 2 warm-ups, then 4 turns of 2 iterations
ALL = ("run", "--mode", "relayed", "--size", "s", "--seed", "5")
RUN = (*ALL, "--case", "get", "--case", "insert")  # two blocks, with a canary
ONCE = (*ALL, "--blocks", "1")
WARMUP, ROUNDS, PER_TURN = 2, 4, 2


def iterations(clone: Clone) -> dict[int, tuple[list[int], ...]]:
    """Warm-up, timed iterations, what others took of each lap, which laps count; by position."""
    question = (
        "SELECT position, warmup, timed, lost, counted "
        "FROM iteration JOIN sample ON sample.id = sample"
    )
    return {
        position: tuple(map(json.loads, series))
        for position, *series in ask(clone.latest().path, question)
    }


def test_the_times_of_a_set_are_those_of_its_laps(clone: Clone) -> None:
    clone.runner("a")
    clone.runner("b")
    done = clone.sqlitmus(*RUN)
    assert done.code == 0, done.err
    run = clone.latest()
    assert measured_order(run) == planned_order(run)
    series = iterations(clone)
    by_set: dict[tuple[int, str], list[int]] = {}
    steady_ns = clone.values("steady")
    for sample in run.samples():
        by_set.setdefault((sample.block, sample.case), []).append(sample.position)
    turns = Turns(warmup=WARMUP, rounds=ROUNDS, lead_in=1, lap=1)
    for positions in by_set.values():
        assert all(len(series[position][0]) == WARMUP for position in positions)
        kept = [series[position] for position in positions]
        table = [laps(timed(ns, turns), lost_ns) for _, ns, lost_ns, _ in kept]
        levels = level_ns(np.array(table), np.array(kept[0][3], dtype=np.bool_))
        assert [steady_ns[position] for position in positions] == pytest.approx(levels)
    assert not clone.values("cold")


def test_a_runner_may_have_processes_of_its_own_beside_others(clone: Clone) -> None:
    clone.runner("a")
    clone.runner("family", "family=group,session,daemon")
    done = clone.sqlitmus(*RUN)
    assert done.code == 0, done.err
    assert clone.outcomes() == {"a": "ok", "family": "ok"}


def test_a_runner_of_the_core_takes_turns(clone: Clone) -> None:
    clone.core()
    clone.runner("a")
    done = clone.sqlitmus(*ONCE, "--case", "get")
    assert done.code == 0, done.err
    assert clone.outcomes() == {"a": "ok", "core": "ok"}


def test_the_scheme_can_be_asked_for(clone: Clone) -> None:
    clone.runner("a")
    assert clone.sqlitmus(*RUN, "--scheme", "process").code == 0
    assert {s.position for s in clone.samples() if s.block} <= clone.values("cold").keys()
    assert clone.latest().plan().scheme == "process"


def test_cold_cases_take_no_turns(clone: Clone) -> None:
    clone.runner("a")
    assert clone.sqlitmus(*ONCE, "--case", "noop").code == 0
    assert clone.values("cold").keys() == {sample.position for sample in clone.samples()}


@pytest.mark.parametrize("release", [1, WARMUP + 1, WARMUP + ROUNDS * PER_TURN])
def test_who_dies_costs_its_own_cells_only(clone: Clone, release: int) -> None:
    clone.runner("a")
    clone.runner("dies", f"in-turn=dies@{release}")
    clone.runner("z")
    done = clone.sqlitmus(*ONCE, "--case", "all")
    assert done.code == 4
    assert clone.outcomes() == {"a": "ok", "dies": "failed", "z": "ok"}
    assert len([s for s in clone.samples() if s.runner == "a"]) == 1
    reasons = {s.reason for s in clone.samples() if s.runner == "dies"}
    assert reasons == {"was killed by SIGKILL (exit code 137) and wrote no result"}
    assert clone.alive() == []


@pytest.mark.parametrize("act", [f"leaves@{WARMUP + 2}", f"forks@{WARMUP + 2}", "forks@1"])
def test_what_one_leaves_running_is_its_own_fault(clone: Clone, act: str) -> None:
    clone.runner("a")
    clone.runner("leaves", f"in-turn={act}")
    clone.runner("z")
    assert clone.sqlitmus(*ONCE, "--case", "get").code == 4
    assert clone.outcomes() == {"a": "ok", "leaves": "failed", "z": "ok"}
    (reason,) = {s.reason for s in clone.samples() if s.runner == "leaves"}
    assert reason
    assert reason.startswith("left 1 process running")
    assert clone.alive() == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_set_that_was_cut_off_is_played_again(clone: Clone, number: signal.Signals) -> None:
    clone.runner("a")
    clone.runner("waits", f"in-turn=waits@{WARMUP + 3}")
    process = under_way(clone, *RUN)
    process.send_signal(number)
    if number == signal.SIGINT:
        with clone.state("waits").with_suffix(".gate").open("wb"):
            pass
    done = clone.finish(process)
    assert done.code == (130 if number == signal.SIGINT else -9)
    assert clone.samples() == []
    until(lambda: not clone.alive(), "the guardian ends them")
    done = resume(clone)
    assert done.code == 0, done.err
    run = clone.latest()
    assert measured_order(run) == planned_order(run)
    assert len({s.position for s in run.samples()}) == len(run.samples()) == 12
