"""Which cases a gate alarms for, clears or leaves open, at each of its planned looks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import RunData, analyse
from sqlitmus.compare.comparison import Gate, unmeasured
from sqlitmus.compare.comparison import gate as judged
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.verdict import beyond_margin_p, pocock
from tests.analysis.runs import Times, case, change, checks, drop, make, noisy, plan, samples
from tests.worded import notices

SHARE = 0.05
ALARM, CLEAR, OPEN = (Gate(["a"], [], []), Gate([], ["a"], []), Gate([], [], ["a"]))


def planned(cases: int = 1, blocks: int = 30) -> dict[str, Any]:
    return plan(
        ["base", "new"],
        kind="compare",
        correction="holm",
        looks=3,
        gate=SHARE,
        blocks=blocks,
        cases=[case("abcdefghij"[n]) for n in range(cases)],
    )


def run(time: Times, cases: int = 1, blocks: int = 30) -> RunData:
    of = planned(cases, blocks)
    return make(of, lines=samples(of, time))


def gate(found: RunData, share: float, looks: int) -> Gate:
    """What the run comes to, had its plan this gate and so many looks."""
    plan = found.plan.model_copy(update={"gate": share, "looks": looks})
    return judged(replace(found, plan=plan))


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
    assert gate(slower(ratio, spread), SHARE, looks) == expected


def test_the_gate_is_where_it_was_set() -> None:
    found = slower(1.2)
    assert gate(found, 0.15, 1) == ALARM
    assert gate(found, 0.30, 1) == CLEAR


def test_several_looks_ask_for_more_at_each() -> None:
    found = slower(1.0565, spread=0.015)
    times = found.samples.time
    logs = trimmed_means(np.log(times[0, 1:2] / times[0, 0:1]))
    (p,) = beyond_margin_p(logs, SHARE).tolist()
    assert pocock(3) < p < 0.05  # where one look would alarm
    assert gate(found, SHARE, 1) == ALARM
    assert gate(found, SHARE, 3) == OPEN


def test_a_run_under_way_is_judged_by_the_blocks_there_are() -> None:
    of = planned()
    lines = samples(of, noisy({"new": 1.2}), complete=False)

    def after(blocks: int) -> Gate:
        some = [x for x in lines if x.get("block", 0) < blocks]
        return gate(make(of, lines=some), SHARE, 3)

    assert after(0) == OPEN
    assert after(9) == OPEN  # fewer than ten never give a verdict
    assert after(10) == ALARM
    assert after(20) == ALARM


@pytest.mark.parametrize("canary", ["base", None])
def test_few_blocks_may_clear_but_never_alarm(canary: str | None) -> None:
    of = {**planned(blocks=9), "canary": canary}
    assert gate(make(of, lines=samples(of, noisy({"new": 3.0}))), SHARE, 1) == OPEN
    assert gate(make(of, lines=samples(of, noisy({"new": 0.5}))), SHARE, 1) == CLEAR


def test_a_control_that_differs_from_itself_takes_no_alarm_away() -> None:
    assert gate(run(noisy({"new": 1.2, "canary": 1.3})), SHARE, 1) == ALARM


def test_a_case_whose_canary_could_not_be_tested_is_judged_by_its_blocks() -> None:
    of = planned()
    lines = drop(samples(of, noisy({"new": 1.2})), label="canary")
    assert gate(make(of, lines=lines), SHARE, 1) == ALARM


def test_a_run_without_a_canary_is_judged_by_its_blocks_alone() -> None:
    of = {**planned(), "canary": None}
    found = make(of, lines=samples(of, noisy({"new": 1.2})))
    assert gate(found, SHARE, 1) == ALARM


def test_many_cases_are_corrected_together() -> None:
    def first(cases: int) -> Gate:
        time = noisy({"new": 1.0565}, spread=0.015)
        even = noisy({}, spread=0.015)
        return gate(run(lambda c, label, b: (even if c else time)(c, label, b), cases), SHARE, 1)

    assert first(1).alarmed == ["a"]
    assert (first(10).alarmed, first(10).open) == ([], ["a"])


@pytest.mark.parametrize("outcome", ["wrong", "failed", "unsupported"])
@pytest.mark.parametrize("runner", ["base", "new"])
def test_a_case_that_is_not_ok_has_no_answer(outcome: str, runner: str) -> None:
    of = planned(2)
    verify = change(checks(of), {"outcome": outcome, "reason": "r\nr"}, runner=runner, case="a")
    lines = samples(of, noisy({"new": 1.2}))
    found = make(of, verify=verify, lines=lines)
    without = {"a": f"{runner}: {outcome}: r r"}
    assert gate(found, SHARE, 1) == Gate(["b"], [], [], without)
    assert unmeasured(found) == without


def test_a_case_that_neither_side_can_do_names_both() -> None:
    of = planned()
    verify = change(checks(of), {"outcome": "unsupported", "reason": "r"})
    found = gate(make(of, verify=verify, lines=samples(of, noisy())[:1]), SHARE, 3)
    assert found == Gate([], [], [], {"a": "base and new: unsupported: r"})


def test_a_case_that_is_measured_for_one_side_only_has_no_answer() -> None:
    of = {**planned(), "cells": {"a": ["base"]}}
    lines = drop(samples(of, noisy()), label="new")
    found = gate(make(of, lines=lines), SHARE, 3)
    assert found.unmeasured == {"a": "new: missing: not selected for this run"}


def test_a_build_that_still_warms_up_is_not_cleared() -> None:
    of = planned()
    lines = samples(of, noisy())
    for line in lines:
        if "block" in line:
            level = 0.9 if line.get("runner") == "new" else 1.0
            line["drift"] = level + (0.01, -0.01)[line["block"] % 2]
    judged_run = gate(make(of, lines=lines), SHARE, 3)
    told = "new: still warming up: its second half took 10.0 % less time than its first"
    assert judged_run == Gate([], [], [], {"a": told})


def test_each_case_with_a_time_has_its_ratio() -> None:
    (ratio,) = gate(slower(1.2), SHARE, 1).ratios.values()
    compared = analyse(slower(1.2)).cases[0].comparisons.of("new", "base")
    assert compared is not None
    assert ratio == compared.ratio


def test_a_plan_without_a_gate_has_none_to_judge() -> None:
    found = slower(1.2)
    without = replace(found, plan=found.plan.model_copy(update={"gate": None}))
    with pytest.raises(ValueError, match=r"^run-1 has no gate$"):
        judged(without)


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

    found = gate(run(time, len(ratios), 12), share, looks)
    assert sorted(found.alarmed + found.cleared + found.open) == list("abcdefghij"[: len(ratios)])
    strict = gate(run(time, len(ratios), 12), share, looks + 1)
    assert set(strict.alarmed) <= set(found.alarmed)
    assert set(strict.cleared) <= set(found.cleared)


# the verdicts of a run that might have ended early ------------------------------------------------


def between_the_levels() -> RunData:
    """A difference whose p is above Pocock's level of three looks and below 5 %."""
    for step in range(100):
        found = slower(1 + step / 5000)
        p = analyse(found).cases[0].comparisons.p[0]
        if p is not None and pocock(3) < p < 0.05:
            return found
    raise AssertionError("no such difference")


