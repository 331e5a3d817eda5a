"""Which differences a run is foretold to resolve."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from sqlitmus.run.plan.budget import beyond, forecast, line_of, shared, shares
from sqlitmus.run.plan.counts import Turning
from sqlitmus.run.plan.pilot import Rehearsed, divided
from tests.analysis.claims import claim_runs
from tests.analysis.claims.claim_runs import Claim
from tests.run.made import Counts, planned

CELLS = {f"case-{n}": ["a", "b", "c"] for n in range(10)}
TWO = {name: ["a", "b"] for name in CELLS}
NOISY: dict[str, Any] = {f"case-{n}": {"a": 0.01, "b": 0.01 if n < 6 else 0.2} for n in range(10)}
CHANCE = np.random.default_rng(2).chisquare(2, 10) ** 0.5 / 2**0.5 * 0.02
LUCKY: dict[str, Any] = {
    name: {"a": deviation, "b": None} for name, deviation in zip(CELLS, CHANCE, strict=True)
}


def foretold(
    blocks: int = 30,
    correction: Any = "bh",
    times: tuple[float | None, ...] = (None, None, None),
    deviations: tuple[float | None, ...] = (0.01, 0.01, 0.01),
    cells: Any = CELLS,
    each: Any = None,
    **more: Any,
) -> str | None:
    """What half and nine in ten of the comparisons resolve, and how many of them differ."""
    usual = {name: dict(zip("abc", deviations, strict=True)) for name in cells}
    counts = {
        name: {
            runner: planned((each or usual)[name][runner], time)
            for runner, time in zip(of, times, strict=False)
        }
        for name, of in cells.items()
    }
    told = forecast(counts, cells, blocks, correction, **more)
    return told and f"{told.half:.2%} {told.most:.2%}, {told.differing} of {told.comparisons}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "1.38% 1.38%, 15 of 30"),
        # fewer blocks give no verdict, and nothing is known without a pilot or of one alone
        ({"blocks": 10}, "3.18% 3.18%, 15 of 30"),
        ({"blocks": 9}, None),
        ({"deviations": (None, None, None)}, None),
        ({"cells": {"case-0": ["a"]}}, None),
        # more blocks tell smaller differences, and few sessions promise little
        ({"blocks": 120}, "0.64% 0.64%, 15 of 30"),
        ({"blocks": 126}, "0.63% 0.63%, 15 of 30"),
        ({"blocks": 126, "sessions": 9}, "0.73% 0.73%, 15 of 30"),
        ({"blocks": 135, "sessions": 3}, "1.54% 1.54%, 15 of 30"),
        # the correction that decides is in it, as are planned looks
        ({"correction": "none"}, "1.24% 1.24%, 15 of 30"),
        ({"correction": "holm"}, "1.84% 1.84%, 15 of 30"),
        ({"factor": 2.3}, "1.57% 1.57%, 15 of 30"),
        # the more differ in the pilot, the less strict it is; one too small to be resolved does
        # not help the others
        ({"times": (1, 2, 4)}, "1.24% 1.24%, 30 of 30"),
        ({"times": (1, 1, 1)}, "2.00% 2.00%, 0 of 30"),
        ({"times": (1, 1.0001, 1.0002)}, "2.00% 2.00%, 0 of 30"),
        # a runner tried too rarely varies like the others
        ({"deviations": (0.01, None, None)}, "1.38% 1.38%, 15 of 30"),
        ({"deviations": (0.01, 0.03, 0.03)}, "2.82% 3.28%, 15 of 30"),
        # six of ten are quiet
        ({"cells": TWO, "each": NOISY}, "2.03% 4.19%, 5 of 10"),
        # a lucky pilot promises nothing grand
        ({"cells": TWO, "each": LUCKY, "correction": "none"}, "1.68% 1.94%, 5 of 10"),
    ],
)
def test_a_run_is_foretold_what_it_resolves(given: dict[str, Any], expected: str | None) -> None:
    assert foretold(**given) == expected


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
    each = planned(seconds=0.5)
    counts = {case: {"node": each, "bun": each} for case in ("a", "b")}
    cells = {"a": ["node", "bun"], "b": ["node"]}  # bun has no answer in b
    claims = [claim("first", "a"), claim("second", "a", "b"), claim("third", "b")]
    parts = shares(claims, counts, cells, {"a": "bun", "b": "node"})
    assert [line_of(part, 10) for part in parts] == [
        "  first: 2 cells, about 0:15 in 10 blocks",  # and a canary
        "  second: 1 cell, about 0:10 in 10 blocks",
        "  third: nothing of its own to measure",
    ]


def pair(apart: float, deviation: float | None = 0.05) -> dict[str, Counts]:
    """Two runners, of which the second takes so many times as long in the pilot."""
    return {"a": planned(deviation, 1), "b": planned(deviation, apart)}


SETTLED, NEAR, EQUAL = pair(4), pair(1.05), pair(1)
THREE = {"settled": SETTLED, "near": NEAR, "equal": EQUAL}


@pytest.mark.parametrize(
    ("budget_s", "most", "costs", "counts", "sets"),
    [
        (60, 20, [2, 2, 2], THREE, [10, 10, 10]),
        # what is left goes where more sets decide, in pairs, and never beyond the most
        (80, 20, [2, 2, 2], THREE, [10, 20, 10]),
        (79, 20, [2, 2, 2], THREE, [10, 18, 10]),
        (1000, 14, [2, 2, 2], THREE, [10, 14, 10]),
        # a case that is dear waits for those that are cheap
        (55, 20, [1, 4], {"cheap": NEAR, "dear": NEAR}, [14, 10]),
        # where more decide nothing, without a pilot, or without time, all have the fewest
        (1000, 20, [2, 2], {"one": SETTLED, "other": SETTLED}, [10, 10]),
        (1000, 20, [2, 2], {"one": pair(1.05, None), "other": pair(1, None)}, [10, 10]),
        (1, 20, [2, 2, 2], THREE, [10, 10, 10]),
    ],
)
def test_a_budget_is_shared_by_what_it_decides(
    budget_s: float, most: int, costs: list[float], counts: Any, sets: list[int]
) -> None:
    cells = {name: ["a", "b"] for name in counts}
    each = dict(zip(counts, costs, strict=True))
    assert [*shared(counts, cells, "bh", each, budget_s, most).values()] == sets
    # as has a case of which nothing is foretold
    each["fixed"] = 0
    for fixed in (pair(1.05), pair(1.05, None)):
        found = shared({**counts, "fixed": fixed}, cells, "bh", each, budget_s, most)
        assert [*found.values()] == [*sets, 10]


USUAL = Turning(rounds=8, lead_in_ms=6, lap_ms=5)
SPREADS = {"quiet": 0.05, "loud": 0.2, "middling": 0.08}


def counts_of(how: Turning | None, turn_s: float = 0.01) -> dict[str, Counts]:
    assert how
    turns = {"iterations": 2 * how.rounds, "rounds": how.rounds, "lead_in": 1}
    return {"a": planned(None, 5e6, 1.0 + how.rounds * turn_s, **turns)}


@pytest.mark.parametrize(
    ("compared", "given", "expected"),
    [
        # who differs more gets more rounds
        ([], {}, [4, 14, 6]),
        # one whose turns take long gets fewer, whatever the median of its iterations says
        ([], {"slow": "loud"}, [10, 8, 16]),
        # cases that are compared have as many; with one that was measured before, they keep theirs
        ([("quiet", "loud")], {}, [9, 9, 7]),
        ([("quiet", "loud")], {"shown": ("loud", "middling")}, [8, 8, 8]),
        # as many as its collections need, if that is not without end
        ([], {"collecting": 4}, [4, 14, 6]),
        ([], {"collecting": 21}, [21, 14, 6]),
        ([], {"collecting": 4000}, [32, 14, 6]),
        ([("quiet", "middling")], {"collecting": 21}, [21, 16, 21]),
    ],
)
def test_rounds_are_divided_by_what_they_bring(
    compared: list[tuple[str, str]], given: dict[str, Any], expected: list[int]
) -> None:
    collecting = {"quiet": given.get("collecting", 0)}
    seen = {
        case: Rehearsed(6, {"a": SPREADS[case]}, {"a": 1.0}, collecting.get(case, 0))
        for case in given.get("shown", SPREADS)
    }
    slow = given.get("slow")
    of = {case: partial(counts_of, turn_s=0.3 if case == slow else 0.01) for case in SPREADS}
    turning = dict.fromkeys(SPREADS, USUAL)
    found = divided(turning, seen, of, compared)
    assert [how.rounds for how in found.values()] == expected
