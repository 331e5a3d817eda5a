"""A workload as scenarios, a fixture and a suite, which are measured like the built-in ones."""

import itertools
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from math import ceil, gcd
from pathlib import Path
from typing import NamedTuple

from sqlitmus.catalog import fixture
from sqlitmus.catalog.authorizer import Refused, confined
from sqlitmus.catalog.cases import PlannedWorkload
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.scenario import Fixture, Scenario, ScenarioStep, Suite
from sqlitmus.catalog.settings import Settings, Trying, trying, trying_workload
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import listed, normal_pragma
from sqlitmus.workload import parts as query_parts, statements
from sqlitmus.workload.database import Snapshot, check_room, snapshot
from sqlitmus.workload.file import Source, Workload, read as read_file
from sqlitmus.workload.replay import replays
from sqlitmus.workload.trace import with_queries

# Their times are no latencies: those at a rate are of the schedule, where it is kept.
KEEPING_UP = "keeping up"
TIMED_ROUNDS = "timed rounds"
LEAST = 100  # rounds that a process times: a p99 needs no fewer
LONGEST_S, MEASURED_S, WARMUP_S, ITERATION_S = 5.0, 0.5, 0.3, 0.1
MOST = 2048  # rounds of an iteration


class Counts(NamedTuple):
    """Rounds of an iteration, over all workers, and how many of these there are."""

    operations: int
    warmup_iterations: int
    iterations: int


