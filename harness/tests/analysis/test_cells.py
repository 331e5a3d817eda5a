from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from sqlitmus.analysis.assemble import measures
from sqlitmus.analysis.pairs import Question
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.figures import Alike
from sqlitmus.vocabulary.verdicts import Correction
from tests.analysis import runs
from tests.worded import headline


def cell(
    run: runs.RunData, name: str = "bun", number: int = 0, reference: str | None = None
) -> runs.Cell:
    return runs.cell_of(runs.analyse(run, reference), name, number)


def compared(run: runs.RunData, number: int = 0) -> set[str]:
    return {c.runner for c in runs.analyse(run).cases[number].comparisons}


def test_time_is_the_median_of_the_blocks_values_per_unit() -> None:
    planned = runs.plan(cases=[runs.case("insert", operations=10, per_operation=100)])
    found = cell(runs.make(planned, time=lambda _c, _l, block: 1.0 + block))
    assert found.samples == pytest.approx(list(range(1, 13)))
    assert runs.sure(found.time).value == pytest.approx(6.5)
    assert runs.ends(found.time) == pytest.approx((3, 10))  # ranks 3 and 10 of 12


def test_steady_ns_is_used_where_the_store_has_it() -> None:
    lines = runs.change(
        runs.samples(runs.plan(), runs.noisy()), {"steady_ns": 5e5}, block=0, label="bun"
    )
    assert cell(runs.make(lines=lines)).samples[0] == 5000


def test_cold_is_the_wall_time_of_the_process() -> None:
    planned = runs.plan(
        cases=[runs.case("startup-noop", metric="cold", operations=0, group="start-up")]
    )
    run = runs.make(planned, time=runs.steady(30e6))
    found = cell(run)
    assert found.samples == [30e6] * 12
    # the primary figure is cold already
    assert "cold" not in found.figures
    assert found.overhead is None
    assert found.figures["cpu"].value == 6e6


def test_secondary_figures_are_medians_and_unknown_ones_are_none() -> None:
    lines = runs.samples(runs.plan(), runs.steady())
    found = cell(runs.make(lines=lines))
    values = [found.figures[name].value for name in ("cold", "cpu", "peak_rss")]
    assert values == [2e6, 1000, 40e6]
    bare = runs.change(lines, {"peak_rss_bytes": 0, "cpu_ns": None}, label="bun")
    found = cell(runs.make(lines=bare))
    assert found.outcome == "ok"
    assert not {"cpu", "peak_rss"} & set(found.figures)


def test_overhead_is_the_paired_difference_to_the_floor() -> None:
    run = runs.make(time=runs.noisy({"bun": 1.5, "rust-ffi": 1.0}, spread=0.001))
    low, high = runs.ends(cell(run).overhead)
    assert low < 500 < high
    assert high - low < 60  # the drift that both share is gone
    assert cell(run, "rust-ffi").overhead is None


@pytest.mark.parametrize(
    "of", [runs.plan(cases=[runs.case("parallel-get-pk", workers=2)]), runs.plan(floor=None)],
    ids=["work shared by workers", "no floor"],
)  # fmt: skip
def test_what_has_no_overhead(of: runs.Json) -> None:
    assert cell(runs.make(of)).overhead is None


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("outcome", ["unsupported", "wrong", "failed"])
def test_what_verification_refused_has_no_figure_even_if_measured(
    outcome: str, measured: bool
) -> None:
    refused = {"runner": "bun", "case": "get-pk"}
    verify = runs.change(
        runs.checks(runs.plan()), {"outcome": outcome, "reason": "because"}, **refused
    )
    lines = runs.samples(runs.plan(), runs.noisy())
    run = runs.make(verify=verify, lines=lines if measured else runs.drop(lines, **refused))
    found = cell(run)
    assert (found.outcome, found.reason, found.time) == (outcome, "because", None)
    assert (found.figures, found.overhead_verdict) == ({}, None)
    assert bool(found.samples) == (measured and outcome == "failed")
    assert "bun" not in compared(run)
    assert "bun" in compared(run, 1)


def test_a_missing_runner_is_missing_in_every_case() -> None:
    gone = runs.runner("dotnet", missing="SDK not found; install it", description=None)
    planned = runs.plan(runners=[*runs.plan()["runners"], gone])
    found = cell(runs.make(planned), "dotnet")
    assert (found.outcome, found.reason) == ("missing", "SDK not found; install it")


def test_a_report_has_the_cells_of_the_plan_alone() -> None:
    cases = runs.analyse(
        runs.make(runs.plan(cells={"get-pk": ["node", "rust-ffi"], "get-index": ["bun"]}))
    ).cases
    assert [[c.runner for c in of.cells] for of in cases] == [["node", "rust-ffi"], ["bun"]]


@pytest.mark.parametrize("outcome", ["failed", "wrong"])
def test_one_bad_invocation_fails_the_cell_with_the_evidence(outcome: str) -> None:
    bad = {"outcome": outcome, "reason": "signal 11"}
    lines = runs.change(
        runs.samples(runs.plan(), runs.noisy()), bad, label="bun", case="get-pk", block=4
    )
    found = cell(runs.make(lines=lines))
    assert found.outcome == outcome
    assert found.reason == f"{outcome} in 1 invocation of 12, first in block 5: signal 11"
    assert found.time is None


