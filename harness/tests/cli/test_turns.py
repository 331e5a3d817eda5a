"""Runs whose processes take turns: whole sets, in order, whatever befalls one of them."""

import json
import os
import signal

import numpy as np
import pytest

from sqlitmus.run.processes.turns import Turns, laps, level_ns, timed
from tests.cli.calling import together
from tests.cli.test_interrupt import check_order, let_go, resume, under_way
from tests.fakes.clone import Clone, until
from tests.machines.folders import ask

pytestmark = together

# every runner of a case at once: 2 warm-ups, then 4 turns of 2 iterations
ALL = ("run", "--mode", "relayed", "--size", "s", "--seed", "5")
RUN = (*ALL, "--case", "get", "--case", "insert")  # two blocks, with a canary
ONCE = (*ALL, "--blocks", "1")
WARMUP, ROUNDS, PER_TURN = 2, 4, 2


def test_the_times_of_a_set_are_those_of_its_laps(clone: Clone) -> None:
    """Beside processes that a runner has of its own."""
    clone.runner("a")
    clone.runner("family", "family=group,session,daemon")
    done = clone.sqlitmus(*RUN)
    assert done.code == 0, done.err
    assert clone.outcomes() == {"a": "ok", "family": "ok"}
    check_order(clone, whole=True)
    # warm-up, timed iterations, what others took of each lap, which laps count
    question = (
        "SELECT block, cell.case_id, position, warmup, timed, lost, counted FROM iteration "
        "JOIN sample ON sample.id = sample JOIN cell ON cell.id = cell"
    )
    sets: dict[tuple[int, str], dict[int, list[list[int]]]] = {}
    for block, case, position, *series in ask(clone.latest().path, question):
        sets.setdefault((block, case), {})[position] = [*map(json.loads, series)]
    assert len(sets) == 4
    steady_ns = clone.values("steady")
    turns = Turns(warmup=WARMUP, rounds=ROUNDS, lead_in=1, lap=1)
    for positions in sets.values():
        kept = list(positions.values())
        assert all(len(warmup) == WARMUP for warmup, *_ in kept)
        table = [laps(timed(ns, turns), lost_ns) for _, ns, lost_ns, _ in kept]
        levels = level_ns(np.array(table), np.array(kept[0][3], dtype=np.bool_))
        assert [steady_ns[position] for position in positions] == pytest.approx(levels)
    assert not clone.values("cold")


def test_a_runner_of_the_core_takes_turns_and_cold_cases_take_none(clone: Clone) -> None:
    clone.core()
    clone.runner("a")
    done = clone.sqlitmus(*ONCE, "--case", "get", "--case", "noop")
    assert done.code == 0, done.err
    assert clone.outcomes() == {"a": "ok", "core": "ok"}
    of = {case: {s.position for s in clone.samples() if s.case == case} for case in ("get", "noop")}
    assert clone.values("cold").keys() == of["noop"]
    assert clone.values("steady").keys() == of["get"]


def test_the_scheme_can_be_asked_for(clone: Clone) -> None:
    clone.runner("a")
    assert clone.sqlitmus(*RUN, "--scheme", "process").code == 0
    assert {s.position for s in clone.samples() if s.block} <= clone.values("cold").keys()
    assert clone.latest().plan().scheme == "process"


KILLED = "was killed by SIGKILL (exit code 137) and wrote no result"
ACTS = {
    "dies@1": KILLED,
    f"dies@{WARMUP + 1}": KILLED,
    f"dies@{WARMUP + ROUNDS * PER_TURN}": KILLED,
    f"leaves@{WARMUP + 2}": "left 1 process running",
    f"forks@{WARMUP + 2}": "left 1 process running",
    "forks@1": "left 1 process running",
}


@pytest.mark.parametrize("act", ACTS)
def test_who_dies_or_leaves_something_running_costs_its_own_cells(clone: Clone, act: str) -> None:
    clone.runner("a")
    clone.runner("odd", f"in-turn={act}")
    clone.runner("z")
    assert clone.sqlitmus(*ONCE, "--case", "all").code == 4
    assert clone.outcomes() == {"a": "ok", "odd": "failed", "z": "ok"}
    assert len([s for s in clone.samples() if s.runner == "a"]) == 1
    (reason,) = {s.reason or "" for s in clone.samples() if s.runner == "odd"}
    assert reason.startswith(ACTS[act])
    assert clone.alive() == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_set_that_was_cut_off_is_played_again(clone: Clone, number: signal.Signals) -> None:
    clone.runner("a")
    clone.runner("waits", f"in-turn=waits@{WARMUP + 3}")
    process = under_way(clone, *RUN)
    process.send_signal(number)
    if number == signal.SIGINT:
        let_go(clone)
    done = clone.finish(process)
    assert done.code == (130 if number == signal.SIGINT else -9)
    assert clone.samples() == []
    until(lambda: not clone.alive(), "the guardian ends them")
    done = resume(clone)
    assert done.code == 0, done.err
    measured = check_order(clone, whole=True)
    assert len({position for position, _, _ in measured}) == len(measured) == 12
