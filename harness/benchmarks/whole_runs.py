"""What verdicts of whole runs find, promise and settle, on recorded and on synthetic noise.

Runs are replayed in the product's own order (`experiments`), and judged by the product's own chain:
pairs, correction. In a run "one runner" is slower than the first by the same share
in every case, and the others are 35 % and more apart: nearly all comparisons differ.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments import Noise, Shape, runs
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
    for logs in _runs(source, setting, count, seed):
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
    for logs in _runs(source, setting, count, seed):
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


def _runs(source: Noise, setting: Setting, count: int, seed: int) -> Iterable[Array]:
    return runs(source, setting.shape, count, seed)


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
