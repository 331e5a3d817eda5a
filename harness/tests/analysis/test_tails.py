"""Latencies under load: intervals over blocks, and machines that were late."""

from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.analysis import runs

NAMES = ["node", "bun", "rust"]
MS = 1e6


def report(
    p99: dict[str, float] | None = None,
    pacing: float = 0.01,
    sampled: runs.Changes = (),
    case: runs.Json | None = None,
    **how: Any,
) -> runs.Report:
    """Of runners with about such a p99 in ms; bun's operations started so late in ms."""
    paced = {"metric": "p99", "group": "latency", **(case or {})}
    of = runs.plan(NAMES, cases=[runs.case("mixed", **paced)], floor=None)
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
            "pacing_ns": MS * (pacing if line["runner"] == "bun" else 0.01),
        }

    return runs.report(of, time=time, sampled=[({}, told), *sampled], **how)


def log(block: int) -> runs.Json:
    """What node's process recorded of its latencies and of the log, which grows with the block."""
    wal = [(0.0, 0), (20.0, 4096 * (1 + block))]
    return {"position": 4 * block, "latencies": runs.latencies({1000: 100}), "wal": wal}


REPORTS: dict[str, dict[str, Any]] = {
    "the p99 is compared, and a smaller one is faster": {"p99": {"bun": 2.0, "rust": 0.5}},
    # half a millisecond is in time, and a cell of a late machine is in no comparison
    "a late machine": {"p99": {"bun": 2.0}, "pacing": 0.51},
    "a machine in time": {"p99": {"bun": 2.0}, "pacing": 0.5},
    "a machine that planned nothing": {
        "pacing": 3.0, "case": {"metric": "steady", "group": "writers"}
    },
    # the mean over the blocks loses no rare one
    "rarely busy": {"sampled": [({"block": 3}, {"busy": 0.12})]},
    "several threads, and one beside them": {
        "case": {"workers": 4}, "sampled": [({}, {"writer_p99_ns": 5.0})], "machine": {"cores": "2"}
    },
    # it is that of the block whose largest is the median, 6.5 of 12
    "a log that grows": {"details": [log(block) for block in range(12)]},
}  # fmt: skip


def told(of: runs.Report) -> Iterator[str]:
    """What a report tells of latencies, in ms."""
    (tails,) = of.tails
    yield f"{tails.threads} threads on {tails.cores} cores"
    for cell in tails.cells:
        times = (cell.p50, cell.p99, cell.p999, cell.longest)
        quantiles = [
            runs.shown(runs.Interval(one.value / MS, *(end / MS for end in runs.ends(one))))
            for one in map(runs.sure, times)
        ]
        yield f"{cell.runner}: {'; '.join(quantiles)}; most {runs.sure(cell.most) / MS:.2f}"
        yield f"  late {cell.late}, {cell.pacing}; busy {cell.busy:.3g}; {cell.writer_p99}"
        yield f"  {cell.rate and runs.shown(cell.rate)} a second"
        yield f"  log {cell.wal_most} of {cell.wal}; {cell.buckets}"
    (case,) = of.cases
    yield from (f"{c.runner}/{c.reference}: {runs.told(c)}" for c in case.comparisons)


@pytest.mark.parametrize("name", REPORTS)
def test_what_is_told_of_latencies(name: str, snapshot: SnapshotAssertion) -> None:
    assert list(told(report(**REPORTS[name]))) == snapshot


def test_a_run_without_latencies_has_no_such_section() -> None:
    assert runs.report(runs.plan(NAMES)).tails == []
