"""What to choose: the decision on a workload, with who keeps to its limits, who is ahead and what
would change it; and of settings that were tried, what each does and whether to set it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from sqlitmus.analysis.cells import Exclusions, Outcomes, intervals, ratios
from sqlitmus.analysis.claim_rows import NotHereError, Series, median
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.pairs import RESOLUTION, Pairs, Question, compare_all, comparisons
from sqlitmus.analysis.provenance import cache_bytes, promise
from sqlitmus.analysis.ranking import START, Table, crossing, exceeded, rank, still_open, tables
from sqlitmus.catalog.cases import PlannedWorkload
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.settings import PlannedAdvice, Trial
from sqlitmus.results import recommendation
from sqlitmus.results.ranking import Change, Contrast, Cost, Excluded, Interval, Limit, Ranking
from sqlitmus.results.report import Case
from sqlitmus.stats.estimate import Array, medians, trimmed_means
from sqlitmus.stats.verdict import MIN_BLOCKS, testable, together
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary.figures import DatabaseFacts, UserDatabase
from sqlitmus.vocabulary.text import normal_pragma
from sqlitmus.vocabulary.verdicts import Apart, CellOutcome, Side, Verdict


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
            at = crossing(first, second, calls, number) if len(queries) == len(shares) else None
            yield Change(query, ahead.runner, ahead.ratio, at)
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


def latencies(run: RunData, cases: Sequence[Case]) -> list[recommendation.Latency]:
    """The p99 of each case of a workload whose rounds were timed."""
    workload = run.plan.workload
    if workload is None:
        return []
    names = run.plan.names
    timed: list[recommendation.Latency] = []
    for place, case in enumerate(cases):
        if case.scenario not in workload.paced:
            continue
        of_all = intervals(medians(run.samples.figures["p99"][place, : len(names)]))
        right = {cell.runner for cell in case.cells if cell.outcome == "ok"}
        p99 = {name: p if name in right else None for name, p in zip(names, of_all, strict=True)}
        timed.append(
            recommendation.Latency(case.id, workload.paced[case.scenario], workload.round, p99)
        )
    return timed


def over_limits(run: RunData, timed: Sequence[recommendation.Latency]) -> list[Excluded]:
    """Who exceeds them, or was not measured where one holds."""
    workload = run.plan.workload
    if workload is None:
        return []
    names = [runner.name for runner in run.plan.runners if runner.role == "runner"]
    return [over for name in names for over in _of(run, workload, name, timed)]


def _of(
    run: RunData, workload: PlannedWorkload, name: str, timed: Sequence[recommendation.Latency]
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
    timed: Sequence[recommendation.Latency] = (),
    further: Sequence[Excluded] = (),
) -> recommendation.Recommendation | None:
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
    begun = cases[start] if start is not None else None
    alone = {
        name: {
            query: share * (_value(cases[queries[query]], name) if query in queries else np.nan)
            for query, share in workload.shares.items()
        }
        for name in answered
    }
    costs = [_cost(name, decisive, begun, alone[name]) for name in answered]
    limits = workload.memory_mib, workload.start_ms
    excluded = [over for cost in costs for over in exceeded(cost, *limits)]
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
    least = MIN_BLOCKS if len(fit) > 1 else 0
    if blocks < least:
        order = Ranking([])
    else:
        order = rank(table, fit, level=lambda name: _value(decisive, name), margin=question.margin)
    changes: list[Change] = []
    if len(order.front) == 1:
        levels = np.array([[_value(cases[p], n) for n in plan.names] for p in queries.values()])
        changes += changes_of(
            *(plan, by_place, queries, start, order.front[0], workload.shares, levels)
        )
    pair = None
    if question.sessions == 1 and order.front:
        level = 1 - question.alpha / max(int(testable(logs).sum()), 1)
        pair = still_open(table, order.front, blocks, level, question.margin)
    return recommendation.Recommendation(
        case=decisive.id,
        database=UserDatabase(
            name=workload.database, **workload.model_dump(include={*DatabaseFacts.model_fields})
        ),
        shares=dict(workload.shares),
        workers=workload.workers,
        ranking=replace(order, excluded=excluded, changes=changes, open=pair),
        composed=list(_composed(plan, cases, times, workload.shares)),
        costs=costs,
        blocks=blocks,
        least=least,
        latencies=list(timed),
        unchecked=list(_unchecked(workload, timed, start)),
    )


def _unchecked(
    workload: PlannedWorkload, timed: Sequence[recommendation.Latency], start: int | None
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


def _cost(name: str, mix: Case, start: Case | None, alone: Mapping[str, float]) -> Cost:
    """What a runner costs; `alone` is what each query takes of it by itself, NaN if unknown."""
    cell = next(cell for cell in mix.cells if cell.runner == name)
    figures = {key: measure.value for key, measure in cell.figures.items()}
    begun = _time(start, name) if start else None
    each = {query: ns / cell.time.value for query, ns in alone.items()} if cell.time else {}
    parts = each if np.isfinite(sum(each.values())) else {}
    return Cost(
        *(name, cell.time, figures.get("cpu"), figures.get("peak_rss")),
        *(begun.value if begun else None, parts),
    )


def _composed(
    plan: Plan, cases: Sequence[Case], times: Array, shares: Mapping[str, float]
) -> Iterator[recommendation.Composed]:
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
            yield recommendation.Composed(runner.name, ratio)


BASE, NEW = "base", "new"
_APART: tuple[recommendation.Effect, ...] = get_args(Apart)
_EFFECTS: dict[Side, recommendation.Effect] = {
    "faster": "helps",
    "slower": "hurts",
    "equivalent": "does nothing here",
    "undecided": "not resolved",
}


def tried(
    run: RunData, outcomes: Outcomes, excluded: Exclusions, planned: PlannedAdvice
) -> dict[Trial, recommendation.Tried]:
    """What came of each trial of the plan, in its order; all that were measured are one family."""
    series, runner, cases = Series(run, outcomes), planned.runner, run.plan.cases
    results: dict[Trial, recommendation.Tried] = {}
    measured: dict[Trial, tuple[Array, Array]] = {}
    for trial in planned.trials:
        results[trial] = _blank(trial, "not measured here", trial.reason)
        if not trial.base:
            continue
        try:
            # if neither cell has a time, that with the setting says why
            new, base = series.pair((trial.new, runner), (trial.base, runner), "steady")
        except NotHereError as error:
            outcome = cast("CellOutcome", error.outcome)
            effect = "not measured here" if outcome == "ok" else outcome
            results[trial] = _blank(trial, effect, error.reason or str(error))
            continue
        base_times, new_times = (
            series.blocks("steady", spot) / cases[spot.case].per_operation for spot in (base, new)
        )
        timed = replace(results[trial], base_time=median(base_times), new_time=median(new_times))
        sides = {"without": base, "with": new}
        apart = {side: spot for side, spot in sides.items() if spot in excluded.why}
        words = [f"{side} the setting, {excluded.detail(spot)}" for side, spot in apart.items()]
        if apart:
            effect = excluded.why[next(iter(apart.values()))]
            results[trial] = replace(timed, effect=effect, reason="; ".join(words))
        else:
            results[trial], measured[trial] = timed, (base_times, new_times)
    if measured:
        question = replace(Question.of(run.plan), small_is_nothing=True)
        pairs = compare_all(np.array([*measured.values()]), [BASE, NEW], question)
        for trial, columns in zip(measured, comparisons(pairs), strict=True):
            results[trial] = _worded(trial, results[trial], columns.of(NEW, BASE))
    for trial in planned.trials:
        if _alike(run, planned, trial):
            results[trial] = _blank(trial, "is so already", "the driver sets it by itself")
    return results


def checks(
    run: RunData, planned: PlannedAdvice, trial: Trial
) -> tuple[Verified | None, Verified | None]:
    """The verifications of base and new."""
    base, new = (run.checks.get((case, planned.runner)) for case in (trial.base, trial.new))
    return base, new


def _blank(trial: Trial, effect: recommendation.Effect, reason: str) -> recommendation.Tried:
    """A trial without a figure, and why."""
    return recommendation.Tried(
        trial.group, trial.database, effect, trial.base, trial.new, reason=reason
    )


def _worded(
    trial: Trial, timed: recommendation.Tried, contrast: Contrast | None
) -> recommendation.Tried:
    """The trial with its ratio and what that says."""
    if contrast is None:
        few = "the two have fewer than 2 blocks in common"
        return _blank(trial, "not resolved", few)
    untestable = contrast.verdict is Verdict.NOT_TESTABLE
    return replace(
        timed,
        effect=_EFFECTS[contrast.verdict.side],
        contrast=contrast,
        reason="too few blocks, or no interval" if untestable else "",
    )


def _alike(run: RunData, planned: PlannedAdvice, trial: Trial) -> bool:
    """Whether all that the setting sets was read back the same without it."""
    spec = next(s for s in planned.settings.setting if s.name == trial.setting)
    base, new = checks(run, planned, trial)
    if spec.transaction or not spec.pragmas or base is None or new is None:
        return False
    return new.outcome == "ok" and all(
        name in base.pragmas
        and normal_pragma(name, base.pragmas[name]) == normal_pragma(name, value)
        for name, value in spec.pragmas
    )


def advise(run: RunData, outcomes: Outcomes, excluded: Exclusions) -> recommendation.Advice | None:
    """The advice of a run that tried settings; None for any other run."""
    planned = run.plan.advice
    if planned is None:
        return None
    results = tried(run, outcomes, excluded, planned)
    named = {trial.setting for trial in planned.trials}
    groups = dict.fromkeys(trial.group for trial in planned.trials)
    titles = {name: group.title for name, group in planned.settings.group.items()}
    return recommendation.Advice(
        runner=planned.runner,
        start=planned.settings.start,
        margin=run.plan.margin,
        groups={name: titles.get(name, name) for name in groups},
        places=_places(run, planned),
        settings=[
            _setting(run, planned, setting.name, results)
            for setting in planned.settings.setting
            if setting.name in named
        ],
        workload=run.plan.workload.file if run.plan.workload else "",
    )


def _setting(
    run: RunData, planned: PlannedAdvice, name: str, results: Mapping[Trial, recommendation.Tried]
) -> recommendation.Setting:
    by_name = {setting.name: setting for setting in planned.settings.setting}
    spec = by_name[name]
    mine = {trial: result for trial, result in results.items() if trial.setting == name}
    pairs = [pair for trial in mine if (pair := _promises(run, planned, trial))]
    # of all groups that write, the one in which a commit loses most
    before, after = max(pairs, key=lambda pair: pair[0].level - pair[1].level, default=(None, None))
    weakens = bool(before and after and after.level < before.level)
    return recommendation.Setting(
        name=name,
        title=spec.title,
        beside=by_name[spec.beside].title if spec.beside in by_name else "",
        does=spec.does,
        caution=spec.caution,
        counsel=counsel([result.effect for result in mine.values()], weakens=weakens),
        before=before,
        after=after,
        published=[recommendation.Published(p.says, p.source, p.url) for p in spec.publications],
        tried=list(mine.values()),
    )


def counsel(effects: Iterable[recommendation.Effect], *, weakens: bool) -> recommendation.Counsel:
    """What follows from a setting's effects; one that `weakens` commits is never simply set."""
    seen = {*effects}
    helps, hurts = "helps" in seen, "hurts" in seen
    if weakens and (helps or "not resolved" in seen):
        return "your decision"
    if weakens:
        return "no answer" if seen.intersection(_APART) else "leave it"
    if helps and hurts:
        return "both"
    if helps or hurts:
        return "set it" if helps else "leave it"
    left: dict[recommendation.Effect, recommendation.Counsel] = {
        "not resolved": "open",
        **dict.fromkeys(_APART, "no answer"),
        "does nothing here": "does nothing",
        "is so already": "is so already",
    }
    upshots: list[recommendation.Counsel] = [
        word for effect, word in left.items() if effect in seen
    ]
    return upshots[0] if upshots else "no answer"


def _promises(
    run: RunData, planned: PlannedAdvice, trial: Trial
) -> tuple[recommendation.Promise, recommendation.Promise] | None:
    """What a commit promises without the setting and with it, of a trial that writes."""
    base, new = checks(run, planned, trial)
    if base is None or new is None or not (base.affected or new.affected):
        return None
    before, after = promise(base.pragmas), promise(new.pragmas)
    return (before, after) if before and after else None


def _places(run: RunData, planned: PlannedAdvice) -> list[recommendation.Place]:
    """The databases in the order of the file; a user's own has no name."""
    titles = {database.name: database.title for database in planned.settings.database}
    places: list[recommendation.Place] = []
    for name in dict.fromkeys(trial.database for trial in planned.trials):
        bases = {trial.base for trial in planned.trials if trial.database == name} - {""}
        sizes = [c.database_bytes for c in run.plan.cases if c.id in bases and c.database_bytes]
        caches = [
            size
            for case in sorted(bases)
            if (check := run.checks.get((case, planned.runner)))
            and (size := cache_bytes(check.pragmas))
        ]
        places.append(
            recommendation.Place(
                name, titles.get(name, ""), max(sizes, default=None), max(caches, default=None)
            )
        )
    return places
