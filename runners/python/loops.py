"""Timed loops: source generated for one connection's steps, so that a loop has no dispatch in it.

The plain loop does the operations and nothing else. One that also records has around each operation
what `recording.py` puts there.
"""

import sqlite3
import time
from collections.abc import Callable
from typing import Any

import values
from connection import primary
from job import Column, Step
from parts import Order, Part
from recording import Recording, indented, recorded, wait_until

# begin, end (operation numbers), recording -> rows, affected, checksum, busy operations
Loop = Callable[[int, int, Recording], tuple[int, int, int, int]]

_TERMS = {
    "integer": "({v} & 4294967295)",
    "real": "(int({v}) & 4294967295 if {v} * 0 == 0 else 0)",
    "text": "(31 * ord({v}[0]) + ord({v}[-1]) if {v} else 0)",
    "blob": "(len({v}) + 31 * {v}[0] + {v}[-1] if {v} else 0)",
}


def compile_loop(part: Part, connection: sqlite3.Connection) -> Loop:
    """A function that performs operations begin … end − 1 of a part's steps on `connection`."""
    bound: dict[str, Any] = {"connection": connection, "execute": connection.execute}
    for number, step in enumerate(part.steps):
        bound[f"sql{number}"] = step.sql if step.texts == 1 else texts(step)
        bound[f"pool{number}"] = values.pool(step.parameters)
    if order := part.order:
        bound |= {"groups": order.groups, "nth": order.nth, "mine": order.mine}
        bound["planned_us"] = order.planned_us
    bound |= {"clock": time.perf_counter_ns, "wait_until": wait_until}
    names = {**bound, "Error": sqlite3.Error, "primary": primary}
    exec(compile(loop_source(part), "<loop>", "exec"), names)
    return names["loop"]


def loop_source(part: Part) -> str:
    """The text that `compile_loop` compiles. Defaults of its parameters make globals locals."""
    steps, transaction, manner = part.steps, part.transaction, part.manner
    names = ["connection", "execute"]
    for number in range(len(steps)):
        names += [f"sql{number}", f"pool{number}"]
    body = _of_order(steps, part.order) if part.order else _all(steps)
    if transaction in ("deferred", "immediate"):
        body = [f"execute('BEGIN {transaction}')", *body, "execute('COMMIT')"]
    body = ["h = 0", *body, "checksum += h"]
    if part.order:
        counters = ["start = clock()"]
        length = len(part.order.groups)
        skips = ["if not mine[t]: continue"] if part.order.mine else []
        if part.order.planned_us:
            counters.append(f"first = planned_us[begin % {length}]")
        operation = [f"t = i % {length}", *skips, *recorded(body, manner)]
        body = ["for i in range(begin, end):", *indented(operation)]
        names += ["clock", "wait_until", "groups", "nth", "mine", "planned_us"]
    elif manner.plain:
        counters = [f"n{i} = begin * {step.repeat}" for i, step in enumerate(steps)]
        body = ["for _ in range(begin, end):", *indented(body)]
    else:
        counters = ["start = clock()"]
        starts = [f"n{i} = i * {step.repeat}" for i, step in enumerate(steps)]
        body = ["for i in range(begin, end):", *indented([*starts, *recorded(body, manner)])]
        names += ["clock", "wait_until"]
    lines = [
        f"def loop(begin, end, recording, {', '.join(f'{name}={name}' for name in names)}):",
        *indented(["rows = affected = checksum = busy = 0", *counters, *body]),
        "    return rows, affected, checksum & 4294967295, busy",
    ]
    return "\n".join(lines)


def _all(steps: list[Step]) -> list[str]:
    return [line for number, step in enumerate(steps) for line in _execution(number, step)]


def _of_order(steps: list[Step], order: Order) -> list[str]:
    """The steps of the group whose turn it is, at place `t`."""
    lines = ["g, m = groups[t], nth[t]"]
    for group, numbers in enumerate(order.steps):
        mine = [line for n in numbers for line in _execution(n, steps[n])]
        starts = [f"n{n} = m * {steps[n].repeat}" for n in numbers]
        lines += [f"{'el' * (group > 0)}if g == {group}:", *indented([*starts, *mine])]
    return lines


def _execution(i: int, step: Step) -> list[str]:
    mask = len(step.parameters.rows) - 1 if step.parameters else 0
    sql = f"sql{i}" if step.texts == 1 else f"sql{i}[n{i} & {step.texts - 1}]"
    row = f"pool{i}[n{i} & {mask}]"
    if step.names:  # a dict for each execution, as its user makes it
        places = [f"(given := {row})[0]", *(f"given[{k}]" for k in range(1, len(step.names)))]
        named = zip(step.names, places, strict=True)
        row = f"{{{', '.join(f'{name[1:]!r}: {place}' for name, place in named)}}}"
    call = f"execute({sql}, {row})"
    match step.operation:
        case "get":
            lines = [
                f"row = {call}.fetchone()",
                "if row is not None:",
                *indented(["rows += 1", *_fold(step)]),
            ]
        case "all":
            lines = [f"found = {call}.fetchall()", "rows += len(found)"]
            if fold := _fold(step):
                lines += ["for row in found:", *indented(fold)]
        case "iterate":
            lines = [f"for row in {call}:", *indented(["rows += 1", *_fold(step)])]
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
        case "read-file":
            lines = [
                f"with open(pool{i}[n{i} & {mask}][0], 'rb') as file: v = file.read()",
                "rows += 1",
                f"h = (h * 31 + {_TERMS['blob'].format(v='v')}) & 4294967295",
            ]
        case "execute":
            lines = [f"execute({sql})"]
        case "in-transaction":
            lines = ["h = (h * 31 + connection.in_transaction) & 4294967295"]
        case _:
            raise ValueError(step.operation)
    lines.append(f"n{i} += 1")
    return lines if step.repeat == 1 else [f"for _ in range({step.repeat}):", *indented(lines)]


def texts(step: Step) -> list[str]:
    """The texts of a step that its executions use in turn."""
    return [f"{step.sql} -- {k}" for k in range(step.texts)]


def unmet(step: Step) -> str:
    """What to say of an execution that succeeds where it has to fail."""
    return f"succeeded, expected to fail with code {step.fails}: {step.sql}"


def _fold(step: Step) -> list[str]:
    lines: list[str] = []
    if step.values == "unread":
        return lines
    for position, column in enumerate(step.columns):
        lines.append(f"v = row[{_key(step, position, column)}]")
        x = _TERMS[column.type].format(v="v")
        term = f"({values.NULL} if v is None else {x})" if column.nullable else x
        lines.append(f"h = (h * 31 + {term}) & 4294967295")
    return lines


def _key(step: Step, position: int, column: Column) -> str:
    return repr(column.name) if step.shape == "object" else str(position)
