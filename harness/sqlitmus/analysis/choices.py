"""The decision by each preset: who keeps to its limits, who is ahead, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.ahead import START, Table, alike, exceeded, front_of, still_open
from sqlitmus.analysis.crossings import changes_in, telling
from sqlitmus.analysis.engines import old_engines
from sqlitmus.analysis.pairs import Pairs
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.reweighing import beside, packed
from sqlitmus.analysis.standings import common_set
from sqlitmus.analysis.variants import caught_up, rows
from sqlitmus.analysis.weighing import Groups, decide, grouped
from sqlitmus.catalog.presets import OWN, Preset
from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import Beside, Beyond
from sqlitmus.results.report import Case, Runner
from sqlitmus.results.sustained import Sustaining
from sqlitmus.results.weighed import CatchUp, Choice, Weighed, Weighing
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.terms import CONTROLS

CATCHING = 2  # sentences on variants


class Aside(NamedTuple):
    """What a runner costs whatever the weights: ns to its first answer, operations a second that it
    sustains; None for what is not known."""

    start: float | None
    rate: float | None


def choices(
    presets: Mapping[str, Preset],
    runners: Sequence[Runner],
    cases: Sequence[Case],
    pairs: Pairs,
    ok: NDArray[np.bool_],
    times: Array,
    question: Question,
    canary: Pairs | None,
    guard: Array | None = None,
    sustaining: Sustaining | None = None,
) -> tuple[Weighed | None, Weighing | None]:
    """The decisions by `presets`, and what other weights' are made of; None for both where no two
    runners to choose from were measured, and without presets.

    `sustaining` is what the runners sustain, None where that is not known.
    `ok` is cases x runners, `times` is cases x runners x blocks, `guard` has a log ratio per case.
    """
    of = np.array([case.group for case in cases])
    commons = {g: common_set(ok, of == g) for g in dict.fromkeys(of.tolist()) if g != CONTROLS}
    measured = {group: common for group, common in commons.items() if common.taken.any()}
    names = [r.name for r in runners if r.role == "runner" and r.missing is None]
    if len(names) < 2 or not measured or not presets:
        return None, None
    groups = grouped(pairs, measured, names, times, question, canary)
    usable = {n: p for n, p in presets.items() if set(p.weights) <= set(measured)}
    unit = np.eye(len(groups.order))
    weights = [groups.shares(p.shares) for n, p in usable.items() if n != OWN]
    # what would change a decision is read off the groups, so they are of the family
    decided = decide(groups, [*weights, *unit], besides=rows(cases, len(groups.pairs)))
    catching = caught_up(pairs, cases, names, question, guard, decided.level)
    rates = {r.runner: r.rate.value for r in (sustaining.runners if sustaining else ()) if r.rate}
    aside = [Aside(_start(cases, name), rates.get(name)) for name in names]
    named = [n for n in usable if n != OWN]
    tables = dict(zip(named, decided.tables, strict=False))
    means = dict(zip(named, decided.means, strict=False))
    guards = dict(zip(named, decided.guards, strict=False))
    parts = packed(groups, decided, cases, [a.start for a in aside], catching)
    if OWN in usable:
        mine = decide(groups, [groups.shares(usable[OWN].shares)], decided.level)
        tables[OWN], means[OWN], guards[OWN] = mine.tables[0], mine.means[0], mine.guards[0]
    alone = decided.tables[len(weights) :], decided.means[len(weights) :]
    made: list[Choice] = []
    for name, preset in presets.items():
        lacking = [group for group in preset.weights if group not in measured]
        choice = Choice(name, preset.title, preset.summary, preset.shares, lacking,
                        blocks=decided.blocks, least=MIN_BLOCKS)  # fmt: skip
        if not lacking:
            choice = _decided(
                choice, preset, groups, tables[name], means[name], alone, cases, aside
            )
            if question.sessions == 1 and guards[name] == 0:
                front = still_open(
                    tables[name], choice.front, choice.blocks, decided.level, question.margin
                )
                choice = replace(choice, open=front)
            choice = replace(choice, catching=_catching(choice, catching))
        made.append(choice)
    old = list(old_engines([r for r in runners if r.name in names]))
    return Weighed(made, old, sustaining=sustaining), parts


def _catching(choice: Choice, catching: Sequence[CatchUp]) -> list[CatchUp]:
    """The two that were furthest behind the only one in front, in groups that have a weight."""
    behind = {other.runner for other in choice.others}
    return [
        each
        for each in catching
        if len(choice.front) == 1
        and each.group in choice.shares
        and each.reference == choice.front[0]
        and each.runner in behind
    ][:CATCHING]


def _decided(
    choice: Choice,
    preset: Preset,
    groups: Groups,
    table: Table,
    mean: Array,
    alone: tuple[Sequence[Table], Array],
    cases: Sequence[Case],
    aside: Sequence[Aside],
) -> Choice:
    used = [place for place, group in enumerate(groups.order) if group in preset.weights]
    absent = {
        name: [groups.order[place] for place in used if not groups.members[place, number]]
        for number, name in enumerate(groups.names)
        if not groups.members[used, number].all()
    }
    answered = [name for name in groups.names if name not in absent]
    parts = [(preset.shares[groups.order[p]], [cases[n] for n in groups.taken[p]]) for p in used]
    costs = [_beside(name, parts, aside[groups.names.index(name)]) for name in answered]
    beyond = [over for cost in costs for over in [*exceeded(cost, preset), *_slow(cost, preset)]]
    unrated = [cost.runner for cost in costs if preset.least_rate and cost.rate is None]
    choice = replace(choice, unrated=unrated)
    out = {over.runner for over in beyond}
    fit = [name for name in answered if name not in out]
    values = {c.runner: c.time.value if c.time else float("inf") for c in costs}
    front = front_of(table, fit, values.__getitem__)
    others = [table[n, front[0]] for n in fit if n not in front and (n, front[0]) in table]
    if choice.blocks < MIN_BLOCKS or len(fit) < 2:
        return replace(choice, front=front if len(fit) < 2 else [], beyond=beyond, absent=absent,
                       beside=costs)  # fmt: skip
    if len(front) == 1:
        changes = list(changes_in(groups, preset, mean, alone, front[0], fit))
    else:
        changes = list(telling(groups, alone[0], front))
    return replace(
        choice,
        front=front,
        alike=alike(table, front),
        others=sorted(others, key=lambda other: other.ratio.value),
        beyond=beyond,
        absent=absent,
        changes=changes,
        beside=costs,
    )


def _beside(name: str, parts: Sequence[tuple[float, Sequence[Case]]], aside: Aside) -> Beside:
    """What a runner costs by the shares of groups: weighted geometric means, the most memory."""
    each = [(share, *beside(cases, name)) for share, cases in parts]
    time, cpu = (
        exp(sum(share * value for share, value in logs if value is not None))
        if all(value is not None for _, value in logs)
        else None
        for logs in ([(s, t) for s, t, _, _ in each], [(s, c) for s, _, c, _ in each])
    )
    memory = [value for *_, value in each if value is not None]
    return Beside(
        name,
        None if time is None else Interval(time, None, None),
        cpu,
        max(memory, default=None),
        aside.start,
        aside.rate,
    )


def _slow(cost: Beside, preset: Preset) -> Iterator[Beyond]:
    """The rate that a runner has to sustain, and does not."""
    if preset.least_rate and cost.rate is not None and cost.rate < preset.least_rate:
        yield Beyond(cost.runner, "rate", cost.rate, preset.least_rate)


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
