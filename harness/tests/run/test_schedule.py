"""Order of measurement: pinned for a seed, complete, mirrored, adjacent."""

import os
import signal
from collections.abc import Callable
from io import StringIO
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sqlitmus.catalog.plan import canaries
from sqlitmus.run.measure import blocks
from sqlitmus.run.measure.agenda import CANARY, schedule, stagger
from sqlitmus.run.processes.progress import Progress, Stop
from sqlitmus.run.processes.turns import Turns, laps, level_ns, timed
from tests.fakes.clone import Clone
from tests.fakes.instant import PROBE_NS, Desk
from tests.run.made import planned

CELLS = {"get": ["a", "b", "c"], "all": ["a", "b"], "noop": ["c"]}
TWICE = canaries(CELLS, "a", {})
STAGGERS = 8  # lengths of a warm-up
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
PLANS = st.dictionaries(
    st.text("xyz", min_size=1, max_size=3), st.lists(NAMES, unique=True), min_size=1, max_size=6
)


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


def test_the_order_of_a_seed_is_pinned() -> None:
    said = [f"{s.position} {s.block} {s.case}/{s.label}" for s in schedule(CELLS, TWICE, 2, 7)]
    assert said == PINNED


def test_a_case_may_have_a_canary_of_its_own() -> None:
    twice = canaries(CELLS, "a", {"all": "b", "noop": "c"})
    slots = [s for s in schedule(CELLS, twice, 1, 7) if s.label == CANARY]
    assert sorted((s.case, s.runner) for s in slots) == [("all", "b"), ("get", "a"), ("noop", "c")]


@given(PLANS, st.none() | NAMES, st.integers(1, 5), st.integers(0, 2**31))
def test_each_block_holds_each_cell_once_and_every_second_one_mirrors(
    cells: dict[str, list[str]], canary: str | None, blocks: int, seed: int
) -> None:
    """The canary is where its runner is, and the runners of a case stand next to each other."""
    expected = [(case, name) for case, names in cells.items() for name in names]
    expected += [(case, CANARY) for case, names in cells.items() if canary in names]
    twice = canaries(cells, canary, {})
    slots = list(schedule(cells, twice, blocks, seed))
    assert [slot.position for slot in slots] == list(range(blocks * len(expected)))
    made = [
        [(slot.case, slot.label) for slot in block]
        for _, block in groupby(slots, lambda slot: slot.block)
    ]
    for block in made:
        assert sorted(block) == sorted(expected)
        assert len([*groupby(block, lambda cell: cell[0])]) == len({case for case, _ in block})
    for even, odd in zip(made[::2], made[1::2], strict=False):
        assert odd == even[::-1]
    # more blocks leave the first as they were
    assert list(schedule(cells, twice, blocks + 2, seed))[: len(slots)] == slots


def test_pairs_of_blocks_and_warm_ups_have_orders_of_their_own() -> None:
    many = {f"case-{i}": ["a", "b", "c"] for i in range(8)}
    slots = schedule(many, {}, 12, 1)
    blocks = {tuple((s.case, s.label) for s in of) for _, of in groupby(slots, lambda s: s.block)}
    assert len(blocks) == 12
    orders = {tuple(stagger(block, seed) for block in range(STAGGERS)) for seed in range(20)}
    assert len(orders) == 20


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


def test_a_pause_lasts_as_long_as_asked_unless_somebody_asks_to_stop(clock: Clock) -> None:
    stream, stop = StringIO(), Stop()
    assert blocks.pause(90.5, "session 2 of 3 begins", stop, Progress(stream))
    assert clock.now == pytest.approx(190.5)
    assert stream.getvalue() == "session 2 of 3 begins in 1:30\n"  # once without a terminal
    clock.woken = lambda: clock.now > 200 and stop()
    assert not blocks.pause(3600, "x", stop, Progress(StringIO()))
    assert 200 < clock.now <= 202


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Desk:
    del clock
    for name in ("a", "b"):
        catalogue.runner(name)
    catalogue.replace(
        "scenarios/modes.toml",
        'summary = "warmed up"\nblocks = 2',
        'summary = "warmed up"\nblocks = 2\nsessions = 3\npause_s = 600',
    )
    return Desk.make(catalogue, monkeypatch)


def test_sessions_lie_apart_and_each_begins_with_its_own_look(desk: Desk, clock: Clock) -> None:
    """Ctrl-C in a pause keeps all, and a resumed run begins the session."""
    probed: list[float] = []

    def probe() -> int:
        probed.append(clock.now)
        return PROBE_NS

    desk.monkeypatch.setattr(blocks, "probe", probe)
    clock.woken = lambda: clock.now == 103 and os.kill(os.getpid(), signal.SIGINT)
    assert desk.run(mode="standard").exit == 130
    run = desk.clone.latest()
    plan = run.plan()
    assert (plan.blocks, plan.sessions, plan.pause_s) == (6, 3, 600)
    assert len(run.samples()) == 2 * EACH
    assert desk.resume(run.path).exit == 0
    assert len(run.samples()) == 6 * EACH
    # two looks a block: before and after it
    assert probed == [100.0] * 4 + [703.0] * 4 + [1303.0] * 4
    told = [line for line in desk.said().splitlines() if line.startswith("session ")]
    later = "session {} of 3 begins in TIME"
    assert told == [later.format(number) for number in (2, 2, 3)]


@pytest.mark.parametrize(
    ("budget_s", "blocks", "sessions"),
    [
        (1200 + 33.5 * 3 * 0.3, 33, 3),  # a process counts as 0.3 s that was never tried
        # what is left beside the pauses would give no session a verdict
        (29.5 * 3 * 0.3, 29, 1),
    ],
)
def test_a_budget_holds_the_pauses_too(
    desk: Desk, budget_s: float, blocks: int, sessions: int
) -> None:
    desk.instant.before = lambda _name, _number: os.kill(os.getpid(), signal.SIGINT)
    assert desk.run(mode="standard", time_budget_s=budget_s).exit == 130
    plan = desk.clone.latest().plan()
    assert (plan.blocks, plan.sessions) == (blocks, sessions)
