"""What operations took at most: figures from histograms whose values were planted."""

import pytest

from sqlitmus.vocabulary.contract import Histogram, Identity, Result, Versioned, Worker
from sqlitmus.vocabulary.detail import MANY, bucket, merged, tails

MS = 1_000_000
PROGRAM = Versioned(name="x", version="1")


def recorded(times: list[int]) -> Histogram:
    counted = merged([(bucket(time), 1)] for time in times)
    return Histogram(buckets=sorted(counted.items()))


def worker(times: list[int], *, iterations: tuple[int, ...] = (10 * MS,), **more: object) -> Worker:
    return Worker.model_validate(
        {
            "operations": len(times),
            "rows": 0,
            "checksum": 0,
            "iterations_ns": list(iterations),
            "latencies": recorded(times),
            **more,
        }
    )


def result(*workers: Worker) -> Result:
    return Result(
        contract=2,
        cell="a/x",
        status="ok",
        identity=Identity(runner="x", runtime=PROGRAM, driver=PROGRAM, architecture="x86_64"),
        workers=list(workers),
    )


def test_quantiles_are_those_of_all_workers_together() -> None:
    found = tails(result(worker([100] * 990), worker([200] * 9 + [250])))
    assert found is not None
    assert (found.p50, found.p99, found.p999, found.longest) == (100, 100, 200, 250)


def test_99_9_percent_of_fewer_operations_than_1000_is_unknown() -> None:
    few, many = tails(result(worker([7] * (MANY - 1)))), tails(result(worker([7] * MANY)))
    assert few is not None
    assert many is not None
    assert (few.p999, many.p999) == (None, 7)


def test_what_works_beside_has_a_figure_of_its_own() -> None:
    found = tails(result(worker([100] * 10), worker([MS] * 10, role="writer", busy=3)))
    assert found is not None
    assert found.longest == 100
    assert found.writer_p99 == pytest.approx(MS, rel=1 / 128)
    assert found.busy == 3 / 20


def test_busy_operations_of_all_threads_are_counted() -> None:
    found = tails(result(worker([1] * 10, busy=2), worker([1] * 10, busy=5)))
    assert found is not None
    assert found.busy == 7 / 20


def test_a_starving_connection_is_slower_than_the_fastest() -> None:
    alone, fair, unfair = (
        tails(result(*(worker([1], iterations=(ns,)) for ns in times)))
        for times in ((10,), (10, 10), (10, 40, 20))
    )
    assert alone is not None
    assert fair is not None
    assert unfair is not None
    assert (alone.unfair, fair.unfair, unfair.unfair) == (None, 1, 4)


def test_pacing_is_how_late_operations_started() -> None:
    found = tails(result(worker([1] * 100, pacing=recorded([50] * 98 + [200] * 2))))
    assert found is not None
    assert found.pacing == 200


def test_without_recorded_latencies_there_is_nothing() -> None:
    assert tails(result()) is None
    assert tails(result(worker([1]).model_copy(update={"latencies": None}))) is None


def test_delays_of_a_timer_beside_tasks_are_figures_too() -> None:
    told = result(worker([100] * 10)).model_copy(update={"timer": recorded([40] * 98 + [90, 200])})
    figures = tails(told)
    assert figures is not None
    assert (figures.timer_p99, figures.timer_longest) == (90, 200)
    without = tails(result(worker([100] * 10)))
    assert without is not None
    assert (without.timer_p99, without.timer_longest) == (None, None)
