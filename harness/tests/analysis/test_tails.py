"""Latencies under load: intervals over blocks, and machines that were late."""

from typing import Any

import pytest

from tests.analysis import runs

NAMES = ["node", "bun", "rust"]
MS = 1e6


def report(
    p99: dict[str, float] | None = None,
    pacing: dict[str, float] | None = None,
    of: runs.Json | None = None,
    sampled: runs.Changes = (),
    **how: Any,
) -> runs.Report:
    """Of runners with about such a p99 in ms, whose operations started so late in ms."""
    paced = runs.case("mixed", metric="p99", group="latency")
    of = {**runs.plan(NAMES, cases=[paced], floor=None), **(of or {})}
    time = runs.noisy(spread=0.003)

    def told(line: runs.Json) -> runs.Json:
        noise = time(0, line["label"], line["block"]) / 1000
        latency = (p99 or {}).get(line["runner"], 1) * MS * noise
        return {
            "p50_ns": latency / 10,
            "p99_ns": latency,
            "p999_ns": latency * 2,
            "longest_ns": latency * (3 + line["block"]),
            "busy": 0,
            "pacing_ns": (pacing or {}).get(line["runner"], 0.01) * MS,
        }

    return runs.report(of, time=time, sampled=[({}, told), *sampled], **how)


def test_the_p99_is_what_is_compared_and_a_smaller_one_is_faster() -> None:
    found = report({"bun": 2.0, "rust": 0.5})
    (mixed,) = found.cases
    assert mixed.metric == "p99"
    against = mixed.comparisons.against("node")
    assert {name: runs.told(one) for name, one in against.items()} == {
        "bun": "1.997 [1.991, 2.004] materially slower, 12 blocks",
        "rust": "0.500 [0.498, 0.502] materially faster, 12 blocks",
    }
    time = runs.sure(runs.cell_of(found, "bun").time)
    assert [time.value, *runs.ends(time)] == pytest.approx([2 * MS, 2 * MS, 2 * MS], rel=0.1)


def test_quantiles_have_intervals_over_blocks_and_the_longest_of_all_has_none() -> None:
    found = report().tails[0].cells[0]
    for quantile, about in ((found.p50, 0.1), (found.p99, 1), (found.p999, 2)):
        low, high = runs.ends(quantile)
        assert low <= runs.sure(quantile).value <= high
        assert runs.sure(quantile).value == pytest.approx(about * MS, rel=0.1)
    assert found.most == pytest.approx(14 * MS, rel=0.2)  # of the last of 12 blocks
    assert runs.sure(found.longest).value < runs.sure(found.most)


WRITERS: runs.Json = {"cases": [runs.case("writers", group="writers")]}


@pytest.mark.parametrize(
    ("pacing", "of", "late"),
    [
        (0.51, {}, True),
        (0.5, {}, False),
        # only late where something was planned
        (3.0, {**WRITERS, "cells": {"writers": NAMES}}, False),
    ],
)
def test_a_cell_of_a_late_machine_is_shown_and_in_no_comparison(
    pacing: float, of: runs.Json, *, late: bool
) -> None:
    found = report({"bun": 2.0}, {"bun": pacing}, of)
    cells = found.tails[0].cells
    assert [cell.late for cell in cells] == [False, late, False]
    assert (cells[1].pacing, bool(cells[1].p99)) == (pytest.approx(pacing * MS), True)
    assert (found.cases[0].comparisons.of("bun", "node") is None) == late
    assert runs.contrast(found, "rust", "node")
    assert runs.cell_of(found, "bun").time


def test_busy_is_the_mean_over_the_blocks_that_loses_no_rare_one() -> None:
    found = report(sampled=[({"block": 3}, {"busy": 0.12})])
    assert found.tails[0].cells[1].busy == pytest.approx(0.12 / 12)


def test_several_threads_and_the_one_beside_them_are_counted_against_the_cores() -> None:
    four = {"cases": [runs.case("mixed", metric="p99", group="latency", workers=4)]}
    found = report(of=four, sampled=[({}, {"writer_p99_ns": 5.0})], machine={"cores": "2"}).tails[0]
    assert (found.threads, found.cores) == (5, 2)


def test_the_log_is_that_of_the_block_whose_largest_is_the_median() -> None:
    details = [
        {
            "position": 4 * block,
            "latencies": runs.latencies({1000: 100}),
            "wal": [(0.0, 0), (20.0, 4096 * (1 + block))],
        }
        for block in range(12)
    ]
    found = report(details=details).tails[0].cells[0]
    assert runs.sure(found.wal_most).value == 4096 * 6.5  # of 12 blocks
    assert found.wal == [(0.0, 0), (20.0, 4096 * 7)]
    assert found.buckets == [(1000, 1003, 12 * 100)]


def test_a_run_without_latencies_has_no_such_section() -> None:
    assert runs.report(runs.plan(NAMES)).tails == []
