"""Every runner against every other in every case, and against itself: the canary."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog.plan import Plan
from sqlitmus.results.ranking import Comparisons, Contrast
from sqlitmus.stats import estimate, verdict
from sqlitmus.stats.power import blocks_to_resolve, shift
from sqlitmus.vocabulary.verdicts import Correction, Verdict


@dataclass(frozen=True, slots=True)
class Question:
    """What verdicts are given by: the margin, the correction of all pairs together, how many
    sessions the blocks are divided into, and the level, lower where a gate has several looks.

    `shares` are per case those of the error that its look may spend, None for all of it. With
    `small_is_nothing` what is shown to be within the margin is equivalent, even if it differs.
    """

    margin: float
    correction: Correction
    sessions: int = 1
    alpha: float = verdict.ALPHA
    shares: estimate.Array | None = None
    small_is_nothing: bool = False

    @classmethod
    def of(cls, plan: Plan) -> "Question":
        """What the plan asks."""
        common = (plan.margin, plan.correction, plan.sessions)
        if plan.gate is not None or plan.looks == 1:
            return cls(*common, verdict.pocock(plan.looks))
        early = [case.id in plan.ended for case in plan.cases]
        return cls(*common, shares=np.array([verdict.share(plan.looks, early=e) for e in early]))

    def share(self, each: int) -> estimate.Array | float:
        """That of each row, where every case has `each`."""
        return 1.0 if self.shares is None else np.repeat(self.shares, each)


# Log ratios closer than this differ by rounding only, not by time.
RESOLUTION = 1e-12


def log_times(times: estimate.Array) -> estimate.Array:
    """Their logarithms; NaN for 0, as of CPU time on a coarse clock, which has no ratio."""
    return np.log(np.where(times > 0, times, np.nan))


def log_ratios(times: estimate.Array, names: list[str]) -> estimate.Array:
    """Per case and pair its log ratio in each block."""
    indices, logs = indices_of(names), log_times(times)
    differences = logs[:, [i for i, _ in indices]] - logs[:, [j for _, j in indices]]
    return differences.reshape(-1, times.shape[2])


def indices_of(names: list[str]) -> list[tuple[int, int]]:
    """Pairs (runner, reference) in the order of `Comparisons`."""
    return [(j, i) for j in range(len(names)) for i in range(j)]


def estimates(
    rows: estimate.Array, sessions: int, family: int = 0
) -> tuple[estimate.TrimmedMeans, tuple[estimate.Array, estimate.Array]]:
    """Trimmed means of `rows`, and where one more session would lie; see `over_sessions`."""
    parts = rows.reshape(len(rows) * sessions, rows.shape[1] // sessions)
    return over_sessions(estimate.trimmed_means(parts, resolution=RESOLUTION), sessions, family)


def over_sessions(
    each: estimate.TrimmedMeans, sessions: int, family: int = 0
) -> tuple[estimate.TrimmedMeans, tuple[estimate.Array, estimate.Array]]:
    """One row from the `sessions` rows of each; of several their random-effects combination. Of one
    session, every `family` rows say something of each other's noise, if it is not 0."""
    if sessions == 1:
        value = np.where(each.count > 1, each.mean, np.nan)
        none = np.full(len(value), np.nan)
        means = estimate.TrimmedMeans(value, each.error, each.freedom, each.count)
        return estimate.moderate(means, family) if family else means, (none, none)
    shape = (len(each.mean) // sessions, sessions)
    freedom, count = each.freedom.reshape(shape), each.count.reshape(shape)
    together = estimate.combine(each.mean.reshape(shape), each.error.reshape(shape), freedom)
    degrees = np.maximum(together.count - 1, 0)
    half = (together.high - together.low) / 2
    means = estimate.TrimmedMeans(
        together.mean,
        half / estimate.student_t_of(degrees, estimate.LEVEL),
        degrees,
        count.sum(axis=1),
    )
    return means, (together.next_low, together.next_high)


CANARY, TWIN = "canary", "itself"


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Log ratios of all pairs in each case; `indices` are (runner, reference), the later one first.

    `logs` and what follows have one row per case and pair, cases outermost: `needed` the blocks
    that would resolve it, 0 = does not apply, `p` and `adjusted` of no difference, `reach` the
    prediction interval of one further session, NaN with fewer than three sessions.
    """

    names: list[str]
    cases: int
    indices: list[tuple[int, int]]
    logs: estimate.TrimmedMeans
    verdicts: verdict.Verdicts
    needed: NDArray[np.int64]
    p: estimate.Array
    adjusted: estimate.Array
    reach: tuple[estimate.Array, estimate.Array]

    def among(
        self, names: Collection[str], cases: Sequence[int]
    ) -> tuple[list[tuple[str, str]], estimate.TrimmedMeans]:
        """The pairs of `names` as (runner, reference), and their log ratios in each of `cases`, one
        case after another."""
        named = [(self.names[i], self.names[j]) for i, j in self.indices]
        chosen = [k for k, pair in enumerate(named) if {*pair} <= {*names}]
        rows = [case * len(named) + k for case in cases for k in chosen]
        return [named[k] for k in chosen], self.logs.rows(np.array(rows, dtype=np.int64))


def compare_all(times: estimate.Array, names: list[str], question: Question) -> Pairs:
    """All unordered pairs; `times` is cases x runners x blocks, NaN where there is none.

    A block counts for a pair only if both have a value in it. A pair with a single block gets no
    estimate: one ratio is an anecdote.
    """
    family = len(indices_of(names))
    means, reach = estimates(log_ratios(times, names), question.sessions, family)
    return concluded(means, reach, names, len(times), question)


def concluded(
    means: estimate.TrimmedMeans,
    reach: tuple[estimate.Array, estimate.Array],
    names: list[str],
    cases: int,
    question: Question,
) -> Pairs:
    """What estimates, one row per case and pair, allow to be said."""
    indices = indices_of(names)
    verdicts = _decided(means, question, len(indices))
    needed = np.where(
        verdicts.are(Verdict.NOT_RESOLVED),
        blocks_to_resolve(means, question.margin, *divisors(verdicts, question), question.sessions),
        0,
    )
    p = np.where(verdict.testable(means), verdict.p_values(means), np.nan)
    adjusted = verdict.adjust(p / question.share(len(indices)), question.correction)
    return Pairs(names, cases, indices, means, verdicts, needed, p, adjusted, reach)


def divisors(verdicts: verdict.Verdicts, question: Question) -> tuple[float, float]:
    """By what 5 % are divided for the next row to be called different, and equivalent."""
    family = int(np.count_nonzero(~verdicts.are(Verdict.NOT_TESTABLE)))
    different = int(np.count_nonzero(verdicts.are(*(v for v in Verdict if v.different))))
    equivalent = int(np.count_nonzero(verdicts.are(Verdict.EQUIVALENT)))
    return (
        verdict.divisor(question.correction, family, different),
        verdict.divisor(question.correction, family, equivalent),
    )


def independent(pairs: Pairs, taken: NDArray[np.bool_]) -> estimate.TrimmedMeans:
    """Per pair the mean over the cases `taken`, whose errors are taken as independent; t has the
    fewest degrees of freedom among them. NaN over none."""
    shape, cases = (pairs.cases, len(pairs.indices)), int(taken.sum())
    if not cases:
        none, zero = np.full(shape[1], np.nan), np.zeros(shape[1], dtype=np.int64)
        return estimate.TrimmedMeans(none, none, zero, zero)
    logs = pairs.logs
    mean, error, freedom, count = (
        column.reshape(shape)[taken] for column in (logs.mean, logs.error, logs.freedom, logs.count)
    )
    return estimate.TrimmedMeans(
        mean.mean(axis=0),
        np.sqrt(np.square(error).sum(axis=0)) / cases,
        freedom.min(axis=0),
        count.min(axis=0),
    )


def _decided(means: estimate.TrimmedMeans, question: Question, each: int) -> verdict.Verdicts:
    """Verdicts on rows of which every case has `each`."""
    return verdict.decide(
        *(means, question.margin, question.correction, question.alpha),
        share=question.share(each),
        small_is_nothing=question.small_is_nothing,
    )


def compare_with(values: estimate.Array, reference: int, question: Question) -> verdict.Contrasts:
    """All series of `values` (cases x series x blocks) against the series `reference`: a row per
    case and series, cases outermost."""
    logs = log_times(values)
    differences = logs - logs[:, reference : reference + 1]
    differences[:, reference] = np.nan
    means, _ = estimates(differences.reshape(-1, values.shape[2]), question.sessions)
    return verdict.Contrasts(means, *means.interval(), _decided(means, question, values.shape[1]))


def compare_canary(times: estimate.Array, twins: Sequence[int], question: Question) -> Pairs:
    """The canary (last series of `times`) against the runner that it repeats in each case."""
    both = np.stack([times[np.arange(len(times)), twins], times[:, -1]], axis=1)
    return compare_all(both, [TWIN, CANARY], question)


def comparisons(pairs: Pairs) -> list[Comparisons]:
    """Per case all pairs in columns."""
    low, high = pairs.logs.interval()
    width = len(pairs.indices)
    has_ratio: list[bool] = (~np.isnan(pairs.logs.mean)).tolist()
    words: list[Verdict] = pairs.verdicts.names().tolist()
    needed: list[int] = pairs.needed.tolist()
    columns: list[list[Any]] = [
        estimate.optional(np.exp(pairs.logs.mean)),
        estimate.optional(np.exp(low)),
        estimate.optional(np.exp(high)),
        [word if has else None for word, has in zip(words, has_ratio, strict=True)],
        np.where(has_ratio, pairs.logs.count, 0).tolist(),
        [number or None for number in needed],
        estimate.optional(pairs.p),
        estimate.optional(pairs.adjusted),
        estimate.optional(np.exp(pairs.reach[0])),
        estimate.optional(np.exp(pairs.reach[1])),
    ]
    return [
        Comparisons(pairs.names, *(column[c * width : (c + 1) * width] for column in columns))
        for c in range(pairs.cases)
    ]


def detectable(pairs: Pairs, question: Question) -> list[float | None]:
    """Per case the difference, as a share of the time, that half of its comparisons find with 80 %
    power, by the correction at work; None where none can be tested."""
    different, _ = divisors(pairs.verdicts, question)
    needed = shift(pairs.logs.freedom.astype(np.float64), different) * pairs.logs.error
    needed[pairs.verdicts.are(Verdict.NOT_TESTABLE)] = np.nan
    rows = needed.reshape(pairs.cases, len(pairs.indices))
    least = np.full(len(rows), np.nan)
    testable = ~np.isnan(rows).all(axis=1)
    least[testable] = np.nanmedian(rows[testable], axis=1)
    return estimate.optional(np.expm1(least))


def canary_comparisons(
    plan: Plan, times: estimate.Array, names: list[str], question: Question
) -> list[Contrast | None]:
    """Per case what the canary of `times` (cases x runners and canary x blocks) is to the runner
    that it repeats; None where it repeats none."""
    twins, repeated = plan.twins(), plan.repeated()
    compared: list[Contrast | None] = [None] * len(plan.cases)
    if twins is None:
        return compared
    whom = [twins[case] for case in repeated]
    twice = comparisons(compare_canary(times[repeated], whom, question))
    for case, place, columns in zip(repeated, whom, twice, strict=True):
        pair = columns.of(CANARY, TWIN)
        compared[case] = pair and replace(pair, reference=names[place])
    return compared
