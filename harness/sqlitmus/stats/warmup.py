"""Does a process reach a steady state, and from which iteration on?

Change points in the logarithms of the iteration times, then the classes of Barrett et al. (Virtual
machine warmup blows hot and cold, OOPSLA 2017).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.verdicts import Steadiness

TOLERANCE = 0.02  # levels closer than this ratio are the same
AGREEMENT = 0.75  # share of the processes that has to be in a class
SHORTEST = 3  # iterations of a level
LAST = 5  # iterations of the last level, and at least a quarter of all
LEAST = SHORTEST + LAST
PENALTY = 8.0  # per level, times variance times ln(iterations)
OUTLYING = 3.0  # deviations beyond which a single iteration is a spike
WINDOW = 7  # iterations around it that it is compared with
PLACES = 4000  # where a level may begin: every iteration of up to so many, every nth of more


@dataclass(frozen=True, slots=True)
class Steady:
    """A class, and where the last level begins: iterations and nanoseconds before it.

    Both are None where there is no steady state. `fastest_ns` are the nanoseconds before the first
    level that is as fast as any: what changes later is no warm-up.
    """

    kind: Steadiness
    iteration: int | None
    elapsed_ns: float | None
    fastest_ns: float


@dataclass(frozen=True, slots=True)
class Warmup:
    """What holds for all processes together, and each by itself."""

    overall: Steady
    processes: tuple[Steady, ...]


def classify(processes: Iterable[ArrayLike]) -> Warmup:
    """Classes of several processes from their iteration times in ns, in order, all counted.

    Levels whose ratio is within 1 + `TOLERANCE` are the same. Raises ValueError for no process, for
    fewer than 8 iterations and for times that are not positive numbers.
    """
    each = tuple(_process(np.asarray(times, dtype=np.float64)) for times in processes)
    if not each:
        raise ValueError("no process to classify: give the iteration times of at least one")
    return Warmup(_together(each), each)


def _together(each: tuple[Steady, ...]) -> Steady:
    """The class on which enough processes agree, with a start that does for as many of them.

    `fastest_ns` is that of the middle process: the machine may be slow when one begins.
    """
    needed = ceil(AGREEMENT * len(each))
    fastest_ns = float(np.median([process.fastest_ns for process in each]))
    flat = [process for process in each if process.kind == "flat"]
    steady = [process for process in each if process.kind in {"flat", "warm-up"}]
    slower = [process for process in each if process.kind == "slowdown"]
    kinds: list[tuple[Steadiness, list[Steady]]] = [
        ("flat", flat),
        ("warm-up", steady),
        ("slowdown", slower),
    ]
    for kind, members in kinds:
        if len(members) >= needed:
            starts = sorted((m.iteration or 0, m.elapsed_ns or 0.0) for m in members)
            return Steady(kind, *starts[needed - 1], fastest_ns)
    return Steady("no steady state", None, None, fastest_ns)


def _process(times: Array) -> Steady:
    count = len(times)
    if times.ndim != 1 or count < LEAST:
        raise ValueError(f"a process needs {LEAST} iterations or more, got {times.shape}")
    if not np.all(np.isfinite(times) & (times > 0)):
        raise ValueError("iteration times must be positive numbers of nanoseconds")
    logs = np.log(times)
    logs -= np.median(logs)
    noise = _noise(logs)
    starts = segments(_without_spikes(logs, noise), PENALTY * noise**2 * log(count), PLACES)
    levels = np.array([np.median(part) for part in np.split(logs, starts[1:])])
    close = log1p(TOLERANCE)
    differs = np.flatnonzero(np.abs(levels - levels[-1]) > close)
    begin = int(starts[differs[-1] + 1]) if len(differs) else 0
    while begin < count and logs[begin] - levels[-1] > close + OUTLYING * noise:
        begin += 1  # what is too short for a segment of its own, as a slow first iteration
    fastest_ns = float(times[: starts[int(np.argmax(levels - levels.min() <= close))]].sum())
    if count - begin < max(count / 4, LAST):
        return Steady("no steady state", None, None, fastest_ns)
    slower = levels[-1] - levels.min() > close
    kind: Steadiness = "slowdown" if slower else "warm-up" if begin else "flat"
    return Steady(kind, begin, float(times[:begin].sum()), fastest_ns)


def segments(values: Array, penalty: float, most: int) -> NDArray[np.int64]:
    """Starts of the segments, 0 included, that minimise squared error + penalty per segment.

    Exact for up to `most` values, by dynamic programming over all ends (Jackson et al., IEEE Signal
    Processing Letters 12, 2005, 105-108); each segment has at least `SHORTEST` values. Of more
    values, a segment can only begin at every nth, so that the time is bounded by `most` squared:
    pruning (PELT: Killick et al., JASA 107, 2012) prunes nothing as long as no level changes.
    """
    step = ceil(len(values) / most)
    places = np.append(np.arange(0, len(values) - step + 1, step), len(values))
    shortest = ceil(SHORTEST / step)
    sums, ends = np.append(0.0, np.cumsum(values))[places], places.astype(np.float64)
    best = np.full(len(places), np.inf)  # less the sum of squares, which is the same however cut
    best[0] = 0.0
    previous = np.zeros(len(places), dtype=np.int64)
    for end in range(shortest, len(places)):
        begin = slice(end - shortest + 1)
        cost = sums[end] - sums[begin]
        cost *= cost
        cost /= ends[begin] - ends[end]
        cost += best[begin]
        previous[end] = cost.argmin()
        best[end] = cost[previous[end]] + penalty
    starts = [int(previous[-1])]
    while starts[-1] > 0:
        starts.append(int(previous[starts[-1]]))
    return places[starts[::-1]]


def _noise(logs: Array) -> float:
    """Standard deviation about the levels, from the median jump between neighbours.

    Level changes are few, so the median does not see them. Jumps over 1 to 3 iterations: noise that
    wanders slowly is small from one iteration to the next.
    """
    jumps = [np.median(np.abs(logs[lag:] - logs[:-lag])) for lag in (1, 2, 3)]
    return float(1.4826 * max(jumps) / np.sqrt(2))


def _without_spikes(logs: Array, noise: float) -> Array:
    """Each value moved to within `OUTLYING` deviations of the median of its surroundings."""
    half = WINDOW // 2
    padded = np.pad(logs, half, mode="reflect")
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, WINDOW), axis=1)
    return np.clip(logs, around - OUTLYING * noise, around + OUTLYING * noise)
