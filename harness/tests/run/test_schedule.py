"""Order of measurement: pinned for a seed, complete, mirrored, adjacent."""

import os
import signal
from collections.abc import Callable
from io import StringIO
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog.cases import STAGGERS
from sqlitmus.catalog.plan import canaries
from sqlitmus.run.measure import blocks
from sqlitmus.run.measure.agenda import CANARY, Slot, schedule, stagger
from sqlitmus.run.processes.progress import Progress, Stop
from sqlitmus.run.processes.turns import Turns, laps, level_ns, timed
from tests.fakes.clone import Clone
from tests.fakes.instant import PROBE_NS, Desk
from tests.run.made import planned

CELLS = {"get": ["a", "b", "c"], "all": ["a", "b"], "noop": ["c"]}
TWICE = canaries(CELLS, "a", {})
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
PLANS = st.dictionaries(
    st.text("xyz", min_size=1, max_size=3), st.lists(NAMES, unique=True), min_size=1, max_size=6
)


def blocks_of(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int
) -> list[list[Slot]]:
    slots = schedule(cells, canaries(cells, canary, {}), blocks, seed)
    return [list(block) for _, block in groupby(slots, lambda slot: slot.block)]


def test_the_order_of_a_seed_is_pinned() -> None:
    said = [f"{s.position} {s.block} {s.case}/{s.label}" for s in schedule(CELLS, TWICE, 2, 7)]
    assert said == PINNED


def test_a_case_may_have_a_canary_of_its_own() -> None:
    twice = canaries(CELLS, "a", {"all": "b", "noop": "c"})
    slots = [s for s in schedule(CELLS, twice, 1, 7) if s.label == CANARY]
    assert sorted((s.case, s.runner) for s in slots) == [("all", "b"), ("get", "a"), ("noop", "c")]


@given(PLANS, st.none() | NAMES, st.integers(1, 5), st.integers(0, 2**31))
def test_each_block_holds_each_cell_once_and_the_canary_where_its_runner_is(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int
) -> None:
    expected = {(case, name) for case, names in cells.items() for name in names}
    expected |= {(case, CANARY) for case, names in cells.items() if canary in names}
    made = blocks_of(cells, canary, blocks, seed)
    assert len(made) == (blocks if expected else 0)
    for block in made:
        labels = [(slot.case, slot.label) for slot in block]
        assert len(labels) == len(expected)
        assert set(labels) == expected


@given(PLANS, st.none() | NAMES, st.integers(2, 5), st.integers(0, 2**31))
def test_an_odd_block_mirrors_the_even_one_before_it(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int
) -> None:
    made = blocks_of(cells, canary, blocks, seed)
    for even, odd in zip(made[::2], made[1::2], strict=False):
        assert [(s.case, s.label) for s in odd] == [(s.case, s.label) for s in even][::-1]


@given(PLANS, st.none() | NAMES, st.integers(1, 3), st.integers(0, 2**31))
def test_the_runners_of_a_case_stand_next_to_each_other(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int
) -> None:
    for block in blocks_of(cells, canary, blocks, seed):
        visited = [case for case, _ in groupby(block, lambda slot: slot.case)]
        assert len(visited) == len(set(visited))


@given(PLANS, st.integers(1, 5), st.integers(0, 2**31))
def test_positions_count_up_and_more_blocks_leave_the_first_as_they_were(
    cells: dict[str, list[str]], blocks: int, seed: int
) -> None:
    slots = list(schedule(cells, {}, blocks, seed))
    assert [slot.position for slot in slots] == list(range(len(slots)))
    longer = list(schedule(cells, {}, blocks + 2, seed))
    assert longer[: len(slots)] == slots


def test_pairs_of_blocks_differ() -> None:
    many = {f"case-{i}": ["a", "b", "c"] for i in range(8)}
    orders = {tuple((s.case, s.label) for s in block) for block in blocks_of(many, None, 12, 1)}
    assert len(orders) == 12


PINNED = [
    "0 0 noop/c",
    "1 0 get/b",
    "2 0 get/canary",
    "3 0 get/c",
    "4 0 get/a",
    "5 0 all/a",
    "6 0 all/b",
    "7 0 all/canary",
    "8 1 all/canary",
    "9 1 all/b",
    "10 1 all/a",
    "11 1 get/a",
    "12 1 get/c",
    "13 1 get/canary",
    "14 1 get/b",
    "15 1 noop/c",
]


