"""A workload's queries, each as the steps that a runner does, or why it cannot be measured; and
what proves its writes.
"""

import random
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

from sqlitmus.catalog.authorizer import Compiled, Refused, confined
from sqlitmus.catalog.generate import power_of_two
from sqlitmus.catalog.scenario import ColumnType, Query as Readback, Scenario, ScenarioStep
from sqlitmus.vocabulary.contract import Parameters
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted, listed, quoted
from sqlitmus.workload import statements
from sqlitmus.workload.file import Query, Source, Workload
from sqlitmus.workload.statements import NoPool

LEAST_INSTRUCTIONS = 500.0  # of a statement: fewer than can be told
MOST_ROWS = 200_000  # of a table whose values are summed, which takes less than a second then
WHOLE = "rows as a whole"
# A value as an integer below 2^31 or so, the same in every SQLite.
_TERM = (
    "CASE typeof({0}) WHEN 'integer' THEN {0} % 2147483647 "
    "WHEN 'real' THEN CAST(round({0} * 1000) AS INTEGER) % 2147483647 "
    "WHEN 'text' THEN length({0}) + ifnull(unicode({0}) * 31 + unicode(substr({0}, -1)) * 961, 0) "
    "WHEN 'blob' THEN length({0}) + ifnull(unicode(hex(substr({0}, 1, 1))) * 31 "
    "+ unicode(substr(hex(substr({0}, -1)), 2)) * 961, 0) ELSE -1 END"
)
_CHANGING_DEFAULT = re.compile(r"\bcurrent_|'now'|\(\s*\)|\brandom", re.IGNORECASE)
MIX = "mix"
START = "start"
CLOSED = "latency"
REPLAY = "replay"
TIMED_REPLAY = "replay-at-times"


def paced(workload: Workload) -> dict[str, float | None]:
    """The scenarios that time rounds, with their queries a second, None without a schedule."""
    if workload.rates:
        return {f"at-{rate:g}".replace(".", "-"): rate for rate in workload.rates}
    return {CLOSED: None} if workload.limits.p99_ms else {}


class Proof(NamedTuple):
    """What shows the content of `table`: its number of rows, and sums of its columns' values and of
    `WHOLE`, by name, in whatever order the rows lie."""

    table: str
    sums: dict[str, str]

    def query(self, without: Collection[str] = ()) -> Readback:
        """As a query, `without` the sums of these names."""
        sums = [sql for name, sql in self.sums.items() if name not in without]
        chosen = {"held": "count(*)", **{f"sum_{n}": sql for n, sql in enumerate(sums, 1)}}
        columns = ", ".join(f"{sql} AS {name}" for name, sql in chosen.items())
        return Readback(
            sql=f"SELECT {columns} FROM {quoted(self.table)}",
            columns=dict.fromkeys(chosen, "integer"),
        )


def proof(connection: sqlite3.Connection, table: str) -> Proof:
    """The proof of a table of the database; of a virtual table, what lies behind one, and a large
    one the number of rows alone. What a column has by default may be another value each time."""
    kinds = "SELECT type FROM pragma_table_list(?) WHERE schema = 'main'"
    kind = next(connection.execute(kinds, [table]), ("virtual",))[0]
    if kind != "table":
        return Proof(table, {})
    (many,) = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM {quoted(table)} LIMIT {MOST_ROWS + 1})"
    ).fetchone()
    if many > MOST_ROWS:
        return Proof(table, {})
    columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    terms = {
        str(name): _TERM.format(quoted(name))
        for _, name, _, _, default, _ in columns
        if not _CHANGING_DEFAULT.search(str(default))
    }
    whole = "1"
    for number, term in enumerate(terms.values()):
        whole = f"({whole} + {number}) * ({term} + 1000003) % 2147483647"  # no sum: rows may swap
    if len(terms) == len(columns):
        terms[WHOLE] = whole
    sums = {name: f"ifnull(sum({term}), 0)" for name, term in terms.items()}
    return Proof(table, sums)


@dataclass(frozen=True, slots=True)
class Part:
    """A query that SQLite compiled: its steps, the tables that it writes and that each step reads,
    and how often at least it can be done in an iteration, which its instructions and distinct
    parameters bound; `notes` are for the report, `proofs` show what it wrote by table. `lasting`
    says why nothing undoes what it writes, "" where something does: else a process does it `most`
    times at most. `deleting` are the steps that delete."""

    name: str
    query: Query
    steps: list[ScenarioStep]
    written: dict[str, set[str]]
    reset: list[str]
    instructions: float
    most: int | None
    ascii_ends: bool
    tables: list[frozenset[str]]
    notes: list[str]
    proofs: dict[str, Proof]
    lasting: str
    deleting: list[bool]