def latency_scenarios(source: Source, mix: Scenario, most: int | None) -> dict[str, Scenario]:
    """`mix` with all workers as such scenarios, by name; a process does it `most` times at most.

    Raises UsageError for a rate at which a p99 takes too long, or more rounds than that.
    """
    made: dict[str, Scenario] = {}
    workers = source.workload.workers
    for number, (name, rate) in enumerate(query_parts.paced(source.workload).items()):
        rounds = rate and rate / mix.per_operation
        if rounds and rounds * LONGEST_S < LEAST:
            raise source.wrong(
                ("rates", number),
                f"{rate:g} queries a second are {rounds:.3g} rounds of the mix, which has "
                f"{mix.per_operation} queries, and {LEAST / LONGEST_S:g} are needed; give a higher "
                "rate, or weights that are smaller whole numbers",
            )
        each = mix.operations if most is None else max(min(mix.operations, (most - LEAST) // 3), 1)
        counts = at_rate(rounds, workers, mix.reset_every) if rounds else closed(each)
        needed = counts.operations * (counts.warmup_iterations + counts.iterations)
        if most is not None and needed > most:
            raise source.wrong(
                ("rates", number) if rate else ("limits", "p99_ms"),
                f"it needs {needed:,} rounds of the mix in a process, and {most:,} can be done, "
                "since nothing undoes what a query writes; give that more rows of parameters or a "
                "`reset`, or take this out",
            )
        at = f"at {rate:,g} queries a second" if rate else "one round after the other"
        made[name] = mix.model_copy(
            update={
                **counts._asdict(),
                "title": f"The mix {at}",
                "question": f"How long does a round of the mix take, {at}?",
                "group": KEEPING_UP if rate else TIMED_ROUNDS,
                "latencies": True,
                "rate": rounds and rounds / workers,
                "fixed": True,
                "reset_every": None,
                "axes": {**mix.axes, "workers": [str(workers)]},
                "notes": [_OPEN_LOOP] if rate else [],
            }
        )
    return made


_OPEN_LOOP = (
    "An open loop: rounds start at planned times, and latency counts from those, so that a stall "
    "shows in all that had to wait. The time per query is that of the schedule where it is kept."
)


def at_rate(rounds: float, workers: int, most: int | None) -> Counts:
    """Counts for so many `rounds` a second; `most` bounds those of an iteration."""
    each = max(round(rounds * ITERATION_S / workers), 1) * workers
    operations = min(each, most or MOST, MOST)
    return Counts(
        operations,
        max(ceil(WARMUP_S * rounds / operations), 1),
        ceil(max(MEASURED_S * rounds, LEAST) / operations),
    )


def closed(operations: int) -> Counts:
    """Counts where nothing is known of how long a round takes but its instructions."""
    return Counts(operations, 2, max(ceil(LEAST / operations), 4))


SUITE = "workload"
QUERIES = "queries"  # the group of those by themselves
INSTRUCTIONS = 2_000_000  # of an iteration without a pilot, about a tenth of a second
MOST_QUERIES = 256  # of an iteration, too
WARMUP, TIMED = 2, 4  # iterations that a process does of what writes no checkpoint's worth
# what a process may do for its checkpoints, and of the mix before the first one
HEAVIEST, HEAVIEST_MIX = 5 * INSTRUCTIONS, 20 * INSTRUCTIONS
AUTOCHECKPOINT = 1000  # pages of the log, SQLite's default


def catalogue(
    source: Source,
    copy: Snapshot,
    catalog: Catalog,
    leave: Callable[[str], None] | None = None,
) -> Catalog:
    """`catalog` with the workload's scenarios and suite in place of its own.

    Raises UsageError with file and line for a query that cannot be measured; see `parts_of`.
    """
    left_out: list[str] = []
    name, profile = source.profile(catalog)
    keys = _checks_keys(dict(profile.pragmas))
    parts, every = query_parts.parts_of(source, copy.file, leave and left_out.append, keys=keys)
    if leave:
        for words in left_out:
            leave(words)
    written = _writing(copy, parts, dict(profile.pragmas))
    scenarios = {part.name: _alone(part, name, written[part.name]) for part in parts}
    first = min(parts, key=lambda part: bool(part.written))  # one that reads, where there is one
    scenarios |= {query_parts.START: _start(first, name)}
    mix = _mix(parts, name, source.workload.workers, written)
    if source.workload.workers > 1 and mix.writes:
        mix = _of_several_writers(mix, copy.file, parts, keys=keys)
    if len(parts) > 1:
        scenarios[query_parts.MIX] = mix
    whole = query_parts.MIX if query_parts.MIX in scenarios else first.name
    notes = [*scenarios[whole].notes, *left_out]
    scenarios[whole] = scenarios[whole].model_copy(update={"notes": notes})
    scenarios |= latency_scenarios(source, mix, _most(parts))
    scenarios |= replays(source, copy.file, every, _proofs(every), leave, profile=name, keys=keys)
    checks = _checks(source, copy.file)
    for case, spec in scenarios.items():
        if spec.writes:
            scenarios[case] = spec.model_copy(update={"checks": checks})
    fixture = Fixture(
        title=copy.about.name,
        sizes=dict.fromkeys("sml", 1),
        seed=0,
        tables=[],
        indexes=[],
        fill={},
        content=copy.about.content,
    )
    suite = Suite(
        title=source.file.stem,
        summary=f"the workload {source.file.name} on {copy.about.name}",
        mode=SUITE if SUITE in catalog.modes else "quick",
        oracle=False,
        cases=[{"scenario": case, **spec.axes} for case, spec in scenarios.items()],
    )
    changes = {
        "scenarios": scenarios,
        "profiles": {**catalog.profiles, name: profile},
        "fixtures": {SUITE: fixture},
        "suites": {SUITE: suite},
    }
    return catalog.model_copy(update=changes)


# What SQLite itself finds wrong with a database.
CHECKS = {
    "integrity_check": "SELECT * FROM pragma_integrity_check(9) WHERE integrity_check <> 'ok'",
    "foreign_key_check": "SELECT * FROM pragma_foreign_key_check",
}


def _checks(source: Source, file: Path) -> dict[str, str]:
    """SQLite's checks, where it has all that they need, and the workload's. Raises UsageError for
    one that is no query, or finds a row before anything was written."""
    checks: dict[str, str] = {}
    problems: list[str] = []
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        for name, sql in CHECKS.items():
            with suppress(sqlite3.Error):  # such as no collation
                connection.execute(sql).fetchone()
                checks[name] = sql
        for name, sql in source.workload.check.items():
            if words := _unfit(connection, sql):
                problems.append(str(source.wrong(("check", name), words)))
    if problems:
        raise UsageError("\n".join(problems))
    return checks | source.workload.check


def _unfit(connection: sqlite3.Connection, sql: str) -> str:
    """Why `sql` cannot be a check, "" where it can."""
    try:
        looked = statements.look(connection, sql)
        if looked.parameters or not (looked.reads and looked.rows):
            return "it is no query without parameters; write a SELECT"
        with statements.limited(connection), confined(connection):
            first = connection.execute(sql).fetchone()
    except Refused as error:
        return str(error)
    finds = "it finds a row before anything is written; a check is a query for what must never be"
    return finds if first else ""


def _checks_keys(pragmas: Mapping[str, str | int]) -> bool:
    """Whether foreign keys are checked."""
    return normal_pragma("foreign_keys", pragmas.get("foreign_keys")) == "1"


class Writing(NamedTuple):
    """The share of a checkpoint's pages that an operation appends to the write-ahead log, 0 where
    that is unknown, and whether each commit `syncs`."""

    share: float
    syncs: bool


_UNSYNCED = ("NORMAL", "OFF", "0", "1")  # of a write-ahead log, values of PRAGMA synchronous


def _writing(
    copy: Snapshot, parts: Sequence[query_parts.Part], pragmas: Mapping[str, str | int]
) -> dict[str, Writing]:
    """What each query writes with `pragmas`, by name."""
    journal = str(pragmas.get("journal_mode", copy.about.journal_mode)).lower()
    queries = {
        part.name: statements.Query.of(part.steps, part.query.transaction, part.most)
        for part in parts
        if part.written
    }
    pages: dict[str, float] = {}
    if queries and journal == "wal":
        pages = statements.logged(copy.file, queries, keys=_checks_keys(pragmas))
    limit = int(pragmas.get("wal_autocheckpoint", AUTOCHECKPOINT))
    syncs = str(pragmas.get("synchronous", "FULL")).upper() not in _UNSYNCED
    return {
        part.name: Writing(pages.get(part.name, 0.0) / limit if limit > 0 else 0.0, syncs=syncs)
        for part in parts
    }


def _alone(part: query_parts.Part, profile: str, writing: Writing) -> Scenario:
    """One query by itself, in one thread."""
    return _scenario(
        title=part.name,
        question=f"What does {part.name} cost, with a weight of {part.query.weight:g}?",
        group=QUERIES,
        parts=[part],
        steps=part.steps,
        transaction=part.query.transaction,
        operations=_operations(part.instructions),
        instructions=part.instructions,
        most=part.most,
        writing=writing,
        profile=profile,
        notes=part.notes,
    )


def _mix(
    parts: Sequence[query_parts.Part], profile: str, workers: int, writing: Mapping[str, Writing]
) -> Scenario:
    """All queries, one after the other by weight, in one thread and in `workers` of them."""
    pairs = query_parts.in_a_round(parts)
    most = [part.most // count for part, count in pairs if part.most]
    queries = sum(count for _, count in pairs)
    instructions = sum(part.instructions * count for part, count in pairs)
    written = Writing(
        sum(writing[part.name].share * count for part, count in pairs),
        syncs=writing[parts[0].name].syncs,
    )
    return _scenario(
        title="The mix",
        question="What do all queries cost together, each as often as its weight says?",
        group="mix",
        parts=parts,
        steps=[step for part, count in pairs for step in _repeated(part, count)],
        operations=_operations(instructions, queries),
        instructions=instructions,
        most=_most(parts) or (max(min(most), 1) if most else None),
        writing=written,
        heaviest=HEAVIEST_MIX,
        notes=_short_of_rows(pairs, instructions, written),
        profile=profile,
        workers=list(dict.fromkeys(["1", str(workers)])),
        per_operation=queries,
    )


def _most(parts: Sequence[query_parts.Part]) -> int | None:
    """Rounds of the mix that a process can do, None where all that is written is undone."""
    if not any(part.lasting for part in parts):
        return None
    # each of several times in a round has a power of two of the rows
    return min(
        _power(part.most // count) for part, count in query_parts.in_a_round(parts) if part.most
    )


def _of_several_writers(
    mix: Scenario, file: Path, parts: Sequence[query_parts.Part], *, keys: bool
) -> Scenario:
    """`mix` without what the order of its workers decides."""
    proofs = _proofs(parts)
    decided = query_parts.decided_by_order(file, mix, proofs, keys=keys)
    return mix.model_copy(update=decided.changes(proofs, mix.notes))


def _proofs(parts: Iterable[query_parts.Part]) -> dict[str, query_parts.Proof]:
    """By table, in order of name."""
    each = [(table, of) for part in parts for table, of in part.proofs.items()]
    # of several the one of fewer sums: what a part writes may not be foreseen
    each.sort(key=lambda pair: (pair[0], -len(pair[1].sums)))
    return dict(each)


def _repeated(part: query_parts.Part, count: int) -> list[ScenarioStep]:
    """The steps of a query that comes `count` times in an operation of the mix.

    One statement without a transaction is repeated. Of others each time has steps of its own, which
    share the rows of the pools, so that none is written twice.
    """
    kind = part.query.transaction
    if kind == "none" and len(part.steps) == 1:
        (step,) = part.steps
        return [step.model_copy(update={"repeat": step.repeat * count})]
    steps: list[ScenarioStep] = []
    for number in range(count):
        mine = [
            step.model_copy(update={"given": statements.share(step.given, number, count)})
            for step in part.steps
        ]
        steps += query_parts.within(kind, mine)
    return steps


def _start(first: query_parts.Part, profile: str) -> Scenario:
    """From the start of a process to the first query's first answer."""
    step = first.steps[0]
    return _scenario(
        title="Start to first answer",
        question="How long from process start to the first query answered and the process gone?",
        group="start-up",
        unit="process",
        parts=[first],
        steps=[step.model_copy(update={"repeat": 1})],
        operations=1,
        profile=profile,
        metric="cold",
    )


def _scenario(
    *,
    parts: Sequence[query_parts.Part],
    profile: str,
    operations: int,
    workers: Sequence[str] = (),
    most: int | None = None,
    instructions: float = 0.0,
    writing: Writing | None = None,
    heaviest: int = HEAVIEST,
    **facts: object,
) -> Scenario:
    """A scenario; an operation has so many `instructions`, and of `most` operations no row is
    written twice."""
    written: dict[str, set[str]] = {}
    for part in parts:
        for table, actions in part.written.items():
            written.setdefault(table, set()).update(actions)
    if most and any(part.lasting for part in parts):
        operations = min(operations, most // query_parts.LEAST_TIMES)
    reset = list(dict.fromkeys(sql for part in parts for sql in part.reset))
    work = None
    if written and writing:
        work = _stated(operations, most, instructions, writing, heaviest)
    every = _power(most or operations * (WARMUP + TIMED))
    if work and sum(work[1:]) <= (most or 0):
        every = sum(work[1:])
    counts = ("operations", "warmup_operations", "timed_operations")
    return Scenario.model_validate(
        {
            "bound_by": "mixed",
            "unit": "query",
            "fixture": SUITE,
            "axes": {"profile": [profile], **({"workers": workers} if workers else {})},
            "writes": bool(written),
            "operations": operations,
            **(dict(zip(counts, work, strict=True)) if work else {}),
            "reset": reset,
            "reset_every": every if reset else None,
            "readback": [of.query() for of in _proofs(parts).values()],
            "ascii_ends": all(part.ascii_ends for part in parts),
            **facts,
        }
    )


def _stated(
    operations: int, most: int | None, instructions: float, writing: Writing, heaviest: int
) -> tuple[int, int, int]:
    """What a process does that writes: the operations of an iteration, those of its warm-up, and
    those timed; at most `most` in all, where rows suffice.

    Two checkpoints fall into those timed, or a multiple, and the time begins half-way between two,
    so that each half has as many; after a first one, since a log that grows is slower than one that
    begins anew. Where that takes too long, none falls into the process at all, which does work of
    the `heaviest` instructions at most.
    """
    # syncs are counted in twice as many, which a reset must not cut either
    each = _power(max(min(operations, (most or 2 * operations) // 2), 1))
    if not writing.share:
        return each, WARMUP * each, TIMED * each
    bearable = (WARMUP + TIMED) * each
    if not writing.syncs:
        bearable = int(heaviest // max(instructions, 1))
        bearable = min(most or bearable, bearable)
        period = _period(writing.share)
        if 7 * period // 2 <= min(bearable, HEAVIEST // max(instructions, 1)):
            return gcd(each, period // 2), 3 * period // 2, 2 * period
    few = _power(max(min(bearable, int(0.8 / writing.share)) // (WARMUP + TIMED), 1))
    warmup, timed = (WARMUP, TIMED) if writing.syncs else (TIMED, WARMUP)  # compilers take time
    return min(each, few), warmup * few, timed * few


def _period(share: float) -> int:
    """Operations from one checkpoint to the next, or a multiple, of which each appends a `share` of
    its pages: an even number with many divisors, so that a set can have many rounds.

    It is rounded so little that over three and a half of them, which a process does, no checkpoint
    moves by more than a quarter of the way to the next.
    """
    apart = 1 / share
    for cycles in itertools.count(1):
        for step in (64, 32, 16, 8, 4, 2):
            period = step * round(cycles * apart / step)
            if period and 3.5 * abs(period - cycles * apart) <= apart / 4:
                return period
    raise AssertionError


def _short_of_rows(
    pairs: Sequence[tuple[query_parts.Part, int]], instructions: float, writing: Writing
) -> list[str]:
    """What the report says where more rows of parameters would let checkpoints be timed."""
    rounds = 7 * _period(writing.share) // 2 if writing.share and not writing.syncs else 0
    if not 0 < rounds * instructions <= HEAVIEST:
        return []
    few = query_parts.rows_wanting(pairs, rounds)
    return [f"Two checkpoints would be timed if {listed(few)}."] if few else []


def _power(count: int) -> int:
    """The largest power of two that is no more."""
    return 1 << (count.bit_length() - 1)


def _operations(instructions: float, queries: int = 1) -> int:
    """Operations of so many queries that an iteration has in verify mode and in the pilot, which
    finds those that are timed: where workers wait for each other's locks, many take seconds."""
    return int(max(min(INSTRUCTIONS // max(instructions, 1), MOST_QUERIES // queries), 1))


ALONE = 3  # copies beside one for each runner: its canary's, one for processes alone, the fixture


def _shares(workload: Workload) -> dict[str, float]:
    """Each query's share of the mix, as that is measured: in whole parts."""
    counts = query_parts.shares([query.weight for query in workload.query.values()])
    return {name: n / sum(counts) for name, n in zip(workload.query, counts, strict=True)}


@dataclass(frozen=True, slots=True)
class Ready:
    """What a session needs to measure a workload."""

    catalog: Catalog
    planned: PlannedWorkload
    profile: str
    pragmas: list[tuple[str, str | int]]
    suite: str = SUITE


def read(
    file: Path,
    catalog: Catalog,
    say: Callable[[str], None] = lambda _: None,
    sample: float | None = None,
    runners: int = 0,
    *,
    strict: bool = False,
) -> Ready:
    """The workload in `file`, with a new copy of its database, or of a `sample` of that, for so
    many runners; 0 stands for all. Without `strict`, what of a trace cannot be measured is left
    out, and told.

    Raises UsageError with file and line for what cannot be measured, and NotFit where copies for
    all that write at once do not fit on the disk.
    """
    source = with_queries(read_file(file, catalog), say)
    copy = snapshot(source.database, fixture.snapshots(), say, sample)
    try:
        whole = catalogue(source, copy, catalog, None if strict else say)
        measured = {n: query for n, query in source.workload.query.items() if n in whole.scenarios}
        writing = [name for name in measured if whole.scenarios[name].writes]
        if writing:
            seats = runners or sum(s.role in ("runner", "floor") for s in catalog.runners.values())
            copies = seats + ALONE
            check_room(source.database, copy.about.bytes, fixture.snapshots(), copies)
    except (UsageError, NotFit):
        fixture.forget_snapshots()
        raise
    workload = source.workload.model_copy(update={"query": measured})
    planned = PlannedWorkload(
        file=str(file.relative_to(paths.ROOT) if file.is_relative_to(paths.ROOT) else file),
        database=copy.about.name,
        **copy.about.model_dump(exclude={"name", "content"}),
        **workload.limits.model_dump(),
        shares=_shares(workload),
        writing=writing,
        workers=workload.workers,
        sample=sample,
        paced=query_parts.paced(workload),
        round=sum(query_parts.shares([query.weight for query in measured.values()])),
    )
    return Ready(whole, planned, (name := source.profile(catalog)[0]), whole.profiles[name].pragmas)


def tried(
    settings: Settings,
    catalog: Catalog,
    runner: str,
    file: Path | None,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Trying, PlannedWorkload | None]:
    """What a session tries of `settings`: on the catalogue's queries, or on those of a workload's
    `file`, with what its plan remembers of it."""
    if file is None:
        return trying(settings, catalog, runner), None
    ready = read(file, catalog, say)
    of_workload = (ready.catalog, QUERIES, ready.planned.page_size)
    return trying_workload(settings, catalog, runner, *of_workload), ready.planned


@contextmanager
def again(
    plan: Plan, catalog: Catalog, say: Callable[[str], None] = lambda _: None
) -> Generator[Catalog]:
    """The catalogue that `plan` was made with: `catalog`, unless it is of a workload, whose file
    and database are read once more, or tries settings."""
    if plan.workload is None and plan.advice is None:
        yield catalog
        return
    file = paths.ROOT / plan.workload.file if plan.workload else None
    try:
        if plan.advice:
            yield tried(plan.advice.settings, catalog, plan.advice.runner, file, say)[0].catalog
        elif file and plan.workload:
            yield read(file, catalog, say, plan.workload.sample, len(plan.runners)).catalog
    finally:
        fixture.forget_snapshots()
