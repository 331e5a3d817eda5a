"""Latencies of cases under load, throughput over workers, and cells for which the machine was
late.
"""

from collections.abc import Collection, Sequence

import numpy as np

from sqlitmus.analysis.cells import Outcomes, Place, intervals, usable
from sqlitmus.analysis.data import RunData, Sizes
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Case, Curve, Point, Scaling, Tail, Tails
from sqlitmus.stats.estimate import Array, medians
from sqlitmus.vocabulary.figures import bounds


def tails(run: RunData, outcomes: Outcomes, late: Collection[Place]) -> list[Tails]:
    """Each case whose latencies were recorded; runners that are not ok are left out.

    `late` are the cells whose planned operations the machine started late.
    """
    if run.plan.kind == "claims":  # shown there as the claim asks
        return []
    figures = {name: usable(of, outcomes) for name, of in run.samples.figures.items()}
    recorded: list[Tails] = []
    for place, case in enumerate(run.plan.cases):
        of_case = {name: values[place] for name, values in figures.items()}
        cells = _cells(run, case, place, of_case, late)
        if cells:
            recorded.append(
                Tails(
                    case=case.id,
                    **{name: getattr(case, name) for name in ("title", "question", "unit")},
                    axes={name: str(value) for name, value in case.axes.items()},
                    planned=any(cell.pacing is not None for cell in cells),
                    threads=case.threads + any(cell.writer_p99 for cell in cells),
                    cores=run.cores,
                    cells=cells,
                )
            )
    return recorded


def _cells(
    run: RunData,
    case: PlannedCase,
    place: int,
    figures: dict[str, Array],
    late: Collection[Place],
) -> list[Tail]:
    """`figures` by name are series x blocks."""
    if np.isnan(figures["p50"]).all():
        return []
    of = {name: intervals(medians(figures[name])) for name in (*_MEDIANS, "pacing", "steady")}
    cells: list[Tail] = []
    for series, runner in enumerate(run.plan.runners):
        if of["p50"][series] is None:
            continue
        details = run.details_of(place, series)
        wal, resident = (sorted(each, key=_largest) for each in (details.wal, details.resident))
        pacing, time = of["pacing"][series], of["steady"][series]
        cells.append(
            Tail(
                runner=runner.name,
                **{name: of[name][series] for name in _MEDIANS},
                most=_known(figures["longest"][series]).max().item(),
                rate=_carried(time, case.operations if pacing else None) if time else None,
                busy=_known(figures["busy"][series]).mean().item(),
                pacing=pacing and pacing.value,
                late=(place, series) in late,
                buckets=[(*bounds(n), count) for n, count in sorted(details.buckets.items())],
                wal=wal[len(wal) // 2] if wal else [],
                wal_most=intervals(medians(np.array([[*map(_largest, wal)]], dtype=np.float64)))[0]
                if wal
                else None,
                resident=resident[len(resident) // 2] if resident else [],
            )
        )
    return cells


_MEDIANS = (
    *("p50", "p99", "p999", "longest", "writer_p99", "unfair", "timer_p99", "timer_longest"),
    "growth",
)


def _carried(time: Interval, planned: int | None) -> Interval:
    """Units of work a second; so many `planned` operations have a gap less between them."""
    gaps = 1 - 1 / planned if planned else 1.0
    of = rate(time)
    return Interval(of.value * gaps, of.low and of.low * gaps, of.high and of.high * gaps)


def _known(values: Array) -> Array:
    return values[~np.isnan(values)]


def _largest(sizes: Sizes) -> int:
    return max(size for _, size in sizes)


AXIS = "workers"


def scaling(cases: Sequence[Case], workers: Sequence[int], cores: int | None) -> list[Scaling]:
    """Curves of each scenario that ran with several numbers of workers, its other axes fixed.

    `workers` has one number per case. A rate is units of work per second, 1e9 / time with the
    bounds exchanged. Where the number of cores is unknown the largest number of workers stands in,
    so that nothing is called oversubscribed. The time of a cell that is set apart does not stand
    for its throughput.
    """
    families: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[int, Case]]] = {}
    for case, count in zip(cases, workers, strict=True):
        if case.metric == "steady" and AXIS in case.axes:
            others = tuple((name, value) for name, value in case.axes.items() if name != AXIS)
            families.setdefault((case.scenario, others), []).append((count, case))
    result: list[Scaling] = []
    for (scenario, others), members in families.items():
        members.sort(key=lambda member: member[0])
        curves = _curves(members)
        if curves:
            result.append(
                Scaling(
                    scenario=scenario,
                    title=members[0][1].title,
                    axes=dict(others),
                    cores=cores if cores is not None else members[-1][0],
                    curves=curves,
                )
            )
    return result


def _curves(members: list[tuple[int, Case]]) -> list[Curve]:
    points: dict[str, list[Point]] = {}
    for count, case in members:
        for cell in case.cells:
            if cell.time is not None and not cell.apart:
                points.setdefault(cell.runner, []).append(Point(count, rate(cell.time)))
    order = [cell.runner for cell in members[0][1].cells]
    return [Curve(runner, points[runner]) for runner in order if len(points.get(runner, [])) > 1]


def rate(time: Interval) -> Interval:
    """Units per second from nanoseconds per unit."""
    return Interval(
        1e9 / time.value,
        None if time.high is None else 1e9 / time.high,
        None if time.low is None else 1e9 / time.low,
    )
