"""The decision by calls: what each spends, who is ahead by each preset, and what would change
it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isnan

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.pairs import RESOLUTION, Pairs, Question, log_times, over_sessions
from sqlitmus.analysis.ranking import START, Table, crossing, exceeded, rank, still_open, tables
from sqlitmus.catalog.presets import MOST, OWN, Preset
from sqlitmus.results import recommendation
from sqlitmus.results.ranking import Change, Cost, Excluded, Interval, Ranking
from sqlitmus.results.report import Case, Runner
from sqlitmus.stats.estimate import Array, normal, trimmed_means
from sqlitmus.stats.verdict import MIN_BLOCKS, Parts, Verdicts, at_level, parts, summed, testable
from sqlitmus.vocabulary.verdicts import Apart, Verdict

# Minor versions of SQLite; some three come out in a year.
_YEARS_OLDER = 9


def old_engines(runners: Sequence[Runner]) -> Iterator[recommendation.OldEngine]:
    """Whose SQLite is years older than the newest among `runners`."""
    versions = {
        runner.name: (_minor(runner.sqlite_version), runner.sqlite_version)
        for runner in runners
        if runner.sqlite_version
    }
    if not versions:
        return
    newest, text = max(versions.values())
    for name, (minor, version) in versions.items():
        if newest - minor >= _YEARS_OLDER:
            yield recommendation.OldEngine(name, version, text)


def _minor(version: str) -> int:
    """3.35.5 as 35; every SQLite of the last twenty years is a 3."""
    parts = version.split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0


Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Operations:
    """The cases that may be called, over all pairs of the runners to choose from.

    `places` are those of `order` among all cases. `names` are these runners and `pairs` are
    (runner, reference). `levels` is operations x runners, the ln ns of a call, NaN for who did not
    complete the case. `of` has a row per pair and session; `single` is pairs x operations, the code
    of the verdict on the case. `spent` is the share of the error which may be spent.
    """

    order: list[str]
    places: list[int]
    names: list[str]
    pairs: list[tuple[str, str]]
    levels: Array
    of: Parts
    single: Codes
    spent: float
    question: Question

    def calls(self, calls: Mapping[str, float]) -> Array:
        """The calls of each case in `order`."""
        return np.array([calls.get(case, 0.0) for case in self.order])


def operations(
    order: Sequence[tuple[str, int]],
    pairs: Pairs,
    ok: NDArray[np.bool_],
    names: Sequence[str],
    times: Array,
    units: Sequence[int],
    question: Question,
) -> Operations:
    """The cases `order`, each with its place, for the runners `names`.

    `times` is cases x runners x blocks in ns of a unit, of which a call of each case has as many as
    `units` say; `ok` is cases x runners.
    """
    places = [place for _, place in order]
    columns = [pairs.names.index(name) for name in names]
    chosen = [
        (k, columns.index(i), columns.index(j))
        for k, (i, j) in enumerate(pairs.indices)
        if i in columns and j in columns
    ]
    logs = log_times(times[places][:, columns])
    logs += np.log([units[place] for place in places])[:, None, None]
    logs[~ok[places][:, columns]] = np.nan
    levels = trimmed_means(logs.reshape(-1, logs.shape[2])).mean.reshape(logs.shape[:2])
    first, second = [i for _, i, _ in chosen], [j for _, _, j in chosen]
    by_session = (len(places), len(chosen) * question.sessions, -1)
    codes = pairs.verdicts.code.reshape(pairs.cases, -1)
    early = question.shares
    return Operations(
        [case for case, _ in order],
        places,
        list(names),
        [(names[i], names[j]) for i, j in zip(first, second, strict=True)],
        levels,
        parts(
            logs[:, first].reshape(by_session), logs[:, second].reshape(by_session),
            resolution=RESOLUTION,
        ),
        codes[places][:, [k for k, _, _ in chosen]].T,
        1.0 if early is None else float(early[places].min()),
        question,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """All comparisons by several sets of calls, whose intervals hold together with one further
    set's each at the coverage `level`: a table for each, and the most blocks of a pair."""

    tables: list[Table]
    level: float
    blocks: int


