"""Divides a suite among machines by scenario, so that no comparison crosses machines. Pure.

Each machine divides for itself and all must get the same result, so the division uses definitions
alone, never a pilot.
"""

import hashlib
import json
import re
from collections import defaultdict

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import Cells, PlannedCase, Shard
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.nouns import counted

# Of an invocation, on average over the runners; about what pilots find on two cores.
START_S = 0.1
ITERATION_S = 0.02  # long enough on the fastest runner means longer on the others
COPY_S = 0.08  # a database to write into, and what writing adds to a start
WORKER_S = 0.03  # the start of one


def parse(text: str) -> tuple[int, int]:
    """Number and count of `2/6`; raises UsageError."""
    match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"--shard {text!r}: expected K/N with K from 1 to N, such as 2/6")
    return number, count


def predicted(case: PlannedCase, runners: int, catalog: Catalog) -> float:
    """Predicted seconds of one block of `case` with that many runners, from definitions alone."""
    each = START_S
    if case.metric != "cold":
        timed = case.iterations + case.warmup_iterations
        each += case.warmup_ms / 1e3 + timed * ITERATION_S
    if catalog.scenarios[case.scenario].writes:
        each += COPY_S
    if "workers" in case.axes:
        each += case.workers * WORKER_S
    return each * runners


def divide(cases: list[PlannedCase], cells: Cells, catalog: Catalog, count: int) -> list[list[str]]:
    """The scenarios of each of `count` shards: the longest goes first, to the emptiest shard.

    Raises UsageError when there are fewer scenarios than shards.
    """
    # whole milliseconds: a sum of fractions would depend on the order
    spent: dict[str, int] = defaultdict(int)
    for case in cases:
        spent[case.scenario] += round(1000 * predicted(case, len(cells[case.id]), catalog))
    if len(spent) < count:
        raise UsageError(
            f"{counted(len(spent), 'scenario')} cannot be divided into {count} shards; a "
            "scenario stays whole, so that its runners are compared on one machine"
        )
    filled = [0] * count
    shards: list[list[str]] = [[] for _ in range(count)]
    for name in sorted(spent, key=lambda name: (-spent[name], name)):
        emptiest = filled.index(min(filled))
        filled[emptiest] += spent[name]
        shards[emptiest].append(name)
    return shards


def take(
    shard: tuple[int, int],
    cases: list[PlannedCase],
    cells: Cells,
    catalog: Catalog,
    settings: object,
) -> tuple[list[PlannedCase], Cells, Shard]:
    """The cases and cells of this shard, and the record by which `merge` knows its siblings.

    `settings` is everything else in which the shards of one whole must agree.
    """
    number, count = shard
    scenarios = divide(cases, cells, catalog, count)
    whole = json.dumps([settings, count, scenarios, cells], sort_keys=True)
    mine = [case for case in cases if case.scenario in scenarios[number - 1]]
    key = hashlib.sha256(whole.encode()).hexdigest()[:16]
    return mine, {c.id: cells[c.id] for c in mine}, Shard(number=number, of=count, whole=key)
