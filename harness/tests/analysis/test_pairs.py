import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import worded
from tests.analysis import runs
from tests.refusals import refused

SWAPPED = {
    "materially faster": "materially slower",
    "faster": "slower",
    "slower": "faster",
    "materially slower": "materially faster",
}
NAMES = ("node", "bun", "rust-ffi")


def timed(time: runs.Times, blocks: int = 12) -> runs.Report:
    return runs.analyse(runs.make(runs.plan(blocks=blocks), time=time))


def bun(run: runs.RunData | runs.Report, reference: str = "node") -> runs.Contrast:
    return runs.contrast(
        run if isinstance(run, runs.Report) else runs.analyse(run), "bun", reference
    )


def test_a_slower_runner_is_told_with_its_ratio() -> None:
    slower = bun(timed(runs.noisy({"bun": 1.3})))
    low, high = runs.ends(slower.ratio)
    assert low < 1.3 < high
    assert (slower.verdict, slower.blocks, slower.needs_blocks) == ("materially slower", 12, None)


def test_every_ordered_pair_of_runners_that_are_ok_is_there() -> None:
    pairs = runs.analyse(runs.make()).cases[0].comparisons
    assert [(c.runner, c.reference) for c in pairs] == [
        (a, b) for a in NAMES for b in NAMES if a != b
    ]


def test_a_runner_alone_has_nothing_to_be_compared_with() -> None:
    report = runs.analyse(runs.make(runs.plan(["node"])))
    assert [list(case.comparisons) for case in report.cases] == [[], []]
    assert report.standings == []


def test_an_open_question_says_how_many_blocks_would_settle_it() -> None:
    unsure = bun(timed(runs.noisy({"bun": 1.02}, spread=0.05)))
    assert unsure.verdict == "not resolved"
    assert runs.sure(unsure.needs_blocks) > 12


def test_nine_blocks_give_a_ratio_without_verdict() -> None:
    nine = bun(timed(runs.noisy({"bun": 2.0}), blocks=9))
    assert nine.verdict == "not testable"
    assert nine.ratio.low


def test_one_block_gives_no_ratio_at_all() -> None:
    report = timed(runs.noisy(), blocks=1)
    assert [list(case.comparisons) for case in report.cases] == [[], []]
    assert [case.canary for case in report.cases] == [None, None]
    assert all(standing.contrast is None for standing in report.standings)
    assert all(cell.overhead is None for case in report.cases for cell in case.cells)


@pytest.mark.parametrize("factor", [1, 3])
def test_copied_times_are_not_testable(factor: int) -> None:
    copied = bun(timed(lambda _c, name, block: (100 + block) * (factor if name == "bun" else 1)))
    assert (copied.verdict, copied.ratio.low, copied.ratio.high) == ("not testable", None, None)


def test_the_canary_is_the_reference_against_itself() -> None:
    canary = runs.sure(timed(runs.noisy({"canary": 1.2})).cases[0].canary)
    assert (canary.runner, canary.reference) == ("canary", "node")
    assert canary.verdict == "materially slower"


def test_no_shared_block_no_comparison() -> None:
    lines = [
        line
        for line in runs.samples(runs.plan(), runs.noisy())
        if (line.get("label"), line.get("block", 0) % 2) not in {("bun", 0), ("node", 1)}
    ]
    report = runs.analyse(runs.make(lines=lines))
    assert report.cases[0].comparisons.of("bun", "node") is None
    assert bun(report, "rust-ffi").blocks == 6


ratios = st.floats(0.5, 2.0)
FEW = settings(max_examples=20)  # each is a whole report


@given(ratios, st.floats(0.001, 0.1))
@FEW
def test_exchanging_runner_and_reference_inverts_everything(ratio: float, spread: float) -> None:
    report = timed(runs.noisy({"bun": ratio}, spread=spread))
    forth, back = bun(report), runs.contrast(report, "node", "bun")
    low, high = runs.ends(forth.ratio)
    assert back.ratio.value == pytest.approx(1 / forth.ratio.value, rel=1e-12)
    assert runs.ends(back.ratio) == pytest.approx((1 / high, 1 / low), rel=1e-12)
    assert back.verdict == SWAPPED.get(forth.verdict, forth.verdict)
    assert (back.blocks, back.needs_blocks) == (forth.blocks, forth.needs_blocks)


