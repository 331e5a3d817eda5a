"""Whole runs replayed on noise: who takes which place in a series of process times, and when; and
what their verdicts find, promise and settle.

A series holds the log times of invocations of one program in the order of time. A run takes
consecutive values of it in the product's own order: blocks, in each the cases in random order, in
each case the runners and the canary in random order, every odd block the mirror of the one before.
The product's own chain judges it: pairs, correction. In a run of "one runner" that one is slower
than the first by the same share in every case, and the others are 35 % and more apart: nearly all
comparisons differ.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.pairs import Pairs, Question, compare_all
from sqlitmus.catalog.cases import Counts
from sqlitmus.run.plan.budget import Forecast, forecast
from sqlitmus.stats.estimate import Array, deviation
from sqlitmus.vocabulary.verdicts import Correction, Verdict

MARGIN = 0.02
APART = 0.35
POWER = 0.8
SHARES = (0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.14, 0.2, 0.4, 0.8, 1.6)


@dataclass(frozen=True, slots=True)
class Shape:
    """How many cases, runners and blocks a run has; a canary repeats the first runner."""

    cases: int
    runners: int
    blocks: int

    @property
    def invocations(self) -> int:
        """Places of the run, with the canary's."""
        return self.cases * (self.runners + 1) * self.blocks


# Log times in the order of time; a new one for each run where noise is drawn and not recorded.
Noise = Callable[[np.random.Generator, int], Array]


def replayed(series: Array) -> Noise:
    """A stretch of the recording, in its order, that begins anywhere, going round at its end."""
    flat = series.reshape(-1)

    def stretch(rng: np.random.Generator, count: int) -> Array:
        return np.resize(np.roll(flat, -int(rng.integers(len(flat)))), count)

    return stretch


def runs(noise: Noise, shape: Shape, count: int, seed: int) -> Iterator[Array]:
    """Log times of `count` runs of equal runners: cases x (runners, canary) x blocks."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        values = noise(rng, shape.invocations)
        yield values[places(rng, shape)]


def own_noise(shape: Shape, count: int, seed: int = 19) -> Iterator[Array]:
    """The same of runners whose noise differs: in each case t of 4 degrees of freedom times a
    deviation of 0.5 to 10 %, drawn for each runner; the canary has that of the first."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        spread = np.exp(rng.uniform(np.log(0.005), np.log(0.1), (shape.cases, shape.runners)))
        spread = np.concatenate([spread, spread[:, :1]], axis=1)
        yield spread[:, :, None] * rng.standard_t(4, (*spread.shape, shape.blocks))