def test_blocks_of_a_failed_cell_stay_readable_and_of_a_wrong_one_do_not() -> None:
    lines = runs.samples(runs.plan(), runs.noisy())
    failed = runs.change(lines, {"outcome": "failed"}, label="bun", case="get-pk", block=4)
    found = cell(runs.make(lines=failed))
    assert [value is None for value in found.samples] == [b == 4 for b in range(12)]
    assert len(found.positions) == 12
    wrong = runs.change(lines, {"outcome": "wrong"}, label="bun", case="get-pk", block=4)
    assert cell(runs.make(lines=wrong)).samples == []


def test_a_wrong_answer_outweighs_a_crash() -> None:
    lines = runs.samples(runs.plan(), runs.noisy())
    lines = runs.change(lines, {"outcome": "failed", "reason": "a"}, label="bun", block=1)
    lines = runs.change(lines, {"outcome": "wrong", "reason": "b"}, label="bun", block=2)
    assert cell(runs.make(lines=lines)).reason == "wrong in 1 invocation of 12, first in block 3: b"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *product(("steady_ns", "cold_ns"), (0, -5)),
        ("peak_rss_bytes", -1),
        ("cpu_ns", -9e9),
    ],
)
def test_an_impossible_figure_fails_the_cell(key: str, value: float) -> None:
    lines = runs.change(
        runs.samples(runs.plan(), runs.noisy()), {key: value}, label="bun", case="get-pk", block=3
    )
    run = runs.make(lines=lines)
    found = cell(run)
    assert found.outcome == "failed"
    assert "impossible figures in 1 invocation of 12, first in block 4" in runs.sure(found.reason)
    assert (found.time, found.samples.count(None)) == (None, 1 if key == "steady_ns" else 0)
    assert "bun" not in compared(run)


def test_memory_may_shrink() -> None:
    lines = runs.change(
        runs.samples(runs.plan(), runs.noisy()), {"growth_bytes": -1e6}, label="bun", case="get-pk"
    )
    assert cell(runs.make(lines=lines)).outcome == "ok"


@pytest.mark.parametrize(
    ("unverified", "reason"),
    [
        (True, "not verified: the run stopped before this cell was checked"),
        (False, "not measured: the run stopped before this cell's first block"),
    ],
)
def test_a_run_that_stopped_early_says_what_is_lacking(unverified: bool, reason: str) -> None:
    lines = runs.drop(runs.samples(runs.plan(), runs.noisy()), runner="bun", case="get-pk")
    verify = runs.checks(runs.plan())
    if unverified:
        verify = runs.drop(verify, runner="bun", case="get-pk")
    found = cell(runs.make(verify=verify, lines=lines))
    # nobody's fault: it is neither a failure nor a complete block
    assert (found.outcome, found.reason) == ("missing", reason)
    report = runs.analyse(runs.make(verify=verify, lines=lines))
    assert report.blocks_complete == (12 if unverified else 0)
    assert not any("failed" in text for text in headline(report))


def test_an_unfinished_block_counts_only_where_both_runners_have_a_value() -> None:
    lines = runs.drop(
        runs.samples(runs.plan(), runs.noisy(), complete=False), block=11, label="bun"
    )
    run = runs.make(lines=lines)
    found = runs.analyse(run)
    assert found.blocks_complete == 11
    by_pair = {(c.runner, c.reference): c.blocks for c in found.cases[0].comparisons}
    assert by_pair["bun", "node"] == by_pair["node", "bun"] == 11
    assert by_pair["node", "rust-ffi"] == 12
    assert len(cell(run).samples) == len(cell(run).positions) == 11


@pytest.mark.parametrize("new", [{"outcome": "failed", "reason": "signal 11"}, {"cold_ns": -1}])
def test_a_bad_canary_counts_against_the_runner_that_it_repeats(new: dict[str, object]) -> None:
    lines = runs.change(
        runs.samples(runs.plan(), runs.noisy()), new, label="canary", case="get-pk", block=2
    )
    run = runs.make(lines=lines)
    found = cell(run, "node")
    assert found.outcome == "failed"
    assert "in 1 invocation of 24, first in block 3 (as A/A control): " in runs.sure(found.reason)
    assert runs.analyse(run).cases[0].canary is None
    assert cell(run, "node", 1).outcome == "ok"


NAMES = ["node", "bun", "rust-ffi"]
CPU = figures.named("cpu")


def lines(
    cold: float = 1.0, cpu: float = 1.0, memory: float = 1.0, *, spread: float = 0.003
) -> list[runs.Json]:
    """A run in which all times are alike, and bun's other figures differ by these factors."""
    factors = {"bun": (cold, cpu, memory)}

    def told(line: runs.Json) -> runs.Json:
        noise = np.exp(np.random.default_rng(line["position"]).normal(0, spread, 3))
        wall, spent, rss = (noise * factors.get(line["label"], (1, 1, 1))).tolist()
        figures = ("cold_ns", round(5e7 * wall)), ("cpu_ns", 1e5 * spent)
        return dict(figures) | {"peak_rss_bytes": round(4e7 * rss)}

    return runs.change(runs.samples(runs.plan(NAMES, blocks=30), runs.noisy(spread=spread)), told)