def decide(
    of: Operations, sets: Sequence[Array], level: float | None = None, besides: int = 0
) -> Decided:
    """What all pairs are to each other by each of `sets`, calls of the operations.

    One family, in which a place for every pair is kept for calls of the reader's own: those are
    asked at the `level` of the family. It has room for so many comparisons `besides`.
    """
    width, question = len(of.pairs), of.question
    means = [over_sessions(summed(of.of, calls), question.sessions, width)[0] for calls in sets]
    if level is None:
        family = sum(int(testable(logs).sum()) for logs in means) + width + besides
        level = 1 - question.alpha * of.spent / family
    made: list[Table] = []
    for calls, logs in zip(sets, means, strict=True):
        contrasts = at_level(logs, question.margin, level)
        (used,) = np.nonzero(calls > 0)
        if len(used) == 1:
            verdicts = contrasts.verdicts.capped(Verdicts(of.single[:, used[0]]))
            contrasts = replace(contrasts, verdicts=verdicts)
        made += tables(of.pairs, contrasts)
    blocks = max(int(logs.count.max(initial=0)) for logs in means)
    return Decided(made, level, blocks)


def siblings(cases: Sequence[Case], called: Collection[str]) -> list[tuple[int, int]]:
    """Places of (case, variant) of cases that may be `called`: the variant has one more value that
    is not an axis's default."""
    options = [
        (case.scenario, frozenset(filter(None, case.id.partition("@")[2].split(","))))
        for case in cases
    ]
    places = {each: place for place, each in enumerate(options)}
    return [
        (places[scenario, less], place)
        for place, (scenario, values) in enumerate(options)
        for less in (values - {value} for value in values)
        if (scenario, less) in places and cases[places[scenario, less]].id in called
    ]


def rows(cases: Sequence[Case], called: Collection[str], width: int) -> int:
    """How many comparisons `caught_up` looks at, of `width` pairs each."""
    return len({place for pair in siblings(cases, called) for place in pair}) * width


def caught_up(
    pairs: Pairs,
    cases: Sequence[Case],
    called: Collection[str],
    names: Sequence[str],
    question: Question,
    level: float,
) -> list[recommendation.CatchUp]:
    """Each of `names` that is slower than another one in a case that may be `called` and not in a
    variant of it, where it is equivalent or faster; those that were furthest behind first.

    Intervals have the coverage `level`, which is that of a family with these comparisons.
    """
    both = siblings(cases, called)
    places = list(dict.fromkeys(place for pair in both for place in pair))
    named, logs = pairs.among(names, places)
    made = tables(named, at_level(logs, question.margin, level))
    by_place = dict(zip(places, made, strict=True))
    caught = [each for pair in both for each in _between(cases, by_place, *pair)]
    return sorted(caught, key=lambda each: -each.before.ratio.value)


def _between(
    cases: Sequence[Case], by_place: Mapping[int, Table], base: int, variant: int
) -> Iterator[recommendation.CatchUp]:
    for (runner, reference), now in by_place[variant].items():
        before = by_place[base].get((runner, reference))
        level_or_ahead = now.verdict is Verdict.EQUIVALENT or now.verdict.side == "faster"
        if before and before.verdict.side == "slower" and level_or_ahead:
            yield recommendation.CatchUp(cases[base].id, cases[variant].id, before, now)


def packed(
    of: Operations,
    decided: Decided,
    parts: Sequence[recommendation.OperationParts],
    start: list[float | None],
    catching: list[recommendation.CatchUp],
) -> recommendation.Weighing:
    """All that other calls' figures are made of, as data."""
    sessions = of.question.sessions
    lower = np.tril_indices(2 * len(of.order))
    pairs: list[recommendation.PairParts] = []
    for k, (runner, reference) in enumerate(of.pairs):
        rows = slice(k * sessions, (k + 1) * sessions)
        pairs.append(
            recommendation.PairParts(
                runner,
                reference,
                [_known(row) for row in of.of.difference[rows]],
                [_known(row) for row in of.of.middle[rows]],
                [_known(row[lower]) for row in of.of.square[rows]],
                of.of.left[rows].tolist(),
                of.of.count[rows].tolist(),
                [list(Verdict)[code] for code in of.single[k].tolist()],
            )
        )
    return recommendation.Weighing(
        decided.level,
        normal(decided.level),
        MIN_BLOCKS,
        of.names,
        list(parts),
        pairs,
        start,
        catching,
    )


