"""Runners that wait so long and so rarely that the median iteration tells nothing of it."""

from collections.abc import Mapping

import pytest

from sqlitmus.analysis import RunData, analyse, from_records
from sqlitmus.render.document.noticewords import notice
from sqlitmus.render.document.recommendation import sentences
from sqlitmus.results.recommendation import Recommendation
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import WORKLOAD, Json, case, checks, noisy, plan, samples, written

NAMES = ("node", "bun", "dotnet")


def run(factors: Mapping[str, float | list[float]], workload: Json | None = None) -> RunData:
    """A run in which the mean iteration of a runner takes so many times as long as the median one,
    in all blocks or in each in turn."""
    cases = [
        case("read", group="queries"),
        case("mix", group="mix", axes={"workers": "4"}),
    ]
    of = plan(NAMES, cases=cases, workload=workload, floor=None)
    lines = samples(of, noisy())
    for line in lines:
        factor = factors.get(line.get("runner", ""), 1.1)
        if line.get("case") == "mix":
            blocks = factor if isinstance(factor, list) else [factor]
            line["mean_over_median"] = blocks[line["block"] % len(blocks)]
    return from_records(of, checks(of), written(lines), {"cores": "4"})


def compared(of: RunData, name: str) -> set[str]:
    """Those that a runner is compared with in the mix."""
    report = analyse(of)
    mix = next(case for case in report.cases if case.id == "mix")
    return {
        other
        for other, one in mix.comparisons.against(name).items()
        if one.verdict is not Verdict.NOT_TESTABLE
    }


def test_who_stalls_is_compared_with_nothing_there() -> None:
    stalling = run({"dotnet": 47.0})
    assert "dotnet" not in compared(stalling, "node")
    assert "bun" in compared(stalling, "node")
    assert "dotnet" in compared(run({"dotnet": 2.0}), "node")


def test_it_has_no_place_on_a_curve_of_throughput() -> None:
    cases = [case(f"mix{n}", group="mix", axes={"workers": n}, workers=int(n)) for n in ("1", "4")]
    for each in cases:
        each["scenario"] = "mix"
    of = plan(NAMES, cases=cases, floor=None)
    lines = samples(of, noisy())
    for line in lines:
        stalls = (line.get("case"), line.get("runner")) == ("mix4", "dotnet")
        line["mean_over_median"] = 40.0 if stalls else 1.1
    report = analyse(from_records(of, checks(of), written(lines), {"cores": "4"}))
    (curves,) = report.scaling
    assert {curve.runner for curve in curves.curves} == {"node", "bun"}


def test_the_reader_is_told_where_and_by_how_much() -> None:
    (told,) = [n for n in analyse(run({"dotnet": 47.0})).notices if n.kind == "stalls"]
    assert "mix/dotnet (47 times)" in notice(told)
    assert not [n for n in analyse(run({})).notices if n.kind == "stalls"]


@pytest.mark.parametrize("blocks", [[50.0, 1.1, 1.1], [50.0, 1.1]])
def test_interruptions_in_up_to_half_of_the_blocks_are_no_stall(blocks: list[float]) -> None:
    assert "dotnet" in compared(run({"dotnet": blocks}), "node")


def test_a_machine_that_makes_all_wait_leaves_nobody_out() -> None:
    every = run(dict.fromkeys(NAMES, 6.0))
    assert compared(every, "node") == {"bun", "dotnet"}


@pytest.mark.parametrize(("factor", "left_out"), [(47.0, True), (1.2, False)])
def test_a_recommendation_leaves_it_out_and_says_why(factor: float, left_out: bool) -> None:
    of = run({"dotnet": factor}, {**WORKLOAD, "shares": {"read": 1.0}, "workers": 4})
    (advice,) = [s for s in analyse(of).headline if isinstance(s, Recommendation)]
    assert ("dotnet" in advice.front) is not left_out
    said = " ".join(sentences(advice))
    assert ("dotnet is left out, for it stalls: its mean iteration takes 47 times" in said) is (
        left_out
    )
