"""Error rates of the method on recorded and relabelled noise: false alarms, coverage, detection,
efficiency.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from sqlitmus.stats.estimate import LEVEL, Array, TrimmedMeans, normal, student_p, trimmed_means
from sqlitmus.stats.verdict import adjust, group_means, p_values, together
from sqlitmus.vocabulary.verdicts import Verdict

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times as long one way takes as the other for the same precision of a ratio.

    `low` and `high` are the ends of its 95 % interval.
    """

    value: float
    low: float
    high: float

    @property
    def resolved(self) -> bool:
        """Whether the interval tells which way needs less time."""
        return self.low > 1 or self.high < 1


@dataclass(frozen=True, slots=True, eq=False)
class Passes:
    """Log times of equal things (blocks x slots), and the seconds that each block's pass took."""

    logs: Array
    seconds: Array


def gain(base: Passes, other: Passes, resamples: int = RESAMPLES, seed: int = 1) -> Gain | None:
    """How many times as long `base` takes as `other`, by passes in the same blocks.

    A way's cost is Yuen's squared error of the log ratio of two slots, times the mean seconds of a
    pass; the gain is the median over all pairs of slots. Its interval is that of the percentile
    bootstrap over blocks, which `base` and `other` share. None where a pair's times are all equal.
    """
    blocks, slots = base.logs.shape
    rng = np.random.default_rng(seed)
    every = rng.integers(blocks, size=(1 + resamples, blocks))
    every[0] = range(blocks)  # the recording itself
    seconds = np.log(base.seconds[every].mean(axis=1) / other.seconds[every].mean(axis=1))
    ratios = np.stack(
        [
            2 * (_log_error(base.logs, pair, every) - _log_error(other.logs, pair, every))
            for pair in combinations(range(slots), 2)
        ]
    )
    gains = np.median(ratios, axis=0) + seconds
    if not np.isfinite(gains).all():
        return None
    low, high = np.quantile(gains[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Gain(*(float(np.exp(end)) for end in (gains[0], low, high)))


def _log_error(logs: Array, pair: tuple[int, int], blocks: NDArray[np.int64]) -> Array:
    """ln of the standard error of the pair's log ratio, per row of block numbers."""
    first, second = pair
    return np.log(trimmed_means((logs[:, first] - logs[:, second])[blocks]).error)


# Verdicts on relabelled experiments, whose subjects are equal.


ALPHA = 1 - LEVEL


@dataclass(frozen=True, slots=True)
class ExperimentResults:
    """Per experiment and comparison: the adjusted p-value, the log ratio and its interval."""

    p: Array
    mean: Array
    low: Array
    high: Array

    def alarms(self) -> Array:
        """Per experiment 1 where any comparison came out as a difference, else 0."""
        return np.any(self.p <= ALPHA, axis=1).astype(np.float64)

    def covering(self, truth: float = 0.0) -> Array:
        """Per experiment the share of intervals that do not exclude the true log ratio.

        Without an interval (all values equal) nothing is excluded.
        """
        return 1 - np.mean((self.low > truth) | (self.high < truth), axis=1)

    def detections(self) -> Array:
        """Per experiment 1 where the first comparison came out as slower, else 0."""
        return ((self.p[:, 0] <= ALPHA) & (self.mean[:, 0] > 0)).astype(np.float64)


def judge(experiments: Array) -> ExperimentResults:
    """Each experiment (experiments x blocks x labels) by the method; label 0 is the reference."""
    differences = experiments[:, :, 1:] - experiments[:, :, :1]
    count, blocks, comparisons = differences.shape
    rows = differences.transpose(0, 2, 1).reshape(-1, blocks)
    means = trimmed_means(rows)
    return _outcomes(means, p_values(means), (count, comparisons))


def judge_sequential(experiments: Array) -> ExperimentResults:
    """The same by Welch's test of the plain means, label against reference, without pairing."""
    runs = experiments.shape[1]
    mean, squared = experiments.mean(axis=1), experiments.var(axis=1, ddof=1) / runs
    difference = mean[:, 1:] - mean[:, :1]
    error = np.sqrt(squared[:, 1:] + squared[:, :1])
    with np.errstate(divide="ignore", invalid="ignore"):  # no spread: no p
        freedom = (runs - 1) * error**4 / (squared[:, 1:] ** 2 + squared[:, :1] ** 2)
        t = difference / error
    p = student_p(t.reshape(-1), freedom.reshape(-1)).reshape(error.shape)
    nowhere = np.full_like(p, np.nan)  # its intervals are not asked for
    return ExperimentResults(_holm(p), difference, nowhere, nowhere)


def _outcomes(means: TrimmedMeans, p: Array, shape: tuple[int, int]) -> ExperimentResults:
    low, high = means.interval(LEVEL)
    adjusted = _holm(p.reshape(shape))
    return ExperimentResults(
        adjusted, means.mean.reshape(shape), low.reshape(shape), high.reshape(shape)
    )


def _holm(p: Array) -> Array:
    return np.stack([adjust(p[i], "holm") for i in range(len(p))])


# Error rates of the method on recorded noise: false alarms, coverage, detection.


EXPERIMENTS = 1000
SLOWDOWN = log1p(0.03)


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of `trials` independent experiments with Wilson's 95 % interval."""

    value: float
    low: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Rates of one recording; `stretches` of it share no block.

    `false_alarms`: any of the comparisons, Holm. `coverage`: the 95 % intervals. `detection`: of
    the injected slowdown; `slow_runner`: of a runner that is slow, if there was one. `sequential`:
    `false_alarms` of running all of one label, then all of the next, with Welch's test; few such
    experiments fit a recording, so its interval is wide.
    """

    stretches: int
    false_alarms: Rate
    coverage: Rate
    detection: Rate
    slow_runner: Rate | None
    sequential: Rate


def selftest(
    logs: Array,
    blocks: int,
    comparisons: int,
    slowdown: float = SLOWDOWN,
    slow: Array | None = None,
    experiments: int = EXPERIMENTS,
    seed: int = 1,
) -> ErrorRates:
    """Rates of experiments of `blocks` blocks, with `comparisons` runners against a reference.

    `logs` is recorded blocks x slots, `slowdown` a log ratio given to the first of the runners,
    `slow` one log time per recorded block of a program that really is slow. Raises ValueError if
    the recording has too few blocks or slots.
    """
    recorded, slots = logs.shape
    if recorded < blocks or slots <= comparisons:
        raise ValueError(
            f"experiments of {blocks} blocks x {comparisons + 1} labels do not fit a recording of "
            f"{recorded} x {slots}: record more or ask for less"
        )
    stretches = recorded // blocks
    every = list(shuffled(logs, blocks, slots, experiments, seed))
    draws = [(first, values[:, : comparisons + 1]) for first, values in every]
    calm = judge(np.stack([values for _, values in draws]))
    slower = judge(np.stack([_slowed(values, slowdown) for _, values in draws]))
    real = None
    if slow is not None:
        taken = np.stack([_replaced(values, slow[first:][:blocks]) for first, values in draws])
        real = judge(taken)
    one_after_another = judge_sequential(sequential(logs, blocks, comparisons + 1))
    return ErrorRates(
        stretches,
        rate(calm.alarms(), experiments),
        rate(calm.covering(), experiments),
        rate(slower.detections(), experiments),
        real and rate(real.detections(), experiments),
        rate(one_after_another.alarms(), logs.size // (blocks * (comparisons + 1))),
    )


def rate(shares: Array, trials: int) -> Rate:
    """The mean of `shares` with Wilson's interval (J. Amer. Statist. Assoc. 22, 1927, 209-212).

    `trials` is the number of independent experiments that the mean is worth, which is fewer than
    shares where those overlap.
    """
    value, z = float(np.mean(shares)), normal(LEVEL)
    weight = 1 / (1 + z**2 / trials)
    centre = weight * (value + z**2 / (2 * trials))
    half = weight * z * sqrt(value * (1 - value) / trials + (z / (2 * trials)) ** 2)
    return Rate(value, max(centre - half, 0.0), min(centre + half, 1.0), trials)


def shuffled(
    logs: Array, blocks: int, labels: int, experiments: int, seed: int
) -> Iterator[tuple[int, Array]]:
    """Experiments: the first recorded block of each, and blocks x labels of log times.

    The blocks follow each other from a random one on; in each, slots get labels at random.
    """
    rng = np.random.default_rng(seed)
    for first in rng.integers(len(logs) - blocks + 1, size=experiments).tolist():
        yield first, rng.permuted(logs[first : first + blocks], axis=1)[:, :labels]


def sequential(logs: Array, runs: int, labels: int) -> Array:
    """Experiments x runs x labels as they come without blocks: runs of one label in a row.

    The recording in its order of time; an experiment begins at every `runs`-th value.
    """
    series = logs.reshape(-1)
    starts = range(0, len(series) - runs * labels + 1, runs)
    return np.stack([series[s : s + runs * labels].reshape(labels, runs).T for s in starts])


def _slowed(values: Array, by: float) -> Array:
    """The experiments with their second label, the first one compared, slower by a log ratio."""
    slowed = values.copy()
    slowed[:, 1] += by
    return slowed


def _replaced(values: Array, slow: Array) -> Array:
    replaced = values.copy()
    replaced[:, 1] = slow
    return replaced


# How often a sentence on all of several equal things tells two of them apart.


_APART = [verdict for verdict in Verdict if verdict.different]


def false_sentences(
    logs: Array, blocks: int, labels: int, experiments: int = EXPERIMENTS, seed: int = 1
) -> Rate:
    """The share of experiments in which a report's sentence would err; see `relabel` for `logs`.

    `labels` runners of one case make one group, whose pairs are one family. A sentence can only
    tell two apart whose interval there lies beyond 0, so this is the most that it can err.
    """
    first, second = np.triu_indices(labels, 1)
    apart: list[bool] = []
    for _, values in shuffled(logs, blocks, labels, experiments, seed):
        pairs = (values[:, first] - values[:, second]).T
        verdicts = together(group_means(pairs[None]), margin=0.02).verdicts
        apart.append(bool(verdicts.are(*_APART).any()))
    return rate(np.array(apart, dtype=np.float64), experiments)
