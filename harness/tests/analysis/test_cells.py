"""What became of each cell, its figures, and how each figure compares."""

from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pytest

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
FATES: dict[str, tuple[runs.Made, str]] = {
    "a runner that is missing": (
        {"of": runs.plan(runners=[*map(runs.runner, ["node", "rust-ffi"]), GONE])},
        "bun missing, 0 of 0: no SDK",
    ),
    "a crash": (
        {"sampled": [({**BUN, "block": 4}, CRASH)]},
        "bun failed, 11 of 12: failed in 1 invocation of 12, first in block 5: signal 11",
    ),
    "a wrong answer, which outweighs a crash": (
        {
            "sampled": [
                ({**BUN, "block": 1}, CRASH),
                ({**BUN, "block": 2}, {"outcome": "wrong", "reason": "b"}),
            ]
        },
        "bun wrong, 0 of 0: wrong in 1 invocation of 12, first in block 3: b",
    ),
    **{
        f"{key} of {value}": (
            {"sampled": [({**BUN, "block": 3}, {key: value})]},
            f"bun failed, {left} of 12: impossible figures in 1 invocation of 12, first in block 4",
        )
        for key, value, left in (
            *(("steady_ns", 0, 11), ("steady_ns", -5, 11), ("cold_ns", 0, 12), ("cold_ns", -5, 12)),
            *(("peak_rss_bytes", -1, 12), ("cpu_ns", -9e9, 12)),
        )
    },
    # the control is the same program as the runner that it repeats
    "a crash of the control": (
        {"sampled": [(CANARY, CRASH)]},
        "node failed, 12 of 12: failed in 1 invocation of 24, first in block 3 (as A/A control): ",
    ),
    "an impossible time of the control": (
        {"sampled": [(CANARY, {"cold_ns": -1})]},
        "node failed, 12 of 12: impossible figures in 1 invocation of 24, first in block 3 (as A/A",
    ),
    **{
        f"refused as {outcome}, measured: {measured}": (
            {
                "checked": [(HERE, {"outcome": outcome, "reason": "because"})],
                "sampled": [] if measured else [(BUN, None)],
            },
            f"bun {outcome}, {shown} of {shown}: because",
        )
        for outcome, measured, shown in (
            *(("unsupported", True, 0), ("wrong", True, 0), ("failed", True, 12)),
            *(("unsupported", False, 0), ("wrong", False, 0), ("failed", False, 0)),
        )
    },
    # nobody's fault: it is neither a failure nor a complete block
    "a run that stopped before it was verified": (
        {"checked": [(HERE, None)], "sampled": [(BUN, None)]},
        "bun missing, 0 of 0: not verified: the run stopped before this cell was checked",
    ),
    "a run that stopped before it was measured": (
        {"sampled": [(BUN, None)]},
        "bun missing, 0 of 0: not measured: the run stopped before this cell's first block",
    ),
}


@pytest.mark.parametrize("name", FATES)
def test_a_cell_that_is_not_ok_says_why_and_is_compared_with_nothing(name: str) -> None:
    how, told = FATES[name]
    report = runs.report(**how)
    (found,) = (each for each in report.cases[0].cells if each.outcome != "ok")
    drawn = [value for value in found.samples if value is not None]
    counts = f"{len(drawn)} of {len(found.samples)}"
    assert f"{found.runner} {found.outcome}, {counts}: {found.reason}".startswith(told)
    assert len(found.positions) == len(found.samples)
    assert (found.time, found.figures, found.overhead_verdict) == (None, {}, None)
    assert found.runner not in {each.runner for each in report.cases[0].comparisons}
    assert (report.cases[0].canary is None) == (found.runner == "node")
    if name != "a runner that is missing":
        assert runs.contrast(report, "bun", case=1)
    assert any("failed" in text for text in headline(report)) == (found.outcome == "failed")
    unmeasured = name.endswith("before it was measured")
    assert report.blocks_complete == (0 if unmeasured else 12)


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


def told(of: runs.Report, name: str = "bun") -> list[str]:
    """Each figure of a runner and how it compares."""
    figures = runs.cell_of(of, name).figures.items()
    return [f"{key} {found.value:.2g}: {runs.told(found.contrast)}" for key, found in figures]


def test_each_figure_has_a_ratio_and_a_verdict_of_its_own() -> None:
    report = of_figures(1.5, 0.5, 2.0)
    assert told(report) == [
        "cold 7.5e+07: 1.502 [1.500, 1.505] materially slower",
        "cpu 5e+02: 0.500 [0.499, 0.501] materially faster",
        "peak_rss 8e+07: 2.001 [1.998, 2.005] materially slower",
    ]
    assert runs.contrast(report, "bun", "node").verdict == "equivalent"
    assert told(report, "node") == ["cold 5e+07: none", "cpu 1e+03: none", "peak_rss 4e+07: none"]
    # by the reference that is shown
    by_bun = of_figures(1.5, 0.5, 2.0, reference="bun")
    assert told(by_bun, "node") == [
        "cold 5e+07: 0.666 [0.665, 0.667] materially faster",
        "cpu 1e+03: 1.999 [1.997, 2.002] materially slower",
        "peak_rss 4e+07: 0.500 [0.499, 0.501] materially faster",
    ]
    assert told(by_bun) == ["cold 7.5e+07: none", "cpu 5e+02: none", "peak_rss 8e+07: none"]


COLD, CPU, RSS = (
    "cold 5e+07: 1.001 [1.000, 1.003] equivalent",
    "cpu 1e+03: 1.000 [0.999, 1.002] equivalent",
    "peak_rss 4e+07: 1.001 [0.999, 1.002] equivalent",
)


@pytest.mark.parametrize(
    ("like", "new", "figures"),
    [
        # of nothing there is no ratio, nor of what is too short for the clock
        ({"label": "bun"}, {"cpu_ns": 0}, [COLD, "cpu 0: none", RSS]),
        ({"label": "canary"}, {"cpu_ns": 0}, [COLD, CPU, RSS]),
        ({"label": "bun"}, {"cpu_ns": None}, [COLD, RSS]),
        ({"label": "bun"}, {"peak_rss_bytes": 0}, [COLD, CPU]),
        ({"runner": "node"}, {"peak_rss_bytes": None}, [COLD, CPU, "peak_rss 4e+07: none"]),
    ],
)
def test_a_figure_that_is_0_or_was_not_recorded(
    like: runs.Json, new: runs.Json, figures: list[str]
) -> None:
    report = of_figures(sampled=[(like, new)])
    assert told(report) == figures
    assert {each.outcome for each in report.cases[0].cells} == {"ok"}


@pytest.mark.parametrize(("blocks", "verdict"), [(12, "materially slower"), (9, "not testable")])
def test_blocks_with_cpu_of_nothing_have_no_ratio_and_the_others_do(
    blocks: int, verdict: str
) -> None:
    left = [({**BUN, "block": block}, {"cpu_ns": 0}) for block in range(30 - blocks)]
    cpu = runs.cell_of(of_figures(cpu=2.0, sampled=left), "bun").figures["cpu"].contrast
    assert runs.sure(cpu).ratio.value == pytest.approx(2, rel=0.01)
    assert runs.sure(cpu).verdict == verdict


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