@given(PLANS, st.none() | NAMES, st.integers(1, 3), st.integers(0, 2**31), st.data())
def test_pairs_change_the_order_and_nothing_else(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int, data: st.DataObject
) -> None:
    there = [(case, name) for case, names in cells.items() for name in names]
    cell = st.sampled_from([*there, ("x", "nobody")])
    pairs = data.draw(st.lists(st.tuples(cell, cell), min_size=1, max_size=6))
    paired = list(schedule(cells, canaries(cells, canary, {}), blocks, seed, pairs))
    plain = list(schedule(cells, canaries(cells, canary, {}), blocks, seed))
    assert sorted((s.block, s.case, s.label) for s in paired) == sorted(
        (s.block, s.case, s.label) for s in plain
    )
    for block in range(blocks):
        order = [(s.case, s.runner) for s in paired if s.block == block]
        for first, second in pairs:
            if first in order and second in order:
                between = order[min(map(order.index, (first, second))) :]
                between = between[: max(map(between.index, (first, second))) + 1]
                assert set(between) <= _reachable(first, pairs)


def _reachable(
    cell: tuple[str, str], pairs: list[tuple[tuple[str, str], tuple[str, str]]]
) -> set[tuple[str, str]]:
    found = {cell}
    while more := {c for pair in pairs if found & set(pair) for c in pair} - found:
        found |= more
    return found


@given(st.integers(0, 2**31), st.integers(0, 50))
def test_eight_blocks_have_each_length_of_a_warm_up_once(seed: int, group: int) -> None:
    steps = [stagger(STAGGERS * group + number, seed) for number in range(STAGGERS)]
    assert sorted(steps) == [*range(STAGGERS)]


def test_warm_ups_are_longer_in_an_order_of_the_seed() -> None:
    orders = {tuple(stagger(block, seed) for block in range(STAGGERS)) for seed in range(20)}
    assert len(orders) == 20


PERIOD = 112  # iterations from one collection to the next; a set of 4 turns has 48


def level(warmup: int, step: int) -> float:
    """The mean level of a runner over eight blocks; a collection takes ten iterations' time."""
    turning = {"iterations": 48, "rounds": 4, "lead_in": 4, "stagger": step}
    counts = planned(warmup_iterations=warmup, **turning)
    levels: list[float] = []
    for block in range(STAGGERS):
        turns = Turns.of(counts.staggered(stagger(block, seed=3)))
        numbers = np.arange(turns.warmup, turns.releases)
        times = np.where(numbers % PERIOD == 0, 11_000, 1_000).tolist()
        levels.append(float(level_ns(laps(timed(times, turns))[None])[0]))
    return float(np.mean(levels))


@pytest.mark.parametrize("step", [0, PERIOD // STAGGERS])
def test_a_rare_collection_falls_into_the_laps_of_warm_ups_of_any_length_alike(step: int) -> None:
    levels = [level(warmup, step) for warmup in range(0, 2 * PERIOD, 4)]
    paid = 1_000 * (1 + 10 / PERIOD)  # by somebody who goes on for long
    assert np.mean(levels) == pytest.approx(paid, rel=0.01)
    if step:
        assert max(levels) - min(levels) < 0.15 * paid
    else:  # many warm-ups meet none, and others pay three times too much
        assert (min(levels), max(levels)) == (1_000, 1_000 + 10_000 / 32)


EACH = 3  # invocations of a block: a, b, canary


class Clock:
    """A clock that sleeping moves; `woken` hears of it."""

    now = 100.0
    woken: Callable[[], object] = staticmethod(lambda: None)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.woken()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(blocks, "time", made)
    return made


def test_a_pause_lasts_as_long_as_asked_and_is_told_once_without_a_terminal(clock: Clock) -> None:
    stream = StringIO()
    assert blocks.pause(90.5, "session 2 of 3 begins", Stop(), Progress(stream))
    assert clock.now == pytest.approx(190.5)
    assert stream.getvalue() == "session 2 of 3 begins in 1:30\n"


def test_a_request_to_stop_ends_a_pause_within_a_second(clock: Clock) -> None:
    stop = Stop()
    clock.woken = lambda: clock.now > 110 and stop()
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
    clock.woken = lambda: clock.now == 103 and os.kill(os.getpid(), signal.SIGINT)
    assert desk.run(mode="standard").exit == 130
    run = desk.clone.latest()
    assert len(list(run.samples())) == 9 * EACH
    assert desk.resume(run.path).exit == 0
    assert len(list(run.samples())) == 27 * EACH
    assert clock.now == pytest.approx(103 + 2 * 600)
