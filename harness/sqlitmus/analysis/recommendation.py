"""The decision on a workload: who keeps to its limits, who is ahead, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import count
from types import MappingProxyType

import numpy as np

from sqlitmus.analysis.ahead import (
    START,
    Table,
    alike,
    exceeded,
    front_of,
    ratio,
    still_open,
    tabled,
)
from sqlitmus.analysis.pairs import RESOLUTION, Pairs, Question
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import PlannedWorkload
from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import (
    Beside,
    Beyond,
    Change,
    Composed,
    Database,
    Latency,
    Limit,
    Recommendation,
    Standby,
)
from sqlitmus.results.report import Case
from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.groups import together
from sqlitmus.vocabulary.verdicts import Verdict

MIX = "mix"
_FASTER = [verdict for verdict in Verdict if verdict.side == "faster"]


def recommend(
    plan: Plan,
    cases: Sequence[Case],
    pairs: Pairs,
    times: Array,
    question: Question,
    guard: Array | None = None,
    timed: Sequence[Latency] = (),
    further: Sequence[Beyond] = (),
    stalled: Mapping[tuple[int, int], float] = MappingProxyType({}),
) -> Recommendation | None:
    """The recommendation of a run of a workload; None for any other run.

    `pairs` are all comparisons, `times` is cases x runners x blocks. Who is ahead is decided by the
    mix as one process does it with all workers. That, each query alone and the start are one family
    of comparisons, whose intervals hold together (`stats.groups.together`). `further` are those
    beyond limits on what was `timed`, and on durability. Those that have `stalled` in the mix, by
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
    beside = [_beside(name, decisive, cases[start] if start is not None else None)
              for name in answered]  # fmt: skip
    beyond = [over for cost in beside for over in exceeded(cost, workload)]
    beyond += [over for over in further if over.runner in answered]
    beyond += [
        Beyond(name, "stalls", stalled[at], None)
        for name in answered
        if (at := (places[decisive.id], plan_names(plan).index(name))) in stalled
    ]
    out = {over.runner for over in beyond}
    fit = [name for name in answered if name not in out]
    numbers = [places[decisive.id], *queries.values(), *([] if start is None else [start])]
    family = _Family.of(pairs, numbers, fit, question, guard)
    table = family.table(places[decisive.id])
    front = front_of(table, fit, lambda name: _value(decisive, name))
    lead = min(front or fit, key=lambda name: _value(decisive, name), default=None)
    others = [
        table[name, lead] for name in fit if lead and name not in front and (name, lead) in table
    ]
    changes: list[Change] = []
    if len(front) == 1:
        medians = np.array(
            [[_value(cases[p], n) for n in plan_names(plan)] for p in queries.values()]
        )
        changes = list(_changes(plan, family, queries, start, front[0], workload.shares, medians))
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
        front=front,
        alike=alike(table, front),
        others=sorted(others, key=lambda other: other.ratio.value),
        beyond=beyond,
        absent=[name for name in choices if name not in answered and _present(plan, name)],
        changes=changes,
        composed=list(_composed(plan, cases, times, workload.shares)),
        beside=beside,
        blocks=int(family.blocks),
        latencies=list(timed),
        unchecked=list(_unchecked(workload, timed, start)),
        open=None
        if question.sessions > 1 or (guard is not None and guard[places[decisive.id]] > 0)
        else still_open(table, front, family.blocks, family.level, question.margin),
    )


def _unchecked(
    workload: PlannedWorkload, timed: Sequence[Latency], start: int | None
) -> Iterator[Limit]:
    """The limits whose cases a filter left out."""
    if workload.p99_ms and not timed:
        yield "p99"
    if workload.start_ms and start is None:
        yield START


def plan_names(plan: Plan) -> list[str]:
    """The runners in the order of all arrays."""
    return [runner.name for runner in plan.runners]


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


