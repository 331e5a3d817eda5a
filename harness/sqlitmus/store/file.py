"""The file of runs: what is kept, its tables, and how a file from elsewhere is read."""

import json
import re
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from pathlib import Path
from statistics import median
from typing import TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from sqlitmus.catalog.plan import Plan, check_counts, check_name
from sqlitmus.machine import plainfiles
from sqlitmus.machine.conditions import Conditions
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Model, Proof
from sqlitmus.vocabulary.errors import NotFit, RunDataError, UsageError
from sqlitmus.vocabulary.figures import Detail, Syncs
from sqlitmus.vocabulary.verdicts import Outcome

FILE = "run.sqlite"
LOGS = "logs"
RENDERED = ("report.html", "summary.json")

VERSION = 1  # of the tables; it grows with any change of them
APPLICATION = 0x53714C74  # "SqLt": so that `file` and others know it

MOST_NUMBER = 2.0**63
LEAST_NUMBER = 2.0**-63
SCHEMA = Path(__file__).with_name("schema.sql").read_text("utf-8")
STEADY = "steady"
ONLY = 1  # the number of the run in a folder of its own

MB = plainfiles.MB
MOST_FILE = 1024 * MB  # the iterations of 100,000 processes have about 700 MB
MOST_TEXT = 32 * MB  # a plan of ten thousand cells has 7 MB
MOST_EXTENDED = 2  # times the planned blocks: beyond, a case is better measured in a run of its own
MOST_VALUES = 20_000_000  # figures of a run
MOST_JOURNAL = 4 * MB
JOURNAL_OF_SEVERAL = bytes.fromhex("d9d505f920a163d7")  # its last bytes
BUSY_S = 60.0  # a report that is being made holds a set back no longer

T = TypeVar("T")


class Verified(Model):
    """The verification of one cell, with as much of the runner's answer as it gave.

    `syncs` is what a write cell's transactions made durable, `uncounted` why that is not known.
    """

    case: str
    runner: str
    outcome: Outcome
    reason: str | None = None
    operations: int = 0
    rows: int = 0
    affected: int = 0
    checksum: int = 0
    readback: Proof | None = None
    digest: str | None = None
    plans: list[list[str]] = []
    pragmas: dict[str, str | int | None] = {}
    engine: dict[str, str | int] = {}
    syncs: Syncs | None = None
    uncounted: str | None = None
    log: str | None = None
    command: str = ""
    against_oracle: bool = False  # all runners agree with each other on another answer


class Sample(Model):
    """One process: its place in the run, and what came of it."""

    block: int
    position: int
    case: str
    runner: str
    label: str
    outcome: Outcome
    reason: str | None = None
    log: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """All that is kept of one process.

    `figures` are those of `vocabulary.figures` by name, of an iteration or of the process, and
    `STEADY`, the mean of its timed iterations. These are kept for those who doubt it, the warm-up,
    too; of one that took turns, `lost_ns` is what others took from each lap, and `counted` says
    which rounds count.
    """

    sample: Sample
    figures: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    warmup_ns: Sequence[int] = ()
    iterations_ns: Sequence[int] = ()
    lost_ns: Sequence[int] = ()
    counted: Sequence[bool] = ()
    detail: Detail | None = None


class Authored(Model):
    """A program of a claim's authors that ran once: the times of its process, and the figure that
    it printed, if any. After a `problem` it has none of them."""

    wall_ns: int | None = None
    cpu_ns: int | None = None
    printed_ns: float | None = None
    problem: str | None = None


class Block(Model):
    """One pass over all cells: the machine before and after it.

    `authors` has what programs of claims' authors came to, by `claim/program`. `idle` is by runner
    the CPU time that its processes took while they waited for their turns, as a share of that wait:
    the median of those that waited.
    """

    block: int
    before: Conditions
    after: Conditions
    idle: dict[str, float] = {}
    authors: dict[str, Authored] = {}

    @property
    def seconds(self) -> float:
        """How long it took; of one that was cut off and resumed, since then."""
        return (self.after.monotonic_ns - self.before.monotonic_ns) / 1e9


IDLE = 0.01  # the most that a process may use of the processor while it waits for its turn


