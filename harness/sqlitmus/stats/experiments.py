"""Verdicts on relabelled experiments, whose subjects are equal."""

from dataclasses import dataclass

import numpy as np

from sqlitmus.stats.distributions import student_p
from sqlitmus.stats.estimate import LEVEL, Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.multiplicity import adjust, p_values

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

    def detections(self, guard: Array | None = None) -> Array:
        """Per experiment 1 where the first comparison came out as slower, else 0.

        With a `guard`, only where its whole interval lies beyond that, as in a report.
        """
        detected = (self.p[:, 0] <= ALPHA) & (self.mean[:, 0] > 0)
        if guard is not None:
            detected &= (guard == 0) | (self.low[:, 0] > guard)
        return detected.astype(np.float64)


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
