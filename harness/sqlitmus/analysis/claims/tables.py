"""The tables of a claim: cells beside each other, without a verdict."""

from collections.abc import Sequence

from sqlitmus.analysis.claims.series import NotHereError, Series, Spot, threads
from sqlitmus.analysis.notices import cores
from sqlitmus.analysis.scaling import rate
from sqlitmus.catalog import claims
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.results.claims import (
    Histograms,
    Latencies,
    Load,
    Place,
    Ranking,
    ThreadLine,
    ThreadPoint,
    Threads,
)
from sqlitmus.vocabulary.histogram import bounds

_RATES = ("steady", "loop")
_THREADS = ("workers", "processes")


def tables(
    series: Series, wanted: Sequence[claims.ClaimTable]
) -> tuple[list[Ranking], list[Threads], list[Histograms]]:
    """Each kind's, in the order of the claim."""
    return (
        [_ranking(series, table) for table in wanted if table.kind == "ranking"],
        [_threads(series, table) for table in wanted if table.kind == "scaling"],
        [_histograms(series, table) for table in wanted if table.kind == "histogram"],
    )


Found = list[tuple[str, str, Spot]]


def _cells(series: Series, table: claims.ClaimTable) -> tuple[Found, list[str]]:
    """(case, runner, place) of the cells that are here, and why the others are not."""
    found: Found = []
    absent: list[str] = []
    for runner in table.runners:
        for case in table.cases:
            try:
                found.append((case, runner, series.spot(case, runner)))
            except NotHereError as error:
                absent.append(str(error))
    return found, list(dict.fromkeys(absent))


def _labels(series: Series, found: Found, leave_out: Sequence[str] = ()) -> dict[str, str]:
    """By case id its axes that vary among the cells, as text; empty where none does."""
    cases = {text: series.run.plan.cases[spot.case] for text, _, spot in found}
    values: dict[str, set[str]] = {}
    for case in cases.values():
        for axis, value in case.axes.items():
            values.setdefault(axis, set()).add(str(value))
    scenarios = {case.scenario for case in cases.values()}

    def label(case: PlannedCase) -> str:
        parts = [case.title] if len(scenarios) > 1 else []
        parts += [
            f"{axis}={value}"
            for axis, value in case.axes.items()
            if len(values[axis]) > 1 and axis not in leave_out
        ]
        return ", ".join(parts)

    return {text: label(case) for text, case in cases.items()}


def _ranking(series: Series, table: claims.ClaimTable) -> Ranking:
    found, absent = _cells(series, table)
    labels = _labels(series, found)
    typical = {
        (case, runner): figure
        for case, runner, spot in found
        if (figure := series.typical(table.metric, spot))
    }
    ordered = sorted(typical, key=lambda cell: typical[cell].value)
    places = {(case, runner): spot for case, runner, spot in found}
    rest = [cell for cell in places if cell not in typical]
    times = [typical[cell].value for cell in ordered]
    shown = [_place(series, labels[c], r, places[c, r]) for c, r in [*ordered, *rest]]
    return Ranking(table.title, table.metric, times, shown, absent)


def _place(series: Series, label: str, runner: str, spot: Spot) -> Place:
    details = series.run.details
    writer_p99 = series.typical("writer p99", spot)
    busy, writer_busy = (series.mean(name, spot) for name in ("busy", "writer busy"))
    return Place(
        label,
        runner,
        wall=series.typical("wall", spot),
        loop=series.typical("loop", spot) or series.typical("steady", spot),
        average=series.typical("average", spot),
        p50=series.typical("p50", spot),
        p99=series.typical("p99", spot),
        p999=series.typical("p999", spot),
        load=_load(series, spot),
        cpu=_value(series, "cpu", spot),
        cpus=details.cpus.get((spot.case, spot.series), {}) if details else {},
        spread=_value(series, "spread", spot),
        skew=_value(series, "skew", spot),
        writer_p99=writer_p99,
        busy=busy if busy or writer_p99 else None,
        writer_busy=writer_busy if writer_p99 else None,
        pacing=_value(series, "pacing", spot),
        file=series.run.plan.cases[spot.case].database_bytes,
    )


def _value(series: Series, metric: str, spot: Spot) -> float | None:
    found = series.typical(metric, spot)
    return found and found.value


def _load(series: Series, spot: Spot) -> Load:
    return Load(
        cpu=_value(series, "cpu time", spot),
        voluntary=series.mean("voluntary switches", spot),
        involuntary=series.mean("involuntary switches", spot),
    )


def _threads(series: Series, table: claims.ClaimTable) -> Threads:
    found, absent = _cells(series, table)
    have = cores(series.run.machine)
    labels = _labels(series, found, _THREADS)
    lines: dict[str, list[ThreadPoint]] = {}
    several = len({runner for _, runner, _ in found}) > 1 or not any(labels.values())
    rates = table.metric in _RATES
    for case, runner, spot in found:
        value = series.typical(table.metric, spot)
        if value is None:
            absent.append(f"{runner} in {case}: {table.metric} was not recorded")
            continue
        number = threads(series.run.plan.cases[spot.case])
        point = ThreadPoint(
            number,
            rate(value) if rates else value,
            over=have is not None and number > have,
            load=_load(series, spot),
        )
        label = ": ".join(filter(None, (runner if several else "", labels[case])))
        lines.setdefault(label, []).append(point)
    ordered = [
        ThreadLine(label, sorted(points, key=lambda point: point.threads))
        for label, points in lines.items()
    ]
    return Threads(table.title, table.metric, rates, ordered, absent)


def _histograms(series: Series, table: claims.ClaimTable) -> Histograms:
    found, absent = _cells(series, table)
    labels = _labels(series, found)
    details = series.run.details
    cells: list[Latencies] = []
    for case, runner, spot in found:
        buckets = details.histograms.get((spot.case, spot.series)) if details else None
        if not buckets:
            absent.append(f"{runner} in {case}: latencies were not recorded")
            continue
        columns = [(*bounds(number), count) for number, count in sorted(buckets.items())]
        cells.append(Latencies(labels[case], runner, columns))
    step = None if table.step_ms is None else table.step_ms * 1e6
    return Histograms(table.title, step, cells, absent)
