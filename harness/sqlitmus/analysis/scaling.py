"""Throughput over numbers of workers."""

from collections.abc import Collection, Sequence

from sqlitmus.results.curves import Curve, Point, Scaling
from sqlitmus.results.report import Case, Interval

AXIS = "workers"


def scaling(
    cases: Sequence[Case],
    workers: Sequence[int],
    cores: int | None,
    untold: Collection[tuple[str, str]] = (),
) -> list[Scaling]:
    """Curves of each scenario that ran with several numbers of workers, its other axes fixed.

    `workers` has one number per case. A rate is units of work per second, 1e9 / time with the
    bounds exchanged. Where the number of cores is unknown the largest number of workers stands in,
    so that nothing is called oversubscribed. Cells that are `untold`, by case id and runner, have
    no time that stands for their throughput.
    """
    families: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[int, Case]]] = {}
    for case, count in zip(cases, workers, strict=True):
        if case.metric == "steady" and AXIS in case.axes:
            others = tuple((name, value) for name, value in case.axes.items() if name != AXIS)
            families.setdefault((case.scenario, others), []).append((count, case))
    result: list[Scaling] = []
    for (scenario, others), members in families.items():
        members.sort(key=lambda member: member[0])
        curves = _curves(members, untold)
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


def _curves(members: list[tuple[int, Case]], untold: Collection[tuple[str, str]]) -> list[Curve]:
    points: dict[str, list[Point]] = {}
    for count, case in members:
        for cell in case.cells:
            if cell.time is not None and (case.id, cell.runner) not in untold:
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
