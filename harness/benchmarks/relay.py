"""Runners that take turns against runners one after the other, in one run.

`./just bench-relay [CASE]… [-r RUNNER]… [--sets N] [--free]`. A set of turns and a block of lone
processes alternate, with the same warm-up in both; with `--free` also a set whose threads are not
bound to a processor. Per runner, of the log ratio to the first runner: its deviation from round to
round within a set; its spread (Yuen's, as verdicts use it) from set to set and from block to block;
`gain`, how much less time turns need for the same precision; `bias`, how far the ratio by turns
lies from that of lone processes that iterate as often, with its 95 % interval; the same of `free`
sets; `drift`, how much slower its last third of rounds is than its first, less what that is of the
first runner. The last row is the first runner once more. `lead-in` shows how slow each iteration of
a turn is, relative to those of its lap. A switch is the time from the last iteration of a turn to
the first one of the next.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.asked import entry_of
from sqlitmus.catalog import cases, definitions, runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import affinity
from sqlitmus.run.finished import Invocation
from sqlitmus.run.hyperfine import Hyperfine, invoke
from sqlitmus.run.relay.relay import Relay
from sqlitmus.run.relay.seat import Entry
from sqlitmus.run.relay.turns import Array, Turns, laps, level_ns
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.spread import deviation
from sqlitmus.vocabulary import paths

CASES = (
    *("get-pk", "all", "scan-index-range", "insert-transaction@profile=shipped"),
    *("insert-autocommit", "parallel-get-pk@workers=2"),
)
RUNNERS = ("node", "bun", "rust", "dotnet")
TIMEOUT_S = 120.0
FREE = f"{'free:':>6}{'round':>6}{'set':>7}{'bias':>9}{'95 %':>18}"
WARMER = 2  # times as long as a runner demands: what it compiles meanwhile would slow the others


def main(
    case: Annotated[list[str] | None, typer.Argument()] = None,
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    sets: Annotated[int, typer.Option(min=5)] = 20,
    rounds: int = 12,
    lead_in_ms: float = 20,
    lap_ms: float = 10,
    warmup_ms: float = 200,
    free: Annotated[bool, typer.Option(help="Play sets of unbound threads, too.")] = False,
) -> None:
    """Print a table per case."""
    known, tools = definitions.load(), paths.tools()
    asked = [r for r in runners.discover(known, runner or list(RUNNERS), tools) if not r.missing]
    for case_id in case or CASES:
        with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
            name, axes = cases.parse_case(case_id, known)
            planned = cases.make_case(name, axes, known, known.modes["quick"])
            bench = _Bench(known, Hyperfine(tools.need("hyperfine"), Path(folder)), Path(folder))
            seats = [*asked, asked[0]]
            _case(bench, planned, seats, sets, rounds, lead_in_ms, lap_ms, warmup_ms, free=free)


def _case(
    bench: "_Bench",
    case: PlannedCase,
    seats: Sequence[Installed],
    sets: int,
    rounds: int,
    lead_in_ms: float,
    lap_ms: float,
    warmup_ms: float,
    *,
    free: bool,
) -> None:
    """The iteration of the fastest takes a quarter of a lap; all do the same operations."""
    fastest_ns = min(bench.alone(case, seats, Turns(8, 8, 0, 1), "first").times)
    operations = max(1, round(case.operations * lap_ms / 4 * 1e6 / fastest_ns))
    case = case.model_copy(
        update={"operations": min(operations, case.most_operations or operations)}
    )
    iteration_ms = [ns / 1e6 for ns in bench.alone(case, seats, Turns(8, 8, 0, 1), "").times]
    bench.warmups[:] = [
        max(4, round(max(warmup_ms, WARMER * one.spec.warmup_ms) / ms))
        for one, ms in zip(seats, iteration_ms, strict=True)
    ]
    turns = Turns(
        warmup=0,
        rounds=rounds,
        lead_in=max(1, round(lead_in_ms / min(iteration_ms))),
        lap=max(1, round(lap_ms / min(iteration_ms))),
    )
    pairs: list[tuple[_Pass, _Pass]] = []
    unbound: list[_Pass] = []
    for seed in map(str, range(sets)):
        if free:
            unbound.append(bench.together(case, seats, turns, seed, None))
        bound = bench.together(case, seats, turns, seed, affinity.fastest())
        pairs.append((bound, bench.alone(case, seats, turns, seed)))
    _print(case, seats, turns, pairs, unbound)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over all seats: seconds; per seat its time, its level over all laps, its iterations,
    its idle share; and microseconds of the switches."""

    seconds: float
    times: list[float]
    levels: list[float]
    iterations: list[list[int]]
    idle: list[float]
    switches_us: list[float]


