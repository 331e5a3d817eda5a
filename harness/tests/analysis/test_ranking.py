"""Who is ahead by given contrasts, and the one way in which it is said."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.ranking import Table, common_set, rank
from sqlitmus.render.document.ranking import Amounts, say
from sqlitmus.results.report import Standing
from sqlitmus.stats.estimate import freedom_of, student_t
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


NAMES = ["node", "bun", "deno"]


def standing(
    run: runs.RunData, name: str, reference: str = "node", group: str = "reads"
) -> Standing:
    wanted = (name, reference, group)
    (found,) = (
        s for s in runs.analyse(run).standings if (s.runner, s.reference, s.group) == wanted
    )
    return found


def mean_of(
    run: runs.RunData, name: str, reference: str = "node", group: str = "reads"
) -> runs.Contrast:
    return runs.sure(standing(run, name, reference, group).contrast)


def reads(count: int, **changes: object) -> dict[str, object]:
    return runs.plan(NAMES, cases=[runs.case(f"case-{c}") for c in range(count)], **changes)


def test_the_ratio_is_the_geometric_mean_of_the_cases() -> None:
    run = runs.make(reads(4), time=runs.noisy({"bun": 1.2}))
    found, report = standing(run, "bun"), runs.analyse(run)
    logs = [np.log(runs.contrast(report, "bun", "node", n).ratio.value) for n in range(4)]
    assert runs.sure(found.contrast).ratio.value == pytest.approx(np.exp(np.mean(logs)), rel=1e-12)
    assert (found.cases, found.slower, found.not_ok) == (4, 4, 0)


def test_the_intervals_of_all_pairs_in_all_groups_hold_together() -> None:
    one, two = ([runs.case(f"{group}", group=group) for group in groups] for groups in ("a", "ab"))
    widths: list[float] = []
    for names, cases in ((["node", "bun"], one), (NAMES, one), (NAMES, two)):
        planned = runs.plan(names, cases=cases)
        run = runs.make(planned, time=runs.noisy({"bun": 1.2}))
        ratio = mean_of(run, "bun", group="a").ratio
        widths.append(float(np.log(runs.ends(ratio)[1] / ratio.value)))
    # 12 blocks leave 8 values; 1, 3 and 6 comparisons
    kept = freedom_of(np.array([8]))
    expected = [
        float((student_t(1 - 0.05 / m, kept) / student_t(0.95, kept))[0]) for m in (1, 3, 6)
    ]
    assert np.array(widths) / widths[0] == pytest.approx(expected, rel=1e-9)


def test_a_block_that_lacks_a_case_does_not_count() -> None:
    planned = runs.plan(
        ["node", "bun"], cases=[runs.case("case-0"), runs.case("case-1")], blocks=14
    )
    lines = runs.samples(planned, runs.noisy({"bun": 1.2}))
    cut = [x for x in lines if x.get("case") != "case-1" or x["block"] < 11]
    short = [x for x in lines if "block" not in x or x["block"] < 11]
    partial, whole = (mean_of(runs.make(planned, lines=some), "bun") for some in (cut, short))
    assert partial.ratio == whole.ratio
    assert partial.verdict is runs.Verdict.MATERIALLY_SLOWER
    few = [x for x in lines if x.get("case") != "case-1" or x["block"] < 6]
    sparse = mean_of(runs.make(planned, lines=few), "bun")
    assert sparse.verdict is runs.Verdict.NOT_TESTABLE
    assert (sparse.ratio.low, sparse.ratio.high) == (None, None)


def test_a_group_of_one_case_says_no_more_than_that_case() -> None:
    # nine other cases make the correction of cases stricter than that of the two groups
    others = [runs.case(f"case-{c}", group="other") for c in range(9)]
    planned = runs.plan(
        ["node", "bun"], cases=[runs.case("lone", group="lone"), *others], correction="holm"
    )
    strengths: set[tuple[runs.Verdict, runs.Verdict]] = set()
    for percent in np.arange(0, 4, 0.1):
        run = runs.make(planned, time=runs.noisy({"bun": 1 + percent / 100}))
        report = runs.analyse(run)
        (mean,) = (s.contrast for s in report.standings if (s.group, s.runner) == ("lone", "bun"))
        strengths.add((runs.sure(mean).verdict, runs.contrast(report, "bun", "node").verdict))
    assert len(strengths) > 2
    assert all(
        group in (verdict, runs.Verdict.NOT_RESOLVED) or group is WEAKER.get(verdict)
        for group, verdict in strengths
    ), strengths


WEAKER = {runs.Verdict.MATERIALLY_SLOWER: runs.Verdict.SLOWER}


def test_counts_add_up_and_mirror() -> None:
    planned = reads(6)
    run = runs.make(planned, time=runs.noisy({"bun": 1.01}, spread=0.012))
    there, back = standing(run, "bun"), standing(run, "node", "bun")
    assert there.faster + there.slower + there.equivalent + there.unresolved == there.cases == 6
    assert (there.faster, there.slower) == (back.slower, back.faster)
    assert (there.equivalent, there.unresolved) == (back.equivalent, back.unresolved)


def lacking(planned: dict[str, object], gaps: dict[str, list[int]]) -> runs.RunData:
    verify = runs.checks(planned)
    for name, cases in gaps.items():
        for c in cases:
            new = {"outcome": "unsupported", "reason": "no"}
            verify = runs.change(verify, new, runner=name, case=f"case-{c}")
    return runs.make(planned, verify=verify)


def test_all_runners_are_compared_over_the_cases_that_all_completed() -> None:
    run = lacking(reads(6), {"deno": [0, 1]})
    assert [standing(run, n).cases for n in ("bun", "deno")] == [4, 4]
    assert [standing(run, n).not_ok for n in ("bun", "deno")] == [0, 2]
    full = runs.make(reads(6))
    assert mean_of(run, "bun").ratio != mean_of(full, "bun").ratio


def test_who_completed_less_than_half_gets_no_ratio_and_costs_nobody_else_a_case() -> None:
    run = lacking(reads(6), {"deno": [0, 1, 2, 3]})
    found = standing(run, "deno")
    assert (found.contrast, found.cases, found.not_ok) == (None, 0, 4)
    assert (found.faster, found.slower, found.equivalent, found.unresolved) == (0, 0, 0, 0)
    assert standing(run, "bun").cases == 6
    assert standing(run, "bun", "deno").contrast is None


def test_a_ratio_over_a_case_without_interval_has_none() -> None:
    planned = reads(2)
    time = runs.noisy({"bun": 1.2})

    def copied(c: int, label: str, block: int) -> float:
        return time(c, label, block) if c else 1000.0 + block

    found = mean_of(runs.make(planned, time=copied), "bun").ratio
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize(
    ("ok", "members", "taken"),
    [
        # cases that nobody completed count against no one
        ([[1, 1], [1, 0], [0, 0], [0, 0]], [True, True], [True, False, False, False]),
        ([[1, 0]], [True, False], [True]),
        ([[0, 0], [0, 0]], [False, False], [False, False]),
    ],
)
def test_the_cases_and_runners_of_a_comparison(
    ok: list[list[int]], members: list[bool], taken: list[bool]
) -> None:
    common = common_set(np.array(ok, dtype=bool), np.ones(len(ok), dtype=bool))
    assert (common.members.tolist(), common.taken.tolist()) == (members, taken)