@given(ratios, st.floats(1e-3, 1e3))
@FEW
def test_the_speed_of_the_machine_cancels(ratio: float, speed: float) -> None:
    time = runs.noisy({"bun": ratio})
    one = bun(timed(time))
    other = bun(timed(lambda c, label, block: speed * time(c, label, block)))
    assert other.ratio.value == pytest.approx(one.ratio.value, rel=1e-9)
    assert other.verdict == one.verdict


@given(st.permutations(NAMES), ratios)
@FEW
def test_names_and_their_order_do_not_matter(order: list[str], ratio: float) -> None:
    time = runs.noisy({"bun": ratio})
    usual = bun(timed(time))
    again = bun(runs.make(runs.plan(order, reference="node", canary="node"), time=time))
    assert again.ratio.value == pytest.approx(usual.ratio.value, rel=1e-12)
    assert (again.verdict, again.needs_blocks) == (usual.verdict, usual.needs_blocks)


def test_blocks_in_another_order_give_the_same_result() -> None:
    header, *lines = runs.samples(runs.plan(), runs.noisy())
    shuffled = [header, *random.Random(1).sample(lines, len(lines))]
    assert bun(runs.make(lines=shuffled)) == bun(runs.make())


def test_a_dropped_block_changes_only_the_pairs_that_lack_it() -> None:
    report = runs.analyse(
        runs.make(lines=runs.drop(runs.samples(runs.plan(), runs.noisy()), label="bun", block=5))
    )
    assert bun(report).blocks == 11
    assert runs.contrast(report, "rust-ffi", "node") == runs.contrast(
        runs.analyse(runs.make()), "rust-ffi", "node"
    )


BLOCKS = 36


