"""The counts of each cell from what the pilot observed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, gcd, inf, log, log2, pi, sqrt

import numpy as np

from sqlitmus.catalog import cases as planned
from sqlitmus.catalog.cases import STAGGERS, Cells, Counts, PlannedCase, PlannedCounts
from sqlitmus.catalog.generate import power_of_two
from sqlitmus.catalog.scenario import Mode
from sqlitmus.machine.conditions import probe
from sqlitmus.stats import power, warmup
from sqlitmus.stats.estimate import deviation
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.verdicts import Steadiness

PROBES = 9
# Another level of the clock or a neighbour who shares the core, on the log scale.
LEVEL = 0.1
# Robust deviations of nine values differ by up to three times by chance.
SPREAD = 4.0
FINEST = 0.005


class Pace(Model):
    """The median of a few probes in ns, and their robust deviation as a share of it."""

    level_ns: float
    spread: float

    def agrees(self, earlier: "Pace") -> bool:
        """Whether both saw the machine at the same level, and about as noisy."""
        spreads = max(self.spread, FINEST) / max(earlier.spread, FINEST)
        return (
            abs(log(self.level_ns / earlier.level_ns)) <= LEVEL and 1 / SPREAD <= spreads <= SPREAD
        )


def pace() -> Pace:
    """The pace now; takes about a third of a second."""
    times = np.array([probe() for _ in range(PROBES)], dtype=np.float64)
    level = float(np.median(times))
    return Pace(level_ns=level, spread=float(deviation(times)) / level)


TIMED = 5  # iterations of a pilot process that are surely warmed up
POINTS = 24  # of a course: what lies between two is as good as a straight line
HEAVY = 3  # times the median: a mean beyond it is that of stalls, such as waiting for a lock


@dataclass(frozen=True, slots=True)
class PilotProcess:
    """One pilot process: seconds with the harness's share, its iterations in ns, in order, of so
    many `operations`, the largest size of its memory, None where that is unknown, and that of the
    file that it wrote, None for none.
    """

    seconds: float
    iterations_ns: list[int]
    operations: int
    peak_bytes: int | None = None
    file_bytes: int | None = None


class Observed(Model):
    """The pilot's observation of a cell, from processes that warmed up for `window_ms`.

    `seconds` is the duration of an invocation without its iterations; `operation_ns` that of an
    operation at the last level (None for a cold cell), and `stalled_ns` the mean over iterations
    after the first where stalls make that much longer, None elsewhere. `pace` is the machine's.
    `within` and `between` are standard deviations of ln time; `between` is None for fewer than
    three processes. `peak_bytes` is the most memory that one took, None where it is unknown, and
    `file_bytes` the longest database that one wrote. From `fastest_from_ms` on it was as fast as it
    ever was, with or without a steady state; it and `steadiness` are None for few iterations.
    `course` has (ms since the first iteration, operations done by then) of one process.
    """

    seconds: float
    processes: int
    window_ms: int
    pace: Pace | None = None
    operation_ns: float | None = None
    stalled_ns: float | None = None
    grain_ns: int = 1
    steadiness: Steadiness | None = None
    steady_from_ms: float | None = None
    fastest_from_ms: float | None = None
    within: float = 0.0
    between: float | None = None
    peak_bytes: int | None = None
    file_bytes: int | None = None
    course: list[tuple[float, int]] = []

    @property
    def mean_ns(self) -> float:
        """The mean time of an operation that is warmed up, stalls included."""
        return self.stalled_ns or self.operation_ns or 0.0

    def operations_within(self, ms: float) -> float:
        """Operations that a process does in its first `ms`, in which it is slower than later."""
        since, done = self._course()
        if ms <= since[-1]:
            return float(np.interp(ms, since, done))
        return done[-1] + (ms - since[-1]) * 1e6 / self.mean_ns

    def ms_of(self, operations: float) -> float:
        """How long the first `operations` of a process take."""
        since, done = self._course()
        if operations <= done[-1]:
            return float(np.interp(operations, done, since))
        return since[-1] + (operations - done[-1]) * self.mean_ns / 1e6

    def _course(self) -> tuple[list[float], list[float]]:
        return [0.0, *(ms for ms, _ in self.course)], [0.0, *(done for _, done in self.course)]

    def also_stalling(self, factor: float) -> "Observed":
        """The same of a cell whose mean iteration was seen to take `factor` times its median one,
        which a pilot's process alone may not show."""
        mean_ns = factor * (self.operation_ns or 0.0)
        if factor <= HEAVY or mean_ns <= (self.stalled_ns or 0.0):
            return self
        return self.model_copy(update={"stalled_ns": mean_ns})


