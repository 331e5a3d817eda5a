"""Results of processes as one: what is summed, what spans, what must be alike."""

from typing import Any

import pytest

from sqlitmus.run.processes.launch import Unlike, merge, start_spread_us
from sqlitmus.vocabulary.contract import (
    Identity,
    Measure,
    Proof,
    Result,
    Switches,
    Versioned,
    Worker,
)

PROGRAM = Versioned(name="x", version="1")
IDENTITY = Identity(runner="x", runtime=PROGRAM, driver=PROGRAM, architecture="x86_64")
MEASURE = Measure(operations_per_iteration=9, warmup_iterations=1, iterations=2)


def worker(*spans: tuple[float, float]) -> Worker:
    return Worker(operations=1, rows=1, checksum=1, iterations_ns=[1, 1], spans_us=list(spans))


def result(*workers: Worker, **other: Any) -> Result:
    """A process's result; by default of one worker, from 0 to 1 µs and from 10 to 11 µs."""
    return Result.model_validate(
        {
            "contract": 2,
            "cell": "a/x",
            "status": "ok",
            "identity": IDENTITY,
            "answers": [[1, 0, 1]] * 3,
            "warmup_ns": [5],
            "iterations_ns": [1, 1],
            "workers": list(workers) or [worker((0, 1), (10, 11))],
            **other,
        }
    )


def test_counts_and_costs_add_up_and_the_checksum_wraps() -> None:
    one = result(
        operations=4,
        rows=8,
        affected=2,
        checksum=2**32 - 1,
        answers=[(3, 1, 2**32 - 1), (3, 1, 0), (2, 0, 0)],
        cpu_ns=11,
        switches=Switches(voluntary=3, involuntary=1),
        peak_rss_bytes=100,
    )
    two = result(
        operations=5,
        rows=10,
        affected=3,
        checksum=7,
        answers=[(4, 1, 2), (3, 1, 3), (3, 1, 2)],
        cpu_ns=22,
        switches=Switches(voluntary=4, involuntary=0),
        peak_rss_bytes=50,
    )
    both = merge([one, two], MEASURE)
    assert (both.operations, both.rows, both.affected, both.checksum) == (9, 18, 5, 6)
    assert both.answers == [(7, 2, 1), (6, 2, 3), (5, 1, 2)]
    assert both.cpu_ns == 33
    assert both.switches == Switches(voluntary=7, involuntary=1)
    assert both.peak_rss_bytes == 150
    assert len(both.workers) == 2


@pytest.mark.parametrize("name", ["cpu_ns", "switches", "peak_rss_bytes"])
def test_a_sum_with_an_unknown_part_is_unknown(name: str) -> None:
    known = {
        "cpu_ns": 2,
        "switches": Switches(voluntary=1, involuntary=1),
        "peak_rss_bytes": 1,
    }
    both = merge([result(**known), result(**{**known, name: None})], MEASURE)
    assert getattr(both, name) is None
    assert all(getattr(both, other) is not None for other in known if other != name)


def test_an_iteration_lasts_from_the_first_start_to_the_last_end_of_any_worker() -> None:
    one = result(worker((100.5, 200), (1000, 1100)), worker((110, 150), (1001, 1200.25)))
    two = result(worker((90, 210.5), (1050, 1060)), worker((130, 140), (990, 1000)))
    both = merge([one, two], MEASURE.model_copy(update={"workers": 2}))
    assert both.iterations_ns == [120_500, 210_250]
    assert start_spread_us(both) == [40.0, 60.0]


def test_a_warm_up_lasts_as_long_as_that_of_the_slowest_process() -> None:
    assert merge([result(warmup_ns=[5]), result(warmup_ns=[9])], MEASURE).warmup_ns == [9]


def test_what_was_written_is_told_by_the_process_that_ended_last() -> None:
    early = result(worker((0, 1), (10, 20)), readback=Proof(rows=1, checksum=1))
    late = result(worker((0, 1), (10, 30)), readback=Proof(rows=2, checksum=2))
    for order in ([early, late], [late, early]):
        assert merge(order, MEASURE).readback == late.readback


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (
            {"effective": {"pragmas": {"cache_size": 9, "encoding": "UTF-8"}}},
            "process 1 differs from process 0 in `effective`: pragmas: cache_size: 9 and -2000",
        ),
        (
            {"effective": {"pragmas": {"cache_size": -2000}}},
            "process 1 differs from process 0 in `effective`: pragmas: encoding: None and UTF-8",
        ),
        ({"sqlite_version": "3.1"}, "process 1 differs from process 0 in `sqlite_version`: 3.1 an"),
        ({"plans": [["SCAN t"]]}, "process 1 differs from process 0 in `plans`: [['SCAN t']] and"),
        ({"warmup_ns": []}, "process 1 reports 0 warm-up iterations; 1 were asked for"),
        ({"iterations_ns": [1]}, "process 1 reports 1 timed iterations; 2 were asked for"),
        ({"answers": []}, "process 1 reports 0 answers; 3 were asked for"),
        ({"workers": []}, "process 1 reports 0 workers; 1 were asked for"),
        (
            {"workers": [worker((0, 1))]},
            "process 1 reports 1 spans_us of its worker 0; 2 were asked for",
        ),
    ],
)
def test_processes_under_other_conditions_are_not_one(other: dict[str, Any], why: str) -> None:
    same = {"effective": {"pragmas": {"cache_size": -2000, "encoding": "UTF-8"}}}
    with pytest.raises(Unlike) as told:
        merge([result(**same), result(**{**same, **other})], MEASURE)
    assert str(told.value).startswith(why)
