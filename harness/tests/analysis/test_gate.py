"""Which cases a gate alarms for, clears or leaves open, at each of its planned looks."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import RunData
from sqlitmus.analysis.gate import Gate, gate
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.multiplicity import beyond_margin_p, pocock
from tests.analysis.runs import Times, case, change, checks, drop, make, noisy, plan, samples

SHARE = 0.05
ALARM, CLEAR, OPEN = (Gate(["a"], [], []), Gate([], ["a"], []), Gate([], [], ["a"]))


def planned(cases: int = 1, blocks: int = 30) -> dict[str, Any]:
    return plan(
        ["base", "new"],
        kind="compare",
        correction="holm",
        looks=3,
        blocks=blocks,
        cases=[case("abcdefghij"[n]) for n in range(cases)],
    )


def run(time: Times, cases: int = 1, blocks: int = 30) -> RunData:
    of = planned(cases, blocks)
    return make(of, lines=samples(of, time))


def slower(ratio: float, spread: float = 0.01) -> RunData:
    return run(noisy({"new": ratio}, spread=spread))


@pytest.mark.parametrize("looks", [1, 3])
@pytest.mark.parametrize(
    ("ratio", "spread", "expected"),
    [
        (1.20, 0.01, ALARM),
        (1.00, 0.01, CLEAR),
        (0.50, 0.01, CLEAR),
        (1.03, 0.002, CLEAR),  # slower, and resolved, but within the gate
        (1.05, 0.01, OPEN),
        (1.00, 0.15, OPEN),
    ],
)
def test_alarmed_cleared_or_open(ratio: float, spread: float, expected: Gate, looks: int) -> None:
    assert gate(slower(ratio, spread), "new", SHARE, looks) == expected


def test_the_gate_is_where_it_was_set() -> None:
    found = slower(1.2)
    assert gate(found, "new", 0.15, 1) == ALARM
    assert gate(found, "new", 0.30, 1) == CLEAR


def test_several_looks_ask_for_more_at_each() -> None:
    found = slower(1.0565, spread=0.015)
    times = found.samples.time
    logs = trimmed_means(np.log(times[0, 1:2] / times[0, 0:1]))
    (p,) = beyond_margin_p(logs, SHARE).tolist()
    assert pocock(3) < p < 0.05  # where one look would alarm
    assert gate(found, "new", SHARE, 1) == ALARM
    assert gate(found, "new", SHARE, 3) == OPEN


def test_a_run_under_way_is_judged_by_the_blocks_there_are() -> None:
    of = planned()
    lines = samples(of, noisy({"new": 1.2}), complete=False)

    def after(blocks: int) -> Gate:
        some = [x for x in lines if x.get("block", 0) < blocks]
        return gate(make(of, lines=some), "new", SHARE, 3)

    assert after(0) == OPEN
    assert after(9) == OPEN  # fewer than ten never give a verdict
    assert after(10) == ALARM
    assert after(20) == ALARM


@pytest.mark.parametrize("canary", ["base", None])
def test_few_blocks_may_clear_but_never_alarm(canary: str | None) -> None:
    of = {**planned(blocks=9), "canary": canary}
    assert gate(make(of, lines=samples(of, noisy({"new": 3.0}))), "new", SHARE, 1) == OPEN
    assert gate(make(of, lines=samples(of, noisy({"new": 0.5}))), "new", SHARE, 1) == CLEAR


def with_canary(bias: float, spread: float = 0.01) -> RunData:
    quiet, loud = noisy({"new": 1.2}), noisy({"new": 1.2}, spread=spread)

    def time(number: int, label: str, block: int) -> float:
        if label == "canary":
            return bias * loud(number, label, block)
        return quiet(number, label, block)

    return run(time)


def test_a_slowdown_within_the_canarys_own_noise_is_no_alarm() -> None:
    assert gate(with_canary(1.0), "new", SHARE, 1) == ALARM
    assert gate(with_canary(1.3), "new", SHARE, 1) == OPEN
    assert gate(with_canary(0.8), "new", SHARE, 1) == OPEN
    assert gate(with_canary(1.0, spread=0.9), "new", SHARE, 1) == OPEN


def test_a_case_whose_canary_could_not_be_tested_is_no_alarm() -> None:
    of = planned()
    lines = drop(samples(of, noisy({"new": 1.2})), label="canary")
    assert gate(make(of, lines=lines), "new", SHARE, 1) == OPEN


def test_a_run_without_a_canary_is_judged_by_its_blocks_alone() -> None:
    of = {**planned(), "canary": None}
    found = make(of, lines=samples(of, noisy({"new": 1.2})))
    assert gate(found, "new", SHARE, 1) == ALARM


def test_many_cases_are_corrected_together() -> None:
    def first(cases: int) -> Gate:
        time = noisy({"new": 1.0565}, spread=0.015)
        even = noisy({}, spread=0.015)
        return gate(
            run(lambda c, label, b: (even if c else time)(c, label, b), cases), "new", SHARE, 1
        )

    assert first(1).alarmed == ["a"]
    assert (first(10).alarmed, first(10).open) == ([], ["a"])


@pytest.mark.parametrize("outcome", ["wrong", "failed", "unsupported"])
@pytest.mark.parametrize("runner", ["base", "new"])
def test_a_case_that_is_not_ok_stays_open(outcome: str, runner: str) -> None:
    of = planned(2)
    verify = change(checks(of), {"outcome": outcome, "reason": "r"}, runner=runner, case="a")
    lines = samples(of, noisy({"new": 1.2}))
    assert gate(make(of, verify=verify, lines=lines), "new", SHARE, 1) == Gate(["b"], [], ["a"])


def test_who_is_judged_is_the_one_named() -> None:
    of = plan(["base", "new", "other"], blocks=30, correction="holm", cases=[case("a")])
    found = make(of, lines=samples(of, noisy({"other": 1.5})))
    assert gate(found, "new", SHARE, 1) == CLEAR
    assert gate(found, "other", SHARE, 1) == ALARM


@settings(max_examples=15)
@given(
    st.lists(st.floats(0.8, 1.3), min_size=1, max_size=3),
    st.floats(0.001, 0.2),
    st.integers(1, 5),
    st.floats(0.001, 0.5),
)
def test_each_case_is_in_one_list(
    ratios: list[float], spread: float, looks: int, share: float
) -> None:
    def time(number: int, label: str, block: int) -> float:
        return noisy({"new": ratios[number]}, spread=spread)(number, label, block)

    found = gate(run(time, len(ratios), 12), "new", share, looks)
    assert sorted(found.alarmed + found.cleared + found.open) == list("abcdefghij"[: len(ratios)])
    strict = gate(run(time, len(ratios), 12), "new", share, looks + 1)
    assert set(strict.alarmed) <= set(found.alarmed)
    assert set(strict.cleared) <= set(found.cleared)
