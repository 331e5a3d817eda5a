"""Who is ahead, by given contrasts and in groups of cases, and the one way in which it is said."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.ranking import Table, rank
from sqlitmus.render.document.ranking import Amounts, say
from tests.analysis import runs

MARGIN = 0.02
OPEN, SLOWER = (runs.Verdict.NOT_RESOLVED, 1.03, 0.05), (runs.Verdict.SLOWER, 1.5, 0.1)
SAME, NEAR = (runs.Verdict.EQUIVALENT, 1.001, 0.005), (runs.Verdict.SLOWER, 1.01, 0.005)
Told = tuple[runs.Verdict, float, float]
MS = Amounts({name: f"{number} ms" for number, name in enumerate("abcd", 1)}, " a query")


def table(told: dict[tuple[str, str], Told]) -> Table:
    both: dict[tuple[str, str], runs.Contrast] = {}
    for (runner, reference), (verdict, value, half) in told.items():
        low, high = value - half, value + half
        both[runner, reference] = runs.Contrast(
            runner, reference, runs.Interval(value, low, high), verdict
        )
        back = runs.Interval(1 / value, 1 / high, 1 / low)
        both[reference, runner] = runs.Contrast(reference, runner, back, verdict.opposite)
    return both


TOLD_OF: dict[str, dict[tuple[str, str], Told]] = {
    "c is behind b alone, and no ratio over a is known": {
        ("b", "a"): OPEN, ("c", "a"): OPEN, ("c", "b"): SLOWER, ("d", "a"): SLOWER,
        ("d", "b"): SLOWER, ("d", "c"): OPEN,
    },
    "two contrasts imply a third": {("b", "a"): SLOWER, ("c", "b"): SLOWER, ("c", "a"): OPEN},
    "both are behind": {("b", "a"): SLOWER, ("c", "a"): SLOWER, ("c", "b"): OPEN},
    "two are tied": {("b", "a"): OPEN, ("c", "a"): SLOWER, ("c", "b"): SLOWER},
    "two are equivalent": {("b", "a"): SAME, ("c", "a"): SLOWER, ("c", "b"): OPEN},
    "all are equivalent": {("b", "a"): SAME, ("c", "a"): SAME, ("c", "b"): SAME},
    "one is near, one implied": {("b", "a"): NEAR, ("c", "a"): OPEN, ("c", "b"): SLOWER},
    "two are near": {("b", "a"): SAME, ("c", "a"): SAME, ("c", "b"): OPEN},
    "a circle": {("b", "a"): SLOWER, ("c", "b"): SLOWER, ("a", "c"): SLOWER},
    "one alone": {},
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD_OF)
def test_what_is_said_of_contrasts(name: str, snapshot: SnapshotAssertion) -> None:
    """Without a reference, with one, and with amounts; what is not resolved has no ratio."""
    of = table(TOLD_OF[name])
    names = sorted({each for pair in of for each in pair}) or ["a"]
    orders = (rank(of, names, margin=MARGIN, reference=each) for each in (None, "a", "c"))
    plain, *over = (" ".join(say(order)) for order in orders)
    amounts = " ".join(say(rank(of, names, margin=MARGIN), MS))
    assert (plain, *over, amounts) == snapshot


def test_of_nobody_nothing_is_said() -> None:
    (text,) = say(rank({}, []))
    assert text == "no runner is recommended: no runner can be compared in all of these."


@given(
    st.lists(st.sampled_from([SLOWER, OPEN, SAME, NEAR]), min_size=6, max_size=6),
    st.permutations("abcd"),
    st.sampled_from([None, *"abcd"]),
)
def test_the_order_of_runners_changes_nothing_and_each_is_named(
    verdicts: list[Told], names: list[str], reference: str | None
) -> None:
    pairs = table(dict(zip(combinations("abcd", 2), verdicts, strict=True)))
    first, again = (
        rank(pairs, order, reference=reference, margin=MARGIN) for order in ("abcd", names)
    )
    assert sorted(first.front) == sorted(again.front)
    assert (first.equivalent, bool(first.close)) == (again.equivalent, bool(again.close))
    for order in (first, again):
        resolved = [each for each in order.contrasts if each.verdict.different]
        for sentence in say(order):
            assert sentence.endswith(".")
            assert sentence.count("×") <= len(resolved)
        if first.front:
            assert all(name in " ".join(say(order)) for name in "abcd")


# groups ------------------------------------------------------------------------------------------

NAMES = ["node", "bun", "deno"]


def told(report: runs.Report) -> list[str]:
    """What each is to each other in each group."""
    return [
        f"{s.group}: {s.runner}/{s.reference}: {runs.told(s.contrast)}; of {s.cases} cases "
        f"{s.faster} faster, {s.slower} slower, {s.equivalent} equivalent, {s.unresolved} open; "
        f"{s.not_ok} not ok"
        for s in report.standings
    ]


def bun(report: runs.Report, group: str = "reads") -> runs.Contrast:
    (found,) = (
        s.contrast
        for s in report.standings
        if (s.runner, s.reference, s.group) == ("bun", "node", group)
    )
    return runs.sure(found)


def reads(count: int, **changes: object) -> runs.Json:
    return runs.plan(NAMES, cases=[runs.case(f"case-{c}") for c in range(count)], **changes)


def cut(after: int, *cases: str) -> dict[str, Any]:
    """Cases of 14 blocks have so many."""
    gone = [({"case": case, "block": b}, None) for case in cases for b in range(after, 14)]
    return {"of": reads(2, blocks=14), "time": runs.noisy({"bun": 1.2}), "sampled": gone}


def lacking(cases: int, **gaps: list[int]) -> dict[str, Any]:
    """Runners lack some of so many cases."""
    new = {"outcome": "unsupported", "reason": "no"}
    checked = [
        ({"runner": name, "case": f"case-{c}"}, new) for name, cs in gaps.items() for c in cs
    ]
    return {"of": reads(cases), "checked": checked}


def copied(c: int, label: str, block: int) -> float:
    return runs.noisy({"bun": 1.2})(c, label, block) if c else 1000.0 + block


GROUPS: dict[str, dict[str, Any]] = {
    "counts add up and mirror": {
        "of": reads(6), "time": runs.noisy({"bun": 1.01}, spread=0.012)
    },
    "all are compared over the cases that all completed": lacking(6, deno=[0, 1]),
    "who completed less than half costs nobody else a case": lacking(6, deno=[0, 1, 2, 3]),
    "cases that nobody completed count against no one": lacking(
        4, node=[2, 3], bun=[2, 3], deno=[1, 2, 3]
    ),
    "one completed nothing": lacking(1, deno=[0]),
    "nobody completed anything": lacking(2, node=[0, 1], bun=[0, 1], deno=[0, 1]),
    # a block that lacks a case does not count
    "a case has 11 of 14 blocks": cut(11, "case-1"),
    "both cases have 11": cut(11, "case-0", "case-1"),
    "a case has 6": cut(6, "case-1"),
    "a case without an interval takes the group's": {"of": reads(2), "time": copied},
}  # fmt: skip


@pytest.mark.parametrize("name", GROUPS)
def test_what_runners_are_to_each_other_in_a_group(name: str, snapshot: SnapshotAssertion) -> None:
    assert told(runs.report(**GROUPS[name])) == snapshot


def test_the_ratio_is_the_geometric_mean_of_the_cases() -> None:
    report = runs.report(reads(4), time=runs.noisy({"bun": 1.2}))
    logs = [np.log(runs.contrast(report, "bun", case=n).ratio.value) for n in range(4)]
    assert bun(report).ratio.value == pytest.approx(np.exp(np.mean(logs)), rel=1e-12)


def test_the_intervals_of_all_pairs_in_all_groups_hold_together() -> None:
    widths: list[float] = []
    for names, groups in ((["node", "bun"], "a"), (NAMES, "a"), (NAMES, "ab")):
        of = runs.plan(names, cases=[runs.case(group, group=group) for group in groups])
        ratio = bun(runs.report(of, time=runs.noisy({"bun": 1.2})), "a").ratio
        widths.append(float(np.log(runs.ends(ratio)[1] / ratio.value)))
    # Student's t of 12 blocks, which leave 8 values, for 1, 3 and 6 comparisons
    assert np.array(widths) / widths[0] == pytest.approx([1, 1.3447780, 1.5812327], rel=1e-6)


def test_a_group_of_one_case_says_no_more_than_that_case() -> None:
    # nine other cases make the correction of cases stricter than that of the two groups
    others = [runs.case(f"case-{c}", group="other") for c in range(9)]
    of = runs.plan(
        ["node", "bun"], cases=[runs.case("lone", group="lone"), *others], correction="holm"
    )
    words: set[tuple[str, str]] = set()
    for percent in np.arange(0, 4, 0.25):
        report = runs.report(of, time=runs.noisy({"bun": 1 + percent / 100}))
        words.add((bun(report, "lone").verdict, runs.contrast(report, "bun").verdict))
    assert len(words) > 2
    weaker = {("not resolved", word) for _, word in words} | {("slower", "materially slower")}
    assert {(group, word) for group, word in words if group != word} <= weaker
