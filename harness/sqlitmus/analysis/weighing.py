"""What sums of calls × time are made of, for the presets and for any calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.logratios import RESOLUTION, log_times, over_sessions
from sqlitmus.analysis.pairs import Pairs
from sqlitmus.analysis.question import Question
from sqlitmus.analysis.ranking import Table, contrasts
from sqlitmus.stats.estimate import Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.groups import at_level, capped
from sqlitmus.stats.verdict import MIN_BLOCKS, Verdicts
from sqlitmus.stats.weights import Parts, parts, shares, summed, summed_guard

Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Operations:
    """The cases that may be called, over all pairs of the runners to choose from.

    `places` are those of `order` among all cases. `names` are these runners and `pairs` are
    (runner, reference), with their places among `names` in `ends`. `levels` is operations x
    runners, the ln ns of a call, NaN for who did not complete the case. `of` has a row per pair and
    session; `single` is pairs x operations, the code of the verdict on the case; the rows of
    `canary` are operations. `spent` is the share of the error which may be spent.
    """

    order: list[str]
    places: list[int]
    names: list[str]
    pairs: list[tuple[str, str]]
    ends: tuple[list[int], list[int]]
    levels: Array
    of: Parts
    single: Codes
    canary: TrimmedMeans | None
    spent: float
    question: Question

    def calls(self, calls: Mapping[str, float]) -> Array:
        """The calls of each case in `order`."""
        return np.array([calls.get(case, 0.0) for case in self.order])

    def guard(self, calls: Array) -> Array:
        """How far the log ratio of each pair must lie from 0 by what the canary shows."""
        if self.canary is None:
            return np.zeros(len(self.pairs))
        used = calls > 0
        mine = np.zeros(self.levels.shape)
        mine[used] = shares(self.levels[used].T, calls[used]).T
        first, second = (mine[:, list(ends)].T for ends in self.ends)
        return summed_guard(self.canary, (first + second) / 2)


def operations(
    order: Sequence[tuple[str, int]],
    pairs: Pairs,
    ok: NDArray[np.bool_],
    names: Sequence[str],
    times: Array,
    units: Sequence[int],
    question: Question,
    canary: Pairs | None,
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
        (first, second),
        levels,
        parts(
            logs[:, first].reshape(by_session), logs[:, second].reshape(by_session),
            resolution=RESOLUTION,
        ),
        codes[places][:, [k for k, _, _ in chosen]].T,
        None if canary is None else TrimmedMeans(
            *(getattr(canary.logs, column)[places]
              for column in ("mean", "error", "freedom", "count"))
        ),
        1.0 if early is None else float(early[places].min()),
        question,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """All comparisons by several sets of calls, whose intervals hold together with one further
    set's each at the coverage `level`: a table for each, whether the canary widens any of it, and
    the most blocks of a pair."""

    tables: list[Table]
    guarded: list[bool]
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
    means = [over_sessions(summed(of.of, calls), question.sessions)[0] for calls in sets]
    guards = [of.guard(calls) for calls in sets]
    if level is None:
        testable = sum(
            int(((logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)).sum()) for logs in means
        )
        level = 1 - question.alpha * of.spent / (testable + width + besides)
    tables: list[Table] = []
    for calls, logs, guard in zip(sets, means, guards, strict=True):
        family = at_level(logs, question.margin, guard, level)
        (used,) = np.nonzero(calls > 0)
        verdicts = family.verdicts
        if len(used) == 1:
            verdicts = capped(verdicts, Verdicts(of.single[:, used[0]]))
        tables.append(
            contrasts(of.pairs, logs.mean, family.low, family.high, verdicts.names().tolist())
        )
    blocks = max(int(logs.count.max(initial=0)) for logs in means)
    return Decided(tables, [bool((guard > 0).any()) for guard in guards], level, blocks)
