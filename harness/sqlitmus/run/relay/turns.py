"""Turns of the runners of a case, and what their laps say of each. Pure."""

import random
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog.planned import Counts, PlannedCase
from sqlitmus.catalog.scenario import Scenario

Array = NDArray[np.float64]

TRIM = 0.25


@dataclass(frozen=True, slots=True)
class Turns:
    """How a process of a set iterates: `warmup` iterations alone, then `rounds` turns.

    A turn is `lead_in` iterations, in which the processor's caches fill again after another process
    had them, and a lap of `lap` iterations, which is what counts.
    """

    warmup: int
    rounds: int
    lead_in: int
    lap: int

    @classmethod
    def of(cls, counts: Counts) -> Self:
        """The turns of a cell whose counts have rounds."""
        lap = counts.iterations // counts.rounds - counts.lead_in
        return cls(counts.warmup_iterations, counts.rounds, counts.lead_in, lap)

    @property
    def per_turn(self) -> int:
        """Iterations of a turn."""
        return self.lead_in + self.lap

    @property
    def iterations(self) -> int:
        """Iterations after the warm-up."""
        return self.rounds * self.per_turn

    @property
    def releases(self) -> int:
        """How often a process is released from the barrier in its life."""
        return self.warmup + self.iterations


def lone(case: PlannedCase, spec: Scenario) -> bool:
    """Whether processes of `case` cannot take turns: its whole process is what is measured, its
    counts are fixed, it consists of several processes, or something in it goes on by the clock.
    """
    by_the_clock = bool(spec.rate or spec.writer or spec.latencies)
    return case.metric == "cold" or case.fixed or bool(case.processes) or by_the_clock


def order(seats: int, rounds: int, seed: str) -> list[list[int]]:
    """Per round the seats in fresh random order, by `seed` alone."""
    rng = random.Random(seed)
    return [rng.sample(range(seats), seats) for _ in range(rounds)]


def laps(iterations_ns: list[int], turns: Turns) -> Array:
    """The median iteration of each lap in ns, an element per round; `iterations_ns` are those after
    the warm-up, in order.

    The median and not the mean, as of a process alone: interruptions only ever add time.
    """
    rows = np.array(iterations_ns, dtype=np.float64).reshape(turns.rounds, turns.per_turn)
    return np.median(rows[:, turns.lead_in :], axis=1)


def level_ns(table: Array, trim: float = TRIM) -> Array:
    """The time that stands for each seat, in ns; `table` has a row of laps per seat (seats x
    rounds), NaN throughout for a seat that did not last.

    What a round has in common is taken out first: each lap counts relative to its round's median.
    A seat's level is the trimmed mean of its relative log laps over the rounds, times the median
    round. So the log ratio of two seats is made of ratios within rounds only, which is what turns
    are for, and there is one time per seat, as from processes one after the other.
    """
    lasted = ~np.isnan(table).any(axis=1)
    levels = np.full(len(table), np.nan)
    if lasted.any():
        logs = np.log(table[lasted])
        middle = np.median(logs, axis=0)
        relative = np.sort(logs - middle, axis=1)
        cut = int(trim * relative.shape[1])
        left = relative[:, cut : relative.shape[1] - cut]
        levels[lasted] = np.exp(left.mean(axis=1) + np.median(middle))
    return levels
