"""What became of each cell, its figures, and how each figure compares."""

from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from tests.analysis import runs
from tests.worded import headline

NAMES = ["node", "bun", "rust-ffi"]


def cell(of: runs.Json | None = None, **how: Unpack[runs.More]) -> runs.Cell:
    return runs.cell_of(runs.report(of, **how), "bun")


def test_time_is_the_median_of_the_blocks_values_per_unit() -> None:
    planned = runs.plan(cases=[runs.case("insert", operations=10, per_operation=100)])
    found = cell(planned, time=lambda _c, _l, block: 1.0 + block)
    assert found.samples == pytest.approx(list(range(1, 13)))
    assert runs.sure(found.time).value == pytest.approx(6.5)
    assert runs.ends(found.time) == pytest.approx((3, 10))  # ranks 3 and 10 of 12
    values = {name: found.figures[name].value for name in ("cold", "cpu", "peak_rss")}
    assert values == pytest.approx({"cold": 130_000, "cpu": 6.5, "peak_rss": 40e6})


def test_cold_is_the_wall_time_of_the_process() -> None:
    start = runs.case("startup-noop", metric="cold", operations=0, group="start-up")
    found = cell(runs.plan(cases=[start]), time=runs.steady(30e6))
    # the primary figure is cold already
    assert (found.samples, "cold" in found.figures, found.overhead) == ([30e6] * 12, False, None)
    assert found.figures["cpu"].value == 6e6


def test_overhead_is_the_paired_difference_to_the_floor() -> None:
    time = runs.noisy({"node": 1.001, "canary": 1.001, "bun": 1.5}, spread=0.001)
    node, bun, floor = runs.report(time=time).cases[0].cells
    low, high = runs.ends(bun.overhead)
    assert low < 500 < high
    assert high - low < 60  # the drift that both share is gone
    verdicts = [each.overhead_verdict for each in (node, bun, floor)]
    assert (floor.overhead, verdicts) == (None, ["equivalent", "materially slower", None])
    shared = [runs.case("parallel-get-pk", workers=2)]
    for none in (runs.plan(cases=shared), runs.plan(floor=None)):
        assert cell(none).overhead is None


HERE = {"runner": "bun", "case": "get-pk"}
BUN = {"label": "bun", "case": "get-pk"}
CANARY = {"label": "canary", "case": "get-pk", "block": 2}
GONE = runs.runner("bun", missing="no SDK", description=None)
CRASH = {"outcome": "failed", "reason": "signal 11"}
WRONG = {"outcome": "wrong", "reason": "b"}
IMPOSSIBLE: list[runs.Json] = [
    *({"steady_ns": 0}, {"steady_ns": -5}, {"cold_ns": 0}, {"cold_ns": -5}),
    *({"peak_rss_bytes": -1}, {"cpu_ns": -9e9}),
]
MISSING = runs.plan(runners=[*map(runs.runner, ["node", "rust-ffi"]), GONE])
FATES: dict[str, runs.Made] = {
    "a runner that is missing": {"of": MISSING},
    "a crash": {"sampled": [({**BUN, "block": 4}, CRASH)]},
    "a wrong answer, which outweighs a crash": {
        "sampled": [({**BUN, "block": 1}, CRASH), ({**BUN, "block": 2}, WRONG)]
    },
    **{f"{new}": {"sampled": [({**BUN, "block": 3}, new)]} for new in IMPOSSIBLE},
    # the control is the same program as the runner that it repeats
    "a crash of the control": {"sampled": [(CANARY, CRASH)]},
    "an impossible time of the control": {"sampled": [(CANARY, {"cold_ns": -1})]},
    **{
        f"refused as {outcome}, measured: {measured}": {
            "checked": [(HERE, {"outcome": outcome, "reason": "because"})],
            "sampled": [] if measured else [(BUN, None)],
        }
        for outcome in ("unsupported", "wrong", "failed")
        for measured in (True, False)
    },
    # nobody's fault: it is neither a failure nor a complete block
    "not verified": {"checked": [(HERE, None)], "sampled": [(BUN, None)]},
    "not measured": {"sampled": [(BUN, None)]},
}


@pytest.mark.parametrize("name", FATES)
def test_a_cell_that_is_not_ok_says_why_and_is_compared_with_nothing(
    name: str, snapshot: SnapshotAssertion
) -> None:
    report = runs.report(**FATES[name])
    (found,) = (each for each in report.cases[0].cells if each.outcome != "ok")
    drawn = [value for value in found.samples if value is not None]
    reason = ", ".join(runs.sure(found.reason).split(", ")[:5])  # and not each figure that there is
    assert (
        f"{found.runner} {found.outcome}, {len(drawn)} of {len(found.samples)} drawn, "
        f"{report.blocks_complete} blocks complete: {reason}"
    ) == snapshot
    assert len(found.positions) == len(found.samples)
    assert (found.time, found.figures, found.overhead_verdict) == (None, {}, None)
    assert found.runner not in {each.runner for each in report.cases[0].comparisons}
    assert (report.cases[0].canary is None) == (found.runner == "node")
    if name != "a runner that is missing":
        assert runs.contrast(report, "bun", case=1)
    assert any("failed" in text for text in headline(report)) == (found.outcome == "failed")


