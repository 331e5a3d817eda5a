"""Published claims of a run: what was said, what came out here, what that means, and tables of
cells.
"""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf

from sqlitmus.analysis.cells import Outcomes
from sqlitmus.analysis.claim_rows import NotHereError, Series, Spot, claim_groups
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.tails import rate
from sqlitmus.catalog import published
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.results import claims
from sqlitmus.results.report import ClaimOutcomes, Runner, Statement
from sqlitmus.vocabulary.figures import bounds
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import ClaimWord

_RATES = ("steady", "loop")
_THREADS = ("workers", "processes")


# Label, runner and place of cells that are here.
Located = list[tuple[str, str, Spot]]


def _cells(
    series: Series, table: published.ClaimTable, leave_out: Sequence[str] = ()
) -> tuple[Located, list[str]]:
    """The cells of a table that are here, and why the others are not.

    A label has the axes that vary among them, as text; it is empty where none does.
    """
    spots: list[tuple[str, Spot]] = []
    absent: list[str] = []
    for runner, case in product(table.runners, table.cases):
        try:
            spots.append((runner, series.spot(case, runner)))
        except NotHereError as error:
            absent.append(str(error))
    cases = [series.case(spot) for _, spot in spots]
    values: dict[str, set[str]] = {}
    for case in cases:
        for axis, value in case.axes.items():
            values.setdefault(axis, set()).add(str(value))
    varying = {axis for axis, of_axis in values.items() if len(of_axis) > 1} - {*leave_out}
    several = len({case.scenario for case in cases}) > 1

    def label(case: PlannedCase) -> str:
        axes = [f"{axis}={value}" for axis, value in case.axes.items() if axis in varying]
        return ", ".join([case.title, *axes] if several else axes)

    cells = [(label(case), *spot) for case, spot in zip(cases, spots, strict=True)]
    return cells, list(dict.fromkeys(absent))


def _ranking(series: Series, table: published.ClaimTable) -> claims.Ranking:
    cells, absent = _cells(series, table)
    typical = [series.typical(table.metric, spot) for *_, spot in cells]
    order = sorted(
        range(len(cells)), key=lambda n: inf if (figure := typical[n]) is None else figure.value
    )
    times = [figure.value for n in order if (figure := typical[n])]
    places = [_place(series, *cells[n]) for n in order]
    return claims.Ranking(table.title, table.metric, times, places, absent)


def _place(series: Series, label: str, runner: str, spot: Spot) -> claims.Place:
    details = series.run.details_of(*spot)
    writer_p99 = series.typical("writer_p99", spot)
    busy = series.mean("busy", spot)
    return claims.Place(
        label,
        runner,
        **{name: series.typical(name, spot) for name in ("wall", "p50", "p99", "p999")},
        loop=series.typical("loop", spot) or series.typical("steady", spot),
        load=_load(series, spot),
        cpus={name: statistics.median(shares) for name, shares in details.cpus.items()},
        spread=_value(series, "unfair", spot),
        skew=statistics.median(details.skews) if details.skews else None,
        writer_p99=writer_p99,
        busy=busy if busy or writer_p99 else None,
        pacing=_value(series, "pacing", spot),
        file=series.case(spot).database_bytes,
    )


def _value(series: Series, metric: str, spot: Spot) -> float | None:
    figure = series.typical(metric, spot)
    return figure and figure.value


def _load(series: Series, spot: Spot) -> claims.Load:
    return claims.Load(
        cpu=_value(series, "cpu time", spot),
        voluntary=series.mean("switches_voluntary", spot),
        involuntary=series.mean("switches_involuntary", spot),
    )


def _threads(series: Series, table: published.ClaimTable) -> claims.Threads:
    cells, absent = _cells(series, table, _THREADS)
    have = series.run.cores
    lines: dict[str, list[claims.ThreadPoint]] = {}
    several = len({runner for _, runner, _ in cells}) > 1 or not any(label for label, *_ in cells)
    rates = table.metric in _RATES
    for label, runner, spot in cells:
        case = series.case(spot)
        value = series.typical(table.metric, spot)
        if value is None:
            absent.append(f"{runner} in {case.id}: {table.metric} was not recorded")
            continue
        number = case.threads
        point = claims.ThreadPoint(
            number,
            rate(value) if rates else value,
            over=have is not None and number > have,
            load=_load(series, spot),
        )
        title = ": ".join(filter(None, (runner if several else "", label)))
        lines.setdefault(title, []).append(point)
    ordered = [
        claims.ThreadLine(label, sorted(points, key=lambda point: point.threads))
        for label, points in lines.items()
    ]
    return claims.Threads(table.title, table.metric, rates, ordered, absent)


