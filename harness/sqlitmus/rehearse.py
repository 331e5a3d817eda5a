"""How long each cell takes: remembered, or found out by one pass before the plan is frozen."""

import time

from sqlitmus.bench import Bench
from sqlitmus.plan import Case, Cells
from sqlitmus.verification import Answers

Seconds = dict[tuple[str, str], float]  # of one invocation, by case id and runner


def seconds_per_cell(bench: Bench, cases: list[Case], cells: Cells, answers: Answers) -> Seconds:
    """Seconds of one invocation of each cell, the harness's share included.

    Cells never measured on this machine are run once; the figure is kept, the samples are not.
    """
    found: Seconds = {}
    for case in cases:
        for name in cells[case.id]:
            key = bench.key(case, name)
            seconds = bench.memory.seconds(key)
            if seconds is None and not bench.stop.requested:
                bench.progress.step(f"rehearse  {case.id}  {name}")
                begin = time.monotonic()
                bench.workbench.attempt(
                    case, bench.installed[name], "measure", answers.expected[case.id]
                )
                seconds = time.monotonic() - begin
                bench.memory.keep_seconds(key, seconds)
            found[case.id, name] = seconds or 0.0
    return found


def block_seconds(seconds: Seconds, cells: Cells, canary: str | None) -> float:
    """Predicted seconds of one block."""
    total = sum(seconds[case, name] for case, names in cells.items() for name in names)
    return total + sum(seconds[case, canary] for case in cells if canary in cells[case] and canary)
