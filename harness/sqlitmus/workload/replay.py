"""A trace as it was recorded: its first requests in their order, one after the other on each
connection, or at the times at which they came.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.catalog.scenario import ColumnType, Scenario, ScenarioStep
from sqlitmus.machine.system import usable
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted
from sqlitmus.workload import statements
from sqlitmus.workload.file import Recording, Source
from sqlitmus.workload.parts import REPLAY, TIMED_REPLAY, Decided, Part, Proof, sums_held
from sqlitmus.workload.statements import LONGEST, Answered, NoPool, Row

LEAST = 128  # requests of a replay: a p99 needs no fewer
ENOUGH_S = 5.0  # of requests that are tried, and of recorded times
PAUSE_S = 0.02  # the longest between two requests: as many as `LEAST` then fit into `ENOUGH_S`
ATTEMPTS = 3  # to find requests that fail once others are left out


class _Request(NamedTuple):
    """A request: its query, how often that came before in the recording, who makes it and when."""

    query: str
    turn: int
    worker: int
    at: float | None


@dataclass(slots=True)
class _Tried:
    """What requests did in the copy of a database: those that failed, and the first reason; what
    each statement of a query answered; what the tables held, and how many rows were changed."""

    failed: set[_Request] = field(default_factory=set[_Request])
    reason: str = ""
    answered: dict[str, list[Answered]] = field(default_factory=dict[str, list[Answered]])
    held: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    affected: int = 0
    late: bool = False


@dataclass(frozen=True, slots=True)
class _Replay:
    """The requests of a recording, the parts that they are of, and what each part's steps bind."""

    requests: list[_Request]
    parts: dict[str, Part]
    rows: dict[str, list[list[Row]]]

    @classmethod
    def of(cls, recording: Recording, parts: Iterable[Part], workers: int) -> "_Replay":
        """Those requests whose queries can be measured."""
        able = {part.name: part for part in parts if part.name in recording.rows}
        rows: dict[str, list[list[Row]]] = {}
        for name, part in able.items():
            pairs = zip(part.query.parts(), recording.rows[name], strict=True)
            orders = [(statements.positional(statement.sql)[1], of) for statement, of in pairs]
            rows[name] = [statements.arranged([tuple(r) for r in of], to) for to, of in orders]
        turns: Counter[str] = Counter()
        requests: list[_Request] = []
        times = recording.times or [None] * len(recording.order)
        for name, connection, at in zip(recording.order, recording.connections, times, strict=True):
            if name in able:
                requests.append(_Request(name, turns[name], connection % workers, at))
                turns[name] += 1
        return cls(requests, able, rows)

    def tried(
        self,
        connection: sqlite3.Connection,
        requests: Sequence[_Request],
        proofs: Mapping[str, Proof],
    ) -> _Tried:
        """Make these requests one after the other, and undo what they did. Raises Refused."""
        tried, end = _Tried(), time.monotonic() + ENOUGH_S
        connection.execute("BEGIN")
        with statements.limited(connection), confined(connection):
            for number, request in enumerate(requests):
                connection.execute("SAVEPOINT request")
                try:
                    self._make(connection, request, tried)
                except sqlite3.Error as error:
                    tried.failed.add(request)
                    tried.reason = tried.reason or str(error)
                    connection.execute("ROLLBACK TO request")
                connection.execute("RELEASE request")
                if time.monotonic() > end:
                    tried.failed |= {*requests[number + 1 :]}
                    tried.late = True
                    break
        tried.held = sums_held(connection, proofs)
        connection.execute("ROLLBACK")
        return tried

    def _make(self, connection: sqlite3.Connection, request: _Request, tried: _Tried) -> None:
        part, rows = self.parts[request.query], self.rows[request.query]
        seen = tried.answered.setdefault(request.query, [Answered() for _ in part.steps])
        for step, bound, answered in zip(part.steps, rows, seen, strict=True):
            sql = step.text({})
            for row in bound[request.turn * step.repeat : (request.turn + 1) * step.repeat]:
                cursor = connection.execute(sql, row)
                if not answered.types:
                    answered.types = {name: set() for name in step.columns}
                fetched = [cursor.fetchone() or ()] if step.operation == "get" else cursor
                for values in fetched:
                    answered.see(values)
                tried.affected += max(cursor.rowcount, 0)

    def steps(
        self, requests: Sequence[_Request], answered: Mapping[str, list[Answered]]
    ) -> tuple[list[ScenarioStep], contract.Sequence]:
        """The steps that these requests take, and their sequence. Raises Refused and NoPool for
        what no typed getter reads and no runner binds."""
        names = list(dict.fromkeys(request.query for request in requests))
        steps: list[ScenarioStep] = []
        groups: list[int] = []
        for name in names:
            part = self.parts[name]
            turns = [request.turn for request in requests if request.query == name]
            mine = [
                _step(step, turns, rows, seen)
                for step, rows, seen in zip(
                    part.steps, self.rows[name], answered[name], strict=True
                )
            ]
            kind = part.query.transaction
            if kind != "none":
                begin = ScenarioStep(operation="execute", sql=f"BEGIN {kind.upper()}")
                mine = [begin, *mine, ScenarioStep(operation="execute", sql="COMMIT")]
            steps += mine
            groups.append(len(mine))
        workers = [request.worker for request in requests]
        sequence = contract.Sequence(
            groups=groups,
            order=[names.index(request.query) for request in requests],
            workers=workers if any(workers) else [],
        )
        return steps, sequence


