"""Sets go to the cases in which the pilot foretells that they decide."""

from collections.abc import Mapping

import pytest

from sqlitmus.catalog.cases import Cells, Counts, PlannedCounts
from sqlitmus.run.plan.budget import shared
from tests.run.planned import planned


def noisy(operation_ns: float, deviation: float | None = 0.05) -> Counts:
    return planned(deviation, operation_ns)


COUNTS: PlannedCounts = {
    "settled": {"a": noisy(1), "b": noisy(4)},
    "near": {"a": noisy(1), "b": noisy(1.05)},
    "equal": {"a": noisy(1), "b": noisy(1)},
}
CELLS = {case: ["a", "b"] for case in COUNTS}
COSTS = dict.fromkeys(COUNTS, 2.0)


def sets(
    budget_s: float,
    most: int = 20,
    counts: PlannedCounts = COUNTS,
    cells: Cells = CELLS,
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


def test_time_that_would_decide_nothing_is_not_spent() -> None:
    assert sets(1000, counts=dict.fromkeys(COUNTS, COUNTS["settled"])) == dict.fromkeys(COUNTS, 10)


def test_a_budget_below_the_fewest_gives_the_fewest() -> None:
    assert sets(1) == dict.fromkeys(COUNTS, 10)


@pytest.mark.parametrize("deviation", [0.05, None])
def test_cases_of_which_nothing_is_foretold_have_the_fewest(deviation: float | None) -> None:
    fixed = COUNTS | {"fixed": {"a": noisy(1, deviation), "b": noisy(1.05, deviation)}}
    found = sets(100, counts=fixed, costs=dict.fromkeys(fixed, 2.0))
    assert found["fixed"] == 10
    assert found["near"] > 10


def test_without_a_pilot_all_have_the_fewest() -> None:
    unknown = {case: {n: noisy(1, None) for n in of} for case, of in COUNTS.items()}
    assert sets(1000, counts=unknown) == dict.fromkeys(COUNTS, 10)