def restless(blocks: Iterable[Block]) -> dict[str, float]:
    """Runners whose processes used more than that: the median of their blocks, by name."""
    shares: dict[str, list[float]] = {}
    for block in blocks:
        for runner, share in block.idle.items():
            shares.setdefault(runner, []).append(share)
    usual = {runner: median(of_blocks) for runner, of_blocks in shares.items()}
    return {runner: share for runner, share in usual.items() if share > IDLE}


class Look(Model):
    """A look after so many `blocks`: the cases `settled` end there, the others go on `until` they
    have so many."""

    blocks: int
    settled: list[str]
    until: int


def extended(planned: int, until: int, blocks: int, saved_s: float, block_s: float) -> int:
    """Until how many blocks the cases go on that need `block_s` seconds for each.

    Those that ended after `blocks` of `until` save `saved_s` seconds in each block to come. Blocks
    are added in pairs, since every second one mirrors the one before it.
    """
    if not block_s:
        return blocks
    pairs = int((until - blocks) * saved_s / block_s / 2)
    return max(min(until + 2 * pairs, MOST_EXTENDED * planned), until)


_REMEDIES = {
    sqlite3.SQLITE_FULL: "free some space",
    sqlite3.SQLITE_IOERR: "see what the system's log says of the disk, move the folder if it fails",
    sqlite3.SQLITE_READONLY: "let yourself write to the folder",
}


@contextmanager
def opened(file: Path, *, write: bool = False) -> Generator[sqlite3.Connection]:
    """A connection that sees one state of the file; with `write` all or nothing becomes the next.

    Raises RunDataError for what SQLite cannot read, and NotFit for what it cannot write.
    """
    db = connection(file, write=write)
    try:
        db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        with db:
            yield db
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a damaged text
        if not write:
            raise RunDataError(f"{file}: cannot be read: {error}") from error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        remedy = _REMEDIES.get(code, "see that nothing else writes to the folder")
        raise NotFit(
            f"{file}: could not be written: {error}. What was written stays readable; {remedy} and "
            f"run: ./just run --resume {file.parent}"
        ) from error
    finally:
        db.close()


def connection(file: Path, *, write: bool) -> sqlite3.Connection:
    """A connection to an existing file, which sees no more than a stranger's file may do."""
    try:
        return _connect(file, "mode=rw" if write else "mode=ro")
    except sqlite3.OperationalError as error:
        # A file in a folder that nobody may write to, where no log can be.
        if not write and plainfiles.size(file.with_name(f"{FILE}-wal")) is None:
            return _connect(file, "immutable=1")
        raise RunDataError(f"{file}: cannot be opened: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise RunDataError(f"{file}: is no run's file: {error}") from error


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    """All that a stranger's file could use to run code or to fill memory is turned off."""
    uri = f"{file.absolute().as_uri()}?{mode}"
    db = sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_TEXT)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0",
                       "foreign_keys = ON", "synchronous = FULL"):  # fmt: skip
            db.execute(f"PRAGMA {pragma}")
        db.execute("SELECT count(*) FROM sqlite_schema")  # opens the file
    except BaseException:
        db.close()
        raise
    return db


def with_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    """`db`, which was empty, with the tables of a run's file."""
    numbers = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    with db:  # as one transaction, since each syncs the file: there are dozens of rows
        db.executescript(f"BEGIN;{numbers}{SCHEMA}")
        _figures(db)
    return db


def _figures(db: sqlite3.Connection) -> dict[str, int]:
    """The number of each figure by name; a file that is older than a figure gets its row."""
    db.executemany(
        "INSERT OR IGNORE INTO figure(name, unit, per_unit, meaning) VALUES(?, ?, ?, ?)",
        [
            (STEADY, "ns", 1, "time of the timed iterations"),
            *((f.name, f.unit, f.per_unit, f.meaning) for f in figures.FIGURES),
        ],
    )
    return dict(db.execute("SELECT name, id FROM figure").fetchall())


def create_file(file: Path) -> sqlite3.Connection:
    """A connection to a new file with these tables. Raises sqlite3.Error."""
    db = _connect(file, "mode=rwc")
    try:
        return with_tables(db)
    except BaseException:
        db.close()
        raise