def run(of: list[runs.Json], **changes: Any) -> runs.RunData:
    return runs.make(runs.plan(NAMES, blocks=30, **changes), lines=of)


def told(found: runs.Cell) -> list[str | None]:
    measured = map(found.figures.get, ("cold", "cpu", "peak_rss"))
    return [of and of.contrast and of.contrast.verdict for of in measured]


def test_each_figure_has_a_ratio_and_a_verdict_of_its_own() -> None:
    found = cell(run(lines(cold=1.5, cpu=0.5, memory=1.0)))
    assert told(found) == ["materially slower", "materially faster", "equivalent"]
    cold = found.figures["cold"]
    low, high = runs.ends(runs.sure(cold.contrast).ratio)
    assert low < 1.5 < high
    assert cold.value == pytest.approx(7.5e7, rel=0.01)
    report = runs.analyse(run(lines(cold=1.5, cpu=0.5)))
    assert runs.contrast(report, "bun", "node").verdict == "equivalent"


def test_the_reference_shown_is_what_figures_refer_to() -> None:
    of = run(lines(memory=2.0))
    own = cell(of, "node")
    assert told(own) == [None, None, None]
    assert own.figures["peak_rss"].contrast is None
    memory = runs.sure(cell(of, "node", reference="bun").figures["peak_rss"].contrast)
    assert memory.ratio.value == pytest.approx(0.5, rel=0.01)
    assert memory.verdict == "materially faster"
    itself = cell(of, reference="bun").figures["peak_rss"]
    assert (itself.value, itself.contrast) == (pytest.approx(8e7, rel=0.01), None)


def test_cpu_of_nothing_is_a_value_without_a_ratio() -> None:
    found = cell(run(runs.change(lines(), {"cpu_ns": 0}, label="bun")))
    assert (found.outcome, found.figures["cpu"]) == ("ok", runs.Measure(0.0))
    assert told(found)[0::2] == ["equivalent", "equivalent"]


def test_blocks_with_cpu_of_nothing_have_no_ratio_and_the_others_do() -> None:
    def of(blocks: int) -> runs.Contrast:
        """Where so many blocks of 30 are left."""
        given = lines(cpu=2.0)
        for block in range(30 - blocks):
            given = runs.change(given, {"cpu_ns": 0}, label="bun", case="get-pk", block=block)
        return runs.sure(cell(run(given)).figures["cpu"].contrast)

    assert of(12).ratio.value == pytest.approx(2, rel=0.01)
    assert [of(blocks).verdict for blocks in (12, 9)] == ["materially slower", "not testable"]


def test_what_was_never_recorded_is_none() -> None:
    found = cell(run(runs.change(lines(), {"peak_rss_bytes": None}, label="bun")))
    assert (found.outcome, found.figures.get("peak_rss")) == ("ok", None)
    found = cell(run(runs.change(lines(), {"peak_rss_bytes": None}, runner="node")))
    assert found.figures["peak_rss"].contrast is None


def values(cases: int) -> Array:
    """Node, bun and a canary over 30 blocks; bun differs a little in the first case only."""
    draws = np.random.default_rng(1).normal(0, 0.01, (cases, 3, 30))
    draws[0, 1] += 0.008 - (draws[0, 1] - draws[0, 0]).mean()
    return np.exp(draws)


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_verdicts_of_a_figure_are_corrected_together(correction: Correction) -> None:
    def first(cases: int, how: Correction) -> str | None:
        question = Question(0.02, how)
        work: list[Alike] = ["processes"] * cases
        found = measures(CPU, values(cases), work, ["node", "bun"], "node", question)[0][1]
        return found and found.contrast and found.contrast.verdict

    assert first(1, correction) == "slower"
    assert first(60, correction) != "slower"
    assert first(60, "none") == "slower"


# against the floor ------------------------------------------------------------------------------


def over_floor(ratios: dict[str, float], **changes: Any) -> dict[str, str | None]:
    report = runs.analyse(
        runs.make(runs.plan(NAMES, blocks=30, **changes), time=runs.noisy(ratios, spread=0.003))
    )
    return {c.runner: c.overhead_verdict for c in report.cases[0].cells}


def test_overhead_has_the_verdict_of_the_time_against_the_floor() -> None:
    found = over_floor({"node": 1.5, "canary": 1.5})
    assert found == {"node": "materially slower", "bun": "equivalent", "rust-ffi": None}
    assert over_floor({"bun": 0.8})["bun"] == "materially faster"


# what is said of it -----------------------------------------------------------------------------


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


def test_a_canary_whose_cpu_time_is_too_short_for_the_clock_has_no_ratio_and_no_warning() -> None:
    coarse = runs.change(lines(cpu=1.5), {"cpu_ns": 0}, label="canary")
    assert told(cell(run(coarse)))[1] == "materially slower"
