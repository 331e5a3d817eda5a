"""The decision by each preset: who keeps to its limits, who is ahead, and what would change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.crossings import changes_in, telling
from sqlitmus.analysis.engines import old_engines
from sqlitmus.analysis.pairs import Pairs
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.ranking import START, Table, exceeded, rank, still_open
from sqlitmus.analysis.reweighing import packed, parts_of
from sqlitmus.analysis.variants import caught_up, rows
from sqlitmus.analysis.weighing import Operations, decide, operations
from sqlitmus.catalog.presets import OWN, Preset
from sqlitmus.results.estimate import Interval
from sqlitmus.results.ranking import Cost, Excluded, Ranking
from sqlitmus.results.report import Case, Runner
from sqlitmus.results.weighed import CatchUp, Choice, OperationParts, Weighed, Weighing
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.verdict import MIN_BLOCKS

CATCHING = 2  # sentences on variants


@dataclass(frozen=True, slots=True)
class Shared:
    """What all decisions share: the operations with what one call of each costs, what they tell
    alone, and of each runner its longest start in ns, None where that is not known."""

    of: Operations
    parts: Sequence[OperationParts]
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
    canary: Pairs | None,
    guard: Array | None = None,
) -> tuple[Weighed | None, Weighing | None]:
    """The decisions by `presets`, and what other calls' are made of; None for both where no two
    runners to choose from were measured, and without presets.

    `units` are those of a call of each case. `ok` is cases x runners, `times` is cases x runners x
    blocks, `guard` has a log ratio per case.
    """
    names = [r.name for r in runners if r.role == "runner" and r.missing is None]
    by_file = sorted(presets, key=OWN.__eq__)  # the order of operations is the presets'
    named = {case: presets[name].name(case) for name in by_file for case in presets[name].calls}
    columns = [pairs.names.index(name) for name in names]
    places = {case.id: n for n, case in enumerate(cases) if ok[n, columns].any()}
    order = [(case, places[case]) for case in named if case in places]
    if len(names) < 2 or not order:
        return None, None
    of = operations(order, pairs, ok, names, times, units, question, canary)
    ranked = [n for n, p in presets.items() if n != OWN and set(p.calls) <= set(of.order)]
    sets = [of.calls(presets[name].calls) for name in ranked]
    # what would change a decision is read off single operations, so they are of the family
    decided = decide(of, [*sets, *np.eye(len(order))], besides=rows(cases, of.order, len(of.pairs)))
    catching = caught_up(pairs, cases, of.order, names, question, guard, decided.level)
    parts = [
        parts_of(of, at, named[case], cases[place], units[place])
        for at, (case, place) in enumerate(order)
    ]
    starts = {name: _start(cases, name) for name in names}
    shared = Shared(of, parts, decided.tables[len(sets) :], starts)
    made_by = dict(zip(ranked, zip(decided.tables, decided.guarded, strict=False), strict=False))
    if OWN in presets and set(presets[OWN].calls) <= set(of.order):
        mine = decide(of, [of.calls(presets[OWN].calls)], decided.level)
        made_by[OWN] = mine.tables[0], mine.guarded[0]
    made: list[Choice] = []
    for name, preset in presets.items():
        lacking = [case for case in preset.calls if case not in of.order]
        starting = any(part.start and part.case in preset.calls for part in parts)
        choice = Choice(name, preset.title, preset.summary, preset.calls, lacking, starting,
                        blocks=decided.blocks, least=MIN_BLOCKS)  # fmt: skip
        if not lacking:
            table, guarded = made_by[name]
            choice = _decided(choice, preset, shared, table)
            if question.sessions == 1 and not guarded:
                pair = still_open(
                    *(table, choice.ranking.front, choice.blocks, decided.level, question.margin)
                )
                choice = replace(choice, ranking=replace(choice.ranking, open=pair))
            choice = replace(choice, catching=_catching(choice, catching))
        made.append(choice)
    old = list(old_engines([r for r in runners if r.name in names]))
    return Weighed(made, named, old), packed(of, decided, parts, list(starts.values()), catching)


def _catching(choice: Choice, catching: Sequence[CatchUp]) -> list[CatchUp]:
    """The two that were furthest behind the only one in front, in cases that are called."""
    behind = {each.runner for each in choice.ranking.contrasts}
    return [
        each
        for each in catching
        if choice.ranking.front == [each.after.reference]
        and each.case in choice.calls
        and each.after.runner in behind
    ][:CATCHING]


def _decided(choice: Choice, preset: Preset, shared: Shared, table: Table) -> Choice:
    of = shared.of
    used = [place for place, case in enumerate(of.order) if case in preset.calls]
    absent = {
        name: [of.order[place] for place in used if shared.parts[place].level[number] is None]
        for number, name in enumerate(of.names)
    }
    absent = {name: missing for name, missing in absent.items() if missing}
    answered = [name for name in of.names if name not in absent]
    costs = [_cost(name, preset, shared) for name in answered]
    excluded = [over for cost in costs for over in exceeded(cost, preset)]
    fit = [name for name in answered if name not in {over.runner for over in excluded}]
    excluded += [Excluded(name, "cases", cases=missing) for name, missing in absent.items()]
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