@contextmanager
def new_folder(folder: Path) -> Generator[sqlite3.Connection]:
    """A connection to the file of a new folder, in which it appears only when it is whole.

    Raises OSError and sqlite3.Error.
    """
    (folder / LOGS).mkdir(parents=True)
    part = folder / f".{FILE}.part"
    with closing(create_file(part)) as db:
        yield db
    part.rename(folder / FILE)


def attach(db: sqlite3.Connection, file: Path) -> None:
    """Attach a checked file to `db` as `other`, to be read only."""
    uri = file.absolute().as_uri()
    try:
        db.execute("ATTACH ? AS other", (f"{uri}?mode=ro",))
        db.execute("SELECT count(*) FROM other.run")
    except sqlite3.OperationalError:
        with suppress(sqlite3.OperationalError):
            db.execute("DETACH other")
        db.execute("ATTACH ? AS other", (f"{uri}?immutable=1",))


@cache
def _tables() -> list[tuple[str, str, str]]:
    db = with_tables(sqlite3.connect(":memory:", isolation_level=None))
    try:
        return db.execute(_DEFINED).fetchall()
    finally:
        db.close()


# Statistics, which ANALYZE keeps, change nothing that is read.
_DEFINED = (
    "SELECT type, name, ifnull(sql, '') FROM sqlite_schema "
    "WHERE name NOT LIKE 'sqlite^_stat%' ESCAPE '^' ORDER BY type, name"
)


