"""Runners that take turns against runners one after the other, in one run.

`./just bench-relay [CASE]… [-r RUNNER]… [--sets N]`. A set of turns and a block of lone processes
alternate, with the same warm-up in both. Per runner, of the log ratio to the first runner: its
spread from set to set and from block to block (Yuen's, as verdicts use it); `gain`, how much less
time turns need for the same precision; `bias`, how far the ratio by turns lies from that of lone
processes, with its 95 % interval; `drift`, how much slower its last third of rounds is than its
first, less what that is of the first runner. The last row is the first runner once more. `lead-in`
shows how slow each iteration of a turn is, relative to those of its lap. A switch is the time from
the last iteration of a turn to the first one of the next.
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
from sqlitmus.run.hyperfine import Hyperfine, Invocation, invoke
from sqlitmus.run.relay.relay import Relay
from sqlitmus.run.relay.seat import Entry
from sqlitmus.run.relay.turns import Turns
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.vocabulary import paths

CASES = (
    *("get-pk", "all", "scan-index-range", "insert-transaction@profile=shipped"),
    *("insert-autocommit", "parallel-get-pk@workers=2"),
)
RUNNERS = ("node", "bun", "rust", "dotnet")
TIMEOUT_S = 120.0
WARMER = 2  # times as long as a runner demands: what it compiles meanwhile would slow the others


def main(
    case: Annotated[list[str] | None, typer.Argument()] = None,
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    sets: Annotated[int, typer.Option(min=5)] = 20,
    rounds: int = 12,
    lead_in_ms: float = 20,
    lap_ms: float = 10,
    warmup_ms: float = 200,
) -> None:
    """Print a table per case."""
    known, tools = definitions.load(), paths.tools()
    asked = [r for r in runners.discover(known, runner or list(RUNNERS), tools) if not r.missing]
    for case_id in case or CASES:
        with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
            name, axes = cases.parse_case(case_id, known)
            planned = cases.make_case(name, axes, known, known.modes["quick"])
            bench = _Bench(known, Hyperfine(tools.need("hyperfine"), Path(folder)), Path(folder))
            _case(bench, planned, [*asked, asked[0]], sets, rounds, lead_in_ms, lap_ms, warmup_ms)


def _case(
    bench: "_Bench",
    case: PlannedCase,
    seats: Sequence[Installed],
    sets: int,
    rounds: int,
    lead_in_ms: float,
    lap_ms: float,
    warmup_ms: float,
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
    pairs = [
        (bench.together(case, seats, turns, seed), bench.alone(case, seats, turns, seed))
        for seed in map(str, range(sets))
    ]
    _print(case, seats, turns, pairs)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over all seats: seconds, a time per seat, iterations of each, idle shares, and
    microseconds of the switches."""

    seconds: float
    times: list[float]
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
        self, case: PlannedCase, seats: Sequence[Installed], turns: Turns, seed: str
    ) -> _Pass:
        """A set of turns."""
        started = time.perf_counter()
        entries = [self._entry(case, one, turns, n, turned=True) for n, one in enumerate(seats)]
        told = Relay(self.hyperfine, TIMEOUT_S).play(entries, seed)
        seconds = time.perf_counter() - started
        lines = [_iterations(one.invocation) for one in told]
        times = [one.steady_ns or np.nan for one in told]
        idle = [one.idle or 0.0 for one in told]
        switches = _switches_us([one.invocation for one in told], turns)
        return _Pass(seconds, times, lines, idle, switches)

    def alone(
        self, case: PlannedCase, seats: Sequence[Installed], turns: Turns, seed: str
    ) -> _Pass:
        """Each seat's process alone, in random order, timed for as long as three laps."""
        started = time.perf_counter()
        short = replace(turns, rounds=3, lead_in=0)
        lines: list[list[int]] = [[] for _ in seats]
        for number in random.Random(seed).sample(range(len(seats)), len(seats)):
            entry = self._entry(case, seats[number], short, number, turned=False)
            lines[number] = _iterations(
                invoke(self.hyperfine, entry.command, entry.environment, entry.output, entry.log,
                       TIMEOUT_S)
            )  # fmt: skip
        seconds = time.perf_counter() - started
        return _Pass(seconds, [statistics.median(line) for line in lines], lines, [], [])

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
) -> None:
    set_s, block_s = (statistics.mean(each[k].seconds for each in pairs) for k in (0, 1))
    switches = [us for each in pairs for us in each[0].switches_us]
    print(
        f"\n{case.id}: {len(pairs)} sets of {set_s:.2f} s ({turns.rounds} turns of "
        f"{turns.lead_in} + {turns.lap} iterations) and blocks of {block_s:.2f} s\n"
        f"switches: median {np.median(switches):.0f} us, "
        f"90 % below {np.quantile(switches, 0.9):.0f}\n"
        f"{'runner':22}{'set':>7}{'block':>8}{'gain':>7}  {'bias':>8}  {'95 %':16}"
        f"{'drift':>7}{'idle':>7}  lead-in"
    )
    logs = [np.log(np.array([each[k].times for each in pairs]).T) for k in (0, 1)]
    shape = (len(pairs), len(seats), turns.rounds, turns.per_turn)
    raw = np.array([each[0].iterations for each in pairs], dtype=np.float64).reshape(shape)
    relative = raw / np.median(raw[..., turns.lead_in :], axis=3, keepdims=True)
    third = max(turns.rounds // 3, 1)
    laps = np.log(np.median(raw[..., turns.lead_in :], axis=3))
    drift = laps[..., -third:].mean(axis=2) - laps[..., :third].mean(axis=2)
    for number, installed in enumerate(seats):
        slow = np.median(relative[:, number], axis=(0, 1))[: turns.lead_in]
        idle = max(each[0].idle[number] for each in pairs)
        line = f"{installed.spec.name if number < len(seats) - 1 else 'once more':22}"
        if number:
            by = [trimmed_means((table[number] - table[0])[None, :]) for table in logs]
            spread = [float(each.error[0]) * len(pairs) ** 0.5 for each in by]
            gain = spread[1] ** 2 * block_s / (spread[0] ** 2 * set_s)
            paired = trimmed_means(((logs[0] - logs[1])[number] - (logs[0] - logs[1])[0])[None, :])
            low, high = (float(end[0]) for end in paired.interval(0.95))
            line += (
                f"{spread[0]:7.1%}{spread[1]:8.1%}{gain:7.1f}  {float(paired.mean[0]):+8.1%}  "
                f"[{low:+.1%}, {high:+.1%}]".ljust(49)
            )
        else:
            line += " " * 49
        drifted = float(np.median(drift[:, number] - drift[:, 0]))
        print(
            f"{line}{drifted:+7.1%}{idle:7.1%}  {' '.join(f'{each:.2f}' for each in slow)}",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
