"""Several sessions, and counts per runner: what a plan divides is put together again."""

from typing import Any

import pytest

from sqlitmus.analysis import RunDataError, analyse
from sqlitmus.results.ranking import Comparison
from sqlitmus.results.report import Report
from tests import worded
from tests.analysis.runs import Times, case, counts, make, noisy, plan, samples

BLOCKS = 36


def by_session(*ratios: float, spread: float = 0.005) -> Times:
    """Bun's ratio in each of as many sessions."""
    length = BLOCKS // len(ratios)

    def time(number: int, label: str, block: int) -> float:
        return noisy({"bun": ratios[block // length]}, spread=spread)(number, label, block)

    return time


def reported(time: Times, sessions: int, **changes: Any) -> Report:
    planned = plan(["node", "bun"], **{"blocks": BLOCKS, "sessions": sessions, **changes})
    return analyse(make(planned, lines=samples(planned, time)))


def compared(time: Times, sessions: int) -> Comparison:
    found = reported(time, sessions).cases[0].comparisons.of("bun", "node")
    assert found is not None
    return found


def width(found: Comparison) -> float:
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    return found.ratio.high - found.ratio.low


def test_sessions_that_disagree_give_a_wide_interval_and_no_verdict() -> None:
    time = by_session(1.04, 1.10, 0.99)
    one, three = compared(time, 1), compared(time, 3)
    assert one.verdict == "slower"
    assert three.verdict == "not resolved"
    assert width(three) > 3 * width(one)
    assert three.ratio.low is not None
    assert three.ratio.high is not None
    assert three.ratio.low < 1 < three.ratio.high
    assert three.ratio.value == pytest.approx(1.042, abs=0.01)
    assert three.blocks == BLOCKS


def test_sessions_that_agree_give_a_verdict() -> None:
    found = compared(by_session(1.1, 1.1, 1.1), 3)
    assert found.verdict == "materially slower"
    assert found.ratio.value == pytest.approx(1.1, rel=0.01)


def test_one_more_session_is_foretold_wider_than_the_mean() -> None:
    found = compared(by_session(1.04, 1.10, 0.99), 3)
    assert found.next is not None
    assert found.next.low is not None
    assert found.next.high is not None
    assert found.next.value == found.ratio.value
    assert found.next.high - found.next.low > width(found)
    turned = reported(by_session(1.04, 1.10, 0.99), 3).cases[0].comparisons.of("node", "bun")
    assert turned is not None
    assert turned.next is not None
    assert turned.next.low == pytest.approx(1 / found.next.high)


@pytest.mark.parametrize("sessions", [1, 2])
def test_fewer_than_three_sessions_foretell_nothing(sessions: int) -> None:
    assert compared(by_session(1.1, 1.1), sessions).next is None


def test_a_session_without_blocks_is_left_out() -> None:
    planned = plan(["node", "bun"], blocks=BLOCKS, sessions=3)
    lines = [x for x in samples(planned, by_session(1.1, 1.1, 9.0)) if x.get("block", 0) < 24]
    found = analyse(make(planned, lines=lines)).cases[0].comparisons.of("bun", "node")
    assert found is not None
    assert found.ratio.value == pytest.approx(1.1, rel=0.01)
    assert (found.blocks, found.next) == (24, None)


def test_blocks_that_cannot_be_divided_are_refused() -> None:
    message = r"^plan: \$: Value error, 35 blocks cannot be divided into 3 sessions$"
    with pytest.raises(RunDataError, match=message):
        make(plan(blocks=35, sessions=3), lines=[])


def test_the_report_says_what_its_intervals_are_of() -> None:
    report = reported(by_session(1, 1, 1), 3)
    assert report.sessions == 3
    text = "The blocks are those of 3 sessions, combined by random effects: "
    assert text in "\n".join(report.method)
    assert "sessions, combined" not in "\n".join(reported(by_session(1), 1).method)


# counts of each runner --------------------------------------------------------------------------


def test_units_of_work_follow_each_runners_own_counts() -> None:
    names = ["node", "bun", "rust-ffi"]
    cases = [case("get-pk", per_operation=3), case("get-index")]
    mine = {
        "node": counts(100),
        "bun": counts(5, iterations=20, steadiness="warm-up", steady_from_ms=12.5),
    }
    planned = plan(names, cases=cases, counts={"get-pk": mine})
    time = noisy({"bun": 1.5})
    lines = [
        # bun does 5 operations where the others do 100
        {**x, "steady_ns": x["steady_ns"] / 20, "cpu_ns": x["cpu_ns"] / 20}
        if (x.get("label"), x.get("case")) == ("bun", "get-pk")
        else x
        for x in samples(planned, time)
    ]
    report = analyse(make(planned, lines=lines))
    plain = analyse(make(plan(names, cases=cases), lines=samples(planned, time)))
    for found, same in zip(report.cases, plain.cases, strict=True):
        for cell, other in zip(found.cells, same.cells, strict=True):
            assert cell.samples == pytest.approx(other.samples)
            cpu = cell.figures["cpu"].value
            assert cpu == pytest.approx(other.figures["cpu"].value)
        assert found.comparisons.ratio == pytest.approx(same.comparisons.ratio)
    (node, bun, floor), _ = (c.cells for c in report.cases)
    assert (node.operations, node.iterations, node.steadiness) == (100, 5, None)
    assert (bun.operations, bun.iterations, bun.steadiness) == (5, 20, "warm-up")
    assert (floor.operations, floor.iterations) == (100, 0)  # not in the counts: the case's own
    assert report.cases[0].operations == 100
    assert report.cases[0].canary is not None
    assert report.cases[0].canary.ratio.value == pytest.approx(1, rel=0.02)


def test_the_canary_does_what_its_runner_does() -> None:
    planned = plan(["node", "bun"], reference="bun", canary="bun")
    planned["counts"] = {"get-pk": {"node": counts(100), "bun": counts(5)}}
    lines = [
        {**x, "steady_ns": x["steady_ns"] / 20}
        if x.get("runner") == "bun" and x["case"] == "get-pk"
        else x
        for x in samples(planned, noisy())
    ]
    found = analyse(make(planned, lines=lines)).cases[0]
    assert found.canary is not None
    assert found.canary.ratio.value == pytest.approx(1, rel=0.02)


def test_a_plan_may_not_ask_for_less_than_an_iteration() -> None:
    with pytest.raises(RunDataError, match=r"counts\.get-pk\.node\.iterations"):
        make(plan(counts={"get-pk": {"node": counts(1, iterations=0)}}), lines=[])


def test_a_group_knows_no_more_sessions_than_its_cases_do() -> None:
    time = by_session(1.04, 1.10, 0.99)
    alone = reported(time, 3, cases=[case("get")])
    comparison = alone.cases[0].comparisons.of("bun", "node")
    (mean,) = (s.ratio for s in alone.standings if (s.runner, s.reference) == ("bun", "node"))
    assert comparison is not None
    assert mean is not None
    assert (mean.value, mean.low, mean.high) == pytest.approx(
        (comparison.ratio.value, comparison.ratio.low, comparison.ratio.high), rel=1e-12
    )
    # what the sessions differ by is not averaged out by a second case
    both = reported(time, 3, cases=[case("get"), case("all")])
    (pair,) = (s.ratio for s in both.standings if (s.runner, s.reference) == ("bun", "node"))
    assert pair is not None
    assert pair.low is not None
    assert pair.low < 1
    assert worded.headline(both) == ["Reads (2 cases): bun is not told apart from node."]