@dataclass(frozen=True, slots=True)
class _Bench:
    """`warmups` are the iterations that each seat warms up for, in both schemes."""

    known: Catalog
    hyperfine: Hyperfine
    scratch: Path
    warmups: list[int] = field(default_factory=list[int])

    def together(
        self,
        case: PlannedCase,
        seats: Sequence[Installed],
        turns: Turns,
        seed: str,
        processor: int | None,
    ) -> _Pass:
        """A set of turns, its threads bound to `processor`."""
        started = time.perf_counter()
        entries = [self._entry(case, one, turns, n, turned=True) for n, one in enumerate(seats)]
        told = Relay(self.hyperfine, TIMEOUT_S, processor).play(entries, seed)
        seconds = time.perf_counter() - started
        lines = [_iterations(one.invocation) for one in told]
        times = [one.steady_ns or np.nan for one in told]
        idle = [one.idle or 0.0 for one in told]
        switches = _switches_us([one.invocation for one in told], turns)
        return _Pass(seconds, times, times, lines, idle, switches)

    def alone(
        self, case: PlannedCase, seats: Sequence[Installed], turns: Turns, seed: str
    ) -> _Pass:
        """Each seat's process alone, in random order; what follows its first three laps costs
        nothing, and is there for `levels` of processes that have iterated as often."""
        started = time.perf_counter()
        lines: list[list[int]] = [[] for _ in seats]
        for number in random.Random(seed).sample(range(len(seats)), len(seats)):
            entry = self._entry(case, seats[number], turns, number, turned=False)
            lines[number] = _iterations(
                invoke(self.hyperfine, entry.command, entry.environment, entry.output, entry.log,
                       TIMEOUT_S)
            )  # fmt: skip
        seconds = time.perf_counter() - started
        timed = 3 * turns.lap
        seconds -= sum(sum(line[timed:]) for line in lines) / 1e9
        times = [statistics.median(line[:timed]) for line in lines]
        levels = level_ns(np.array([laps(line, turns) for line in lines])).tolist()
        return _Pass(seconds, times, levels, lines, [], [])

    def _entry(
        self, case: PlannedCase, installed: Installed, turns: Turns, number: int, *, turned: bool
    ) -> Entry:
        folder = self.scratch / f"{number}"
        if self.warmups:
            turns = replace(turns, warmup=self.warmups[number])
        return entry_of(self.known, case, installed, folder, turns, turned=turned)


def _iterations(invocation: Invocation) -> list[int]:
    if invocation.result is None or invocation.result.status != "ok":
        raise SystemExit(f"no result: {invocation}")
    return invocation.result.iterations_ns


def _switches_us(invocations: Sequence[Invocation], turns: Turns) -> list[float]:
    """From the end of each turn to the start of the next, by the processes' own clocks."""
    spans: list[tuple[float, float]] = []
    for invocation in invocations:
        assert invocation.result
        each = [worker.spans_us for worker in invocation.result.workers]
        begins = [min(span[0] for span in iteration) for iteration in zip(*each, strict=True)]
        ends = [max(span[1] for span in iteration) for iteration in zip(*each, strict=True)]
        spans += zip(
            begins[:: turns.per_turn], ends[turns.per_turn - 1 :: turns.per_turn], strict=True
        )
    spans.sort()
    return [begin - end for (_, end), (begin, _) in pairwise(spans)]


