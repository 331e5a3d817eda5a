"""Timed loops: source generated for one job's steps, so that a loop has no dispatch in it."""

import sqlite3
from collections.abc import Callable
from typing import Any

import values
from job import Column, Job, Step

# begin, end (operation numbers) -> rows, affected, checksum
Loop = Callable[[int, int], tuple[int, int, int]]

_TERMS = {
    "integer": "{v} & 4294967295",
    "real": "int({v}) & 4294967295",
    "text": "(31 * ord({v}[0]) + ord({v}[-1]) if {v} else 0)",
    "blob": "(len({v}) + 31 * {v}[0] + {v}[-1] if {v} else 0)",
}


def compile_loop(job: Job, connection: sqlite3.Connection) -> Loop:
    """A function that performs operations begin … end − 1 of `job` on `connection`."""
    bound: dict[str, Any] = {"execute": connection.execute}
    body: list[str] = []
    for number, step in enumerate(job.steps):
        bound[f"sql{number}"] = step.sql
        bound[f"pool{number}"] = values.pool(step.parameters)
        body += _execution(number, step, len(bound[f"pool{number}"]) - 1)
    if job.transaction in ("deferred", "immediate"):
        body = [f"execute('BEGIN {job.transaction}')", *body, "execute('COMMIT')"]
    lines = [
        f"def loop(begin, end, {', '.join(f'{name}={name}' for name in bound)}):",
        "    rows = affected = h = 0",
        *(f"    n{i} = begin * {step.repeat}" for i, step in enumerate(job.steps)),
        "    for _ in range(begin, end):",
        *("        " + line for line in body),
        "    return rows, affected, h",
    ]
    exec(compile("\n".join(lines), "<loop>", "exec"), bound)
    return bound["loop"]


def _execution(i: int, step: Step, mask: int) -> list[str]:
    call = f"execute(sql{i}, pool{i}[n{i} & {mask}])"
    match step.operation:
        case "get":
            lines = [
                f"row = {call}.fetchone()",
                "if row is not None:",
                "    rows += 1",
                *("    " + line for line in _fold(step)),
            ]
        case "all":
            lines = [
                f"found = {call}.fetchall()",
                "rows += len(found)",
                "for row in found:",
                *("    " + line for line in _fold(step)),
            ]
        case "iterate":
            lines = [
                f"for row in {call}:",
                "    rows += 1",
                *("    " + line for line in _fold(step)),
            ]
        case "run":
            lines = [
                f"changed = {call}.rowcount",
                "affected += changed",
                "h = (h * 31 + changed) & 4294967295",
            ]
        case _:
            raise ValueError(step.operation)
    lines.append(f"n{i} += 1")
    if step.repeat == 1:
        return lines
    return [f"for _ in range({step.repeat}):", *("    " + line for line in lines)]


def _fold(step: Step) -> list[str]:
    lines: list[str] = []
    for position, column in enumerate(step.columns):
        lines.append(f"v = row[{_key(step, position, column)}]")
        x = _TERMS[column.type].format(v="v")
        lines.append(f"h = (h * 31 + ({values.NULL} if v is None else {x})) & 4294967295")
    return lines


def _key(step: Step, position: int, column: Column) -> str:
    return repr(column.name) if step.shape == "object" else str(position)