def with_looks(found: RunData, looks: int) -> RunData:
    return replace(found, plan=found.plan.model_copy(update={"looks": looks, "gate": SHARE}))


def test_each_of_several_looks_gives_verdicts_at_pococks_level() -> None:
    found = between_the_levels()
    once, often = (analyse(with_looks(found, looks)).cases[0] for looks in (1, 3))
    assert once.comparisons.verdict[0] == "slower"
    assert often.comparisons.verdict[0] == "equivalent"
    assert once.comparisons.ratio == often.comparisons.ratio
    assert once.comparisons.low == often.comparisons.low


def test_the_report_says_at_which_level() -> None:
    (once,), (often,) = (
        [text for text in analyse(with_looks(slower(1.2), looks)).method if "Verdicts: " in text]
        for looks in (1, 3)
    )
    assert "Pocock" not in once
    assert "each verdict is given at Pocock's level, 2.2 % in place of 5 %" in often


def test_a_run_that_was_settled_early_says_so_with_its_level() -> None:
    of = planned()
    lines = [x for x in samples(of, noisy({"new": 1.2})) if x.get("block", 0) < 10]
    (told,) = (text for text in notices(analyse(make(of, lines=lines))) if "settled" in text)
    assert told == (
        "The run was settled at the planned look after 10 of 30 blocks; its verdicts are given at "
        "2.2 %, the level for each of 3 looks."
    )
