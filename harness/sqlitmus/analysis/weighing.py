"""What weighted means over groups of cases are made of, for the presets and for any weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.ahead import Table, tabled
from sqlitmus.analysis.logratios import RESOLUTION, log_times, over_sessions
from sqlitmus.analysis.pairs import Pairs, independent
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.standings import CommonSet
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.groups import at_level, capped
from sqlitmus.stats.verdict import MIN_BLOCKS, Verdicts
from sqlitmus.stats.weights import Parts, parts, weighed, weighed_guard
from sqlitmus.vocabulary.verdicts import Verdict

_NONE = Verdict.NOT_TESTABLE.code
Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups that may have a weight, over all pairs of the runners to choose from.

    `names` are these runners and `pairs` are (runner, reference); `of` has a row per pair and
    session; `single` is pairs x groups, the code of the verdict on the case of a group of one; the
    rows of `canary` are groups. `share` is that of the error which may be spent.
    """

    order: list[str]
    names: list[str]
    pairs: list[tuple[str, str]]
    of: Parts
    single: Codes
    canary: TrimmedMeans | None
    members: NDArray[np.bool_]
    taken: list[list[int]]
    share: float
    question: Question

    def shares(self, weights: Mapping[str, float]) -> Array:
        """The share of each group in `order`."""
        return np.array([weights.get(group, 0.0) for group in self.order])


def grouped(
    pairs: Pairs,
    commons: Mapping[str, CommonSet],
    names: Sequence[str],
    times: Array,
    question: Question,
    canary: Pairs | None,
) -> Groups:
    """The groups `commons` for the runners `names`; `times` is cases x runners x blocks."""
    chosen = [
        (k, i, j)
        for k, (i, j) in enumerate(pairs.indices)
        if pairs.names[i] in names and pairs.names[j] in names
    ]
    logs = log_times(times)
    per_group: list[Array] = []
    single = np.full((len(chosen), len(commons)), _NONE, dtype=np.int8)
    codes = pairs.verdicts.code.reshape(pairs.cases, -1)
    for place, common in enumerate(commons.values()):
        rows = np.full((int(common.taken.sum()), len(chosen), times.shape[2]), np.nan)
        mine = logs[common.taken]
        for row, (k, i, j) in enumerate(chosen):
            if common.members[i] and common.members[j]:
                rows[:, row] = mine[:, i] - mine[:, j]
            if len(rows) == 1:
                single[row, place] = codes[common.taken][0, k]
        per_group.append(rows.reshape(len(rows), len(chosen) * question.sessions, -1))
    places = [pairs.names.index(name) for name in names]
    taken = [np.flatnonzero(common.taken).tolist() for common in commons.values()]
    early = question.shares
    least = [float(early[rows].min()) for rows in taken if early is not None and rows]
    return Groups(
        list(commons),
        list(names),
        [(pairs.names[i], pairs.names[j]) for _, i, j in chosen],
        parts(per_group, resolution=RESOLUTION),
        single,
        None if canary is None else _of_canary(canary, commons.values()),
        np.array([common.members[places] for common in commons.values()], dtype=np.bool_),
        taken,
        min(least, default=1.0),
        question,
    )


def _of_canary(canary: Pairs, commons: Iterable[CommonSet]) -> TrimmedMeans:
    """A row per group, its cases taken as independent."""
    tested = ~np.isnan(canary.logs.error)
    return _stacked([independent(canary, common.taken & tested) for common in commons])


def _stacked(each: Sequence[TrimmedMeans]) -> TrimmedMeans:
    """All their rows, in order."""
    return TrimmedMeans(
        *(np.concatenate([getattr(means, column) for means in each])
          for column in ("mean", "error", "freedom", "count"))
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """All comparisons by several weights, whose intervals hold together with one further weights'
    each at the coverage `level`: a table and a guard for each, how far each mean lies (rows x
    pairs, log ratios), and the most blocks of a pair."""

    tables: list[Table]
    means: Array
    level: float
    blocks: int
    guards: list[float]


def decide(
    groups: Groups, weights: Sequence[Array], level: float | None = None, besides: int = 0
) -> Decided:
    """What all pairs are to each other by each of `weights`, shares of the groups.

    One family, in which a place for every pair is kept for weights of the reader's own: those are
    asked at the `level` of the family. It has room for so many comparisons `besides`.
    """
    width, question = len(groups.pairs), groups.question
    logs = _stacked([_weighed(groups, shares) for shares in weights])
    guards = [0.0 if groups.canary is None else weighed_guard(groups.canary, shares)
              for shares in weights]  # fmt: skip
    guard = np.repeat(guards, width)
    testable = int(((logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)).sum())
    if level is None:
        level = 1 - question.alpha * groups.share / (testable + width + besides)
    family = at_level(logs, question.margin, guard, level)
    tables: list[Table] = []
    for place, shares in enumerate(weights):
        rows = slice(place * width, (place + 1) * width)
        verdicts = Verdicts(family.verdicts.code[rows])
        (used,) = np.nonzero(shares > 0)
        if len(used) == 1 and groups.of.cases[used[0]] == 1:
            verdicts = capped(verdicts, Verdicts(groups.single[:, used[0]]))
        tables.append(
            tabled(groups.pairs, logs.mean[rows], family.low[rows], family.high[rows],
                   verdicts.names().tolist())
        )  # fmt: skip
    return Decided(
        tables,
        logs.mean.reshape(len(weights), width),
        level,
        int(logs.count.max(initial=0)),
        list(map(float, guards)),
    )


def _weighed(groups: Groups, shares: Array) -> TrimmedMeans:
    """A row per pair, of its sessions together."""
    means, _ = over_sessions(weighed(groups.of, shares), groups.question.sessions)
    return means
