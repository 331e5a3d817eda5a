"""Error rates of the verdicts on noise with labels drawn anew: false alarms, coverage, detection.

Slots of each block get their labels at random, so labels are exchangeable whatever the noise is:
this tests the arithmetic of intervals and corrections, and not the order of measurement, which
`./just selftest` tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log1p

import numpy as np

from sqlitmus.stats.estimate import (
    LEVEL,
    Array,
    Rate,
    TrimmedMeans,
    rate,
    student_p,
    trimmed_means,
)
from sqlitmus.stats.verdict import ALPHA, adjust, p_values

EXPERIMENTS = 1000
SLOWDOWN = log1p(0.03)


@dataclass(frozen=True, slots=True)
class ExperimentResults:
    """Per experiment and comparison: the adjusted p-value, the log ratio and its interval."""

    p: Array
    mean: Array
    low: Array
    high: Array

    def alarms(self) -> float:
        """The share of experiments in which any comparison came out as a difference."""
        return float(np.mean((self.p <= ALPHA).any(axis=1)))

    def covering(self, truth: float = 0.0) -> float:
        """The share of intervals that do not exclude the true log ratio.

        Without an interval (all values equal) nothing is excluded.
        """
        return float(1 - np.mean((self.low > truth) | (self.high < truth)))

    def detections(self) -> float:
        """The share of experiments in which the first comparison came out as slower."""
        return float(np.mean((self.p[:, 0] <= ALPHA) & (self.mean[:, 0] > 0)))


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


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Rates of one recording.

    `false_alarms`: any of the comparisons, Holm. `coverage`: the 95 % intervals. `detection`: of
    the injected slowdown. `sequential`: `false_alarms` of running all of one label, then all of the
    next, with Welch's test; few such experiments fit a recording, so its interval is wide.
    """

    false_alarms: Rate
    coverage: Rate
    detection: Rate
    sequential: Rate


def error_rates(
    logs: Array,
    blocks: int,
    comparisons: int,
    slowdown: float = SLOWDOWN,
    experiments: int = EXPERIMENTS,
    seed: int = 1,
) -> ErrorRates:
    """Rates of experiments of `blocks` blocks, with `comparisons` runners against a reference.

    `logs` is recorded blocks x slots, `slowdown` a log ratio given to the first of the runners.
    Raises ValueError if the recording has too few blocks or slots.
    """
    recorded, slots = logs.shape
    if recorded < blocks or slots <= comparisons:
        raise ValueError(
            f"experiments of {blocks} blocks x {comparisons + 1} labels do not fit a recording of "
            f"{recorded} x {slots}: record more or ask for less"
        )
    draws = np.stack([*shuffled(logs, blocks, comparisons + 1, experiments, seed)])
    calm = judge(draws)
    draws[:, :, 1] += slowdown
    one_after_another = judge_sequential(sequential(logs, blocks, comparisons + 1))
    return ErrorRates(
        rate(calm.alarms(), experiments),
        rate(calm.covering(), experiments),
        rate(judge(draws).detections(), experiments),
        rate(one_after_another.alarms(), logs.size // (blocks * (comparisons + 1))),
    )


def shuffled(logs: Array, blocks: int, labels: int, experiments: int, seed: int) -> Iterator[Array]:
    """Experiments: blocks x labels of log times.

    The blocks follow each other from a random one on; in each, slots get labels at random.
    """
    rng = np.random.default_rng(seed)
    for first in rng.integers(len(logs) - blocks + 1, size=experiments).tolist():
        yield rng.permuted(logs[first : first + blocks], axis=1)[:, :labels]


def sequential(logs: Array, runs: int, labels: int) -> Array:
    """Experiments x runs x labels as they come without blocks: runs of one label in a row.

    The recording in its order of time; an experiment begins at every `runs`-th value.
    """
    series = logs.reshape(-1)
    starts = range(0, len(series) - runs * labels + 1, runs)
    return np.stack([series[s : s + runs * labels].reshape(labels, runs).T for s in starts])