def parts_of(
    of: Operations, place: int, name: str, case: Case, units: int
) -> recommendation.OperationParts:
    """What sums take from the operation in `place`, which is `case`; a call is so many `units`."""
    cells = {cell.runner: cell for cell in case.cells}
    levels = _known(of.levels[place])
    cpu, memory = (
        [
            None if level is None or figure not in cells[runner].figures
            else cells[runner].figures[figure].value * times
            for runner, level in zip(of.names, levels, strict=True)
        ]
        for figure, times in (("cpu", units), ("peak_rss", 1))
    )  # fmt: skip
    apart: list[Apart | None] = [cells[runner].apart for runner in of.names]
    return recommendation.OperationParts(
        case.id, name, case.metric == "cold", levels, cpu, memory, apart
    )


def _known(row: Array) -> list[float | None]:
    return [None if isnan(value) else value for value in row.tolist()]


def changes_in(
    of: Operations, calls: Array, alone: Sequence[Table], lead: str, fit: Sequence[str]
) -> Iterator[Change]:
    """For each operation that others are shown to be faster in: who needs the fewest calls of it to
    come out equal with `lead`, where a service may make as many."""
    times = np.exp(of.levels)
    first = times[:, of.names.index(lead)]
    for place, (case, table) in enumerate(zip(of.order, alone, strict=True)):
        ahead = [
            (at, name, table[name, lead].ratio)
            for name in fit
            if (name, lead) in table
            and table[name, lead].verdict.side == "faster"
            and (at := crossing(first, times[:, of.names.index(name)], calls, place))
            and at <= MOST
        ]
        if ahead:
            at, name, ratio = min(ahead, key=lambda entry: entry[0])
            yield Change(case, name, ratio, calls=at)


def telling(of: Operations, alone: Sequence[Table], front: Sequence[str]) -> Iterator[Change]:
    """Each operation by which one of `front` is shown to be ahead of all others in front."""
    for case, table in zip(of.order, alone, strict=True):
        for name in front:
            over = [table.get((name, other)) for other in front if other != name]
            if all(each and each.verdict.side == "faster" for each in over):
                nearest = max((each.ratio for each in over if each), key=lambda ratio: ratio.value)
                yield Change(case, name, nearest)


CATCHING = 2  # sentences on variants


@dataclass(frozen=True, slots=True)
class Shared:
    """What all decisions share: the operations with what one call of each costs, what they tell
    alone, and of each runner its longest start in ns, None where that is not known."""

    of: Operations
    parts: Sequence[recommendation.OperationParts]
    alone: Sequence[Table]
    starts: Mapping[str, float | None]


def choices(
    presets: Mapping[str, Preset],
    runners: Sequence[Runner],
    cases: Sequence[Case],
    units: Sequence[int],
    pairs: Pairs,
    ok: NDArray[np.bool_],
    times: Array,
    question: Question,
) -> tuple[recommendation.Weighed | None, recommendation.Weighing | None]:
    """The decisions by `presets`, and what other calls' are made of; None for both where no two
    runners to choose from were measured, and without presets.

    `units` are those of a call of each case. `ok` is cases x runners, `times` is cases x runners x
    blocks.
    """
    names = [r.name for r in runners if r.role == "runner" and r.missing is None]
    by_file = sorted(presets, key=OWN.__eq__)  # the order of operations is the presets'
    named = {case: presets[name].name(case) for name in by_file for case in presets[name].calls}
    columns = [pairs.names.index(name) for name in names]
    places = {case.id: n for n, case in enumerate(cases) if ok[n, columns].any()}
    order = [(case, places[case]) for case in named if case in places]
    if len(names) < 2 or not order:
        return None, None
    of = operations(order, pairs, ok, names, times, units, question)
    ranked = [n for n, p in presets.items() if n != OWN and set(p.calls) <= set(of.order)]
    sets = [of.calls(presets[name].calls) for name in ranked]
    # what would change a decision is read off single operations, so they are of the family
    decided = decide(of, [*sets, *np.eye(len(order))], besides=rows(cases, of.order, len(of.pairs)))
    catching = caught_up(pairs, cases, of.order, names, question, decided.level)
    parts = [
        parts_of(of, at, named[case], cases[place], units[place])
        for at, (case, place) in enumerate(order)
    ]
    starts = {name: _start(cases, name) for name in names}
    shared = Shared(of, parts, decided.tables[len(sets) :], starts)
    made_by = dict(zip(ranked, decided.tables, strict=False))
    if OWN in presets and set(presets[OWN].calls) <= set(of.order):
        (made_by[OWN],) = decide(of, [of.calls(presets[OWN].calls)], decided.level).tables
    made: list[recommendation.Choice] = []
    for name, preset in presets.items():
        lacking = [case for case in preset.calls if case not in of.order]
        starting = any(part.start and part.case in preset.calls for part in parts)
        choice = recommendation.Choice(
            *(name, preset.title, preset.summary, preset.calls, lacking, starting),
            blocks=decided.blocks,
            least=MIN_BLOCKS,
        )
        if not lacking:
            table = made_by[name]
            choice = _decided(choice, preset, shared, table)
            if question.sessions == 1:
                pair = still_open(
                    *(table, choice.ranking.front, choice.blocks, decided.level, question.margin)
                )
                choice = replace(choice, ranking=replace(choice.ranking, open=pair))
            choice = replace(choice, catching=_catching(choice, catching))
        made.append(choice)
    old = list(old_engines([r for r in runners if r.name in names]))
    return recommendation.Weighed(made, named, old), packed(
        of, decided, parts, list(starts.values()), catching
    )


