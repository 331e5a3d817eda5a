"""How rounds are divided among cases: by how their laps differ, alike within a set."""

from functools import partial

from sqlitmus.catalog.cases import Counts
from sqlitmus.run.plan.counts import Turning
from sqlitmus.run.plan.pilot import Rehearsed, divided

USUAL = Turning(rounds=8, lead_in_ms=6, lap_ms=5)
SPREADS = {"quiet": 0.05, "loud": 0.2, "middling": 0.08}


def counts(how: Turning | None, turn_s: float = 0.01) -> dict[str, Counts]:
    assert how
    return {
        "a": Counts(
            operations=1,
            iterations=2 * how.rounds,
            warmup_iterations=1,
            warmup_ms=0,
            seconds=1.0 + how.rounds * turn_s,
            operation_ns=5e6,
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


def test_a_case_has_as_many_as_its_collections_need() -> None:
    usual, each = rounds(), rounds(collecting=21)
    assert each == {**usual, "quiet": 21}
    assert rounds(collecting=4) == usual


def test_collections_that_are_too_rare_do_not_make_a_set_endless() -> None:
    assert rounds(collecting=4000)["quiet"] == 4 * USUAL.rounds


def test_cases_that_are_compared_have_the_rounds_of_the_one_that_collects() -> None:
    each = rounds(("quiet", "middling"), collecting=21)
    assert each["quiet"] == each["middling"] == 21
