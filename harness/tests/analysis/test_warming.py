"""Runners whose processes still became faster while they were timed."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.outcomes import warming
from sqlitmus.render.document.decision import workload_sentences
from sqlitmus.render.document.sentences import notice
from sqlitmus.results.recommendation import Recommendation
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import WORKLOAD, Json, case, checks, from_records, noisy, plan, samples

NAMES = ("node", "bun", "dotnet")
WARMING = [0.89, 0.88, 0.9]
FLAT = [1.0, 0.99, 1.01]


def run(drifts: Mapping[str, list[float]], workload: Json | None = None) -> RunData:
    """A run in which the second half of what a runner times takes so many times as long as the
    first, in each block in turn."""
    cases = [
        case("read", group="queries"),
        case("mix", group="mix", axes={"workers": "4"}),
    ]
    of = plan(NAMES, cases=cases, workload=workload, floor=None)
    lines = samples(of, noisy())
    for line in lines:
        blocks = drifts.get(line.get("runner", ""), FLAT)
        if line.get("case") == "mix":
            line["drift"] = blocks[line["block"] % len(blocks)]
    return from_records(of, checks(of), lines, {"cores": "4"})


def compared(of: RunData, name: str) -> set[str]:
    """Those that a runner is compared with in the mix."""
    report = analyse(of)
    mix = next(case for case in report.cases if case.id == "mix")
    return {
        other
        for other, one in mix.comparisons.against(name).items()
        if one.verdict is not Verdict.NOT_TESTABLE
    }


def test_who_still_warms_up_is_compared_with_nothing_there() -> None:
    warms = run({"dotnet": WARMING})
    assert "dotnet" not in compared(warms, "node")
    assert "bun" in compared(warms, "node")
    assert "dotnet" in compared(run({}), "node")


def test_it_has_no_place_on_a_curve_of_throughput() -> None:
    cases = [case(f"mix{n}", group="mix", axes={"workers": n}, workers=int(n)) for n in ("1", "4")]
    for each in cases:
        each["scenario"] = "mix"
    of = plan(NAMES, cases=cases, floor=None)
    lines = samples(of, noisy())
    for line in lines:
        warms_up = (line.get("case"), line.get("runner")) == ("mix4", "dotnet")
        blocks = WARMING if warms_up else FLAT
        if "block" in line:
            line["drift"] = blocks[line["block"] % len(blocks)]
    report = analyse(from_records(of, checks(of), lines, {"cores": "4"}))
    (curves,) = report.scaling
    assert {curve.runner for curve in curves.curves} == {"node", "bun"}


def test_the_reader_is_told_where_and_by_how_much() -> None:
    (told,) = [n for n in analyse(run({"dotnet": WARMING})).notices if n.kind == "warming up"]
    assert "mix/dotnet (11.0 %)" in notice(told)
    assert not [n for n in analyse(run({})).notices if n.kind == "warming up"]


@pytest.mark.parametrize(
    "blocks",
    [
        [0.99, 0.985, 0.995],  # surely faster, and by less than the margin of 2 %
        [0.6, 1.3, 1.1],  # by chance
        [1.11, 1.1, 1.12],  # a table that grows
    ],
)
def test_what_is_flat_within_the_margin_noisy_or_slower_is_compared(blocks: list[float]) -> None:
    assert "dotnet" in compared(run({"dotnet": blocks}), "node")


def test_among_many_noisy_cells_none_is_still_warming_up() -> None:
    """Each alone would look so in two or three of a hundred, so most reports would name one."""
    of = run({})
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(40):
        noise = np.exp(rng.normal(0, 0.06, (72, 1, 10)))
        plan_ = of.plan.model_copy(update={"cases": of.plan.cases[:1] * 72})
        figures = {**of.samples.figures, "drift": noise}
        named += bool(
            warming(replace(of, plan=plan_, samples=replace(of.samples, figures=figures)))
        )
    assert named <= 4


@pytest.mark.parametrize("left_out", [True, False])
def test_a_recommendation_leaves_it_out_and_says_why(*, left_out: bool) -> None:
    drifts = {"dotnet": WARMING} if left_out else {}
    of = run(drifts, {**WORKLOAD, "shares": {"read": 1.0}, "workers": 4})
    (advice,) = [s for s in analyse(of).headline if isinstance(s, Recommendation)]
    assert ("dotnet" in advice.ranking.front) is not left_out
    said = " ".join(workload_sentences(advice))
    told = "dotnet is left out, for it was still warming up: its second half took 11.0 % less time"
    assert (told in said) is left_out
