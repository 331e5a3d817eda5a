"""Latencies under load: intervals over blocks, and machines that were late."""

from typing import Any

import pytest

from sqlitmus.results.report import Report, Tail
from sqlitmus.vocabulary.detail import bucket
from tests.analysis import runs

NAMES = ["node", "bun", "rust"]
MS = 1e6


def of_p99(**changes: Any) -> runs.Json:
    paced = runs.case("mixed", metric="p99", group="latency", **changes)
    return runs.plan(NAMES, cases=[paced], floor=None)


def lines(of: runs.Json, p99: dict[str, float], pacing: dict[str, float]) -> list[runs.Json]:
    """Samples whose p99 is about that of each runner in ms, started so late in ms."""
    ratios = runs.noisy(spread=0.003)

    def told(line: runs.Json) -> runs.Json:
        noise = ratios(0, line["label"], line["block"]) / 1000
        latency = p99.get(line["runner"], 1) * MS * noise
        return {
            "p50_ns": latency / 10,
            "p99_ns": latency,
            "p999_ns": latency * 2,
            "longest_ns": latency * (3 + line["block"]),
            "busy": 0,
            "pacing_ns": pacing.get(line["runner"], 0.01) * MS,
        }

    return runs.change(runs.samples(of, ratios), told)


def run(of: runs.Json, of_lines: list[runs.Json], cores: str = "4", **more: Any) -> runs.RunData:
    return runs.make(of, lines=of_lines, machine={"cores": cores}, **more)


def report(p99: dict[str, float], pacing: dict[str, float] | None = None) -> Report:
    of = of_p99()
    return runs.analyse(run(of, lines(of, p99, pacing or {})))


def tail(of: Report, runner: str) -> Tail:
    return next(cell for cell in of.tails[0].cells if cell.runner == runner)


def test_the_p99_is_what_is_compared_and_a_smaller_one_is_faster() -> None:
    found = report({"bun": 2.0, "rust": 0.5})
    (mixed,) = found.cases
    assert mixed.metric == "p99"
    verdicts = {name: one.verdict for name, one in mixed.comparisons.against("node").items()}
    assert verdicts == {"bun": "materially slower", "rust": "materially faster"}
    time = runs.sure(runs.cell_of(found, "bun").time)
    assert time.value == pytest.approx(2 * MS, rel=0.1)
    assert runs.ends(time)[0] < 2.0 * MS * 1.1


def test_quantiles_have_intervals_over_blocks_and_the_longest_of_all_has_none() -> None:
    found = tail(report({}), "node")
    for quantile, about in ((found.p50, 0.1), (found.p99, 1), (found.p999, 2)):
        low, high = runs.ends(quantile)
        assert low <= runs.sure(quantile).value <= high
        assert runs.sure(quantile).value == pytest.approx(about * MS, rel=0.1)
    assert found.most == pytest.approx(14 * MS, rel=0.2)  # of the last of 12 blocks
    assert runs.sure(found.longest).value < runs.sure(found.most)


def test_a_cell_of_a_late_machine_is_shown_and_in_no_comparison() -> None:
    found = report({"bun": 2.0}, {"bun": 0.51})
    assert [cell.late for cell in found.tails[0].cells] == [False, True, False]
    assert tail(found, "bun").pacing == pytest.approx(0.51 * MS)
    assert tail(found, "bun").p99 is not None
    assert found.cases[0].comparisons.of("bun", "node") is None
    assert runs.contrast(found, "rust", "node")
    assert runs.cell_of(found, "bun").time


def test_half_a_millisecond_is_in_time() -> None:
    found = report({}, {"bun": 0.5})
    assert not any(cell.late for cell in found.tails[0].cells)
    assert runs.contrast(found, "bun", "node")


def test_the_machine_is_only_late_where_something_was_planned() -> None:
    of = runs.plan(NAMES, cases=[runs.case("writers", group="writers")], floor=None)
    paced = lines(of, {}, {"bun": 3.0})
    assert not any(cell.late for cell in runs.analyse(run(of, paced)).tails[0].cells)


def test_busy_is_the_mean_over_the_blocks_that_loses_no_rare_one() -> None:
    of = of_p99()
    rare = runs.change(lines(of, {}, {}), {"busy": 0.12}, block=3)
    assert tail(runs.analyse(run(of, rare)), "bun").busy == pytest.approx(0.12 / 12)


def test_several_threads_and_the_one_beside_them_are_counted_against_the_cores() -> None:
    of = of_p99(workers=4)
    beside = runs.change(lines(of, {}, {}), lambda _: {"writer_p99_ns": 5.0})
    found = runs.analyse(run(of, beside, cores="2")).tails[0]
    assert (found.threads, found.cores) == (5, 2)


def test_the_log_is_that_of_the_block_whose_largest_is_the_median() -> None:
    of = of_p99()
    all_lines = lines(of, {}, {})
    details = [
        {
            "position": line["position"],
            "latencies": [(bucket(1000), 100)],
            "wal": [(0.0, 0), (20.0, 4096 * (1 + line["block"]))],
        }
        for line in all_lines
        if line.get("label") == "node"
    ]
    found = tail(runs.analyse(run(of, all_lines, details=details)), "node")
    assert runs.sure(found.wal_most).value == 4096 * 6.5  # of 12 blocks
    assert found.wal == [(0.0, 0), (20.0, 4096 * 7)]
    assert found.buckets == [(1000, 1003, 12 * 100)]


def test_a_run_without_latencies_has_no_such_section() -> None:
    of = runs.plan(NAMES)
    assert runs.analyse(run(of, runs.samples(of, runs.noisy()))).tails == []