def places(rng: np.random.Generator, shape: Shape) -> NDArray[np.int64]:
    """The position in time of each case, label and block."""
    width = shape.runners + 1
    each = shape.cases * width
    where = np.empty((shape.cases, width, shape.blocks), dtype=np.int64)
    place = np.empty((shape.cases, width), dtype=np.int64)
    for block in range(shape.blocks):
        if block % 2 == 0:
            order = rng.permutation(shape.cases)
            for turn, case in enumerate(order):
                place[case] = turn * width + rng.permutation(width)
        else:
            place = each - 1 - place  # the mirror
        where[:, :, block] = block * each + place
    return where


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of run: its shape and its correction."""

    shape: Shape
    correction: Correction

    @property
    def question(self) -> Question:
        """What its verdicts are given by."""
        return Question(MARGIN, self.correction)


SHORT = Setting(Shape(10, 9, 10), "bh")
LONG = Setting(Shape(4, 9, 30), "bh")


def judged(logs: Array, setting: Setting) -> Pairs:
    """The pairs of a run of log times, cases x (runners, canary) x blocks."""
    return compare_all(np.exp(logs)[:, :-1], names_of(setting), setting.question)


def names_of(setting: Setting) -> list[str]:
    """The runners of the run."""
    return [f"r{number}" for number in range(setting.shape.runners)]


def power_at(source: Noise, setting: Setting, share: float, count: int, seed: int = 2) -> float:
    """How often the one runner that is slower by `share` is called slower, over its cases."""
    slower = [verdict.code for verdict in Verdict if verdict.side == "slower"]
    hits: list[float] = []
    for logs in runs(source, setting.shape, count, seed):
        pairs = judged(logs + _offsets(setting, share), setting)
        which = pairs.indices.index((1, 0))
        codes = pairs.verdicts.code.reshape(pairs.cases, -1)[:, which]
        hits.append(float(np.isin(codes, slower).mean()))
    return float(np.mean(hits))


def found_at(source: Noise, setting: Setting, count: int) -> float:
    """The share at which `power_at` reaches 80 %, between the nearest of `SHARES`; inf if none."""
    before, at = 0.0, 0.0
    for share in SHARES:
        reached = power_at(source, setting, share, count)
        if reached >= POWER:
            weight = (POWER - before) / (reached - before)
            return at + weight * (share - at)
        before, at = reached, share
    return float("inf")


def promises(
    source: Noise, setting: Setting, pilot: int, count: int, seed: int = 3
) -> list[Forecast]:
    """What pilots promise for a run of "one runner": `pilot` processes of each cell, three at
    least of the first runner, one right after the other."""
    rng = np.random.default_rng(seed)
    each = [max(pilot, 3), *[pilot] * (setting.shape.runners - 1)]
    cases = [f"case {number}" for number in range(setting.shape.cases)]
    cells = dict.fromkeys(cases, names_of(setting))
    offsets = _offsets(setting, 0.0)[0, :-1, 0]
    made: list[Forecast] = []
    for _ in range(count):
        values = iter(np.split(source(rng, sum(each) * len(cases)), np.cumsum(each * len(cases))))
        counts = {
            case: {
                name: _counted(next(values) + offset)
                for name, offset in zip(names_of(setting), offsets.tolist(), strict=True)
            }
            for case in cases
        }
        foretold = forecast(counts, cells, setting.shape.blocks, setting.correction)
        assert foretold is not None
        made.append(foretold)
    return made


def settled(source: Noise, setting: Setting, most: int, count: int, seed: int = 4) -> list[bool]:
    """Whether rows that were not resolved were, in a new run of as many blocks as they asked for.

    Runners truly differ by a normal log ratio of 3 %; rows that ask for more than `most` blocks
    are left out. One row of each run is drawn.
    """
    rng = np.random.default_rng(seed)
    outcomes: list[bool] = []
    for logs in runs(source, setting.shape, count, seed):
        truth = rng.normal(0, 0.03, (setting.shape.cases, setting.shape.runners + 1, 1))
        truth[:, -1] = truth[:, 0]
        asked = judged(logs + truth, setting).needed
        rows = np.flatnonzero((asked > 0) & (asked <= most))
        if not len(rows):
            continue
        row = int(rows[rng.integers(len(rows))])
        longer = Setting(
            Shape(setting.shape.cases, setting.shape.runners, asked.tolist()[row]),
            setting.correction,
        )
        next_seed = int(rng.integers(1_000_000))
        (again,) = runs(source, longer.shape, 1, next_seed)
        code = judged(again + truth, longer).verdicts.code[row]
        outcomes.append(int(code) != Verdict.NOT_RESOLVED.code)
    return outcomes


def over_sessions(
    sessions: int, blocks: int, tau: float, count: int, seed: int = 6
) -> tuple[float, float]:
    """How often 3 % are found and equal runners told apart, among nine runners in one case.

    Noise is normal, 2 % a process; true log ratios differ by `tau` from session to session.
    """
    rng = np.random.default_rng(seed)
    setting = Setting(Shape(1, 9, sessions * blocks), "bh")
    question = Question(MARGIN, "bh", sessions)
    slower = [verdict.code for verdict in Verdict if verdict.side == "slower"]
    finds: list[bool] = []
    alarms: list[bool] = []
    for _ in range(count):
        each = rng.normal(0, tau / np.sqrt(2), (1, 9, sessions))
        logs = rng.normal(0, 0.02, (1, 9, sessions * blocks)) + np.repeat(each, blocks, axis=2)
        alarms.append(
            bool(_different(compare_all(np.exp(logs), names_of(setting), question)).any())
        )
        logs[:, 1] += np.log1p(0.03)
        pairs = compare_all(np.exp(logs), names_of(setting), question)
        finds.append(int(pairs.verdicts.code[pairs.indices.index((1, 0))]) in slower)
    return float(np.mean(finds)), float(np.mean(alarms))


def _offsets(setting: Setting, share: float) -> Array:
    """The log times of the runners against the first, and of its canary."""
    apart: Sequence[float] = [APART * number for number in range(1, setting.shape.runners - 1)]
    return np.array([0.0, float(np.log1p(share)), *apart, 0.0])[None, :, None]


def _different(pairs: Pairs) -> NDArray[np.bool_]:
    return pairs.verdicts.are(*(verdict for verdict in Verdict if verdict.different))


def _counted(logs: Array) -> Counts:
    """What the pilot says of a cell from the log times of its processes."""
    return Counts(
        operations=1,
        iterations=3,
        warmup_iterations=1,
        warmup_ms=50,
        seconds=0.2,
        deviation=float(deviation(logs)) if len(logs) > 2 else None,
        operation_ns=float(np.exp(np.median(logs))),
    )