def _catching(
    choice: recommendation.Choice, catching: Sequence[recommendation.CatchUp]
) -> list[recommendation.CatchUp]:
    """The two that were furthest behind the only one in front, in cases that are called."""
    behind = {each.runner for each in choice.ranking.contrasts}
    return [
        each
        for each in catching
        if choice.ranking.front == [each.after.reference]
        and each.case in choice.calls
        and each.after.runner in behind
    ][:CATCHING]


def _decided(
    choice: recommendation.Choice, preset: Preset, shared: Shared, table: Table
) -> recommendation.Choice:
    of = shared.of
    used = [place for place, case in enumerate(of.order) if case in preset.calls]
    absent = Excluded.untimed(
        (name, of.order[place], shared.parts[place].apart[number])
        for number, name in enumerate(of.names)
        for place in used
        if shared.parts[place].level[number] is None
    )
    answered = [name for name in of.names if name not in {each.runner for each in absent}]
    costs = [_cost(name, preset, shared) for name in answered]
    limits = preset.memory_mib, preset.start_ms
    excluded = [over for cost in costs for over in exceeded(cost, *limits)]
    fit = [name for name in answered if name not in {over.runner for over in excluded}]
    excluded += absent
    if choice.blocks < MIN_BLOCKS or len(fit) < 2:
        order = Ranking(fit if len(fit) < 2 else [])
    else:
        values = {cost.runner: cost.time.value if cost.time else float("inf") for cost in costs}
        order = rank(table, fit, level=values.__getitem__, margin=of.question.margin)
        if len(order.front) == 1:
            calls = of.calls(preset.calls)
            changes = list(changes_in(of, calls, shared.alone, order.front[0], fit))
        else:
            changes = list(telling(of, shared.alone, order.front))
        order = replace(order, changes=changes)
    order = replace(order, excluded=excluded)
    return replace(choice, ranking=order, costs=costs)


def _cost(name: str, preset: Preset, shared: Shared) -> Cost:
    """What 1,000 requests cost with a runner: the time by part, CPU time, and the most memory."""
    number = shared.of.names.index(name)
    used = [part for part in shared.parts if part.case in preset.calls]
    times = {p.case: preset.calls[p.case] * exp(p.level[number] or 0.0) for p in used}
    cpu = [(preset.calls[p.case], p.cpu[number]) for p in used]
    whole = sum(times.values())
    return Cost(
        name,
        Interval(whole, None, None),
        sum(calls * each for calls, each in cpu if each is not None)
        if all(each is not None for _, each in cpu)
        else None,
        max((p.memory[number] or 0.0 for p in used), default=0.0) or None,
        shared.starts[name],
        {case: time / whole for case, time in times.items()},
    )


def _start(cases: Sequence[Case], name: str) -> float | None:
    """A runner's longest time from start to first answer."""
    times = [
        cell.time.value
        for case in cases
        if case.group == START
        for cell in case.cells
        if cell.runner == name and cell.time
    ]
    return max(times, default=None)
