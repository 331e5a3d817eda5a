"""Which differences a run is foretold to resolve."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest

from sqlitmus.catalog.cases import Cells, Counts, PlannedCounts
from sqlitmus.catalog.published import Claim
from sqlitmus.run.plan.budget import Forecast, beyond, forecast, line_of, shared, shares
from sqlitmus.run.plan.counts import Turning
from sqlitmus.run.plan.pilot import Rehearsed, divided
from sqlitmus.vocabulary.verdicts import Correction
from tests.analysis.claims import claim_runs
from tests.run.made import planned

CELLS = {f"case-{n}": ["a", "b", "c"] for n in range(10)}


def made(
    blocks: int = 30,
    correction: Correction = "bh",
    deviation: float | None = 0.01,
    other: float | None = 0.01,
    times: tuple[float, float, float] | None = None,
    sessions: int = 1,
    factor: float = 1.0,
) -> Forecast:
    a, b, c = times or (None, None, None)
    counts = {
        name: {"a": planned(deviation, a), "b": planned(other, b), "c": planned(other, c)}
        for name in CELLS
    }
    foretold = forecast(counts, CELLS, blocks, correction, sessions, factor)
    assert foretold is not None
    return foretold


@pytest.mark.parametrize(
    ("left_s", "left_out"),
    [
        (120.01, []),  # ten blocks of 10 s, and a fifth more
        (119.9, ["rare"]),
        (108.1, ["rare"]),
        (107.9, ["rare", "some"]),
        (1.0, ["rare", "some", "often"]),
    ],
)
def test_a_budget_leaves_out_queries_before_blocks_the_least_weight_first(
    left_s: float, left_out: list[str]
) -> None:
    costs = {"often": 2.0, "rare": 1.0, "some": 1.0, "mix": 5.0, "start": 1.0}
    weights = {"often": 0.6, "some": 0.3, "rare": 0.1}
    assert beyond(costs, weights, left_s) == left_out


@pytest.mark.parametrize(
    ("deviation", "cells", "blocks", "able"),
    [
        (0.01, CELLS, 10, True),
        (0.01, CELLS, 9, False),  # which gives no verdict
        (None, CELLS, 30, False),  # without a pilot
        (0.01, {"case-0": ["a"]}, 30, False),  # alone
    ],
)
def test_nothing_is_foretold_where_nothing_can_be(
    deviation: float | None, cells: Cells, blocks: int, able: bool
) -> None:
    counts = {name: dict.fromkeys(CELLS[name], planned(deviation)) for name in CELLS}
    assert (forecast(counts, cells, blocks, "bh") is not None) == able


def test_more_blocks_tell_smaller_differences() -> None:
    few, some, many = (made(blocks).half for blocks in (10, 30, 120))
    assert few > some > many > 0
    assert some / many == pytest.approx(2, rel=0.1)
    # few sessions promise little
    assert made(135, sessions=3).half > 2 * made(126, sessions=9).half
    assert made(126, sessions=9).half > made(126).half


def test_the_correction_that_decides_is_in_it() -> None:
    plain, explored, decided = (made(correction=c).half for c in ("none", "bh", "holm"))
    assert plain < explored < decided
    assert made(factor=2.3).half > explored


def test_the_more_differ_in_the_pilot_the_less_strict_is_the_correction() -> None:
    apart, equal, half = made(times=(1, 2, 4)), made(times=(1, 1, 1)), made()
    assert (apart.differing, apart.comparisons) == (30, 30)
    assert (equal.differing, half.differing) == (0, 15)
    assert apart.half < half.half < equal.half
    # one too small to be resolved does not help the others
    assert made(times=(1, 1.0001, 1.0002)).half == equal.half


def test_a_forecast_is_of_half_and_of_nine_in_ten() -> None:
    counts = {
        f"case-{n}": {"a": planned(0.01), "b": planned(0.01 if n < 6 else 0.2)} for n in range(10)
    }
    foretold = forecast(counts, {name: ["a", "b"] for name in counts}, 30, "bh")
    assert foretold is not None
    assert foretold.most > 1.5 * foretold.half


def test_a_runner_tried_too_rarely_varies_like_the_others() -> None:
    assert made(other=None).half == pytest.approx(made(other=0.01).half)
    assert made(other=0.03).half > made().half


def test_one_lucky_pilot_promises_nothing_grand() -> None:
    deviations = np.random.default_rng(2).chisquare(2, 10) ** 0.5 / 2**0.5 * 0.02
    counts = {
        name: {"a": planned(deviation), "b": planned(None)}
        for name, deviation in zip(CELLS, deviations.tolist(), strict=True)
    }
    foretold = forecast(counts, {name: ["a", "b"] for name in CELLS}, 30, "none")
    assert foretold is not None
    assert foretold.most < 2 * foretold.half


def claim(name: str, *cases: str) -> Claim:
    """A claim that compares node with bun in each of these cases."""
    groups = [
        claim_runs.group(
            {"name": case, "published": 2.0, "said": "2 times"},
            title=case,
            runners=[],
            base={"case": case, "runner": "node"},
            new={"case": case, "runner": "bun"},
        )
        for case in cases
    ]
    return Claim.model_validate(claim_runs.claim(*groups, name=name))


def test_a_cell_counts_for_the_first_claim_that_needs_it() -> None:
    each = Counts(operations=1, iterations=1, warmup_iterations=0, warmup_ms=0, seconds=0.5)
    counts = {case: {"node": each, "bun": each} for case in ("a", "b")}
    cells = {"a": ["node", "bun"], "b": ["node"]}  # bun has no answer in b
    claims = [claim("first", "a"), claim("second", "a", "b"), claim("third", "b")]
    parts = shares(claims, counts, cells, {"a": "bun", "b": "node"})
    assert [tuple(part) for part in parts] == [
        ("first", 2, 1.5),  # two cells and a canary
        ("second", 1, 1.0),
        ("third", 0, 0.0),
    ]
    assert line_of(parts[0], 10) == "  first: 2 cells, about 0:15 in 10 blocks"
    assert line_of(parts[2], 10) == "  third: nothing of its own to measure"


def noisy(operation_ns: float, deviation: float | None = 0.05) -> Counts:
    return planned(deviation, operation_ns)


COUNTS: PlannedCounts = {
    "settled": {"a": noisy(1), "b": noisy(4)},
    "near": {"a": noisy(1), "b": noisy(1.05)},
    "equal": {"a": noisy(1), "b": noisy(1)},
}
BOTH = {case: ["a", "b"] for case in COUNTS}
COSTS = dict.fromkeys(COUNTS, 2.0)


def sets(
    budget_s: float,
    most: int = 20,
    counts: PlannedCounts = COUNTS,
    cells: Cells = BOTH,
    costs: Mapping[str, float] = COSTS,
) -> dict[str, int]:
    return shared(counts, cells, "bh", costs, budget_s, most)


def test_what_is_left_goes_where_more_sets_decide() -> None:
    assert sets(60) == {"settled": 10, "near": 10, "equal": 10}
    assert sets(80) == {"settled": 10, "near": 20, "equal": 10}


def test_a_case_that_is_dear_waits_for_those_that_are_cheap() -> None:
    counts: PlannedCounts = {"cheap": COUNTS["near"], "dear": COUNTS["near"]}
    cells, costs = {case: ["a", "b"] for case in counts}, {"cheap": 1.0, "dear": 4.0}
    assert sets(55, counts=counts, cells=cells, costs=costs) == {"cheap": 14, "dear": 10}


def test_sets_come_in_pairs_within_the_budget_and_never_beyond_the_most() -> None:
    for budget_s in range(60, 130):
        found = sets(budget_s, most=14)
        assert all(10 <= number <= 14 and number % 2 == 0 for number in found.values())
        assert sum(number * COSTS[case] for case, number in found.items()) <= budget_s


def test_all_have_the_fewest_where_more_decide_nothing_without_a_pilot_or_time() -> None:
    assert sets(1000, counts=dict.fromkeys(COUNTS, COUNTS["settled"])) == dict.fromkeys(COUNTS, 10)
    unknown = {case: {n: noisy(1, None) for n in of} for case, of in COUNTS.items()}
    assert sets(1000, counts=unknown) == dict.fromkeys(COUNTS, 10)
    assert sets(1) == dict.fromkeys(COUNTS, 10)


@pytest.mark.parametrize("deviation", [0.05, None])
def test_cases_of_which_nothing_is_foretold_have_the_fewest(deviation: float | None) -> None:
    fixed = COUNTS | {"fixed": {"a": noisy(1, deviation), "b": noisy(1.05, deviation)}}
    found = sets(100, counts=fixed, costs=dict.fromkeys(fixed, 2.0))
    assert found["fixed"] == 10
    assert found["near"] > 10


USUAL = Turning(rounds=8, lead_in_ms=6, lap_ms=5)
SPREADS = {"quiet": 0.05, "loud": 0.2, "middling": 0.08}


def counts(how: Turning | None, turn_s: float = 0.01) -> dict[str, Counts]:
    assert how
    return {
        "a": planned(
            *(None, 5e6, 1.0 + how.rounds * turn_s),
            iterations=2 * how.rounds,
            rounds=how.rounds,
            lead_in=1,
        )
    }


def rounds(
    *compared: tuple[str, str], shown: tuple[str, ...] = tuple(SPREADS), collecting: int = 0
) -> dict[str, int]:
    """Rounds of each case; the quiet one needs `collecting` for its collections."""
    turning = dict.fromkeys(SPREADS, USUAL)
    needed = {"quiet": collecting}
    seen = {
        case: Rehearsed(6, {"a": SPREADS[case]}, {"a": 1.0}, needed.get(case, 0)) for case in shown
    }
    of = dict.fromkeys(SPREADS, counts)
    return {case: how.rounds for case, how in divided(turning, seen, of, compared).items()}


def test_who_differs_more_gets_more_rounds() -> None:
    each = rounds()
    assert each["quiet"] < each["middling"] < each["loud"]
    assert abs(sum(each.values()) - 3 * USUAL.rounds) <= 1


def test_a_case_whose_turns_take_long_gets_fewer() -> None:
    """The median of its iterations tells nothing of turns that wait for a lock."""
    turning = dict.fromkeys(SPREADS, USUAL)
    seen = {case: Rehearsed(6, {"a": 0.1}, {"a": 1.0}, 0) for case in SPREADS}
    of = {**dict.fromkeys(SPREADS, counts), "loud": partial(counts, turn_s=0.3)}
    each = divided(turning, seen, of, ())
    assert each["loud"].rounds < USUAL.rounds < each["quiet"].rounds


def test_cases_that_are_compared_have_as_many() -> None:
    each = rounds(("quiet", "loud"))
    assert each["quiet"] == each["loud"] > each["middling"]


def test_one_compared_with_a_case_that_was_measured_before_keeps_its_own() -> None:
    each = rounds(("quiet", "loud"), shown=("loud", "middling"))
    assert each["quiet"] == each["loud"] == USUAL.rounds


def test_a_case_and_those_that_it_is_compared_with_have_as_many_as_its_collections_need() -> None:
    usual, each = rounds(), rounds(collecting=21)
    assert each == {**usual, "quiet": 21}
    assert rounds(collecting=4) == usual
    assert rounds(collecting=4000)["quiet"] == 4 * USUAL.rounds  # a set is not endless
    each = rounds(("quiet", "middling"), collecting=21)
    assert each["quiet"] == each["middling"] == 21
