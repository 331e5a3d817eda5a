"""Turns of the runners of a case, and what their laps say of each. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog.planned import Counts, PlannedCase
from sqlitmus.catalog.scenario import Scenario

Array = NDArray[np.float64]

LOST = 0.2  # of a lap that others may take: more leaves its caches cold, too
LEAST = 0.1  # of a lap that is left of it, whatever others are said to have taken


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


def timed(iterations_ns: list[int], turns: Turns) -> Array:
    """The iterations of each lap in ns (rounds x lap), without lead-ins; `iterations_ns` are those
    after the warm-up, in order."""
    rows = np.array(iterations_ns, dtype=np.float64).reshape(turns.rounds, turns.per_turn)
    return rows[:, turns.lead_in :]


def laps(rows: Array, lost_ns: Sequence[int] = ()) -> Array:
    """The mean iteration of each lap in ns, an element per round; `rows` are `timed`.

    All the time of a lap counts, collections and checkpoints too, less what others took from its
    thread (`lost_ns`, an element per round).
    """
    whole = rows.sum(axis=1)
    if len(lost_ns):
        whole = np.maximum(whole - np.array(lost_ns), whole * LEAST)
    return whole / rows.shape[1]


def kept(shares: Array) -> NDArray[np.bool_]:
    """Which rounds count; `shares` (seats x rounds) are those of each lap that others took.

    A round counts for all seats or for none: it does not where others took more than `LOST` of
    anybody's lap. Half of the rounds count in any case, those that lost least.
    """
    worst = np.nan_to_num(shares).max(axis=0, initial=0.0)
    half = np.sort(worst)[(len(worst) - 1) // 2] if len(worst) else 0.0
    return worst <= max(LOST, float(half))


def level_ns(table: Array, counted: NDArray[np.bool_] | None = None) -> Array:
    """The time of an iteration of each seat, in ns: the mean over the laps of the rounds that are
    `counted`, all by default; `table` has a row of laps per seat (seats x rounds), NaN throughout
    for a seat that did not last.

    All laps have the same operations, so it is all of the time over all of the operations.
    """
    rounds = table if counted is None else table[:, counted]
    return rounds.mean(axis=1)