class Parts(NamedTuple):
    """The queries that are measured by themselves and in the mix, and all that SQLite compiled: of
    those a replay does each as often as it was recorded."""

    able: list[Part]
    compiled: list[Part]


def parts_of(
    source: Source, file: Path, leave: Callable[[str], None] | None = None, *, keys: bool = False
) -> Parts:
    """The workload's queries on the database in `file`, in the order of the TOML file; `keys` says
    whether foreign keys are checked.

    Raises UsageError that names all that cannot be measured, each with its file and line; those of
    a trace are left out where `leave` is told why, unless they are all.
    """
    wrong: dict[str, list[str]] = {}
    parts: list[Part] = []
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        for name, query in source.workload.query.items():
            problems: list[str] = []
            if name in (MIX, START, REPLAY, TIMED_REPLAY, *paced(source.workload)):
                words = f"{name} is the name of a case that is made by itself; choose another"
                problems.append(str(source.wrong(("query", name), words)))
                part = None
            else:
                copy = partial(statements.scratch, file, keys=keys)
                part = _part(source, name, query, connection, copy, problems.append)
            parts += [part] if part else []
            wrong |= {name: problems} if problems else {}
        whole = parts
        parts, scarce = _done_often(whole, file, keys=keys)
        for name, words in scarce.items():
            wrong[name] = [str(source.wrong(("query", name), words))]
        if wrong and (leave is None or not source.is_traced or not parts):
            raise UsageError("\n".join(words for problems in wrong.values() for words in problems))
        if wrong and leave:
            for words in _left_out(source, wrong):
                leave(words)
        return Parts(*(_beside_writes(each, connection) for each in (parts, whole)))


