"""Every runner against every other: ratios, verdicts, sessions, and counts of each runner."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worded
from tests.analysis import runs
from tests.refusals import refused

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


APART, ALIKE = by_session(1.04, 1.10, 0.99), by_session(1.1, 1.1, 1.1)
LAST = [({"block": block}, None) for block in range(24, BLOCKS)]
BUN: dict[str, tuple[Callable[[], runs.Report], str]] = {
    "is slower": (
        partial(timed, runs.noisy({"bun": 1.3})),
        "1.294 [1.280, 1.308] materially slower, 12 blocks",
    ),
    "may be slower": (
        partial(timed, runs.noisy({"bun": 1.02}, spread=0.05)),
        "0.996 [0.945, 1.050] not resolved, 12 blocks, 192 needed",
    ),
    "has nine blocks": (
        partial(timed, runs.noisy({"bun": 2.0}), blocks=9),
        "1.991 [1.970, 2.013] not testable, 9 blocks",
    ),
    "has copied times": (
        partial(timed, lambda _c, _name, block: 100 + block),
        "1.000 [None, None] not testable, 12 blocks",
    ),
    "has threefold times": (
        partial(timed, lambda _c, name, block: (100 + block) * (3 if name == "bun" else 1)),
        "3.000 [None, None] not testable, 12 blocks",
    ),
    "lacks a block": (
        partial(timed, sampled=[({"label": "bun", "block": 5}, None)]),
        "0.997 [0.985, 1.009] equivalent, 11 blocks",
    ),
    "shares no block": (
        partial(
            timed,
            sampled=[
                ({"label": name, "block": block}, None)
                for block in range(12)
                for name in (("bun", "node")[block % 2],)
            ],
        ),
        "none",
    ),
    "is unlike itself, which one session does not show": (
        partial(in_sessions, APART, 1),
        "1.040 [1.017, 1.064] slower, 36 blocks",
    ),
    "is unlike itself in three sessions": (
        partial(in_sessions, APART, 3),
        "1.040 [0.914, 1.183] not resolved, 36 blocks, 192 needed, next 1.040 [0.486, 2.228]",
    ),
    "is like itself": (
        partial(in_sessions, ALIKE, 3),
        "1.098 [1.095, 1.100] materially slower, 36 blocks, next 1.098 [1.089, 1.106]",
    ),
    "is like itself in two": (
        partial(in_sessions, ALIKE, 2),
        "1.098 [1.078, 1.118] materially slower, 36 blocks",
    ),
    "lacks a session": (
        partial(in_sessions, by_session(1.1, 1.1, 9.0), 3, sampled=LAST),
        "1.097 [1.094, 1.101] materially slower, 24 blocks",
    ),
}


@pytest.mark.parametrize("name", BUN)
def test_bun_against_node(name: str) -> None:
    report, told = BUN[name]
    assert runs.told(report().cases[0].comparisons.of("bun", "node")) == told


def test_every_ordered_pair_of_runners_that_are_ok_is_there() -> None:
    lacking = timed(sampled=[({"label": "bun", "block": 5}, None)]).cases[0].comparisons
    pairs = timed().cases[0].comparisons
    assert [(c.runner, c.reference) for c in pairs] == [
        (a, b) for a in NAMES for b in NAMES if a != b
    ]
    # what one lacks changes its pairs alone
    assert lacking.of("rust-ffi", "node") == pairs.of("rust-ffi", "node")


def test_a_runner_alone_and_one_block_compare_nothing() -> None:
    for report in (runs.report(runs.plan(["node"])), timed(blocks=1)):
        assert [list(case.comparisons) for case in report.cases] == [[], []]
        assert all(standing.contrast is None for standing in report.standings)
        assert all(cell.overhead is None for case in report.cases for cell in case.cells)
    assert [case.canary for case in report.cases] == [None, None]


def test_the_canary_is_the_reference_against_itself() -> None:
    canary = runs.sure(timed(runs.noisy({"canary": 1.2})).cases[0].canary)
    assert (canary.runner, canary.reference) == ("canary", "node")
    assert canary.verdict == "materially slower"


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


def test_one_more_session_is_foretold_for_both() -> None:
    forth, back = (
        runs.contrast(in_sessions(APART, 3), *pair) for pair in (("bun", "node"), ("node", "bun"))
    )
    low, high = runs.ends(forth.next)
    assert runs.ends(back.next) == pytest.approx((1 / high, 1 / low))


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"blocks": 35, "sessions": 3},
            r"^plan: \$: Value error, 35 blocks cannot be divided into 3 sessions$",
        ),
        (
            {"counts": {"get-pk": {"node": runs.counts(1, iterations=0)}}},
            r"counts\.get-pk\.node\.iterations",
        ),
    ],
)
def test_a_plan_may_not_ask_for_parts(changes: runs.Json, words: str) -> None:
    with refused(words):
        runs.make(runs.plan(**changes), lines=[])