def test_memory_may_shrink() -> None:
    assert cell(sampled=[(BUN, {"growth_bytes": -1e6})]).outcome == "ok"


def test_a_report_has_the_cells_of_the_plan_alone() -> None:
    cells = {"get-pk": ["node", "rust-ffi"], "get-index": ["bun"]}
    cases = runs.report(runs.plan(cells=cells)).cases
    assert [[c.runner for c in of.cells] for of in cases] == [["node", "rust-ffi"], ["bun"]]


def test_an_unfinished_block_counts_only_where_both_runners_have_a_value() -> None:
    found = runs.report(sampled=[({"block": 11, "label": "bun"}, None)])
    assert found.blocks_complete == 11
    by_pair = {(c.runner, c.reference): c.blocks for c in found.cases[0].comparisons}
    assert by_pair["bun", "node"] == by_pair["node", "bun"] == 11
    assert by_pair["node", "rust-ffi"] == 12
    bun = runs.cell_of(found, "bun")
    assert len(bun.samples) == len(bun.positions) == 11


# figures beside the time -------------------------------------------------------------------------


def of_figures(
    cold: float = 1.0,
    cpu: float = 1.0,
    memory: float = 1.0,
    *,
    sampled: runs.Changes = (),
    **how: Any,
) -> runs.Report:
    """A run in which all times are alike, and bun's other figures differ by these factors."""

    def figures(line: runs.Json) -> runs.Json:
        noise = np.exp(np.random.default_rng(line["position"]).normal(0, 0.003, 3))
        factors = (cold, cpu, memory) if line["label"] == "bun" else (1, 1, 1)
        wall, spent, rss = (noise * factors).tolist()
        return {
            "cold_ns": round(5e7 * wall),
            "cpu_ns": 1e5 * spent,
            "peak_rss_bytes": round(4e7 * rss),
        }

    of = runs.plan(NAMES, blocks=30)
    return runs.report(of, time=runs.noisy(spread=0.003), sampled=[({}, figures), *sampled], **how)


BY_BUN = {"cold": 1.5, "cpu": 0.5, "memory": 2.0}
FIGURES: dict[str, dict[str, Any]] = {
    "each has a verdict of its own": BY_BUN,
    "by the reference that is shown": {**BY_BUN, "reference": "bun"},
    # of nothing there is no ratio, nor of what is too short for the clock
    "no CPU time": {"sampled": [({"label": "bun"}, {"cpu_ns": 0})]},
    "no CPU time of the control": {"sampled": [({"label": "canary"}, {"cpu_ns": 0})]},
    **{
        f"CPU time in {left} blocks": {
            "cpu": 2.0,
            "sampled": [({**BUN, "block": block}, {"cpu_ns": 0}) for block in range(30 - left)],
        }
        for left in (12, 9)
    },
    "unknown CPU time": {"sampled": [({"label": "bun"}, {"cpu_ns": None})]},
    "unknown memory": {"sampled": [({"label": "bun"}, {"peak_rss_bytes": 0})]},
    "unknown memory of node": {"sampled": [({"runner": "node"}, {"peak_rss_bytes": None})]},
}


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_has_a_ratio_and_a_verdict(name: str, snapshot: SnapshotAssertion) -> None:
    report = of_figures(**FIGURES[name])
    assert [
        f"{cell.runner} {cell.outcome}: {figure} {found.value:.2g}: {runs.told(found.contrast)}"
        for cell in report.cases[0].cells[:2]
        for figure, found in cell.figures.items()
    ] == snapshot
    assert runs.contrast(report, "bun", "node").verdict == "equivalent"


def test_a_corrected_report_calls_fewer_things_different() -> None:
    planned = runs.plan(["node", "bun"], blocks=12, cases=[runs.case(f"c{n}") for n in range(200)])
    run = runs.make(planned, time=runs.noisy(spread=0.01))

    def alarms(correction: str) -> int:
        how = {"correction": correction}
        report = runs.analyse(replace(run, plan=run.plan.model_copy(update=how)))
        verdicts = [v for c in report.cases for v in c.comparisons.verdict]
        return sum(v is not None and ("faster" in v or "slower" in v) for v in verdicts)

    assert 2 < alarms("none") < 25  # 5 % of 200
    assert (alarms("holm"), alarms("bh")) == (0, 0)
