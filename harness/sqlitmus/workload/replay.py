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
from typing import Any, NamedTuple

from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.catalog.scenario import Scenario, ScenarioStep
from sqlitmus.machine.system import usable
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted
from sqlitmus.workload import parts as query_parts, statements
from sqlitmus.workload.file import Recording, Source
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


@dataclass(frozen=True, slots=True)
class _Replay:
    """The parts that a recording's requests are of, and what each part's steps bind; they are made
    by `connection`, to a copy of the database, and `proofs` show what they write."""

    parts: dict[str, query_parts.Part]
    rows: dict[str, list[list[Row]]]
    connection: sqlite3.Connection
    proofs: dict[str, query_parts.Proof]
    profile: str
    workers: int
    leave: Callable[[str], None] | None

    def requests(self, recording: Recording) -> list[_Request]:
        """Those whose queries can be measured."""
        turns: Counter[str] = Counter()
        requests: list[_Request] = []
        times = recording.times or [None] * len(recording.order)
        for name, connection, at in zip(recording.order, recording.connections, times, strict=True):
            if name in self.parts:
                requests.append(_Request(name, turns[name], connection % self.workers, at))
                turns[name] += 1
        return requests

    def scenarios(self, requests: list[_Request]) -> Iterable[tuple[str, Scenario]]:
        """By name; requests that fail are left out, and told. Raises Refused, _Short and NoPool."""
        for _ in range(ATTEMPTS):
            orders = [requests]
            if self.workers > 1 and self.proofs:  # one worker after the other, too
                orders.append(sorted(requests, key=lambda request: request.worker))
                orders.append(sorted(requests, key=lambda request: -request.worker))
            tries = [self._tried(order) for order in orders]
            failed = set[_Request]().union(*(tried.failed for tried in tries))
            if not failed:
                break
            reason = next((tried.reason for tried in tries if tried.reason), "")
            if reason:
                count = counted(len(requests), "request")
                words = f"{len(failed):,} of {count} that fail: {reason}"
                if self.leave is None:
                    raise Refused(words)
                self.leave(f"replayed without {words}")
            requests = [request for request in requests if request not in failed]
        else:
            raise Refused("requests fail whichever are left out")
        requests = self._whole(requests)
        facts, answered = self._facts(requests, tries), tries[0].answered
        yield query_parts.REPLAY, self._closed(facts, requests, answered)
        if all(request.at is not None for request in requests):
            yield query_parts.TIMED_REPLAY, self._timed(facts, requests, answered)

    def _tried(self, requests: Sequence[_Request]) -> _Tried:
        """Make these requests one after the other, and undo what they did. Raises Refused."""
        tried, end = _Tried(), time.monotonic() + ENOUGH_S
        connection = self.connection
        connection.execute("BEGIN")
        with statements.limited(connection), confined(connection):
            for number, request in enumerate(requests):
                connection.execute("SAVEPOINT request")
                try:
                    self._make(request, tried)
                except sqlite3.Error as error:
                    tried.failed.add(request)
                    tried.reason = tried.reason or str(error)
                    connection.execute("ROLLBACK TO request")
                connection.execute("RELEASE request")
                if time.monotonic() > end:
                    tried.failed |= {*requests[number + 1 :]}
                    break
        tried.held = query_parts.sums_held(connection, self.proofs)
        connection.execute("ROLLBACK")
        return tried

    def _make(self, request: _Request, tried: _Tried) -> None:
        part, rows = self.parts[request.query], self.rows[request.query]
        seen = tried.answered.setdefault(request.query, [Answered() for _ in part.steps])
        for step, bound, answered in zip(part.steps, rows, seen, strict=True):
            sql = step.text({})
            for row in bound[request.turn * step.repeat : (request.turn + 1) * step.repeat]:
                cursor = self.connection.execute(sql, row)
                if not answered.types:
                    answered.types = {name: set() for name in step.columns}
                fetched = [cursor.fetchone() or ()] if step.operation == "get" else cursor
                for values in fetched:
                    answered.see(values)
                tried.affected += max(cursor.rowcount, 0)

    def _whole(self, requests: Sequence[_Request]) -> list[_Request]:
        """The first of them, a power of two, whose rows pools hold. Raises _Short for few."""
        count = 1 << (max(len(requests), 1).bit_length() - 1)
        while count >= LEAST:
            often = Counter(request.query for request in requests[:count])
            most = max(often[n] * step.repeat for n in often for step in self.parts[n].steps)
            if most <= LONGEST:
                return [*requests[:count]]
            count //= 2
        raise _Short(f"it has {counted(len(requests), 'request')} for it, and {LEAST} are needed")

    def _facts(self, requests: Sequence[_Request], tries: Sequence[_Tried]) -> dict[str, Any]:
        """What both scenarios have in common."""
        parts = [self.parts[name] for name in {request.query: 0 for request in requests}]
        decided = query_parts.Decided.of(
            self.proofs, [(tried.held, tried.affected) for tried in tries]
        )
        several = len(tries) > 1
        ascii_ends = all(seen.ascii_ends for of in tries[0].answered.values() for seen in of)
        notes = [f"The first {len(requests):,} requests of the trace, in their order."]
        changes = decided.changes(self.proofs, notes)
        return {
            **changes,
            "group": "replay",
            "bound_by": "mixed",
            "unit": "query",
            "fixture": "workload",
            "writes": bool(self.proofs),
            "order_decides": changes["order_decides"] if several else [],
            "tolerate_busy": several,
            "ascii_ends": ascii_ends and all(part.ascii_ends for part in parts),
            "axes": {"profile": [self.profile], "workers": [str(self.workers)]},
        }

    def _closed(
        self,
        facts: Mapping[str, Any],
        requests: Sequence[_Request],
        answered: Mapping[str, list[Answered]],
    ) -> Scenario:
        steps, sequence = self._steps(requests, answered)
        count = len(requests)
        work = {"warmup_operations": count // 4, "timed_operations": count // 4 * 3}
        return Scenario.model_validate(
            {
                **facts,
                "title": "The trace, one request after the other",
                "question": "What do the trace's requests cost in their order, on its connections?",
                "steps": steps,
                "sequence": sequence,
                "operations": count // 16 if self.proofs else min(count, 256),
                **(work if self.proofs else {}),
            }
        )

    def _timed(
        self,
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
        steps, sequence = self._steps(in_time[:count], answered)
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

    def _steps(
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
            each = zip(part.steps, self.rows[name], answered[name], strict=True)
            bound = [_step(step, turns, rows, seen) for step, rows, seen in each]
            mine = query_parts.within(part.query.transaction, bound)
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
    columns: dict[str, str] = {}
    for name, kind in seen.typed().items():
        before, has_values = step.columns[name], seen.types[name] - {type(None)}
        bare = (kind if has_values else before).removesuffix("?")
        columns[name] = f"{bare}?" if "?" in kind + before else bare
    wide, nul = step.wide or seen.wide, step.nul or bool(seen.cut)
    changes = {"given": given, "columns": columns, "wide": wide, "nul": nul}
    return step.model_copy(update=changes)


def replays(
    source: Source,
    file: Path,
    parts: Sequence[query_parts.Part],
    proofs: Mapping[str, query_parts.Proof],
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
    able = {part.name: part for part in parts if part.name in recording.rows}
    rows: dict[str, list[list[Row]]] = {}
    for name, part in able.items():
        pairs = zip(part.query.parts(), recording.rows[name], strict=True)
        orders = [(statements.positional(statement.sql)[1], of) for statement, of in pairs]
        rows[name] = [statements.arranged([tuple(r) for r in of], to) for to, of in orders]
    written = {table for part in able.values() for table in part.written}
    mine = {table: of for table, of in proofs.items() if table in written}
    most = source.workload.workers if source.workload.workers > 1 else usable()
    workers = min(max(recording.connections) + 1, most)
    try:
        with statements.scratch(file, keys=keys) as (connection, _):
            replay = _Replay(able, rows, connection, mine, profile, workers, leave)
            return dict(replay.scenarios(replay.requests(recording)))
    except (Refused, NoPool, _Short) as error:
        words = f"{source.workload.trace}: it is not replayed as recorded: {error}"
        if leave is None:
            raise UsageError(words) from error
        leave(words)
        return {}


class _Short(Exception):
    """Too few requests can be replayed."""


_SHORTENED = (
    f"Requests come when they came in the trace, but for pauses of more than {PAUSE_S * 1e3:g} ms, "
    "which are that long here; latency counts from these times, so that a stall shows in all that "
    "had to wait."
)
