"""Every runner against every other in every case."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.logratios import estimates, indices_of, log_ratios, log_times
from sqlitmus.analysis.question import Question
from sqlitmus.results.comparisons import Comparisons
from sqlitmus.stats.estimate import (
    Array,
    Medians,
    TrimmedMeans,
    medians,
)
from sqlitmus.stats.modes import far
from sqlitmus.stats.multiplicity import adjust, divisor, p_values
from sqlitmus.stats.power import blocks_to_resolve
from sqlitmus.stats.verdict import MIN_BLOCKS, Verdicts, confirmed, decide, disagree
from sqlitmus.vocabulary.verdicts import Verdict

CANARY, TWIN = "canary", "itself"


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Log ratios of all pairs in each case; `indices` are (runner, reference), the later one first.

    `logs` and what follows have one row per case and pair, cases outermost: `middle` the medians,
    `needed` the blocks that would resolve it, 0 = does not apply, `p` and `adjusted` of no
    difference, `reach` the prediction interval of one further session, NaN with fewer than
    three sessions, `far` where many blocks lie in a far mode, so that the median is shown.
    """

    names: list[str]
    cases: int
    indices: list[tuple[int, int]]
    logs: TrimmedMeans
    middle: Medians
    verdicts: Verdicts
    needed: NDArray[np.int64]
    p: Array
    adjusted: Array
    reach: tuple[Array, Array]
    far: NDArray[np.bool_]


def compare_all(
    times: Array, names: list[str], question: Question, guard: Array | None = None
) -> Pairs:
    """All unordered pairs; `times` is cases x runners x blocks, NaN where there is none.

    A block counts for a pair only if both have a value in it. A pair with a single block gets no
    estimate: one ratio is an anecdote. `guard` is the noise of each case, see `decide`.
    """
    rows = log_ratios(times, names)
    means, reach = estimates(rows, question.sessions)
    # of several sessions, the combination is no mean of blocks
    modes = far(rows) if question.sessions == 1 else None
    return concluded(means, medians(rows), reach, names, len(times), question, guard, modes)


def concluded(
    means: TrimmedMeans,
    middle: Medians,
    reach: tuple[Array, Array],
    names: list[str],
    cases: int,
    question: Question,
    guard: Array | None,
    modes: NDArray[np.bool_] | None = None,
) -> Pairs:
    """What estimates, one row per case and pair, allow to be said; `modes` are rows that the median
    must confirm."""
    indices = indices_of(names)
    if modes is None:
        modes = np.zeros(len(means.mean), dtype=np.bool_)
    modes &= ~np.isnan(middle.low)
    verdicts = _decided(means, question, guard, len(indices))
    verdicts = confirmed(verdicts, middle, modes, question.margin)
    testable = (means.count >= MIN_BLOCKS) & ~np.isnan(means.error)
    open_ = verdicts.are(Verdict.NOT_RESOLVED)
    if guard is not None:  # no number of blocks gets over an infinite guard
        open_ &= np.repeat(np.isfinite(guard), len(indices))
    needed = np.where(
        open_,
        blocks_to_resolve(means, question.margin, *divisors(verdicts, question), question.sessions),
        0,
    )
    p = np.where(testable, p_values(means), np.nan)
    adjusted = adjust(p / question.share(len(indices)), question.correction)
    return Pairs(names, cases, indices, means, middle, verdicts, needed, p, adjusted, reach, modes)


def divisors(verdicts: Verdicts, question: Question) -> tuple[float, float]:
    """By what 5 % are divided for the next row to be called different, and equivalent."""
    family = int(np.count_nonzero(~verdicts.are(Verdict.NOT_TESTABLE)))
    different = int(np.count_nonzero(verdicts.are(*(v for v in Verdict if v.different))))
    equivalent = int(np.count_nonzero(verdicts.are(Verdict.EQUIVALENT)))
    return (
        divisor(question.correction, family, different),
        divisor(question.correction, family, equivalent),
    )


def independent(pairs: Pairs, taken: NDArray[np.bool_]) -> TrimmedMeans:
    """Per pair the mean over the cases `taken`, whose errors are taken as independent; t has the
    fewest degrees of freedom among them. NaN over none."""
    shape, cases = (pairs.cases, len(pairs.indices)), int(taken.sum())
    if not cases:
        none, zero = np.full(shape[1], np.nan), np.zeros(shape[1], dtype=np.int64)
        return TrimmedMeans(none, none, zero, zero)
    logs = pairs.logs
    mean, error, freedom, count = (
        column.reshape(shape)[taken] for column in (logs.mean, logs.error, logs.freedom, logs.count)
    )
    return TrimmedMeans(
        mean.mean(axis=0),
        np.sqrt(np.square(error).sum(axis=0)) / cases,
        freedom.min(axis=0),
        count.min(axis=0),
    )


def _decided(means: TrimmedMeans, question: Question, guard: Array | None, each: int) -> Verdicts:
    """Verdicts on rows of which every case has `each`; `guard` has one value per case."""
    guards = None if guard is None else np.repeat(guard, each)
    return decide(
        *(means, question.margin, question.correction, guards, question.alpha),
        share=question.share(each),
        small_is_nothing=question.small_is_nothing,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Each series against one of them: one row per case and series, cases outermost."""

    logs: TrimmedMeans
    verdicts: Verdicts


def compare_with(
    values: Array, reference: int, question: Question, guard: Array | None = None
) -> Compared:
    """All series of `values` (cases x series x blocks) against the series `reference`."""
    logs = log_times(values)
    differences = logs - logs[:, reference : reference + 1]
    differences[:, reference] = np.nan
    means, _ = estimates(differences.reshape(-1, values.shape[2]), question.sessions)
    return Compared(means, _decided(means, question, guard, values.shape[1]))


def compare_canary(times: Array, twins: Sequence[int], question: Question) -> Pairs:
    """The canary (last series of `times`) against the runner that it repeats in each case."""
    both = np.stack([times[np.arange(len(times)), twins], times[:, -1]], axis=1)
    return compare_all(both, [TWIN, CANARY], question)


def comparisons(pairs: Pairs) -> list[Comparisons]:
    """Per case all pairs in columns."""
    low, high = pairs.logs.interval()
    ratio, low, high = (
        np.where(pairs.far, at_median, at_mean)
        for at_median, at_mean in (
            (pairs.middle.value, pairs.logs.mean),
            (pairs.middle.low, low),
            (pairs.middle.high, high),
        )
    )
    width = len(pairs.indices)
    known: list[bool] = (~np.isnan(pairs.logs.mean)).tolist()
    words: list[Verdict] = pairs.verdicts.names().tolist()
    needed: list[int] = pairs.needed.tolist()
    columns: list[list[Any]] = [
        optional(np.exp(ratio)),
        optional(np.exp(low)),
        optional(np.exp(high)),
        [word if there else None for word, there in zip(words, known, strict=True)],
        np.where(known, pairs.logs.count, 0).tolist(),
        [number or None for number in needed],
        optional(pairs.p),
        optional(pairs.adjusted),
        optional(np.exp(pairs.middle.value)),
        optional(np.exp(pairs.middle.low)),
        optional(np.exp(pairs.middle.high)),
        (disagree(pairs.logs, pairs.middle) & ~pairs.far).tolist(),
        optional(np.exp(pairs.reach[0])),
        optional(np.exp(pairs.reach[1])),
        pairs.far.tolist(),
    ]
    return [
        Comparisons(pairs.names, *(column[c * width : (c + 1) * width] for column in columns))
        for c in range(pairs.cases)
    ]
