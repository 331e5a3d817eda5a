"""Error rates of the method on recorded noise: false alarms, coverage, detection.

One program was run again and again, so every difference that comes out is a false alarm. A
recording is blocks x slots of log times in the order in which they were taken, row by row; the
slots of a block are neighbours in time. Giving the slots new labels at random makes a new
experiment of the same noise. All experiments share that one recording, so the rates hold for this
machine in this hour; they are no sample of machines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np

from sqlitmus.stats.distributions import normal
from sqlitmus.stats.estimate import LEVEL, Array, TrimmedMeans, trimmed_means
from sqlitmus.stats.experiments import ExperimentResults, judge, judge_sequential
from sqlitmus.stats.grade import grade
from sqlitmus.stats.multiplicity import p_values

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
class Graded:
    """Detection by the grade of each experiment's own canary, guarded as a report's verdicts are.

    `share` of the experiments are A or B; `detection` is theirs, and `noisy` that of the others,
    None where there are none.
    """

    share: float
    detection: Rate | None
    noisy: Rate | None


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Rates of one recording; `stretches` of it share no block.

    `false_alarms`: any of the comparisons, Holm. `coverage`: the 95 % intervals. `detection`: of
    the injected slowdown; `slow_runner`: of a runner that is slow, if there was one. `sequential`:
    `false_alarms` of running all of one label, then all of the next, with Welch's test; few such
    experiments fit a recording, so its interval is wide. `graded`: detection of the slow runner, or
    else of the injected slowdown, where a slot is left to be the canary.
    """

    stretches: int
    false_alarms: Rate
    coverage: Rate
    detection: Rate
    slow_runner: Rate | None
    sequential: Rate
    graded: Graded | None = None


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
    spare = None
    if slots > comparisons + 1:
        series = np.stack([values[:, : comparisons + 2] for _, values in every])
        spare = _graded(real or slower, series)
    one_after_another = judge_sequential(sequential(logs, blocks, comparisons + 1))
    return ErrorRates(
        stretches,
        rate(calm.alarms(), experiments),
        rate(calm.covering(), experiments),
        rate(slower.detections(), experiments),
        real and rate(real.detections(), experiments),
        rate(one_after_another.alarms(), logs.size // (blocks * (comparisons + 1))),
        spare,
    )


def _graded(outcomes: ExperimentResults, series: Array) -> Graded:
    """Each experiment graded as a run of a single case is; `series` is experiments x blocks x
    labels, the canary of the first label the last."""
    labels = series.shape[2]
    errors = np.stack(
        [
            trimmed_means(series[:, :, i] - series[:, :, j]).error
            for i in range(labels)
            for j in range(i)
        ]
    )
    canaries = trimmed_means(series[:, :, -1] - series[:, :, 0])
    p = p_values(canaries)
    rows = (slice(at, at + 1) for at in range(len(series)))
    grades = [
        grade(
            TrimmedMeans(
                canaries.mean[row], canaries.error[row], canaries.freedom[row], canaries.count[row]
            ),
            np.median(errors[:, row], axis=0),
            p[row],
        )
        for row in rows
    ]
    good = np.array([graded.run != "C" for graded in grades])
    detected = outcomes.detections(np.concatenate([graded.guard for graded in grades]))
    by_grade = (
        rate(detected[which], int(which.sum())) if which.any() else None for which in (good, ~good)
    )
    return Graded(float(good.mean()), *by_grade)


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