def check_file(folder: Path) -> Path:
    """The file of the run in `folder`; raises UsageError for one that no version of this wrote.

    Its tables and views are ours to the letter, so that no trigger, virtual table or view of
    somebody else is ever used; its pages, types and numbers are sound.
    """
    file = folder / FILE
    size = plainfiles.size(file)
    if size is None:
        raise UsageError(f"{folder} is no run directory: it holds no {FILE}")
    for name in (f"{FILE}-wal", f"{FILE}-shm", *RENDERED):
        plainfiles.size(folder / name)
    _check_journal(file)
    plainfiles.check_folder(folder / LOGS)
    if size > MOST_FILE:
        raise UsageError(f"{file}: larger than {MOST_FILE // MB} MB, which no run writes")
    with opened(file) as db:
        _check_tables(db, file)
        (fault,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if fault != "ok":
            raise RunDataError(f"{file}: is damaged: {fault}; fetch the file again")
        for table, condition in _conditions():
            unsound = f"SELECT count(*) FROM {table} WHERE NOT ({condition})"
            if rows := db.execute(unsound).fetchone()[0]:
                raise RunDataError(f"{file}: is damaged: {rows} rows of {table}: {condition}")
    return file


@cache
def _conditions() -> list[tuple[str, str]]:
    """The CHECK of each table: SQLite knows none of a file that it opens read-only."""
    tables = re.findall(r"^CREATE TABLE (\w+)\((.*?)^\)", SCHEMA, re.DOTALL | re.MULTILINE)
    return [
        (name, condition)
        for name, columns in tables
        for condition in re.findall(r"CHECK\((.*)\),?$", columns, re.MULTILINE)
    ]


def _check_journal(file: Path) -> None:
    """Have SQLite undo what a kill cut off as a run ended; refuse a journal of several files.

    Such a journal names a list of files, which SQLite deletes when it is done with it.
    """
    journal = file.with_name(f"{FILE}-journal")
    if plainfiles.size(journal) is None:
        return
    if plainfiles.read(journal, MOST_JOURNAL).endswith(JOURNAL_OF_SEVERAL):
        raise UsageError(f"{journal}: names a file elsewhere; give the run without it")
    with opened(file, write=True):
        pass


def _check_tables(db: sqlite3.Connection, file: Path) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise RunDataError(f"{file}: is no run's file, but another database")
    if version != VERSION:
        raise RunDataError(
            f"{file}: version {version} of the file, this sqlitmus reads {VERSION}; use the one "
            "that wrote it, or measure again"
        )
    if db.execute(_DEFINED).fetchall() != _tables():
        ours = {name for _, name, _ in _tables()}
        odd = [f"{kind} {name}" for kind, name, _ in db.execute(_DEFINED) if name not in ours]
        what = f"it also has {', '.join(odd[:3])}" if odd else "its tables are not those of a run"
        raise RunDataError(f"{file}: {what}; keep what is yours in a file of its own")


def insert_run(
    db: sqlite3.Connection,
    plan: Plan,
    machine: Mapping[str, str],
    verified: Iterable[Verified],
    *,
    selftest: str | None = None,
) -> int:
    """A new run without samples; its number. The last verification of a cell counts."""
    cursor = db.execute(
        "INSERT INTO run(name, machine, label, kind, created, complete, plan, selftest) "
        "VALUES(?, ?, ?, '', ?, 0, ?, ?)",
        (plan.run, plan.machine, plan.machine, plan.created, plan.model_dump_json(), selftest),
    )
    run = cast("int", cursor.lastrowid)
    db.executemany("INSERT INTO fact VALUES(?, ?, ?)", [(run, k, v) for k, v in machine.items()])
    last = {(record.case, record.runner): record for record in verified}
    for case in plan.cases:
        for runner, units in zip(plan.names, plan.units(case), strict=False):  # without the canary
            record = last.get((case.id, runner))
            if record or runner in plan.cells.get(case.id, ()):
                verdict = record and (record.outcome, record.reason, record.model_dump_json())
                db.execute(
                    "INSERT INTO cell(run, case_id, runner, metric, unit, units, outcome, reason, "
                    "verification) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (run, case.id, runner, case.metric, case.unit, units, *(verdict or [None] * 3)),
                )
    return run


def insert_records(db: sqlite3.Connection, run: int, records: Iterable[Record]) -> None:
    numbers = _figures(db)
    for record in records:
        of = record.sample
        cursor = db.execute(
            "INSERT INTO sample(cell, label, block, position, outcome, reason, log) "
            "SELECT id, ?, ?, ?, ?, ?, ? FROM cell WHERE (run, case_id, runner) = (?, ?, ?)",
            (
                *(of.label, of.block, of.position, of.outcome, of.reason, of.log),
                *(run, of.case, of.runner),
            ),
        )
        if not cursor.rowcount:
            raise ValueError(f"{of.case}/{of.runner} is no cell of run {run}")
        sample = cursor.lastrowid
        values = ((numbers[name], _kept(value)) for name, value in record.figures.items())
        db.executemany(
            "INSERT INTO value VALUES(?, ?, ?)",
            [(sample, figure, value) for figure, value in values if value is not None],
        )
        if record.iterations_ns:
            counted = [*map(int, record.counted)]
            lists = (record.warmup_ns, record.iterations_ns, record.lost_ns, counted)
            db.execute(
                "INSERT INTO iteration VALUES(?, ?, ?, ?, ?)",
                (sample, *(json.dumps(each, separators=(",", ":")) for each in lists)),
            )
        if record.detail:
            text = record.detail.model_dump_json(exclude_none=True)
            db.execute("INSERT INTO detail VALUES(?, ?)", (sample, text))


def _kept(value: float | None) -> float | None:
    """A value as the file keeps it: too small is 0, and too large, or no number, is unknown."""
    if value is None or not isfinite(value) or abs(value) > MOST_NUMBER:
        return None
    return 0.0 if abs(value) < LEAST_NUMBER else float(value)


def insert_block(db: sqlite3.Connection, run: int, block: Block) -> None:
    text = block.model_dump_json(exclude_none=True)
    db.execute("INSERT INTO block VALUES(?, ?, ?)", (run, block.block, text))


def insert_look(db: sqlite3.Connection, run: int, look: Look) -> None:
    db.execute("INSERT INTO look VALUES(?, ?, ?)", (run, look.blocks, look.model_dump_json()))


def copy_run(
    db: sqlite3.Connection, old: int, new: int, machine: str, label: str, kind: str
) -> None:
    """Copy run `old` of the file attached as `other`, as run `new` of that machine."""
    cells, samples = (
        db.execute(f"SELECT ifnull(max(id), 0) FROM main.{table}").fetchone()[0]
        for table in ("cell", "sample")
    )
    names = {"old": old, "new": new, "machine": machine, "label": label, "kind": kind,
             "cells": cells, "samples": samples}  # fmt: skip
    theirs = """(SELECT sample.id FROM other.cell JOIN other.sample ON cell = cell.id
      WHERE run = :old)"""
    copied = f"""
      INSERT INTO run SELECT :new, name, :machine, :label, :kind, created, complete, plan, selftest,
        gate FROM other.run WHERE id = :old;
      INSERT INTO fact SELECT :new, name, value FROM other.fact WHERE run = :old;
      INSERT INTO block SELECT :new, block, record FROM other.block WHERE run = :old;
      INSERT INTO look SELECT :new, blocks, record FROM other.look WHERE run = :old;
      INSERT INTO cell SELECT id + :cells, :new, case_id, runner, metric, unit, units, outcome,
        reason, verification FROM other.cell WHERE run = :old;
      INSERT INTO sample SELECT id + :samples, cell + :cells, label, block, position, outcome,
        reason, log FROM other.sample WHERE id IN {theirs};
      INSERT INTO value SELECT sample + :samples, ours.id, value FROM other.value
        JOIN other.figure AS own ON own.id = value.figure
        JOIN main.figure AS ours ON ours.name = own.name WHERE sample IN {theirs};
      INSERT INTO iteration SELECT sample + :samples, warmup, timed, lost, counted
        FROM other.iteration WHERE sample IN {theirs};
      INSERT INTO detail SELECT sample + :samples, record FROM other.detail
        WHERE sample IN {theirs}"""
    for statement in copied.split(";"):
        db.execute(statement, names)


def plan_of(db: sqlite3.Connection, run: int) -> Plan:
    """The frozen plan; raises RunDataError for one that is none, or beyond reason."""
    row = db.execute("SELECT plan FROM run WHERE id = ?", (run,)).fetchone()
    if row is None:
        raise RunDataError(f"run {run}: the file has none of that number")
    plan = parsed(Plan, row[0], "plan")
    check_counts(plan)
    if plan.confirms is not None:
        check_name("plan: $.confirms", plan.confirms)
    return plan


def facts_of(db: sqlite3.Connection, run: int) -> dict[str, str]:
    rows = db.execute("SELECT name, value FROM fact WHERE run = ? ORDER BY rowid", (run,))
    return dict(rows.fetchall())


def verified_of(db: sqlite3.Connection, run: int) -> list[Verified]:
    """The verification of each cell that has one."""
    sql = (
        "SELECT case_id, runner, verification FROM cell "
        "WHERE run = ? AND verification NOT NULL ORDER BY id"
    )
    return _records(db, run, Verified, sql, "verification of {}/{}")


def blocks_of(db: sqlite3.Connection, run: int) -> list[Block]:
    sql = "SELECT block, record FROM block WHERE run = ? ORDER BY block"
    return _records(db, run, Block, sql, "block {}")


def looks_of(db: sqlite3.Connection, run: int) -> list[Look]:
    sql = "SELECT blocks, record FROM look WHERE run = ? ORDER BY blocks"
    return _records(db, run, Look, sql, "look after {} blocks")


def _records(db: sqlite3.Connection, run: int, model: type[T], sql: str, where: str) -> list[T]:
    return [parsed(model, text, where.format(*of)) for *of, text in db.execute(sql, (run,))]


def samples_of(db: sqlite3.Connection, run: int) -> list[Sample]:
    rows = db.execute(
        "SELECT block, position, case_id, runner, label, sample.outcome, sample.reason, log "
        "FROM cell JOIN sample ON sample.cell = cell.id WHERE cell.run = ? ORDER BY sample.id",
        (run,),
    )
    return [Sample(**dict(zip(Sample.model_fields, row, strict=True))) for row in rows]


def parsed(model: type[T], text: str, where: str) -> T:
    """A record that the file has as JSON; raises RunDataError with the JSON path after `where`.

    Unknown keys are ignored: a later version may write more than this one reads.
    """
    try:
        value = from_json(text)
    except ValueError as error:
        raise RunDataError(f"{where}: not JSON: {error}") from error
    _check_numbers(value, f"{where}: $")
    try:
        return TypeAdapter(model).validate_python(value, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise RunDataError(f"{where}: {path}: {first['msg']}") from error


def _check_numbers(value: object, path: str) -> None:
    """Raise RunDataError for the first number that arithmetic could not be trusted with."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check_numbers(item, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value)):
            _check_numbers(item, f"{path}[{number}]")
    elif isinstance(value, int | float) and not -MOST_NUMBER < value < MOST_NUMBER:  # nor NaN
        raise RunDataError(f"{path}: not a finite number of ordinary size")
