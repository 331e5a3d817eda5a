"""Timed loops: source generated for one connection's steps, so that a loop has no dispatch in it.

The plain loop does the operations and nothing else. One that also records has around each operation
what was asked for: its planned time, its latency, its rollback when the database is busy.
"""

import dataclasses
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import values
from connection import primary
from histogram import BUCKET, Recording
from job import Column, Step

# begin, end (operation numbers), recording -> rows, affected, checksum, busy operations
Loop = Callable[[int, int, Recording], tuple[int, int, int, int]]

# What a sleep may last too long on an idle machine.
MARGIN_NS = 200_000
BUSY = 5

_TERMS = {
    "integer": "{v} & 4294967295",
    "real": "int({v}) & 4294967295",
    "text": "(31 * ord({v}[0]) + ord({v}[-1]) if {v} else 0)",
    "blob": "(len({v}) + 31 * {v}[0] + {v}[-1] if {v} else 0)",
}


@dataclasses.dataclass(frozen=True)
class Manner:
    """How operations are timed: `rate` per second and from which part of the first gap on."""

    latencies: bool = False
    tolerate_busy: bool = False
    rate: float | None = None
    offset: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for but the operations."""
        return not self.latencies and not self.tolerate_busy and self.rate is None


def compile_loop(
    steps: list[Step], transaction: str, connection: sqlite3.Connection, manner: Manner
) -> Loop:
    """A function that performs operations begin … end − 1 of `steps` on `connection`."""
    bound: dict[str, Any] = {"connection": connection, "execute": connection.execute}
    body: list[str] = []
    for number, step in enumerate(steps):
        bound[f"sql{number}"] = step.sql
        bound[f"pool{number}"] = values.pool(step.parameters)
        body += _execution(number, step, len(bound[f"pool{number}"]) - 1)
    if transaction in ("deferred", "immediate"):
        body = [f"execute('BEGIN {transaction}')", *body, "execute('COMMIT')"]
    if manner.plain:
        counters = [f"n{i} = begin * {step.repeat}" for i, step in enumerate(steps)]
        body = ["for _ in range(begin, end):", *_indented(body)]
    else:
        counters = ["start = clock()"]
        starts = [f"n{i} = i * {step.repeat}" for i, step in enumerate(steps)]
        body = ["for i in range(begin, end):", *_indented([*starts, *_recorded(body, manner)])]
        bound |= {"clock": time.perf_counter_ns, "wait_until": wait_until}
    lines = [
        f"def loop(begin, end, recording, {', '.join(f'{name}={name}' for name in bound)}):",
        *_indented(["rows = affected = h = busy = 0", *counters, *body]),
        "    return rows, affected, h, busy",
    ]
    names = {**bound, "Error": sqlite3.Error, "primary": primary}
    exec(compile("\n".join(lines), "<loop>", "exec"), names)
    return names["loop"]


def _recorded(operation: list[str], manner: Manner) -> list[str]:
    if manner.tolerate_busy:
        operation = [
            "kept = rows, affected, h",
            "try:",
            *_indented(operation),
            "except Error as error:",
            f"    if primary(error) != {BUSY}: raise",
            "    if connection.in_transaction: execute('ROLLBACK')",
            "    rows, affected, h = kept",
            "    busy += 1",
        ]
    before = ["planned = clock()"] if manner.latencies else []
    if manner.rate is not None:
        gap = 1e9 / manner.rate
        before = [
            f"planned = start + int((i - begin + {manner.offset}) * {gap})",
            "if clock() < planned:",
            "    v = wait_until(planned) - planned",
            f"    recording.pacing[{BUCKET}] += 1",
        ]
    after = ["v = clock() - planned", f"recording.latencies[{BUCKET}] += 1"]
    return [*before, *operation, *(after if manner.latencies else [])]


def wait_until(planned: int) -> int:
    """Sleep, then spin until the clock is at `planned` nanoseconds; what it then says."""
    clock = time.perf_counter_ns
    left = planned - clock() - MARGIN_NS
    if left > 0:
        time.sleep(left / 1e9)
    while (now := clock()) < planned:
        pass
    return now


def _execution(i: int, step: Step, mask: int) -> list[str]:
    call = f"execute(sql{i}, pool{i}[n{i} & {mask}])"
    match step.operation:
        case "get":
            lines = [
                f"row = {call}.fetchone()",
                "if row is not None:",
                *_indented(["rows += 1", *_fold(step)]),
            ]
        case "all":
            lines = [
                f"found = {call}.fetchall()",
                "rows += len(found)",
                "for row in found:",
                *_indented(_fold(step)),
            ]
        case "iterate":
            lines = [f"for row in {call}:", *_indented(["rows += 1", *_fold(step)])]
        case "run" if step.fails is not None:
            lines = [
                f"try: {call}",
                "except Error as error:",
                f"    if primary(error) != {step.fails}: raise",
                f"    h = (h * 31 + {step.fails}) & 4294967295",
                f"else: raise ValueError({unmet(step)!r})",
            ]
        case "run":
            lines = [
                f"changed = {call}.rowcount",
                "affected += changed",
                "h = (h * 31 + changed) & 4294967295",
            ]
        case "in-transaction":
            lines = ["h = (h * 31 + connection.in_transaction) & 4294967295"]
        case _:
            raise ValueError(step.operation)
    lines.append(f"n{i} += 1")
    return lines if step.repeat == 1 else [f"for _ in range({step.repeat}):", *_indented(lines)]


def unmet(step: Step) -> str:
    """What to say of an execution that succeeds where it has to fail."""
    return f"succeeded, expected to fail with code {step.fails}: {step.sql}"


def _fold(step: Step) -> list[str]:
    lines: list[str] = []
    for position, column in enumerate(step.columns):
        lines.append(f"v = row[{_key(step, position, column)}]")
        x = _TERMS[column.type].format(v="v")
        lines.append(f"h = (h * 31 + ({values.NULL} if v is None else {x})) & 4294967295")
    return lines


def _key(step: Step, position: int, column: Column) -> str:
    return repr(column.name) if step.shape == "object" else str(position)


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