def _step(
    step: ScenarioStep, turns: Sequence[int], rows: Sequence[Row], seen: Answered
) -> ScenarioStep:
    """`step` with what it binds in these turns of its query, and the columns that it then gives."""
    bound = [rows[turn * step.repeat + n] for turn in turns for n in range(step.repeat)]
    count = len(bound[0])
    given = statements.pool(bound, count, distinct=False) if count else None
    columns: dict[str, ColumnType] = {}
    for name, kind in seen.typed().items():
        before, has_values = step.columns[name], seen.types[name] - {type(None)}
        bare = (kind if has_values else before).removesuffix("?")
        nullable = "?" if "?" in kind + before else ""
        columns[name] = cast("ColumnType", f"{bare}{nullable}")
    changes = {"given": given, "columns": columns}
    flags = {"wide": step.wide or seen.wide, "nul": step.nul or bool(seen.cut)}
    return step.model_copy(update={**changes, **flags})


def replays(
    source: Source,
    file: Path,
    parts: Sequence[Part],
    proofs: Mapping[str, Proof],
    leave: Callable[[str], None] | None,
    *,
    profile: str,
    keys: bool,
) -> dict[str, Scenario]:
    """The requests of a trace as scenarios, in their order and, where the trace has times, at
    these; none of fewer than `LEAST`. `leave` is told what cannot be replayed. Raises UsageError
    for it where there is none."""
    recording = source.recording
    if recording is None or len(recording.order) < LEAST:
        return {}
    most = source.workload.workers if source.workload.workers > 1 else usable()
    workers = min(max(recording.connections) + 1, most)
    replay = _Replay.of(recording, parts, workers)
    try:
        with statements.scratch(file, keys=keys) as (connection, _):
            return dict(_scenarios(replay, connection, proofs, profile, workers, leave))
    except (Refused, NoPool, _Short) as error:
        words = f"{source.workload.trace}: it is not replayed as recorded: {error}"
        if leave is None:
            raise UsageError(words) from error
        leave(words)
        return {}


class _Short(Exception):
    """Too few requests can be replayed."""


def _scenarios(
    replay: _Replay,
    connection: sqlite3.Connection,
    proofs: Mapping[str, Proof],
    profile: str,
    workers: int,
    leave: Callable[[str], None] | None,
) -> Iterable[tuple[str, Scenario]]:
    written = {table for part in replay.parts.values() for table in part.written}
    mine = {table: of for table, of in proofs.items() if table in written}
    requests = replay.requests
    for _ in range(ATTEMPTS):
        tries = [
            replay.tried(connection, order, mine)
            for order in _orders(requests, several=workers > 1 and bool(mine))
        ]
        failed = set[_Request]().union(*(tried.failed for tried in tries))
        if not failed:
            break
        reason = next((tried.reason for tried in tries if tried.reason), "")
        if reason:
            words = f"{len(failed):,} of {counted(len(requests), 'request')} that fail: {reason}"
            if leave is None:
                raise Refused(words)
            leave(f"replayed without {words}")
        requests = [request for request in requests if request not in failed]
    else:
        raise Refused("requests fail whichever are left out")
    requests = _whole(replay, requests)
    facts = _facts(replay, requests, tries, mine, profile, workers)
    steps, sequence = replay.steps(requests, tries[0].answered)
    yield REPLAY, _closed(facts, steps, sequence, writes=bool(mine))
    if all(request.at is not None for request in requests):
        yield TIMED_REPLAY, _timed(replay, facts, requests, tries[0].answered)