def _histograms(series: Series, table: published.ClaimTable) -> claims.Histograms:
    spots, absent = _cells(series, table)
    cells: list[claims.Latencies] = []
    for label, runner, spot in spots:
        if not (buckets := series.run.details_of(*spot).buckets):
            case = series.case(spot).id
            absent.append(f"{runner} in {case}: latencies were not recorded")
            continue
        columns = [(*bounds(number), count) for number, count in sorted(buckets.items())]
        cells.append(claims.Latencies(label, runner, columns))
    step = None if table.step_ms is None else table.step_ms * 1e6
    return claims.Histograms(table.title, step, cells, absent)


def claimed(run: RunData, outcomes: Outcomes, runners: Sequence[Runner]) -> list[claims.Claim]:
    """Every claim of the plan, in its order."""
    series = Series(run, outcomes)
    groups = claim_groups(run, series)
    return [
        _claim(run, series, claim, group, runners)
        for claim, group in zip(run.plan.claims, groups, strict=True)
    ]


def claims_headline(published: Sequence[claims.Claim]) -> list[Statement]:
    """The outcomes of the claims' deciding rows; none for a run without."""
    counts = Counter(word for claim in published for word in claim.strip)
    ordered = {word: counts[word] for word in ClaimWord if counts[word]}
    return [ClaimOutcomes(len(published), ordered)] if published else []


def _claim(
    run: RunData,
    series: Series,
    claim: published.Claim,
    groups: list[claims.Group],
    runners: Sequence[Runner],
) -> claims.Claim:
    rows = [(row, row.verdict) for row in deciding(groups) if row.verdict]
    absent = [row.reason for row, word in rows if word is ClaimWord.NOT_TESTABLE]
    decisive, _ = min(rows, key=lambda row: (row[1].decides, row[0].figure is None))
    lessons = {(word, _lesson(claim.lessons, row, word)): None for row, word in rows}
    return claims.Claim(
        **{name: getattr(claim, name) for name in _AS_PINNED},
        strip=[word for _, word in rows],
        decisive=decisive,
        place=next(group.title for group in groups if decisive in group.rows),
        absent=list(dict.fromkeys(absent)),
        lessons=sorted(lessons, key=lambda lesson: list(ClaimWord).index(lesson[0])),
        here=_here(run, claim, runners),
        groups=groups,
        rankings=[_ranking(series, each) for each in claim.tables if each.kind == "ranking"],
        threads=[_threads(series, each) for each in claim.tables if each.kind == "scaling"],
        histograms=[_histograms(series, each) for each in claim.tables if each.kind == "histogram"],
        evidence=[*_evidence(claim)],
    )


_AS_PINNED = (
    *("name", "title", "source", "published_on", "hypothesis", "differences", "untestable"),
    "contradicts",
)


def _evidence(claim: published.Claim) -> Iterator[str]:
    if pinned := claim.evidence:
        files = f"{counted(len(pinned.files), 'file')}, pinned by their hashes"
        yield f"{pinned.repository} at {pinned.commit[:7]} ({pinned.licence}): {files}"
    for fact in claim.facts:
        yield f"checked, as published: {fact.said}"


def deciding(groups: Sequence[claims.Group]) -> list[claims.Row]:
    """The rows that decide a claim: its key rows, or without any all that a figure was
    published for, or that cannot be tested; of those that show the same measurement, one."""
    every = [row for group in groups for row in group.rows]
    rows = [r for r in every if r.published is not None] or [r for r in every if r.verdict]
    return [row for row in rows if row.key and not row.repeats] or [
        row for row in rows if not row.repeats
    ]


def _lesson(lessons: published.Lessons, row: claims.Row, word: ClaimWord) -> str:
    """What a row of this word teaches; an effect where none was published reverses the claim."""
    if word is ClaimWord.LARGER and not (row.expects_effect and lessons.larger):
        return lessons.different if row.expects_effect else lessons.reversed
    return getattr(lessons, word.lesson)


def _here(run: RunData, claim: published.Claim, runners: Sequence[Runner]) -> list[str]:
    """This machine, and the versions of the runners that the claim is measured with."""
    facts = run.machine
    cores = facts.get("cores", "unknown number of")
    machine = [f"{cores} cores", *(facts[name] for name in ("cpu", "os") if name in facts)]
    named = {name for _, name in claim.cells()}
    pinned = ", ".join(map(str, run.plan.pins))
    return [
        ", ".join(machine),
        *([f"processes pinned to {pinned or 'no processor'}"] if claim.pins else []),
        *(
            f"{runner.name}: {runner.runtime} {runner.runtime_version}, {runner.driver} "
            f"{runner.driver_version}, SQLite {runner.sqlite_version}"
            for runner in runners
            if runner.name in named and runner.sqlite_version
        ),
    ]