def _print(
    case: PlannedCase,
    seats: Sequence[Installed],
    turns: Turns,
    pairs: Sequence[tuple[_Pass, _Pass]],
    unbound: Sequence[_Pass],
) -> None:
    set_s, block_s = (statistics.mean(each[k].seconds for each in pairs) for k in (0, 1))
    switches = [us for each in pairs for us in each[0].switches_us]
    print(
        f"\n{case.id}: {len(pairs)} sets of {set_s:.2f} s ({turns.rounds} turns of "
        f"{turns.lead_in} + {turns.lap} iterations) and blocks of {block_s:.2f} s\n"
        f"switches: median {np.median(switches):.0f} us, "
        f"90 % below {np.quantile(switches, 0.9):.0f}\n"
        f"{'runner':22}{'round':>7}{'set':>7}{'block':>8}{'gain':>7}{'bias':>9}{'95 %':>18}"
        f"{FREE if unbound else ''}"
        f"{'drift':>7}{'idle':>7}  lead-in"
    )
    logs = [np.log(np.array([each[k].times for each in pairs]).T) for k in (0, 1)]
    same = np.log(np.array([each[1].levels for each in pairs]).T)
    free = np.log(np.array([each.times for each in unbound]).T) if unbound else None
    shape = (len(pairs), len(seats), turns.rounds, turns.per_turn)
    raw = np.array([each[0].iterations for each in pairs], dtype=np.float64).reshape(shape)
    relative = raw / np.median(raw[..., turns.lead_in :], axis=3, keepdims=True)
    third = max(turns.rounds // 3, 1)
    turned, of_free = _laps([each[0] for each in pairs], turns), _laps(unbound, turns)
    drift = turned[..., -third:].mean(axis=2) - turned[..., :third].mean(axis=2)
    for number, installed in enumerate(seats):
        slow = np.median(relative[:, number], axis=(0, 1))[: turns.lead_in]
        idle = max(each[0].idle[number] for each in pairs)
        line = f"{installed.spec.name if number < len(seats) - 1 else 'once more':22}"
        if number:
            spread = [_spread(table[number] - table[0]) for table in logs]
            gain = spread[1] ** 2 * block_s / (spread[0] ** 2 * set_s)
            line += f"{_of_rounds(turned, number):7.1%}{spread[0]:7.1%}{spread[1]:8.1%}{gain:7.1f}"
            line += _bias(logs[0] - same, number)
            if free is not None:
                by_system = _spread(free[number] - free[0])
                line += f"{_of_rounds(of_free, number):12.1%}{by_system:7.1%}"
                line += _bias(free - same, number)
        line = line.ljust(22 + 56 + (len(FREE) if unbound else 0))
        drifted = float(np.median(drift[:, number] - drift[:, 0]))
        print(
            f"{line}{drifted:+7.1%}{idle:7.1%}  {' '.join(f'{each:.2f}' for each in slow)}",
            flush=True,
        )


def _laps(passes: Sequence[_Pass], turns: Turns) -> Array:
    """ln of the median iteration of each lap (sets x seats x rounds)."""
    lines = [[laps(line, turns) for line in each.iterations] for each in passes]
    return np.log(np.array(lines))


def _of_rounds(table: Array, number: int) -> float:
    """The deviation of that seat's log ratio to the first from round to round, median over sets."""
    return float(np.median(deviation(table[:, number] - table[:, 0])))


def _bias(differences: Array, number: int) -> str:
    """How far one scheme's ratio of that seat to the first lies from the other's, with its 95 %
    interval; `differences` are those of ln times (seats x sets)."""
    paired = trimmed_means((differences[number] - differences[0])[None, :])
    low, high = (float(end[0]) for end in paired.interval(0.95))
    return f"{float(paired.mean[0]):+9.1%}{f'[{low:+.1%}, {high:+.1%}]':>18}"


def _spread(ratios: Array) -> float:
    """Yuen's deviation of a set from such log ratios, one of each."""
    return float(trimmed_means(ratios[None, :]).error[0]) * len(ratios) ** 0.5


if __name__ == "__main__":
    typer.run(main)
