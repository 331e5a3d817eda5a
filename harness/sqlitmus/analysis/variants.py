"""Who catches up with whom in a variant of a case: what changes a decision besides the calls."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from sqlitmus.analysis.pairs import Pairs
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.ranking import Table, contrasts
from sqlitmus.results.report import Case
from sqlitmus.results.weighed import CatchUp
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.groups import at_level
from sqlitmus.vocabulary.verdicts import Verdict


def siblings(cases: Sequence[Case], called: Collection[str]) -> list[tuple[int, int]]:
    """Places of (case, variant) of cases that may be `called`: the variant has one more value that
    is not an axis's default."""
    options = [(case.scenario, frozenset(filter(None, _options(case)))) for case in cases]
    places = {each: place for place, each in enumerate(options)}
    return [
        (places[scenario, less], place)
        for place, (scenario, values) in enumerate(options)
        for less in (values - {value} for value in values)
        if (scenario, less) in places and cases[places[scenario, less]].id in called
    ]


def _options(case: Case) -> list[str]:
    return case.id.partition("@")[2].split(",")


def rows(cases: Sequence[Case], called: Collection[str], width: int) -> int:
    """How many comparisons `caught_up` looks at, of `width` pairs each."""
    return len({place for pair in siblings(cases, called) for place in pair}) * width


def caught_up(
    pairs: Pairs,
    cases: Sequence[Case],
    called: Collection[str],
    names: Sequence[str],
    question: Question,
    guard: Array | None,
    level: float,
) -> list[CatchUp]:
    """Each of `names` that is slower than another one in a case that may be `called` and not in a
    variant of it, where it is equivalent or faster; those that were furthest behind first.

    Intervals have the coverage `level`, which is that of a family with these comparisons.
    """
    tables = {
        place: _table(pairs, place, names, question, guard, level)
        for pair in siblings(cases, called)
        for place in pair
    }
    made = [
        each
        for base, variant in siblings(cases, called)
        for each in _between(cases, tables, base, variant)
    ]
    return sorted(made, key=lambda each: -each.before.ratio.value)


def _between(
    cases: Sequence[Case], tables: dict[int, Table], base: int, variant: int
) -> Iterator[CatchUp]:
    for (runner, reference), now in tables[variant].items():
        before = tables[base].get((runner, reference))
        level_or_ahead = now.verdict is Verdict.EQUIVALENT or now.verdict.side == "faster"
        if before and before.verdict.side == "slower" and level_or_ahead:
            yield CatchUp(cases[base].id, cases[variant].id, before, now)


def _table(
    pairs: Pairs,
    place: int,
    names: Sequence[str],
    question: Question,
    guard: Array | None,
    level: float,
) -> Table:
    width = len(pairs.indices)
    chosen = [
        (k, (pairs.names[i], pairs.names[j]))
        for k, (i, j) in enumerate(pairs.indices)
        if pairs.names[i] in names and pairs.names[j] in names
    ]
    at = np.array([place * width + k for k, _ in chosen], dtype=np.int64)
    logs = TrimmedMeans(
        *(getattr(pairs.logs, name)[at] for name in ("mean", "error", "freedom", "count"))
    )
    limit = 0.0 if guard is None else float(guard[place])
    told_apart = at_level(logs, question.margin, limit, level)
    return contrasts(
        *([pair for _, pair in chosen], logs.mean, told_apart.low, told_apart.high),
        told_apart.verdicts.names().tolist(),
    )
