"""The decision on a workload: who keeps to its limits, who is ahead, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType

import numpy as np

from sqlitmus.analysis import limits
from sqlitmus.analysis.changes import Family, changes_of
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.logratios import RESOLUTION
from sqlitmus.analysis.pairs import Pairs
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.ranking import START, exceeded, rank, ratio, still_open
from sqlitmus.analysis.warming import Warming
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import PlannedWorkload
from sqlitmus.results.estimate import Interval
from sqlitmus.results.ranking import Change, Cost, Excluded, Limit
from sqlitmus.results.recommendation import Composed, Database, Latency, Recommendation
from sqlitmus.results.report import Case
from sqlitmus.stats.estimate import Array, trimmed_means

MIX = "mix"


def recommend(
    plan: Plan,
    cases: Sequence[Case],
    pairs: Pairs,
    times: Array,
    question: Question,
    guard: Array | None = None,
    timed: Sequence[Latency] = (),
    further: Sequence[Excluded] = (),
    warm_up: Mapping[tuple[int, int], float] = MappingProxyType({}),
) -> Recommendation | None:
    """The recommendation of a run of a workload; None for any other run.

    `pairs` are all comparisons, `times` is cases x runners x blocks. Who is ahead is decided by the
    mix as one process does it with all workers. That, each query alone and the start are one family
    of comparisons, whose intervals hold together (`stats.groups.together`). `further` are those
    beyond limits on what was `timed`, and on durability. Those that still `warm_up` in the mix, by
    case and runner, have no time that stands for it.
    """
    workload = plan.workload
    if workload is None or not cases:
        return None
    places = {case.id: number for number, case in enumerate(cases)}
    decisive = _decisive(cases, workload.workers)
    queries = {case.scenario: places[case.id] for case in cases if case.group == "queries"}
    start = next((places[case.id] for case in cases if case.group == START), None)
    choices = [runner.name for runner in plan.runners if runner.role == "runner"]
    answered = [name for name in choices if _time(decisive, name)]
    costs = [_cost(name, decisive, cases[start] if start is not None else None)
             for name in answered]  # fmt: skip
    excluded = [over for cost in costs for over in exceeded(cost, workload)]
    excluded += [over for over in further if over.runner in answered]
    excluded += [
        Excluded(name, "warm-up", warm_up[at])
        for name in answered
        if (at := (places[decisive.id], plan.names.index(name))) in warm_up
    ]
    fit = [name for name in answered if name not in {over.runner for over in excluded}]
    excluded += [
        Excluded(name, "cases", cases=[decisive.id])
        for name in choices
        if name not in answered and _present(plan, name)
    ]
    numbers = [places[decisive.id], *queries.values(), *([] if start is None else [start])]
    family = Family.of(pairs, numbers, fit, question, guard)
    table = family.table(places[decisive.id])
    order = rank(table, fit, level=lambda name: _value(decisive, name), margin=question.margin)
    changes: list[Change] = []
    if len(order.front) == 1:
        levels = np.array([[_value(cases[p], n) for n in plan.names] for p in queries.values()])
        changes += changes_of(
            *(plan, family, queries, start, order.front[0], workload.shares, levels)
        )
    settled = question.sessions > 1 or (guard is not None and guard[places[decisive.id]] > 0)
    pair = (
        None
        if settled
        else still_open(table, order.front, family.blocks, family.level, question.margin)
    )
    return Recommendation(
        case=decisive.id,
        database=Database(
            **{
                f.name: getattr(workload, f.name if f.name != "name" else "database")
                for f in fields(Database)
            }
        ),
        shares=dict(workload.shares),
        workers=workload.workers,
        ranking=replace(order, excluded=excluded, changes=changes, open=pair),
        composed=list(_composed(plan, cases, times, workload.shares)),
        costs=costs,
        blocks=int(family.blocks),
        latencies=list(timed),
        unchecked=list(_unchecked(workload, timed, start)),
    )


def _unchecked(
    workload: PlannedWorkload, timed: Sequence[Latency], start: int | None
) -> Iterator[Limit]:
    """The limits whose cases a filter left out."""
    if workload.p99_ms and not timed:
        yield "p99"
    if workload.start_ms and start is None:
        yield START


def _present(plan: Plan, name: str) -> bool:
    return any(runner.name == name and runner.missing is None for runner in plan.runners)


def _decisive(cases: Sequence[Case], workers: int) -> Case:
    """The mix with all workers, or the mix, or the only query."""
    mixes = [case for case in cases if case.scenario == MIX]
    at_once = [case for case in mixes if case.axes.get("workers") == str(workers)]
    return next(iter([*at_once, *mixes, *(c for c in cases if c.group == "queries"), *cases]))


def _time(case: Case, name: str) -> Interval | None:
    return next((cell.time for cell in case.cells if cell.runner == name), None)


def _value(case: Case, name: str) -> float:
    time = _time(case, name)
    return time.value if time else float("nan")


def _cost(name: str, mix: Case, start: Case | None) -> Cost:
    cell = next(cell for cell in mix.cells if cell.runner == name)
    figures = {key: measure.value for key, measure in cell.figures.items()}
    begun = _time(start, name) if start else None
    return Cost(
        name, cell.time, figures.get("cpu"), figures.get("peak_rss"), begun.value if begun else None
    )


def _composed(
    plan: Plan, cases: Sequence[Case], times: Array, shares: Mapping[str, float]
) -> Iterator[Composed]:
    """Each runner's mix in one thread over its parts, block by block."""
    places = {case.scenario: number for number, case in enumerate(cases) if case.group == "queries"}
    mix = next(
        (n for n, c in enumerate(cases) if c.scenario == MIX and c.axes.get("workers") == "1"), None
    )
    if mix is None or not shares.keys() <= places.keys():
        return
    parts = sum(share * times[places[query]] for query, share in shares.items())
    logs = np.log(times[mix] / parts)
    means = trimmed_means(logs, resolution=RESOLUTION)
    low, high = means.interval()
    for number, runner in enumerate(plan.runners):
        if runner.role == "runner" and not np.isnan(means.mean[number]):
            ends = float(low[number]), float(high[number])
            yield Composed(runner.name, ratio(float(means.mean[number]), *ends))


def recommended(
    run: RunData,
    cases: Sequence[Case],
    pairs: Pairs,
    times: Array,
    question: Question,
    guard: Array | None,
    warm_up: Warming,
) -> Recommendation | None:
    """The recommendation of a workload within its limits; None for any other run."""
    timed = limits.latencies(run, cases)
    return recommend(
        *(run.plan, cases, pairs, times, question, guard),
        timed=timed,
        further=limits.exceeded(run, timed),
        warm_up=warm_up,
    )
