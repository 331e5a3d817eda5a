"""The decision on a workload: who keeps to its limits, who is ahead, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from sqlitmus.analysis.cells import intervals, ratios
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.pairs import RESOLUTION, Pairs, Question
from sqlitmus.analysis.ranking import START, Table, crossing, exceeded, rank, still_open, tables
from sqlitmus.catalog.cases import PlannedWorkload
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.ranking import Change, Contrast, Cost, Excluded, Interval, Limit
from sqlitmus.results.recommendation import Composed, Database, Latency, Recommendation
from sqlitmus.results.report import Case
from sqlitmus.stats.estimate import Array, medians, trimmed_means
from sqlitmus.stats.verdict import testable, together
from sqlitmus.vocabulary.contract import normal_pragma


def changes_of(
    plan: Plan,
    by_place: Mapping[int, Table],
    queries: Mapping[str, int],
    start: int | None,
    lead: str,
    shares: Mapping[str, float],
    medians: Array,
) -> Iterator[Change]:
    """For each query, and for the start, the fastest of those who are shown to be ahead there, by
    the tables of their cases."""
    names = plan.names
    calls = np.array([1000 * share for share in shares.values()])
    for number, (query, place) in enumerate(queries.items()):
        ahead = _ahead(by_place.get(place, {}), lead)
        if ahead:
            first, second = (medians[:, names.index(name)] for name in (lead, ahead.runner))
            yield Change(query, ahead.runner, ahead.ratio, crossing(first, second, calls, number))
    if start is not None and (ahead := _ahead(by_place.get(start, {}), lead)):
        yield Change(START, ahead.runner, ahead.ratio)


def _ahead(table: Table, lead: str) -> Contrast | None:
    faster = [
        contrast
        for (_, reference), contrast in table.items()
        if reference == lead and contrast.verdict.side == "faster"
    ]
    return min(faster, key=lambda contrast: contrast.ratio.value, default=None)


# A workload's limits that its runners are held to beyond memory and start: p99 and durability.


_LEVELS = {"0": 0, "1": 1, "2": 2, "3": 2}  # of PRAGMA synchronous: off, normal, full, extra
_NEEDED = {"normal": 1, "full": 2}
_WORDS = ("off", "normal")


def latencies(run: RunData, cases: Sequence[Case]) -> list[Latency]:
    """The p99 of each case of a workload whose rounds were timed."""
    workload = run.plan.workload
    if workload is None:
        return []
    names = run.plan.names
    timed: list[Latency] = []
    for place, case in enumerate(cases):
        if case.scenario not in workload.paced:
            continue
        of_all = intervals(medians(run.samples.figures["p99"][place, : len(names)]))
        right = {cell.runner for cell in case.cells if cell.outcome == "ok"}
        p99 = {name: p if name in right else None for name, p in zip(names, of_all, strict=True)}
        timed.append(Latency(case.id, workload.paced[case.scenario], workload.round, p99))
    return timed


def over_limits(run: RunData, timed: Sequence[Latency]) -> list[Excluded]:
    """Who exceeds them, or was not measured where one holds."""
    workload = run.plan.workload
    if workload is None:
        return []
    names = [runner.name for runner in run.plan.runners if runner.role == "runner"]
    return [over for name in names for over in _of(run, workload, name, timed)]


def _of(
    run: RunData, workload: PlannedWorkload, name: str, timed: Sequence[Latency]
) -> Iterator[Excluded]:
    most = workload.p99_ms and workload.p99_ms * 1e6
    for latency in timed if most else ():
        p99 = latency.p99.get(name)
        if p99 is None or (most and p99.value > most):
            yield Excluded(name, "p99", p99 and p99.value, most, cases=[latency.case])
    if workload.durability and (weak := _weak(run, name, _NEEDED[workload.durability])):
        yield Excluded(name, "durability", shown=f"{weak}, the limit {workload.durability}")


def _weak(run: RunData, name: str, needed: int) -> str | None:
    """How a runner's commits are less durable than `needed`, in words; None if they are not.

    What was read back counts, and syncs: where another runner has one a transaction, all need it.
    """
    for (case, runner), check in run.checks.items():
        if runner != name or check.readback is None:
            continue
        level = _LEVELS.get(normal_pragma("synchronous", check.pragmas.get("synchronous")), 2)
        if level < needed:
            return f"synchronous {_WORDS[level]}"
        if needed == _NEEDED["full"] and check.syncs and check.syncs.per_transaction < 1:
            others = [c.syncs for (at, _), c in run.checks.items() if at == case and c.syncs]
            if any(syncs.per_transaction >= 1 for syncs in others):
                return f"{check.syncs.calls()} a transaction"
    return None


MIX = "mix"


def recommend(
    plan: Plan,
    cases: Sequence[Case],
    pairs: Pairs,
    times: Array,
    question: Question,
    timed: Sequence[Latency] = (),
    further: Sequence[Excluded] = (),
) -> Recommendation | None:
    """The recommendation of a run of a workload; None for any other run.

    `pairs` are all comparisons, `times` is cases x runners x blocks. Who is ahead is decided by the
    mix as one process does it with all workers. That, each query alone and the start are one family
    of comparisons, whose intervals hold together (`stats.verdict.together`). `further` are those
    beyond limits on what was `timed`, and on durability.
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
        Excluded(cell.runner, cell.apart, shown=cell.reason or "")
        for cell in decisive.cells
        if cell.apart and cell.runner in answered
    ]
    fit = [name for name in answered if name not in {over.runner for over in excluded}]
    excluded += [
        Excluded(runner.name, "cases", cases=[decisive.id])
        for runner in plan.runners
        if runner.role == "runner" and runner.missing is None and runner.name not in answered
    ]
    numbers = [places[decisive.id], *queries.values(), *([] if start is None else [start])]
    named, logs = pairs.among(fit, numbers)
    shares = question.shares
    share = 1.0 if shares is None else np.repeat(shares[numbers], len(named))
    family = together(logs, question.margin, question.alpha, share)
    by_place = dict(zip(numbers, tables(named, family), strict=False))
    table, blocks = by_place.get(numbers[0], {}), int(logs.count.max(initial=0))
    order = rank(table, fit, level=lambda name: _value(decisive, name), margin=question.margin)
    changes: list[Change] = []
    if len(order.front) == 1:
        levels = np.array([[_value(cases[p], n) for n in plan.names] for p in queries.values()])
        changes += changes_of(
            *(plan, by_place, queries, start, order.front[0], workload.shares, levels)
        )
    pair = None
    if question.sessions == 1:
        level = 1 - question.alpha / max(int(testable(logs).sum()), 1)
        pair = still_open(table, order.front, blocks, level, question.margin)
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
        blocks=blocks,
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
    means = trimmed_means(np.log(times[mix] / parts), resolution=RESOLUTION)
    for runner, ratio in zip(plan.runners, ratios(means.mean, *means.interval()), strict=True):
        if runner.role == "runner" and ratio:
            yield Composed(runner.name, ratio)
