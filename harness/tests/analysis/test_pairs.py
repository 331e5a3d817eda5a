import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import RunData, analyse
from sqlitmus.results.ranking import Comparison
from tests.analysis.runs import Times, drop, make, noisy, plan, samples

SWAPPED = {
    "materially faster": "materially slower",
    "faster": "slower",
    "slower": "faster",
    "materially slower": "materially faster",
}


def pair(run: RunData, name: str, reference: str, number: int = 0) -> Comparison | None:
    return analyse(run).cases[number].comparisons.of(name, reference)


def certain(run: RunData, name: str, reference: str) -> Comparison:
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
    assert all(standing.ratio is None for standing in report.standings)
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