def _orders(requests: Sequence[_Request], *, several: bool) -> list[list[_Request]]:
    """The orders in which requests may come: as recorded, and of `several` workers one after the
    other, too."""
    orders = [[*requests]]
    if several:
        by_worker = sorted(requests, key=lambda request: request.worker)
        orders += [by_worker, sorted(requests, key=lambda request: -request.worker)]
    return orders


def _whole(replay: _Replay, requests: Sequence[_Request]) -> list[_Request]:
    """The first of them, a power of two, whose rows pools hold. Raises _Short for few."""
    count = 1 << (max(len(requests), 1).bit_length() - 1)
    while count >= LEAST:
        often = Counter(request.query for request in requests[:count])
        most = max(often[name] * step.repeat for name in often for step in replay.parts[name].steps)
        if most <= LONGEST:
            return [*requests[:count]]
        count //= 2
    raise _Short(f"it has {counted(len(requests), 'request')} for it, and {LEAST} are needed")


def _facts(
    replay: _Replay,
    requests: Sequence[_Request],
    tries: Sequence[_Tried],
    proofs: Mapping[str, Proof],
    profile: str,
    workers: int,
) -> dict[str, Any]:
    """What both scenarios have in common."""
    parts = [replay.parts[name] for name in {request.query: 0 for request in requests}]
    decided = Decided.of(proofs, [(tried.held, tried.affected) for tried in tries])
    several = len(tries) > 1
    ascii_ends = all(seen.ascii_ends for of in tries[0].answered.values() for seen in of)
    undecided = ["rows", "checksum", *(["affected"] if decided.affected else [])]
    return {
        "group": "replay",
        "bound_by": "mixed",
        "unit": "query",
        "fixture": "workload",
        "writes": bool(proofs),
        "order_decides": undecided if several else [],
        "tolerate_busy": several,
        "readback": [of.query(decided.sums.get(table, ())) for table, of in proofs.items()],
        "ascii_ends": ascii_ends and all(part.ascii_ends for part in parts),
        "axes": {"profile": [profile], "workers": [str(workers)]},
        "notes": [
            f"The first {len(requests):,} requests of the trace, in their order.",
            *filter(None, [str(decided)]),
        ],
    }


def _closed(
    facts: Mapping[str, Any],
    steps: list[ScenarioStep],
    sequence: contract.Sequence,
    *,
    writes: bool,
) -> Scenario:
    count = len(sequence.order)
    work = {"warmup_operations": count // 4, "timed_operations": count // 4 * 3}
    return Scenario.model_validate(
        {
            **facts,
            "title": "The trace, one request after the other",
            "question": "What do the trace's requests cost in their order, on its connections?",
            "steps": steps,
            "sequence": sequence,
            "operations": count // 16 if writes else min(count, 256),
            **(work if writes else {}),
        }
    )


_SHORTENED = (
    f"Requests come when they came in the trace, but for pauses of more than {PAUSE_S * 1e3:g} ms, "
    "which are that long here; latency counts from these times, so that a stall shows in all that "
    "had to wait."
)


def _timed(
    replay: _Replay,
    facts: Mapping[str, Any],
    requests: Sequence[_Request],
    answered: Mapping[str, list[Answered]],
) -> Scenario:
    in_time = sorted(requests, key=lambda request: request.at or 0.0)
    times, planned = [request.at or 0.0 for request in in_time], [0.0]
    for before, after in pairwise(times):
        planned.append(planned[-1] + min(after - before, PAUSE_S))
    count = len(in_time)
    while planned[count - 1] > ENOUGH_S:
        count //= 2
    steps, sequence = replay.steps(in_time[:count], answered)
    planned_us = [round(each * 1e6) for each in planned[:count]]
    return Scenario.model_validate(
        {
            **facts,
            "title": "The trace, at the times that it recorded",
            "question": "How long does a request take at most, 99 times in 100, when it comes?",
            "metric": "p99",
            "steps": steps,
            "sequence": sequence.model_copy(update={"planned_us": planned_us}),
            "operations": count // 2,
            "warmup_iterations": 1,
            "iterations": 1,
            "fixed": True,
            "latencies": True,
            "notes": [*facts["notes"], _SHORTENED],
        }
    )
