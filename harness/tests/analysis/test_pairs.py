"""Every runner against every other: ratios, verdicts, sessions, and counts of each runner."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from syrupy.assertion import SnapshotAssertion

from tests import worded
from tests.analysis import runs

NAMES = ("node", "bun", "rust-ffi")
BLOCKS = 36


def timed(time: runs.Times | None = None, **how: Any) -> runs.Report:
    return runs.report(runs.plan(blocks=how.pop("blocks", 12)), time=time, **how)


def by_session(*ratios: float) -> runs.Times:
    """Bun's ratio in each of as many sessions."""
    times = [runs.noisy({"bun": ratio}, spread=0.005) for ratio in ratios]
    return lambda case, label, block: times[block * len(ratios) // BLOCKS](case, label, block)


def in_sessions(time: runs.Times, sessions: int, **how: Any) -> runs.Report:
    planned = runs.plan(["node", "bun"], blocks=BLOCKS, sessions=sessions)
    return runs.report(planned, time=time, **how)


def copied(times: int) -> runs.Times:
    return lambda _c, name, block: (100 + block) * (times if name == "bun" else 1)


def without(*names: str, blocks: Sequence[int]) -> runs.Changes:
    """What lacks these runners in these blocks, in turn."""
    lacking = [(names[block % len(names)], block) for block in blocks]
    return [({"label": name, "block": block}, None) for name, block in lacking]


APART, ALIKE = by_session(1.04, 1.10, 0.99), by_session(1.1, 1.1, 1.1)
LAST: runs.Changes = [({"block": block}, None) for block in range(24, BLOCKS)]
COMPARED: dict[str, Callable[[], runs.Report]] = {
    "equal": timed,
    "bun is slower": partial(timed, runs.noisy({"bun": 1.3})),
    "bun may be slower": partial(timed, runs.noisy({"bun": 1.02}, spread=0.05)),
    "the control is slower": partial(timed, runs.noisy({"canary": 1.2})),
    "nine blocks": partial(timed, runs.noisy({"bun": 2.0}), blocks=9),
    "one block": partial(timed, blocks=1),
    "a runner alone": partial(runs.report, runs.plan(["node"])),
    "copied times": partial(timed, copied(1)),
    "threefold times": partial(timed, copied(3)),
    # what one lacks changes its pairs alone
    "bun lacks a block": partial(timed, sampled=without("bun", blocks=[5])),
    "bun and node share no block": partial(timed, sampled=without("bun", "node", blocks=range(12))),
    "sessions apart, taken as one": partial(in_sessions, APART, 1),
    "sessions apart": partial(in_sessions, APART, 3),
    "sessions alike": partial(in_sessions, ALIKE, 3),
    "two sessions alike": partial(in_sessions, ALIKE, 2),
    "a session is lacking": partial(in_sessions, by_session(1.1, 1.1, 9.0), 3, sampled=LAST),
}


@pytest.mark.parametrize("name", COMPARED)
def test_all_pairs_and_the_control_are_compared(name: str, snapshot: SnapshotAssertion) -> None:
    report = COMPARED[name]()
    case = report.cases[0]
    pairs = [f"{c.runner}/{c.reference}: {runs.told(c)}" for c in case.comparisons]
    assert [*pairs, f"control: {runs.told(case.canary)}"] == snapshot
    if not pairs:
        assert all(standing.contrast is None for standing in report.standings)
        assert all(cell.overhead is None for cell in case.cells)


@given(st.floats(0.5, 2.0), st.floats(0.001, 0.1), st.floats(1e-3, 1e3), st.permutations(NAMES))
@settings(max_examples=20)  # each is two reports
def test_neither_order_nor_speed_matter_and_exchange_inverts(
    ratio: float, spread: float, speed: float, order: Sequence[str]
) -> None:
    time = runs.noisy({"bun": ratio}, spread=spread)
    of = runs.plan(order, reference="node", canary="node")
    again = runs.report(of, time=lambda c, label, block: speed * time(c, label, block))
    forth = runs.contrast(timed(time), "bun", "node")
    back = runs.contrast(again, "node", "bun")
    low, high = runs.ends(forth.ratio)
    assert back.ratio.value == pytest.approx(1 / forth.ratio.value, rel=1e-9)
    assert runs.ends(back.ratio) == pytest.approx((1 / high, 1 / low), rel=1e-9)
    assert back.verdict == forth.verdict.opposite
    assert (back.blocks, back.needs_blocks) == (forth.blocks, forth.needs_blocks)


def test_blocks_in_another_order_give_the_same_result() -> None:
    header, *lines = runs.samples(runs.plan(), runs.noisy())
    shuffled = [header, *random.Random(1).sample(lines, len(lines))]
    assert timed(lines=shuffled) == timed()


def test_a_group_knows_no_more_sessions_than_its_cases_do() -> None:
    of_case, alone = None, None
    for names in (("get",), ("get", "all")):
        cases = [runs.case(name) for name in names]
        of = runs.plan(["node", "bun"], blocks=BLOCKS, sessions=3, cases=cases)
        both = runs.report(of, time=APART)
        of_group = next(s.contrast for s in both.standings if s.runner == "bun")
        of_case = of_case or runs.contrast(both, "bun", "node").ratio
        alone = alone or runs.sure(of_group).ratio
    assert alone == of_case
    # what the sessions differ by is not averaged out by a second case
    assert worded.headline(both) == ["Reads (2 cases): bun is tied with node."]


# counts of each runner --------------------------------------------------------------------------


def test_units_of_work_follow_each_runners_own_counts() -> None:
    """Bun, whom the control repeats, does 5 operations where the others do 100."""
    cases = [runs.case("get-pk", per_operation=3), runs.case("get-index")]
    of = runs.plan(NAMES, cases=cases, canary="bun")
    few = runs.counts(5, iterations=20, steadiness="warm-up", steady_from_ms=12.5)
    counts = {"get-pk": {"node": runs.counts(100), "bun": few}}
    time = runs.noisy({"bun": 1.5, "canary": 1.5})

    def fewer(line: runs.Json) -> runs.Json:
        return {name: line[name] / 20 for name in ("steady_ns", "cpu_ns")}

    where = {"runner": "bun", "case": "get-pk"}
    report = runs.report({**of, "counts": counts}, time=time, sampled=[(where, fewer)])
    alike = runs.report(of, time=time)
    for scaled, same in zip(report.cases, alike.cases, strict=True):
        for cell, other in zip(scaled.cells, same.cells, strict=True):
            assert cell.samples == pytest.approx(other.samples)
            assert cell.figures["cpu"].value == pytest.approx(other.figures["cpu"].value)
        assert [*map(runs.told, scaled.comparisons)] == [*map(runs.told, same.comparisons)]
        assert runs.told(scaled.canary) == runs.told(same.canary)
    cells = [runs.cell_of(report, name) for name in NAMES]
    assert [(cell.operations, cell.iterations, cell.steadiness) for cell in cells] == [
        (100, 5, None),
        (5, 20, "warm-up"),
        (100, 0, None),  # not in the counts: the case's own
    ]
    assert report.cases[0].operations == 100