def observe(processes: Sequence[PilotProcess], case: PlannedCase, window_ms: int) -> Observed:
    """The observation of one cell from its processes, of which there is at least one."""
    overheads = [p.seconds - sum(p.iterations_ns) / 1e9 for p in processes]
    count = len(processes)
    if case.metric == "cold" or case.fixed:
        whole = np.array([[p.seconds] for p in processes])
        between = power.components(whole)[1] if count > 2 else None
        seconds = float(np.median(whole))
        return Observed(seconds=seconds, processes=count, window_ms=0, between=between)
    series = [p.iterations_ns for p in processes]
    operations = processes[0].operations
    last = np.array([times[-TIMED:] for times in series], dtype=np.float64)
    within, between = power.components(last)
    warm = warmup.classify(series).overall if min(map(len, series)) >= warmup.LEAST else None
    median = float(np.median(last))
    mean = float(np.mean([ns for times in series for ns in times[1:] or times]))
    return Observed(
        seconds=float(np.median(overheads)),
        processes=count,
        window_ms=window_ms,
        operation_ns=median / operations,
        stalled_ns=mean / operations if mean > HEAVY * median else None,
        grain_ns=gcd(*chain.from_iterable(series)),
        steadiness=warm and warm.kind,
        steady_from_ms=None if warm is None or warm.elapsed_ns is None else warm.elapsed_ns / 1e6,
        fastest_from_ms=warm and warm.fastest_ns / 1e6,
        within=within,
        between=between if count > 2 else None,
        peak_bytes=max((p.peak_bytes for p in processes if p.peak_bytes), default=None),
        course=_course(series[0], operations),
    )


def _course(iterations_ns: Sequence[int], operations: int) -> list[tuple[float, int]]:
    """Some points of a process's course; `operations` are those of an iteration."""
    since_ms = np.cumsum(iterations_ns) / 1e6
    chosen = np.unique(np.geomspace(1, len(since_ms), POINTS).round().astype(int))
    return [(round(float(since_ms[count - 1]), 3), int(count) * operations) for count in chosen]


LOOKS = 8  # at the clock in a lap: enough to see an iteration that was interrupted
TOGETHER_MS = 20  # of an iteration of several threads: they wait for each other at its ends
GRAINS = 1000  # steps of the clock in an iteration of the fastest, at least
WALK_LAPS = 8  # in which a process walks through its pools once
FEWEST = 4  # of them, where a lap is long anyway
PATIENCE = 16  # times as long as the mode says a lap may last that is such a share
LONGEST = 4  # times the mode's longest warm-up that of the slowest may last
UNLED = 5  # times as long as the mode says a lap is that nothing leads into, where two can be
LEAST_ROUNDS = 2  # of stated work: one says nothing of how its laps spread
SLACK = 1.25  # on the time until a process is warm, since the next process may take longer
SIMILAR = 2.0  # warm-ups whose ratio is smaller may be the same one, seen twice
TURN_NS = 2e6  # that a turn takes beside its iterations: a line before each, and looks at it


@dataclass(frozen=True, slots=True)
class Turning:
    """How the processes of a case take turns: how often, and for how long; `at_once` of them warm
    up together."""

    rounds: int
    lead_in_ms: float
    lap_ms: float
    at_once: int = 1


def led_in_alike(turning: Mapping[str, Turning]) -> dict[str, Turning]:
    """Turns of cases that are compared, all with the longest of their lead-ins: so their laps reach
    the same rows."""
    longest = max((how.lead_in_ms for how in turning.values()), default=0)
    return {case: replace(how, lead_in_ms=longest) for case, how in turning.items()}


@dataclass(frozen=True, slots=True)
class Work:
    """What all processes of a case do alike after their warm-up: `rounds` laps of `lap` iterations,
    with `lead_in` before each where they take turns; of `operations` each. For `stagger` see
    Counts.

    `whole` says that a process walks its pools as a whole, in its warm-up and in its laps.
    """

    operations: int
    lap: int
    rounds: int
    lead_in: int
    whole: bool
    stagger: int = 0


def fitting(
    cases: Sequence[PlannedCase],
    rounds: int,
    observed: Iterable[Observed | None] = (),
    lap_ms: float = 0.0,
    several: int = WALK_LAPS,
) -> int:
    """The most rounds, about `rounds`, into which the work of all `cases` can be cut: that which is
    stated, or whole walks through the pools, of `several` laps.

    By what was `observed`, laps of stated work last `UNLED` times `lap_ms` where two can: nothing
    leads into them, so each begins with the caches that another process left.
    """
    timed = [case.stated[1] for case in cases if case.stated]
    if not timed:
        return max(round(rounds / several), 1) * several
    if lap_ms and (usual := _usual_ns(observed)):
        most = int(min(timed) * usual / (UNLED * lap_ms * 1e6))
        rounds = min(rounds, max(most, LEAST_ROUNDS))
    return _divisor(gcd(*timed), rounds)