def _beside(name: str, mix: Case, start: Case | None) -> Beside:
    cell = next(cell for cell in mix.cells if cell.runner == name)
    figures = {key: measure.value for key, measure in cell.figures.items()}
    begun = _time(start, name) if start else None
    return Beside(
        name, cell.time, figures.get("cpu"), figures.get("peak_rss"), begun.value if begun else None
    )


@dataclass(frozen=True, slots=True)
class _Family:
    """Comparisons of cases x pairs of runners whose intervals hold all at once."""

    by_case: Mapping[int, Table]
    blocks: int
    level: float

    @classmethod
    def of(
        cls,
        pairs: Pairs,
        numbers: Sequence[int],
        fit: Sequence[str],
        question: Question,
        guard: Array | None,
    ) -> "_Family":
        width = len(pairs.indices)
        chosen = [
            k
            for k, (i, j) in enumerate(pairs.indices)
            if pairs.names[i] in fit and pairs.names[j] in fit
        ]
        rows = np.array([case * width + k for case in numbers for k in chosen], dtype=np.int64)
        if not len(rows):
            return cls({}, 0, 1 - question.alpha)
        logs = TrimmedMeans(
            *(getattr(pairs.logs, name)[rows] for name in ("mean", "error", "freedom", "count"))
        )
        guards = 0.0 if guard is None else np.repeat(guard[list(numbers)], len(chosen))
        shares = question.shares
        share = 1.0 if shares is None else np.repeat(shares[list(numbers)], len(chosen))
        family = together(logs, question.margin, guards, question.alpha, share)
        named = [(pairs.names[i], pairs.names[j]) for i, j in (pairs.indices[k] for k in chosen)]
        words = family.verdicts.names().tolist()
        by_case = {
            case: tabled(named, logs.mean[at], family.low[at], family.high[at], words[at])
            for case, at in zip(numbers, _slices(len(chosen)), strict=False)
        }
        testable = max(int(np.count_nonzero(~np.isnan(family.low))), 1)
        return cls(by_case, int(logs.count.max()), 1 - question.alpha / testable)

    def table(self, case: int) -> Table:
        """The comparisons of a case by (runner, reference)."""
        return self.by_case.get(case, {})


def _slices(length: int) -> Iterator[slice]:
    """The rows of one case after another."""
    return (slice(start, start + length) for start in count(0, length))


def _changes(
    plan: Plan,
    family: _Family,
    queries: Mapping[str, int],
    start: int | None,
    lead: str,
    shares: Mapping[str, float],
    medians: Array,
) -> Iterator[Change]:
    """For each query, and for the start, the fastest of those who are shown to be ahead there."""
    names = plan_names(plan)
    for number, (query, place) in enumerate(queries.items()):
        ahead = _ahead(family.table(place), lead)
        if ahead:
            columns = medians[:, [names.index(lead), names.index(ahead.runner)]]
            share = crossing(columns, list(shares.values()), number)
            yield Change(query, ahead.runner, ahead.ratio, share)
    if start is not None and (ahead := _ahead(family.table(start), lead)):
        yield Change(START, ahead.runner, ahead.ratio)


def _ahead(table: Table, lead: str) -> Standby | None:
    faster = [
        standby
        for (_, reference), standby in table.items()
        if reference == lead and standby.verdict in _FASTER
    ]
    return min(faster, key=lambda standby: standby.ratio.value, default=None)


def crossing(times: Array, shares: Sequence[float], query: int) -> float | None:
    """The share of `query` at which two runners take as long, the other queries keeping their
    proportion; None where that is not above the present one, or where the query is all there is.

    `times` is queries x 2, in any unit.
    """
    share = shares[query]
    if share >= 1:
        return None
    others = np.array(shares)
    others[query] = 0
    rest = others @ times / (1 - share)
    # the share at which what is gained by the query is lost by the rest
    gained, lost = float(times[query, 0] - times[query, 1]), float(rest[1] - rest[0])
    at = lost / (gained + lost) if gained + lost else float("nan")
    return at if share < at < 1 else None


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
