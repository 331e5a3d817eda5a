"""Which part of the last self-test the report of a run shows."""

import pytest

from sqlitmus.results.notices import SelfTest
from tests.analysis.runs import Json, counts, from_records, plan

FLAT: Json = {"created": "2026-01-01T00:00:00Z", "lines": ["all"], "passed": True, "blocks": 60}
LONE: Json = {"lines": ["lone"], "passed": True, "coverage": 0.95}
TURNS: Json = {"lines": ["turns"], "passed": False}


def shown(selftest: Json, *, rounds: int = 0) -> SelfTest | None:
    """What the report of a run says whose processes take so many turns."""
    names = ("node", "bun")
    of_each = counts(100, iterations=12, rounds=rounds)
    planned = plan(names)
    planned["counts"] = {case["id"]: dict.fromkeys(names, of_each) for case in planned["cases"]}
    assert planned["counts"]
    return from_records(planned, [], [], {}, selftest=selftest).selftest


@pytest.mark.parametrize(("rounds", "lines", "passed"), [(0, "lone", True), (8, "turns", False)])
def test_a_run_shows_its_own_scheme_and_which_is_better(
    rounds: int, lines: str, passed: bool
) -> None:
    both = {**FLAT, "schemes": {"process": LONE, "relay": TURNS}, "better": "turns are"}
    assert shown(both, rounds=rounds) == SelfTest(FLAT["created"], [lines, "turns are"], passed)


def test_one_without_schemes_was_of_lone_processes() -> None:
    assert shown(FLAT) == SelfTest(FLAT["created"], ["all"], passed=True)
    turned = shown(FLAT, rounds=8)
    assert turned
    assert turned.lines == [
        "all",
        "It did not measure processes that take turns, as those of this run did.",
    ]


def test_one_of_the_other_scheme_says_so() -> None:
    turned = shown({**FLAT, "schemes": {"relay": TURNS}, "better": None})
    assert turned
    assert turned.lines == [
        "all",
        "It did not measure processes one after the other, as those of this run were.",
    ]