def _usual_ns(observed: Iterable[Observed | None]) -> float | None:
    """The geometric mean of what an operation takes: none of the runners decides alone."""
    each = [o.operation_ns for o in observed if o and o.operation_ns is not None]
    return float(np.exp(np.log(each).mean())) if each else None


def looked_at(case: PlannedCase, warmup: int, lap: int, most: int | None = None) -> int:
    """Operations between two looks at the clock, of which a `lap` has `LOOKS`, of several threads
    one, `most` at most: they divide the lap, the `warmup` before it, and what lies between two
    resets."""
    each = lap if case.threads > 1 else max(lap // LOOKS, 1)
    step = gcd(lap, warmup, case.reset_every or 0)
    return _divisor(step, each if most is None else min(each, most))


def _divisor(of: int, most: int) -> int:
    """The largest divisor that is at most `most`; all numbers divide 0."""
    return max(n for n in range(1, most + 1) if of % n == 0)


def work(
    case: PlannedCase,
    observed: Iterable[Observed | None],
    mode: Mode,
    turning: Turning | None = None,
    *,
    together: bool = False,
) -> Work | None:
    """The work of all cells of `case`; None without a pilot of any.

    `observed` are those of all cases that are compared with it. Several threads do the work of one
    of these cases if `together`.
    """
    timed = [o for o in observed if o and o.operation_ns is not None]
    if not mode.pilot or not timed:
        return None
    usual = _usual_ns(timed) or 0.0
    together_ms = TOGETHER_MS if together or case.threads > 1 else 0
    lap_ms = max(mode.lap_ms, together_ms)
    rounds = turning.rounds if turning else round(mode.rounds * mode.lap_ms / lap_ms)
    if case.stated:
        warmup, timed_operations = case.stated
        rounds = fitting([case], rounds)
        lap = timed_operations // rounds
        operations = looked_at(case, warmup, lap)
        return Work(operations, lap // operations, rounds, 0, whole=False)
    if not turning:
        rounds = fitting([case], rounds, several=FEWEST if together_ms else WALK_LAPS)
    lap_ns = lap_ms * 1e6
    usual_lap = 2 ** max(round(log2(lap_ns / usual)), 0)
    share = power_of_two(case.walk / gcd(rounds, WALK_LAPS))
    whole = share * usual <= PATIENCE * lap_ns
    lap = max(usual_lap, share) if whole else usual_lap
    grain = max(GRAINS * o.grain_ns / (o.operation_ns or 1.0) for o in timed)
    least = power_of_two(max(grain, together_ms * 1e6 / usual))
    operations = min(max(lap // LOOKS, least), lap)
    lead_in, stagger = (
        ceil(ms * 1e6 / (usual * operations))
        for ms in (turning.lead_in_ms if turning else 0, mode.stagger_ms / (STAGGERS - 1))
    )
    if whole and turning:
        lead_in = _spread(case.walk, lap, lead_in, rounds, operations)
        stagger |= bool(stagger)  # an odd number: starts that lie all over the walk
    return Work(operations, lap // operations, rounds, lead_in, whole=whole, stagger=stagger)


def _spread(walk: int, lap: int, least: int, rounds: int, operations: int) -> int:
    """The lead-in, in iterations, after which laps reach most of a walk: `least`, or more, by which
    a turn becomes longer by a quarter at most."""
    most = least + (least + lap // operations) // 4
    return max(
        range(least, most + 1),
        key=lambda tried: (planned.reached(walk, lap, tried * operations, rounds), -tried),
    )


def allocate(
    case: PlannedCase,
    observed: Mapping[str, Observed | None],
    mode: Mode,
    least_ms: Mapping[str, int],
    alike_work: Work | None,
    turning: Turning | None = None,
    *,
    alike: bool = False,
) -> dict[str, Counts]:
    """Counts of each runner of `case`; `least_ms` is the least warm-up that a runner demands.

    All do `alike_work`; the scenario's own numbers for None. `alike` gives all of them the longest
    of their warm-ups, too.
    """
    if alike_work is None:
        if alike:
            most = max((least_ms.get(name, 0) for name in observed), default=0)
            least_ms = dict.fromkeys(observed, most)
        return {
            n: _unpiloted(case, o, mode, least_ms.get(n, 0), turning) for n, o in observed.items()
        }
    piloted = {n: o for n, o in observed.items() if mode.pilot and o and o.operation_ns is not None}
    warmups = _warmups(case, piloted, mode, least_ms, alike_work, alike=alike)
    lead_in = alike_work.lead_in if turning else 0
    counts = Counts(
        operations=alike_work.operations,
        iterations=alike_work.rounds * (alike_work.lap + lead_in),
        warmup_iterations=max(warmups.values(), default=1),
        warmup_ms=0,
        rounds=alike_work.rounds if turning else 0,
        lead_in=lead_in,
        stagger=alike_work.stagger,
        seconds=mode.process_s,
    )
    at_once = turning.at_once if turning else 1
    return {
        name: _predicted(
            counts.model_copy(
                update={"warmup_iterations": warmups[name]} if name in warmups else {}
            ),
            observation,
            at_once,
        )
        for name, observation in observed.items()
    }


def _unpiloted(
    case: PlannedCase, seen: Observed | None, mode: Mode, least_ms: int, turning: Turning | None
) -> Counts:
    """The scenario's own numbers; a case that is not warmed up by time has none of it. Turns are of
    unknown length: of an iteration each, after one of lead-in."""
    seconds = seen.seconds if seen else mode.process_s
    by_time = case.warmup_ms and not case.writes and not turning
    return Counts(
        operations=case.operations,
        iterations=2 * turning.rounds if turning else case.iterations,
        warmup_iterations=max(case.warmup_iterations, 1 if turning else 0),
        warmup_ms=max(case.warmup_ms, least_ms) if by_time else 0,
        seconds=seconds,
        rounds=turning.rounds if turning else 0,
        lead_in=1 if turning else 0,
        deviation=seen.between if seen else None,
        operation_ns=1e9 * seconds / max(case.operations, 1) if seen else None,
    )


def _warmups(
    case: PlannedCase,
    piloted: Mapping[str, Observed],
    mode: Mode,
    least_ms: Mapping[str, int],
    alike_work: Work,
    *,
    alike: bool,
) -> dict[str, int]:
    """Warm-up iterations of each runner: as stated; else until it is warm, in whole walks, so that
    all time the same rows; or equally many where a walk takes too long for that."""
    each = alike_work.operations
    if case.stated:
        return dict.fromkeys(piloted, case.stated[0] // each)
    needed: dict[str, float] = {}
    for name, seen in piloted.items():
        reached = planned.warm_from_ms(seen.steadiness, seen.steady_from_ms, seen.fastest_from_ms)
        ms = mode.warmup_ms[1] if reached is None else SLACK * reached
        ms = max(min(max(ms, mode.warmup_ms[0]), mode.warmup_ms[1]), least_ms.get(name, 0))
        needed[name] = max(seen.operations_within(ms), mode.warmup_iterations * each, 1)
    if alike_work.whole:
        given = _similar(needed, inf if alike else SIMILAR)
        walks = {name: ceil(count / case.walk) for name, count in given.items()}
        return {name: ceil(case.walk * many / each) for name, many in walks.items()}
    slowest = max((seen.mean_ns for seen in piloted.values()), default=1.0)
    bearable = LONGEST * mode.warmup_ms[1] * 1e6 / slowest
    count = min(max(needed.values(), default=1), max(bearable, each))
    return dict.fromkeys(piloted, ceil(count / each))


def _similar(needed: Mapping[str, float], factor: float) -> dict[str, float]:
    """The operations `needed` by each runner; of those within `factor`, from the longest on, as
    many as the longest needs: one process tells them apart no closer."""
    longest, given = max(needed.values(), default=0.0), dict[str, float]()
    for name in sorted(needed, key=lambda name: needed[name], reverse=True):
        if factor * needed[name] < longest:
            longest = needed[name]
        given[name] = longest
    return given


def _predicted(counts: Counts, observation: Observed | None, at_once: int) -> Counts:
    """The counts with the invocation's duration as the pilot foretells it, where so many warm up
    `at_once`."""
    if observation is None or observation.operation_ns is None:
        return counts
    warmup_iterations = counts.warmup_iterations + counts.stagger * (STAGGERS - 1) / 2
    warming_ns = 1e6 * observation.ms_of(warmup_iterations * counts.operations)
    deviation = observation.between
    if deviation is not None:
        deviation = sqrt(deviation**2 + pi / 2 * observation.within**2 / counts.iterations)
    timed_ns = counts.iterations * observation.mean_ns * counts.operations + TURN_NS * counts.rounds
    return counts.model_copy(
        update={
            "seconds": observation.seconds + (warming_ns / at_once + timed_ns) / 1e9,
            "steadiness": observation.steadiness,
            "steady_from_ms": observation.steady_from_ms,
            "fastest_from_ms": observation.fastest_from_ms,
            "warmed_ms": warming_ns / 1e6,
            "operation_ns": observation.operation_ns,
            "deviation": deviation,
        }
    )


def case_seconds(counts: PlannedCounts, cells: Cells, twice: Mapping[str, str]) -> dict[str, float]:
    """Predicted seconds of each case in a block; `twice` names per case who runs twice."""
    seconds = {case: sum(counts[case][name].seconds for name in cells[case]) for case in cells}
    for case, name in twice.items():
        seconds[case] += counts[case][name].seconds
    return seconds
