"""Who is ahead by given contrasts, and the one way in which it is said."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.ranking import Table, common_set, rank
from sqlitmus.render.document.ranking import Amounts, say
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Standing
from sqlitmus.stats.estimate import freedom_of, student_t
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import case, change, checks, make, noisy, plan, samples

MARGIN = 0.02
OPEN, SLOWER = (Verdict.NOT_RESOLVED, 1.03, 0.05), (Verdict.SLOWER, 1.5, 0.1)
SAME, NEAR = (Verdict.EQUIVALENT, 1.001, 0.005), (Verdict.SLOWER, 1.01, 0.005)
Told = tuple[Verdict, float, float]
MS = Amounts({name: f"{number} ms" for number, name in enumerate("abcd", 1)}, " a query")


def table(told: dict[tuple[str, str], Told]) -> Table:
    both: dict[tuple[str, str], Contrast] = {}
    for (runner, reference), (verdict, value, half) in told.items():
        low, high = value - half, value + half
        both[runner, reference] = Contrast(runner, reference, Interval(value, low, high), verdict)
        back = Interval(1 / value, 1 / high, 1 / low)
        both[reference, runner] = Contrast(reference, runner, back, verdict.opposite)
    return both


def said(told: dict[tuple[str, str], Told], names: str = "abc", **how: str) -> str:
    return " ".join(say(rank(table(told), list(names), margin=MARGIN, **how)))  # type: ignore[arg-type]


def test_a_ratio_that_is_not_resolved_is_never_told() -> None:
    """c is behind b alone: of a, which is named first, no ratio is known."""
    told = {("b", "a"): OPEN, ("c", "a"): OPEN, ("c", "b"): SLOWER, ("d", "a"): SLOWER,
            ("d", "b"): SLOWER, ("d", "c"): OPEN}  # fmt: skip
    assert said(told, "abcd") == (
        "a and b are tied. d takes 1.5× [1.4, 1.6] as long as a. c takes 1.5× "
        "[1.4, 1.6] as long as b."
    )
    assert said(told, "abcd", reference="a") == (
        "a and b are tied. d takes 1.5× [1.4, 1.6] as long as a. c is tied with a."
    )


def test_what_follows_from_two_contrasts_is_told_without_a_ratio() -> None:
    told = {("b", "a"): SLOWER, ("c", "b"): SLOWER, ("c", "a"): OPEN}
    expected = (
        "a is fastest. b takes 1.5× [1.4, 1.6] as long as a. c is slower than a, by how much is "
        "not resolved."
    )
    assert said(told) == said(told, reference="a") == expected
    assert said(told, reference="c") == (
        "a is fastest. b takes 0.67× [0.63, 0.71] as long as c. a is faster than c, by how much "
        "is not resolved."
    )


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (
            {("b", "a"): SLOWER, ("c", "a"): SLOWER, ("c", "b"): OPEN},
            (
                "a is fastest: 1 ms a query. b takes 2 ms (1.5× [1.4, 1.6] as long as a) and c "
                "3 ms (1.5× [1.4, 1.6])."
            ),
        ),
        (
            {("b", "a"): OPEN, ("c", "a"): SLOWER, ("c", "b"): SLOWER},
            (
                "a and b are tied: 1 ms to 2 ms a query. c takes 3 ms (1.5× [1.4, 1.6] as long as "
                "a)."
            ),
        ),
        (
            {("b", "a"): SAME, ("c", "a"): SLOWER, ("c", "b"): OPEN},
            (
                "a and b are equivalent (within 2 %): 1 ms to 2 ms a query. c takes 3 ms (1.5× "
                "[1.4, 1.6] as long as a)."
            ),
        ),
        (
            {("b", "a"): NEAR, ("c", "a"): OPEN, ("c", "b"): SLOWER},
            (
                "a is fastest: 1 ms a query. b (2 ms) is within 2 % of a. c (3 ms) is slower than "
                "a, by how much is not resolved."
            ),
        ),
    ],
)
def test_amounts_stand_beside_the_ratios(told: dict[tuple[str, str], Told], text: str) -> None:
    assert " ".join(say(rank(table(told), list("abc"), margin=MARGIN), MS)) == text


def test_of_one_alone_nothing_is_compared() -> None:
    assert said({}, "a") == "a alone is left, and no other can be compared with it."
    assert said({}, "") == "no runner is recommended: no runner can be compared in all of these."


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


def standing(run: RunData, name: str, reference: str = "node", group: str = "reads") -> Standing:
    wanted = (name, reference, group)
    found = [s for s in analyse(run).standings if (s.runner, s.reference, s.group) == wanted]
    assert len(found) == 1
    return found[0]


def mean_of(run: RunData, name: str, reference: str = "node", group: str = "reads") -> Contrast:
    mean = standing(run, name, reference, group).contrast
    assert mean is not None
    return mean


def reads(count: int, **changes: object) -> dict[str, object]:
    return plan(NAMES, cases=[case(f"case-{c}") for c in range(count)], **changes)


def compared(run: RunData) -> list[Contrast]:
    return [
        c
        for found in analyse(run).cases
        for c in found.comparisons
        if (c.runner, c.reference) == ("bun", "node")
    ]


def test_the_ratio_is_the_geometric_mean_of_the_cases() -> None:
    planned = reads(4)
    run = make(planned, lines=samples(planned, noisy({"bun": 1.2})))
    found = standing(run, "bun")
    ratios = [c.ratio.value for c in compared(run)]
    assert mean_of(run, "bun").ratio.value == pytest.approx(
        np.exp(np.log(ratios).mean()), rel=1e-12
    )
    assert (found.cases, found.slower, found.not_ok) == (4, 4, 0)


def test_the_intervals_of_all_pairs_in_all_groups_hold_together() -> None:
    one, two = ([case(f"{group}", group=group) for group in groups] for groups in ("a", "ab"))
    widths: list[float] = []
    for names, cases in ((["node", "bun"], one), (NAMES, one), (NAMES, two)):
        planned = plan(names, cases=cases)
        run = make(planned, lines=samples(planned, noisy({"bun": 1.2})))
        ratio = mean_of(run, "bun", group="a").ratio
        assert ratio.high is not None
        widths.append(float(np.log(ratio.high / ratio.value)))
    # 12 blocks leave 8 values; 1, 3 and 6 comparisons
    kept = freedom_of(np.array([8]))
    expected = [
        float((student_t(1 - 0.05 / m, kept) / student_t(0.95, kept))[0]) for m in (1, 3, 6)
    ]
    assert np.array(widths) / widths[0] == pytest.approx(expected, rel=1e-9)


def test_a_block_that_lacks_a_case_does_not_count() -> None:
    planned = plan(["node", "bun"], cases=[case("case-0"), case("case-1")], blocks=14)
    lines = samples(planned, noisy({"bun": 1.2}))
    cut = [x for x in lines if x.get("case") != "case-1" or x["block"] < 11]
    short = [x for x in lines if "block" not in x or x["block"] < 11]
    partial, whole = (mean_of(make(planned, lines=some), "bun") for some in (cut, short))
    assert partial.ratio == whole.ratio
    assert partial.verdict is Verdict.MATERIALLY_SLOWER
    few = [x for x in lines if x.get("case") != "case-1" or x["block"] < 6]
    sparse = mean_of(make(planned, lines=few), "bun")
    assert sparse.verdict is Verdict.NOT_TESTABLE
    assert (sparse.ratio.low, sparse.ratio.high) == (None, None)


def test_a_group_of_one_case_says_no_more_than_that_case() -> None:
    # nine other cases make the correction of cases stricter than that of the two groups
    others = [case(f"case-{c}", group="other") for c in range(9)]
    planned = plan(["node", "bun"], cases=[case("lone", group="lone"), *others], correction="holm")
    strengths: set[tuple[Verdict, Verdict]] = set()
    for percent in np.arange(0, 4, 0.1):
        run = make(planned, lines=samples(planned, noisy({"bun": 1 + percent / 100})))
        report = analyse(run)
        alone = report.cases[0].comparisons.of("bun", "node")
        (mean,) = (s.contrast for s in report.standings if (s.group, s.runner) == ("lone", "bun"))
        assert mean is not None
        assert alone is not None
        strengths.add((mean.verdict, alone.verdict))
    assert len(strengths) > 2
    assert all(
        group in (verdict, Verdict.NOT_RESOLVED) or group is WEAKER.get(verdict)
        for group, verdict in strengths
    ), strengths


WEAKER = {Verdict.MATERIALLY_SLOWER: Verdict.SLOWER}


def test_counts_add_up_and_mirror() -> None:
    planned = reads(6)
    run = make(planned, lines=samples(planned, noisy({"bun": 1.01}, spread=0.012)))
    there, back = standing(run, "bun"), standing(run, "node", "bun")
    assert there.faster + there.slower + there.equivalent + there.unresolved == there.cases == 6
    assert (there.faster, there.slower) == (back.slower, back.faster)
    assert (there.equivalent, there.unresolved) == (back.equivalent, back.unresolved)


def lacking(planned: dict[str, object], gaps: dict[str, list[int]]) -> RunData:
    verify = checks(planned)
    for name, cases in gaps.items():
        for c in cases:
            new = {"outcome": "unsupported", "reason": "no"}
            verify = change(verify, new, runner=name, case=f"case-{c}")
    return make(planned, verify=verify)


def test_all_runners_are_compared_over_the_cases_that_all_completed() -> None:
    run = lacking(reads(6), {"deno": [0, 1]})
    assert [standing(run, n).cases for n in ("bun", "deno")] == [4, 4]
    assert [standing(run, n).not_ok for n in ("bun", "deno")] == [0, 2]
    full = make(reads(6))
    assert mean_of(run, "bun").ratio != mean_of(full, "bun").ratio


def test_who_completed_less_than_half_gets_no_ratio_and_costs_nobody_else_a_case() -> None:
    run = lacking(reads(6), {"deno": [0, 1, 2, 3]})
    found = standing(run, "deno")
    assert (found.contrast, found.cases, found.not_ok) == (None, 0, 4)
    assert (found.faster, found.slower, found.equivalent, found.unresolved) == (0, 0, 0, 0)
    assert standing(run, "bun").cases == 6
    assert standing(run, "bun", "deno").contrast is None


def test_groups_stand_alone() -> None:
    planned = plan(NAMES, cases=[case("get"), case("insert", group="writes")])
    report = analyse(make(planned))
    assert report.groups == ["reads", "writes"]
    assert {s.group for s in report.standings} == {"reads", "writes"}
    assert all(s.cases == 1 for s in report.standings)


def test_a_ratio_over_a_case_without_interval_has_none() -> None:
    planned = reads(2)
    time = noisy({"bun": 1.2})

    def copied(c: int, label: str, block: int) -> float:
        return time(c, label, block) if c else 1000.0 + block

    found = mean_of(make(planned, lines=samples(planned, copied)), "bun").ratio
    assert (found.low, found.high) == (None, None)


def test_cases_that_nobody_completed_do_not_count_against_anyone() -> None:
    ok = np.array([[True, True], [True, False], [False, False], [False, False]])
    common = common_set(ok, np.ones(4, dtype=bool))
    assert common.members.tolist() == [True, True]
    assert common.taken.tolist() == [True, False, False, False]


def test_a_runner_that_completed_nothing_is_no_member() -> None:
    common = common_set(np.array([[True, False]]), np.array([True]))
    assert common.members.tolist() == [True, False]
    nothing = common_set(np.zeros((2, 2), dtype=bool), np.ones(2, dtype=bool))
    assert not nothing.members.any()
    assert not nothing.taken.any()
