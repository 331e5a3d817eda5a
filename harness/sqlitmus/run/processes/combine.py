"""The results of several processes that shared a job, as one. Pure."""

from collections.abc import Sequence
from typing import Any, cast

from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract.job import Measure
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.contract.result import Counts, Proof, Result
from sqlitmus.vocabulary.figure import read

SAME = ("cell", "identity", "sqlite_version", "effective", "plans")


class Unlike(Exception):
    """Results that cannot be one; the message says which process and why."""


def merge(results: Sequence[Result], measure: Measure) -> Result:
    """One result of `ok` ones, process by process; `measure` is that of each process.

    Counts, checksum and the figures that runners report are sums: what processes share counts for
    each of them. An iteration lasts from the earliest start to the latest end of any worker,
    a warm-up iteration as long as that of the slowest process. Phases are not merged. The read-back
    is that of the process that ended last, the only one that saw all writes. Raises Unlike when
    they ran under different conditions or lack what the barrier asks for.
    """
    for number, result in enumerate(results):
        _check(number, result, results[0], measure)
    workers = [worker for result in results for worker in result.workers]
    spans = list(zip(*(worker.spans_us for worker in workers), strict=True))
    return Result(
        contract=2,
        status="ok",
        **{name: getattr(results[0], name) for name in SAME},
        operations=sum(result.operations for result in results),
        rows=sum(result.rows for result in results),
        affected=sum(result.affected for result in results),
        checksum=sum(result.checksum for result in results) % 2**32,
        readback=_last_readback(results),
        warmup_ns=[max(times) for times in zip(*(r.warmup_ns for r in results), strict=True)],
        iterations_ns=[
            round((max(end for _, end in span) - min(start for start, _ in span)) * 1000)
            for span in spans
        ],
        workers=workers,
        answers=[_added(each) for each in zip(*(r.answers for r in results), strict=True)],
        **_figures(results),
    )


def _added(answers: Sequence[Counts]) -> Counts:
    rows, affected, checksum = (sum(each) for each in zip(*answers, strict=True))
    return rows, affected, checksum % 2**32


def start_spread_us(result: Result) -> list[float]:
    """Microseconds from the first to the last worker's start, per measured iteration."""
    starts = zip(*([start for start, _ in w.spans_us] for w in result.workers), strict=True)
    return [max(times) - min(times) for times in starts]


def _check(number: int, result: Result, first: Result, measure: Measure) -> None:
    for name in SAME:
        if getattr(result, name) != getattr(first, name):
            raise Unlike(
                f"process {number} differs from process 0 in `{name}`: "
                f"{_difference(getattr(result, name), getattr(first, name))}"
            )
    for what, got, planned in (
        ("workers", len(result.workers), measure.workers),
        ("warm-up iterations", len(result.warmup_ns), measure.warmup_iterations),
        ("timed iterations", len(result.iterations_ns), measure.iterations),
        ("answers", len(result.answers), measure.warmup_iterations + measure.iterations),
    ):
        if got != planned:
            raise Unlike(f"process {number} reports {got} {what}; {planned} were asked for")
    for place, worker in enumerate(result.workers):
        if len(worker.spans_us) != measure.iterations:
            raise Unlike(
                f"process {number} reports {len(worker.spans_us)} spans_us of its worker {place}; "
                f"{measure.iterations} were asked for"
            )


def _difference(got: object, first: object) -> str:
    """What differs, down to the key where both are models or mappings."""
    fields = [of.model_dump() if isinstance(of, Model) else of for of in (got, first)]
    if not all(isinstance(values, dict) for values in fields):
        return f"{got} and {first}"
    mine, theirs = cast("list[dict[str, object]]", fields)
    names = [name for name in {**theirs, **mine} if mine.get(name) != theirs.get(name)]
    return ", ".join(f"{n}: {_difference(mine.get(n), theirs.get(n))}" for n in names)


def _last_readback(results: Sequence[Result]) -> Proof | None:
    last = max(results, key=lambda r: max(worker.spans_us[-1][1] for worker in r.workers))
    return last.readback


def _figures(results: Sequence[Result]) -> dict[str, Any]:
    """Fields of a Result with the sums over processes of what each reports of itself.

    A sum with an unknown part is unknown: it would look like the whole.
    """
    summed: dict[str, Any] = {}
    for path in figures.reported():
        values = [read(result, path) for result in results]
        if None not in values:
            field, _, part = path.partition(".")
            total = sum(value or 0 for value in values)
            if part:
                summed.setdefault(field, {})[part] = total
            else:
                summed[field] = total
    return summed
