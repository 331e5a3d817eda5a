import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import RunData, analyse
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Report
from tests import worded
from tests.analysis.runs import Times, case, counts, drop, make, noisy, plan, samples
from tests.refusals import refused

SWAPPED = {
    "materially faster": "materially slower",
    "faster": "slower",
    "slower": "faster",
    "materially slower": "materially faster",
}


def pair(run: RunData, name: str, reference: str, number: int = 0) -> Contrast | None:
    return analyse(run).cases[number].comparisons.of(name, reference)


def certain(run: RunData, name: str, reference: str) -> Contrast:
    found = pair(run, name, reference)
    assert found is not None
    return found


def timed(time: Times, blocks: int = 12) -> RunData:
    planned = plan(blocks=blocks)
    return make(planned, lines=samples(planned, time))


def test_a_slower_runner_is_told_with_its_ratio() -> None:
    found = certain(timed(noisy({"bun": 1.3})), "bun", "node")
    assert found.verdict == "materially slower"
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < 1.3 < found.ratio.high
    assert (found.blocks, found.needs_blocks) == (12, None)


def test_every_ordered_pair_of_runners_that_are_ok_is_there() -> None:
    found = analyse(make()).cases[0].comparisons
    names = ("node", "bun", "rust-ffi")
    assert [(c.runner, c.reference) for c in found] == [
        (a, b) for a in names for b in names if a != b
    ]


def test_a_runner_alone_has_nothing_to_be_compared_with() -> None:
    report = analyse(make(plan(["node"])))
    assert [list(case.comparisons) for case in report.cases] == [[], []]
    assert report.standings == []


def test_an_open_question_says_how_many_blocks_would_settle_it() -> None:
    found = certain(timed(noisy({"bun": 1.02}, spread=0.05)), "bun", "node")
    assert found.verdict == "not resolved"
    assert found.needs_blocks is not None
    assert found.needs_blocks > 12


def test_nine_blocks_give_a_ratio_without_verdict() -> None:
    found = certain(timed(noisy({"bun": 2.0}), blocks=9), "bun", "node")
    assert found.verdict == "not testable"
    assert found.ratio.low is not None


def test_one_block_gives_no_ratio_at_all() -> None:
    report = analyse(timed(noisy(), blocks=1))
    assert [list(case.comparisons) for case in report.cases] == [[], []]
    assert [case.canary for case in report.cases] == [None, None]
    assert all(standing.contrast is None for standing in report.standings)
    assert all(cell.overhead is None for case in report.cases for cell in case.cells)


def test_copied_times_are_not_testable() -> None:
    found = certain(timed(lambda _c, label, block: 100 + block + 0 * len(label)), "bun", "node")
    assert (found.verdict, found.ratio.low, found.ratio.high) == ("not testable", None, None)
    found = certain(
        timed(lambda _c, label, block: (100 + block) * (3 if label == "bun" else 1)), "bun", "node"
    )
    assert (found.verdict, found.ratio.low) == ("not testable", None)


def test_the_canary_is_the_reference_against_itself() -> None:
    found = analyse(timed(noisy({"canary": 1.2}))).cases[0].canary
    assert found is not None
    assert (found.runner, found.reference, found.verdict) == ("canary", "node", "materially slower")


def test_no_shared_block_no_comparison() -> None:
    lines = [
        line
        for line in samples(plan(), noisy())
        if (line.get("label"), line.get("block", 0) % 2) not in {("bun", 0), ("node", 1)}
    ]
    assert pair(make(lines=lines), "bun", "node") is None
    assert certain(make(lines=lines), "bun", "rust-ffi").blocks == 6


ratios = st.floats(0.5, 2.0)
FEW = settings(max_examples=20)  # each is a whole report


@given(ratios, st.floats(0.001, 0.1))
@FEW
def test_exchanging_runner_and_reference_inverts_everything(ratio: float, spread: float) -> None:
    found = analyse(timed(noisy({"bun": ratio}, spread=spread))).cases[0].comparisons
    there, back = found.of("bun", "node"), found.of("node", "bun")
    assert there is not None
    assert back is not None
    assert there.ratio.low is not None
    assert there.ratio.high is not None
    assert back.ratio.value == pytest.approx(1 / there.ratio.value, rel=1e-12)
    assert back.ratio.low == pytest.approx(1 / there.ratio.high, rel=1e-12)
    assert back.ratio.high == pytest.approx(1 / there.ratio.low, rel=1e-12)
    assert back.verdict == SWAPPED.get(there.verdict, there.verdict)
    assert (back.blocks, back.needs_blocks) == (there.blocks, there.needs_blocks)


@given(ratios, st.floats(1e-3, 1e3))
@FEW
def test_the_speed_of_the_machine_cancels(ratio: float, speed: float) -> None:
    time = noisy({"bun": ratio})
    one = certain(timed(time), "bun", "node")
    other = certain(timed(lambda c, label, block: speed * time(c, label, block)), "bun", "node")
    assert other.ratio.value == pytest.approx(one.ratio.value, rel=1e-9)
    assert other.verdict == one.verdict


@given(st.permutations(["node", "bun", "rust-ffi"]), ratios)
@FEW
def test_names_and_their_order_do_not_matter(order: list[str], ratio: float) -> None:
    time = noisy({"bun": ratio})
    found = certain(timed(time), "bun", "node")
    reordered = plan(order, reference="node", canary="node")
    again = certain(make(reordered, lines=samples(reordered, time)), "bun", "node")
    assert again.ratio.value == pytest.approx(found.ratio.value, rel=1e-12)
    assert (again.verdict, again.needs_blocks) == (found.verdict, found.needs_blocks)


def test_blocks_in_another_order_give_the_same_result() -> None:
    header, *lines = samples(plan(), noisy())
    shuffled = [header, *random.Random(1).sample(lines, len(lines))]
    assert certain(make(lines=shuffled), "bun", "node") == certain(make(), "bun", "node")


def test_a_dropped_block_changes_only_the_pairs_that_lack_it() -> None:
    run = make(lines=drop(samples(plan(), noisy()), label="bun", block=5))
    assert certain(run, "bun", "node").blocks == 11
    assert certain(run, "rust-ffi", "node") == certain(make(), "rust-ffi", "node")


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


def compared(time: Times, sessions: int) -> Contrast:
    found = reported(time, sessions).cases[0].comparisons.of("bun", "node")
    assert found is not None
    return found


def width(found: Contrast) -> float:
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
    with refused(message):
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
    with refused(r"counts\.get-pk\.node\.iterations"):
        make(plan(counts={"get-pk": {"node": counts(1, iterations=0)}}), lines=[])


def ratio_of(report: Report) -> Interval:
    means = (s.contrast for s in report.standings if (s.runner, s.reference) == ("bun", "node"))
    (mean,) = means
    assert mean is not None
    return mean.ratio


def test_a_group_knows_no_more_sessions_than_its_cases_do() -> None:
    time = by_session(1.04, 1.10, 0.99)
    alone = reported(time, 3, cases=[case("get")])
    comparison = alone.cases[0].comparisons.of("bun", "node")
    mean = ratio_of(alone)
    assert comparison is not None
    assert (mean.value, mean.low, mean.high) == pytest.approx(
        (comparison.ratio.value, comparison.ratio.low, comparison.ratio.high), rel=1e-12
    )
    # what the sessions differ by is not averaged out by a second case
    both = reported(time, 3, cases=[case("get"), case("all")])
    pair = ratio_of(both)
    assert pair.low is not None
    assert pair.low < 1
    assert worded.headline(both) == ["Reads (2 cases): bun is tied with node."]