def _left_out(source: Source, wrong: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Which queries of a trace are not measured, by reason, without advice that is no trace's."""
    weights = {name: query.weight for name, query in source.workload.query.items()}
    total, left = sum(weights.values()), sum(weights[name] for name in wrong)
    reasons: dict[str, list[str]] = {}
    for name, (first, *_) in wrong.items():
        place, _, reason = first.partition(": ")
        reasons.setdefault(reason.partition("; ")[0], [place]).append(name)
    head = f"read without {left:,.0f} of {total:,.0f} queries ({left / total:.1%})"
    yield f"{source.workload.trace}: {head}, which cannot be measured"
    for reason, (place, *names) in reasons.items():
        times = counted(int(sum(weights[name] for name in names)), "time")
        yield f"{Path(place).name}: left out {times}: {reason}"


def _beside_writes(parts: Sequence[Part], connection: sqlite3.Connection) -> list[Part]:
    """`parts` where columns may be NULL of what rows they write to the tables that they read."""
    written = {table for part in parts for table in part.written}

    def nullable(step: ScenarioStep, tables: frozenset[str]) -> ScenarioStep:
        never = {name for table in tables for name in statements.never_null(connection, table)}
        changes = {
            name: kind if name in never or kind.endswith("?") else f"{kind}?"
            for name, kind in step.columns.items()
        }
        return step.model_copy(update={"columns": changes} if tables & written else {})

    return [replace(part, steps=[*map(nullable, part.steps, part.tables)]) for part in parts]


def _part(
    source: Source,
    name: str,
    query: Query,
    connection: sqlite3.Connection,
    copy: Callable[[], AbstractContextManager[tuple[sqlite3.Connection, Path]]],
    problem: Callable[[str], None],
) -> Part | None:
    """The query as a part; what writes and gives rows is tried on a `copy`, and what is wrong goes
    to `problem`."""
    steps: list[ScenarioStep] = []
    written: dict[str, set[str]] = {}
    instructions, ascii_ends = 0.0, True
    most: list[int] = []
    seen: list[tuple[str, Compiled]] = []
    notes: dict[str, None] = {}
    for number, statement in enumerate(query.parts()):
        seed = f"{source.workload.seed}/{name}/{number}"
        at = "sql"
        try:
            sql, order = statements.positional(statement.sql)
            looked = statements.look(connection, sql)
            operation = statements.operation_of(statement, looked)
            at = "parameters"
            rows = statements.rows_of(statement.parameters, connection, seed)
            rows = statements.arranged(rows, order)
            given = statements.pool(rows, looked.parameters, distinct=not looked.reads)
            at = "sql"
            columns: dict[str, ColumnType] = {}
            cost, wide, nul, reals = LEAST_INSTRUCTIONS, False, False, "exact"
            if looked.rows:
                statements.check_repeatable(connection, sql, looked, written=bool(written))
                with nullcontext((connection, None)) if looked.reads else copy() as (used, _):
                    answered = statements.answer(
                        used, sql, statements.bound(given), first=operation == "get"
                    )
                columns, ascii_ends = answered.columns, ascii_ends and answered.ascii_ends
                cost = max(cost, answered.instructions)
                whole_pool = given
                given = statements.bearable(given, cost, answered.size) if looked.reads else given
                wide, nul = answered.wide, bool(answered.cut)
                reals = statements.compared_reals(columns, looked)
                notes |= dict.fromkeys(_notes(answered, whole_pool, given, reals))
            if given and not looked.reads:
                most.append(max(len(given.rows) // statement.repeat, 1))
        except (UsageError, NoPool) as error:
            problem(str(source.wrong(source.of(name, number, at), str(error))))
            continue
        instructions += cost * statement.repeat
        for table, actions in looked.writes.items():
            written.setdefault(table, set()).update(actions)
        steps.append(
            ScenarioStep(
                operation=operation,
                sql=sql.strip().rstrip(";").replace("{", "{{").replace("}", "}}"),
                columns=columns,
                given=given,
                names=statements.names(statement.sql),
                repeat=statement.repeat,
                wide=wide,
                nul=nul,
                reals=reals,
            )
        )
        seen.append((sql, looked))
    whole = len(steps) == len(query.parts())
    wrong = statements.wrong_resets(query.reset, connection)
    if whole and query.reset and not written:
        wrong[0] = "the query writes to no table, so that nothing has to be undone; take reset out"
    for number, words in wrong.items():
        problem(str(source.wrong(("query", name, "reset", number), words)))
    if wrong or not whole:
        return None
    undone, lasting = _undone(query, connection, written)
    escaped = [sql.replace("{", "{{").replace("}", "}}") for sql in undone]
    bound = min(most, default=None)
    return Part(
        *(name, query, steps, written, escaped, instructions, bound, ascii_ends),
        tables=[looked.tables for _, looked in seen],
        notes=[*notes],
        proofs=_proofs(connection, seen),
        lasting=lasting,
        deleting=["delete" in set().union(*looked.writes.values()) for _, looked in seen],
    )


def _undone(
    query: Query, connection: sqlite3.Connection, written: Mapping[str, set[str]]
) -> tuple[list[str], str]:
    """What undoes the query's writes, or why nothing does."""
    try:
        return query.reset or statements.reset(connection, written), ""
    except Refused as error:
        return [], str(error)


def _proofs(
    connection: sqlite3.Connection, seen: Sequence[tuple[str, Compiled]]
) -> dict[str, Proof]:
    """By written table; of one that gets what nobody foresees, its number of rows."""
    changing = [looked for sql, looked in seen if statements.changing(connection, sql, looked)]
    unforeseen = {table for looked in changing for table in looked.writes}
    written = {table for _, looked in seen for table in looked.writes}
    return {
        table: Proof(table, {}) if table in unforeseen else proof(connection, table)
        for table in written
    }


_OF_REALS = {
    "digits": "Functions give reals whose last digits differ from one SQLite to another: seven are "
    "compared, and of answers that are timed the number of rows.",
    "types": "One SQLite rounds halves up and another down: of reals only the types are "
    "compared, and of answers that are timed the number of rows.",
}


def _notes(
    answered: statements.Answered, pool: Parameters | None, used: Parameters | None, reals: str
) -> Iterator[str]:
    """What the report says of how a query's answers are read and compared."""
    if answered.wide:
        yield "Integers are beyond 2^53: JavaScript reads those of this query as BigInt."
    if reals in _OF_REALS:
        yield _OF_REALS[reals]
    for name in sorted(answered.cut):
        yield f"Column {name} holds texts with the character U+0000, at which some drivers stop."
    if pool and used and len(used.rows) < len(pool.rows):
        yield (
            f"It takes so long, or gives so much, that {len(used.rows):,} of {len(pool.rows):,} "
            "rows of parameters are bound."
        )


# Queries whose writes nothing undoes: each process does them on a copy of its own, as long as each
# time does what it would on the database as it is.

LEAST_TIMES = 8  # of a process, warm-up included, so that several are timed in a row


def _done_often(
    parts: Sequence[Part], file: Path, *, keys: bool
) -> tuple[list[Part], dict[str, str]]:
    """`parts` with how often those can be done that last, and why others cannot, by name."""
    able, scarce = [*parts], dict[str, str]()
    if any(part.lasting for part in parts):
        with statements.scratch(file, keys=keys) as (connection, _):
            for number, part in enumerate(parts):
                connection.execute("BEGIN")
                try:
                    able[number] = _bounded(part, connection) if part.lasting else part
                except Refused as error:
                    scarce[part.name] = str(error)
                connection.execute("ROLLBACK")
    able = [part for part in able if part.name not in scarce]
    while short := _short_in_a_mix(able):
        part, count = short
        scarce[part.name] = (
            f"{part.lasting}, so a process can do it {part.most} times, and a round of the mix has "
            f"it {count} times; {LEAST_TIMES} rounds are needed: give it less weight or more rows "
            "of parameters, or say in `reset` how it is undone"
        )
        able.remove(part)
    return able, scarce


def _short_in_a_mix(parts: Sequence[Part]) -> tuple[Part, int] | None:
    """One that cannot be done in enough rounds of the mix, and how often a round has it."""
    pairs = in_a_round(parts)
    return next((p for p in pairs if p[0].lasting and (p[0].most or 0) < LEAST_TIMES * p[1]), None)


def _bounded(part: Part, connection: sqlite3.Connection) -> Part:
    """`part` with the rows of its pools that serve one after the other. Raises Refused for few."""
    serving = _serving(connection, part)
    steps = [_with_rows(step, serving) for step in part.steps]
    most = min(len(serving), _distinct(steps) or len(serving))
    if most < LEAST_TIMES:
        raise Refused(
            f"{part.lasting}, so a process can do it {counted(most, 'time')}, and {LEAST_TIMES} "
            "are needed; give more rows of parameters that find a row to delete or a key that is "
            "free, or say in `reset` how it is undone"
        )
    note = (
        f"Nothing undoes what it writes ({part.lasting}): on its copy of the database a process "
        f"does it {most:,} times at most."
    )
    offered = _distinct(part.steps)
    if offered and len(serving) < offered:
        note += (
            f" {offered - len(serving):,} of {offered:,} rows of parameters are left out: at their "
            "turn there is no row to delete, or already one to insert."
        )
    return replace(part, steps=steps, most=most, notes=[*part.notes, note])


def _distinct(steps: Sequence[ScenarioStep]) -> int | None:
    """How often they can be done without a row that is written again; None for no parameters."""
    pools = [(step.given, step.repeat) for step in steps if step.writes]
    return min((len(given.rows) // repeat for given, repeat in pools if given), default=None)


def _serving(connection: sqlite3.Connection, part: Part) -> list[int]:
    """The operations, by number, that change as many rows one after the other as each does alone,
    and delete some if they delete."""
    query, distinct = statements.Query.of(part.steps), _distinct(part.steps)

    def changed(number: int) -> list[int]:
        connection.execute("SAVEPOINT operation")
        try:
            return statements.do(connection, query, number)
        except sqlite3.IntegrityError:
            return []

    def end(*, undo: bool) -> None:
        if undo:
            connection.execute("ROLLBACK TO operation")
        connection.execute("RELEASE operation")

    serving: list[int] = []
    alone: list[list[int]] = []
    with statements.limited(connection), confined(connection):
        for number in range(distinct or 1):
            alone.append(changed(number))
            end(undo=True)
        for number in range(distinct or statements.LONGEST):
            now = changed(number)
            deleted = [many for many, deletes in zip(now, part.deleting, strict=False) if deletes]
            serves = bool(now) and all(deleted) and now == alone[number % len(alone)]
            end(undo=not serves)
            serving += [number] * serves
            if not serves and not distinct:  # nor will it later
                break
    return serving


def _with_rows(step: ScenarioStep, numbers: Sequence[int]) -> ScenarioStep:
    """`step` with what it binds at the operations of these numbers, a power of two of rows."""
    if step.given is None:
        return step
    rows = step.given.rows
    turns = [n * step.repeat + turn for n in numbers for turn in range(step.repeat)]
    turns = turns[: 1 << max(len(turns).bit_length() - 1, 0)]
    chosen = [rows[n % len(rows)] for n in turns]
    return step.model_copy(update={"given": step.given.model_copy(update={"rows": chosen})})


def within(kind: str, steps: Sequence[ScenarioStep]) -> list[ScenarioStep]:
    """The steps in a transaction of that kind; themselves for "none"."""
    if kind == "none":
        return [*steps]
    begin = ScenarioStep(operation="execute", sql=f"BEGIN {kind.upper()}")
    return [begin, *steps, ScenarioStep(operation="execute", sql="COMMIT")]


SHARES = 100  # parts of the mix: weights are rounded to hundredths


def shares(weights: Sequence[float]) -> list[int]:
    """Weights as small whole numbers, each at least 1, in proportion to within a hundredth of all.

    Whole weights keep their proportion if it needs no more than `SHARES` parts.
    """
    if all(weight == int(weight) for weight in weights):
        divisor = reduce(gcd, [int(weight) for weight in weights], 0)
        exact = [int(weight) // divisor for weight in weights]
        if sum(exact) <= SHARES:
            return exact
    total = sum(weights)
    return [max(round(SHARES * weight / total), 1) for weight in weights]


def in_a_round(parts: Sequence[Part]) -> list[tuple[Part, int]]:
    """Each part, and how often a round of the mix has it."""
    counts = shares([part.query.weight for part in parts])
    return list(zip(parts, counts, strict=True))


def rows_wanting(pairs: Sequence[tuple[Part, int]], rounds: int) -> list[str]:
    """Which of `in_a_round` have too few rows of parameters for so many rounds, and how many would
    do, as parts of a sentence; none where no pool can hold these."""
    if any(part.lasting for part, _ in pairs):  # its rounds are a power of two
        rounds = power_of_two(rounds)
    few: list[str] = []
    for part, times in pairs:
        pools = [(step.given, step.repeat) for step in part.steps if step.writes and step.given]
        for pool, repeat in pools if part.most and part.most // times < rounds else []:
            needed, given = power_of_two(rounds * times * repeat), len(pool.rows)
            if needed > statements.LONGEST:
                return []
            if needed > given:
                few.append(f"{part.name} had {needed:,} rows of parameters instead of {given:,}")
    return few


class Decided(NamedTuple):
    """What the order of the workers decides: sums by table, and how many rows are `affected`."""

    sums: dict[str, set[str]]
    affected: bool

    @classmethod
    def of(
        cls, proofs: Mapping[str, Proof], seen: Sequence[tuple[Mapping[str, list[int]], int]]
    ) -> "Decided":
        """What differs between several orders, by what was `seen` of each: the `sums_held` after
        it, and how many rows it changed."""
        sums = {
            table: {
                name
                for name, *values in zip(of.sums, *(held[table] for held, _ in seen), strict=True)
                if len({*values}) > 1
            }
            for table, of in proofs.items()
        }
        return cls(
            {table: names for table, names in sums.items() if names},
            affected=len({affected for _, affected in seen}) > 1,
        )

    def changes(self, proofs: Mapping[str, Proof], notes: Iterable[str]) -> dict[str, list[Any]]:
        """What it makes of a scenario with these `proofs` and `notes`."""
        return {
            "order_decides": ["rows", "checksum", *["affected"] * self.affected],
            "readback": [of.query(self.sums.get(table, ())) for table, of in proofs.items()],
            "notes": [*notes, *filter(None, [str(self)])],
        }

    def __str__(self) -> str:
        """As a sentence, "" for nothing."""
        parts = [
            f"{listed(sorted(names - {WHOLE})) or 'which row is which'} of {table}"
            for table, names in self.sums.items()
        ]
        parts += ["how many rows are changed"] * self.affected
        if not parts:
            return ""
        return (
            f"With several workers their order decides {listed(parts)}: that is not compared, all "
            "else that was written is."
        )


def sums_held(connection: sqlite3.Connection, proofs: Mapping[str, Proof]) -> dict[str, list[int]]:
    """By table the sums of its proof, in their order."""
    return {
        table: [*connection.execute(of.query().sql).fetchone()][1:] for table, of in proofs.items()
    }


def decided_by_order(
    file: Path, mix: Scenario, proofs: Mapping[str, Proof], *, keys: bool = False
) -> Decided:
    """What of `proofs` differs with the order in which the operations of `mix` come: they are done
    forwards, backwards and shuffled, each time in a transaction that is rolled back, in a copy of
    the database in `file`. What takes too long, or fails, is all decided by the order.
    """
    writing = statements.Query.of(step for step in mix.steps if step.writes)
    numbers = [*range((mix.warmup_operations or 0) + (mix.timed_operations or mix.operations))]
    seen: list[tuple[dict[str, list[int]], int]] = []
    with statements.scratch(file, keys=keys) as (connection, _):
        for order in (numbers, numbers[::-1], random.Random(1).sample(numbers, len(numbers))):
            connection.execute("BEGIN")
            try:
                with statements.limited(connection), confined(connection):
                    affected = sum(sum(statements.do(connection, writing, n)) for n in order)
            except Refused:
                everything = {table: {*of.sums} for table, of in proofs.items()}
                return Decided(everything, affected=True)
            seen.append((sums_held(connection, proofs), affected))
            connection.execute("ROLLBACK")
    return Decided.of(proofs, seen)
