import numpy as np
import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.ranking import common_set
from sqlitmus.results.ranking import Comparison
from sqlitmus.results.report import Standing
from sqlitmus.stats.estimate import freedom_of, student_t
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import case, change, checks, make, noisy, plan, samples

NAMES = ["node", "bun", "deno"]


def standing(run: RunData, name: str, reference: str = "node", group: str = "reads") -> Standing:
    wanted = (name, reference, group)
    found = [s for s in analyse(run).standings if (s.runner, s.reference, s.group) == wanted]
    assert len(found) == 1
    return found[0]


def reads(count: int, **changes: object) -> dict[str, object]:
    return plan(NAMES, cases=[case(f"case-{c}") for c in range(count)], **changes)


def compared(run: RunData) -> list[Comparison]:
    return [
        c
        for found in analyse(run).cases
        for c in found.comparisons
        if (c.runner, c.reference) == ("bun", "node")
    ]


def test_the_ratio_of_one_case_is_that_cases_comparison() -> None:
    planned = plan(["node", "bun"], cases=[case("case-0")])  # one pair in one group: no family
    run = make(planned, lines=samples(planned, noisy({"bun": 1.2})))
    mean, alone = standing(run, "bun"), compared(run)[0]
    assert mean.ratio is not None
    assert (mean.ratio.value, mean.ratio.low, mean.ratio.high) == pytest.approx(
        (alone.ratio.value, alone.ratio.low, alone.ratio.high), rel=1e-12
    )
    assert mean.verdict is alone.verdict is Verdict.MATERIALLY_SLOWER


def test_the_ratio_is_the_geometric_mean_of_the_cases() -> None:
    planned = reads(4)
    run = make(planned, lines=samples(planned, noisy({"bun": 1.2})))
    found = standing(run, "bun")
    assert found.ratio is not None
    ratios = [c.ratio.value for c in compared(run)]
    assert found.ratio.value == pytest.approx(np.exp(np.log(ratios).mean()), rel=1e-12)
    assert (found.cases, found.slower, found.not_ok) == (4, 4, 0)


def test_the_intervals_of_all_pairs_in_all_groups_hold_together() -> None:
    one, two = ([case(f"{group}", group=group) for group in groups] for groups in ("a", "ab"))
    widths: list[float] = []
    for names, cases in ((["node", "bun"], one), (NAMES, one), (NAMES, two)):
        planned = plan(names, cases=cases)
        run = make(planned, lines=samples(planned, noisy({"bun": 1.2})))
        ratio = standing(run, "bun", group="a").ratio
        assert ratio is not None
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
    partial, whole = (standing(make(planned, lines=some), "bun") for some in (cut, short))
    assert partial.ratio == whole.ratio
    assert partial.verdict is Verdict.MATERIALLY_SLOWER
    few = [x for x in lines if x.get("case") != "case-1" or x["block"] < 6]
    sparse = standing(make(planned, lines=few), "bun")
    assert sparse.verdict is Verdict.NOT_TESTABLE
    assert sparse.ratio is not None
    assert (sparse.ratio.low, sparse.ratio.high) == (None, None)


def test_a_group_of_one_case_says_no_more_than_that_case() -> None:
    # nine other cases make the correction of cases stricter than that of the two groups
    others = [case(f"case-{c}", group="other") for c in range(9)]
    planned = plan(["node", "bun"], cases=[case("lone", group="lone"), *others], correction="holm")
    strengths: set[tuple[Verdict | None, Verdict | None]] = set()
    for percent in np.arange(0, 4, 0.1):
        run = make(planned, lines=samples(planned, noisy({"bun": 1 + percent / 100})))
        strengths.add((standing(run, "bun", group="lone").verdict, compared(run)[0].verdict))
    assert len(strengths) > 2
    assert all(
        group in (verdict, Verdict.NOT_RESOLVED) or (verdict and group is WEAKER.get(verdict))
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
    assert standing(run, "bun").ratio != standing(full, "bun").ratio


def test_who_completed_less_than_half_gets_no_ratio_and_costs_nobody_else_a_case() -> None:
    run = lacking(reads(6), {"deno": [0, 1, 2, 3]})
    found = standing(run, "deno")
    assert (found.ratio, found.cases, found.not_ok) == (None, 0, 4)
    assert (found.faster, found.slower, found.equivalent, found.unresolved) == (0, 0, 0, 0)
    assert standing(run, "bun").cases == 6
    assert standing(run, "bun", "deno").ratio is None


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

    found = standing(make(planned, lines=samples(planned, copied)), "bun").ratio
    assert found is not None
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