def by_session(*ratios: float, spread: float = 0.005) -> runs.Times:
    """Bun's ratio in each of as many sessions."""
    length = BLOCKS // len(ratios)

    def time(number: int, label: str, block: int) -> float:
        return runs.noisy({"bun": ratios[block // length]}, spread=spread)(number, label, block)

    return time


def reported(time: runs.Times, sessions: int, **changes: Any) -> runs.Report:
    planned = runs.plan(["node", "bun"], **{"blocks": BLOCKS, "sessions": sessions, **changes})
    return runs.analyse(runs.make(planned, time=time))


def width(of: runs.Contrast) -> float:
    low, high = runs.ends(of.ratio)
    return high - low


APART = by_session(1.04, 1.10, 0.99)


def test_sessions_that_disagree_give_a_wide_interval_and_no_verdict() -> None:
    one, three = bun(reported(APART, 1)), bun(reported(APART, 3))
    assert (one.verdict, three.verdict) == ("slower", "not resolved")
    assert width(three) > 3 * width(one)
    low, high = runs.ends(three.ratio)
    assert low < 1 < high
    assert three.ratio.value == pytest.approx(1.042, abs=0.01)
    assert three.blocks == BLOCKS


def test_sessions_that_agree_give_a_verdict() -> None:
    agreed = bun(reported(by_session(1.1, 1.1, 1.1), 3))
    assert agreed.verdict == "materially slower"
    assert agreed.ratio.value == pytest.approx(1.1, rel=0.01)


def test_one_more_session_is_foretold_wider_than_the_mean() -> None:
    report = reported(APART, 3)
    forth, back = bun(report), runs.contrast(report, "node", "bun")
    low, high = runs.ends(forth.next)
    assert runs.sure(forth.next).value == forth.ratio.value
    assert high - low > width(forth)
    assert runs.ends(back.next)[0] == pytest.approx(1 / high)


@pytest.mark.parametrize("sessions", [1, 2])
def test_fewer_than_three_sessions_foretell_nothing(sessions: int) -> None:
    assert bun(reported(by_session(1.1, 1.1), sessions)).next is None


def test_a_session_without_blocks_is_left_out() -> None:
    planned = runs.plan(["node", "bun"], blocks=BLOCKS, sessions=3)
    lines = [x for x in runs.samples(planned, by_session(1.1, 1.1, 9.0)) if x.get("block", 0) < 24]
    two = bun(runs.make(planned, lines=lines))
    assert two.ratio.value == pytest.approx(1.1, rel=0.01)
    assert (two.blocks, two.next) == (24, None)


def test_blocks_that_cannot_be_divided_are_refused() -> None:
    message = r"^plan: \$: Value error, 35 blocks cannot be divided into 3 sessions$"
    with refused(message):
        runs.make(runs.plan(blocks=35, sessions=3), lines=[])


# counts of each runner --------------------------------------------------------------------------


def test_units_of_work_follow_each_runners_own_counts() -> None:
    """Bun does 5 operations where the others do 100."""
    cases = [runs.case("get-pk", per_operation=3), runs.case("get-index")]
    mine = {
        "node": runs.counts(100),
        "bun": runs.counts(5, iterations=20, steadiness="warm-up", steady_from_ms=12.5),
    }
    planned = runs.plan(NAMES, cases=cases, counts={"get-pk": mine})
    plain = runs.samples(planned, runs.noisy({"bun": 1.5}))
    lines = runs.change(
        plain,
        lambda x: {name: x[name] / 20 for name in ("steady_ns", "cpu_ns")},
        label="bun", case="get-pk",
    )  # fmt: skip
    report = runs.analyse(runs.make(planned, lines=lines))
    alike = runs.analyse(runs.make(runs.plan(NAMES, cases=cases), lines=plain))
    for scaled, same in zip(report.cases, alike.cases, strict=True):
        for cell, other in zip(scaled.cells, same.cells, strict=True):
            assert cell.samples == pytest.approx(other.samples)
            assert cell.figures["cpu"].value == pytest.approx(other.figures["cpu"].value)
        assert scaled.comparisons.ratio == pytest.approx(same.comparisons.ratio)
    cells = [runs.cell_of(report, name) for name in NAMES]
    assert [(cell.operations, cell.iterations, cell.steadiness) for cell in cells] == [
        (100, 5, None),
        (5, 20, "warm-up"),
        (100, 0, None),  # not in the counts: the case's own
    ]
    assert report.cases[0].operations == 100
    assert runs.sure(report.cases[0].canary).ratio.value == pytest.approx(1, rel=0.02)


def test_the_canary_does_what_its_runner_does() -> None:
    planned = runs.plan(["node", "bun"], reference="bun", canary="bun")
    planned["counts"] = {"get-pk": {"node": runs.counts(100), "bun": runs.counts(5)}}
    lines = runs.change(
        runs.samples(planned, runs.noisy()),
        lambda x: {"steady_ns": x["steady_ns"] / 20},
        runner="bun", case="get-pk",
    )  # fmt: skip
    canary = runs.analyse(runs.make(planned, lines=lines)).cases[0].canary
    assert runs.sure(canary).ratio.value == pytest.approx(1, rel=0.02)


def test_a_plan_may_not_ask_for_less_than_an_iteration() -> None:
    with refused(r"counts\.get-pk\.node\.iterations"):
        runs.make(runs.plan(counts={"get-pk": {"node": runs.counts(1, iterations=0)}}), lines=[])


def test_a_group_knows_no_more_sessions_than_its_cases_do() -> None:
    alone, both = (
        reported(APART, 3, cases=[runs.case(name) for name in names])
        for names in (("get",), ("get", "all"))
    )
    of_group = [
        runs.sure(next(s.contrast for s in report.standings if s.runner == "bun")).ratio
        for report in (alone, both)
    ]
    of_case = bun(alone).ratio
    assert of_group[0].value == pytest.approx(of_case.value, rel=1e-12)
    assert runs.ends(of_group[0]) == pytest.approx(runs.ends(of_case), rel=1e-12)
    # what the sessions differ by is not averaged out by a second case
    assert runs.ends(of_group[1])[0] < 1
    assert worded.headline(both) == ["Reads (2 cases): bun is tied with node."]
