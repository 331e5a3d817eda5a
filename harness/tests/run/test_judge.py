"""What is held of a result: each outcome, with its reason."""

import hashlib
import sqlite3
from dataclasses import replace
from typing import Any

import pytest

from sqlitmus.run.verify.answers import suspicion
from sqlitmus.run.verify.judge import Ask, OracleAnswer, Requirements, of_types
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary.contract import Counts, Job, Result
from tests.run import made
from tests.run.made import RESULT, held, verdict

EACH = [(3, 0, 5), (1, 1, 2)]
RIGHT = {"rows": 3, "checksum": 9}
WANT = OracleAnswer.model_validate(
    {"answers": EACH, "operations": 2, "rows": 4, "affected": 1, "checksum": 7, "readback": RIGHT,
     "digest": "ab" * 32}
)  # fmt: skip
VERIFY = Requirements(
    "verify",
    operations=2,
    iterations=1,
    inspect=True,
    pragmas=[("cache_size", -16000), ("synchronous", "NORMAL")],
    engine={},
)
MEASURE = replace(VERIFY, mode="measure", operations=1, iterations=3, walk=2)
THREADS = replace(VERIFY, pragmas=[], engine={"threading": "serialized", "memstatus": 0})
TOLERANT = replace(MEASURE, tolerate_busy=True, left_open=frozenset({"readback"}))
UNASKED = replace(MEASURE, left_open=frozenset({"readback"}))


def result(*answers: Counts, operations: int = 1, **changes: Any) -> Result:
    """The right result of a verification, or one with other answers, each to so many operations."""
    each = answers or EACH
    rows, affected, checksum = (sum(of) for of in zip(*each, strict=True))
    sums = {"rows": rows, "affected": affected, "checksum": checksum % 2**32}
    counts = {"answers": each, "operations": operations * len(each), **sums}
    pragmas = {"cache_size": -16000, "synchronous": 1, "journal_mode": "delete"}
    more = {"effective": {"pragmas": pragmas}, "readback": RIGHT, "digest": "ab" * 32}
    return made.result(**{**counts, **more, **changes})


def measured(*answers: Counts, warmup: int = 0, **changes: Any) -> Result:
    """The result of a process with an iteration for each answer; the first ones warm it up."""
    times = list(range(1, len(answers) + 1))
    each = {"warmup_ns": times[:warmup], "iterations_ns": times[warmup:]}
    given: dict[str, Any] = {"digest": None, **each, **changes}
    return result(*answers, **given)


def under(asked: Requirements, **effective: str | int) -> Result:
    """One under these pragmas, or with these options of the engine."""
    return result(effective={"engine" if asked is THREADS else "pragmas": effective})


def failed(message: str, **error: Any) -> Result:
    error = {"message": message, **error}
    return result(status="failed", error=error, sqlite_version="3.35.5")


THREE = OracleAnswer.model_validate(
    {"answers": [(1, 0, 1), (1, 0, 2), (1, 0, 4)], "operations": 3, "rows": 3, "affected": 0,
     "checksum": 7, "readback": RIGHT, "digest": "ab" * 32}
)  # fmt: skip
FIRST = "; that is the answer to the first iteration"
READ = "wrong: readback: {}; the oracle has 3 rows with checksum 9"
NO_DIGEST = "failed: its result has no digest, which verification needs"
UNSUMMED = "failed: its counts are not the sums of its answers"
LACKS = "unsupported: its SQLite 3.35.5 {}"


@pytest.mark.parametrize(
    ("given", "asked", "expected"),
    [
        (result(), VERIFY, "ok"),
        (measured(*EACH, EACH[0]), MEASURE, "ok"),
        (measured(*EACH, *EACH, EACH[0], warmup=2), MEASURE, "ok"),
        # an operation of a verification
        (result((2, 0, 5), EACH[1]), VERIFY, "wrong: operation 0: rows 2; the oracle has 3"),
        (result(EACH[0], (1, 0, 2)), VERIFY, "wrong: operation 1: affected 0; the oracle has 1"),
        (result(EACH[0], (1, 1, 3)), VERIFY, "wrong: operation 1: checksum 3; the oracle has 2"),
        (result(EACH[0], EACH[0]), VERIFY,
         f"wrong: operation 1: rows 3; the oracle has 1{FIRST}"),
        (result(readback={"rows": 3, "checksum": 8}), VERIFY,
         READ.format("3 rows with checksum 8")),
        (result(readback=None), VERIFY, READ.format(None)),
        (result(digest="cd" * 32), VERIFY,
         "wrong: digest: cdcdcdcdcdcd…; the oracle has abababababab…"),
        # an iteration, told of what comes after the warm-up as well
        (measured(EACH[0], EACH[0], EACH[0]), MEASURE,
         f"wrong: iteration 1 (operations 1 to 1): rows 3; the oracle has 1{FIRST}"),
        (measured(*EACH, (3, 0, 7), EACH[1], warmup=1), MEASURE,
         "wrong: iteration 2 (operations 2 to 2): checksum 7; the oracle has 5"),
        (measured(*EACH, EACH[1]), MEASURE,  # the pool begins again too late
         "wrong: iteration 2 (operations 2 to 2): rows 1; the oracle has 3"),
        # of four operations the oracle was asked two: nobody knows what the others return
        (measured(*EACH, (9, 9, 9)), replace(MEASURE, walk=4), "ok"),
        (measured(EACH[0], (9, 9, 9), EACH[0]), replace(MEASURE, walk=4),
         "wrong: iteration 1 (operations 1 to 1): rows 9; the oracle has 1"),
        # of a warm-up that met a lock less is expected: only timed iterations count them
        (measured((3, 0, 5), (0, 0, 0), *EACH, EACH[0], warmup=2), TOLERANT, "ok"),
        (measured((3, 0, 5), (0, 0, 0), *EACH, EACH[0], warmup=2), MEASURE,
         "wrong: iteration 1 (operations 1 to 1): rows 0; the oracle has 1"),
        (measured(*EACH, EACH[0], (0, 0, 0), EACH[0], warmup=2), TOLERANT,
         "wrong: iteration 3 (operations 3 to 3): rows 0; the oracle has 1"),
        # answers that are not those of its iterations
        (measured(*EACH, EACH[0], answers=EACH), MEASURE,
         "failed: its result has 2 answers to 3 iterations"),
        (result(answers=[]), VERIFY, "failed: its result has 0 answers to 2 operations"),
        (measured(*EACH, EACH[0], rows=3), MEASURE, UNSUMMED),
        (measured(*EACH, EACH[0], operations=2), MEASURE, UNSUMMED),
        (measured(*EACH, EACH[0], checksum=7), MEASURE, UNSUMMED),
        # what its SQLite lacks, by its name
        (failed("no such function: jsonb"), VERIFY, LACKS.format("has no function jsonb")),
        (failed("SQLite Error 1: 'no such module: fts5'."), MEASURE,
         LACKS.format("has no module fts5")),
        (failed("no such collation sequence: icu (at line 1)"), VERIFY,
         LACKS.format("has no collation sequence icu")),
        (failed('near ">>": syntax error in "SELECT a ->> 1"'), VERIFY,
         LACKS.format("does not know the syntax near >>")),
        # the runner's own words
        (failed("no such table: t", sqlite_code=1), VERIFY,
         "failed: no such table: t (SQLite code 1)"),
        (failed("locked", sqlite_code=5, sql="SELECT 1"), VERIFY,
         "failed: locked (SQLite code 5) in: SELECT 1"),
        (failed("lost"), VERIFY, "failed: lost"),
        (result(status="unsupported", reason="no such shape"), VERIFY,
         "unsupported: no such shape"),
        # a pragma or an engine option that did not take
        (under(VERIFY, cache_size=-16000), VERIFY,
         "failed: PRAGMA synchronous was set but not read back"),
        (under(VERIFY, cache_size=-2000, synchronous=1), VERIFY,
         "failed: PRAGMA cache_size=-16000 did not take: it reads back -2000"),
        (under(VERIFY, cache_size=-16000, synchronous=2), VERIFY,
         "failed: PRAGMA synchronous=NORMAL did not take: it reads back 2"),
        (under(THREADS, threading="multi-thread", memstatus=0), THREADS,
         "failed: engine threading=serialized did not take: it reads back multi-thread"),
        (under(THREADS, threading="serialized"), THREADS,
         "failed: engine memstatus was set but not read back"),
        # but what nobody asked for or inspects does not matter
        (under(THREADS, threading="serialized", memstatus="0"), THREADS, "ok"),
        (under(THREADS, memstatus=1), replace(THREADS, engine={}), "ok"),
        (measured(*EACH, EACH[0], effective={}), replace(MEASURE, inspect=False), "ok"),
        (measured(*EACH, EACH[0], effective={}),
         replace(MEASURE, pragmas=[], engine=THREADS.engine, inspect=False), "ok"),
        # SQLite reads words back as numbers, and numbers as text
        (under(VERIFY, cache_size="-16000", temp_store=2, foreign_keys=0, journal_mode="wal"),
         replace(VERIFY, pragmas=[("cache_size", -16000), ("temp_store", "memory"),
                                  ("foreign_keys", "OFF"), ("journal_mode", "WAL")]), "ok"),
        # a proof is whole
        (result(digest=None), VERIFY, NO_DIGEST),
        (measured(*EACH, EACH[0]), replace(MEASURE, digest=True), NO_DIGEST),
        (measured(*EACH), MEASURE,
         "failed: its result has 2 timed iterations; 3 were asked for"),
    ],
)  # fmt: skip
def test_each_result_has_its_outcome_and_reason(
    given: Result, asked: Requirements, expected: str
) -> None:
    assert verdict(given, WANT, asked) == expected


def test_iterations_need_not_divide_the_walk_nor_have_steps() -> None:
    asked = replace(MEASURE, operations=2, walk=3)
    right = measured((2, 0, 3), (2, 0, 5), (2, 0, 6), operations=2)
    assert verdict(right, THREE, asked) == "ok"
    reason = f"wrong: iteration 1 (operations 2 to 3): checksum 3; the oracle has 5{FIRST}"
    assert verdict(measured(*[(2, 0, 3)] * 3, operations=2), THREE, asked) == reason
    assert verdict(result(checksum=0, rows=0), None, VERIFY) == "ok"


OTHER_VALUES = (
    "wrong: the database holds other values than the oracle's after the process ended, in as many "
    "rows and with the same checksum"
)
UNCOMMITTED = (
    "wrong: the database holds 4 rows with checksum 9 after the process ended; the runner read "
    "back 3 rows with checksum 9: its writes were not committed, or went elsewhere"
)
ELSEWHERE = (
    "wrong: the database holds 1 rows with checksum 7 after the process ended, and the oracle's 3 "
    "rows with checksum 9: its writes were not committed, went elsewhere, or are others"
)
UNKNOWN = "failed: what the oracle's file holds is not known, so nothing proves what it wrote"
UNREAD = "failed: its result has no read-back of what it wrote"
BUSY = replace(MEASURE, tolerate_busy=True)


@pytest.mark.parametrize(
    ("content", "readback", "written", "asked", "expected"),
    [
        (held(3, 9), RIGHT, "d", MEASURE, "ok"),
        (held(3, 9), RIGHT, None, MEASURE, "ok"),
        (held(4, 9), RIGHT, "d", MEASURE, UNCOMMITTED),
        (held(4, 9), RIGHT, "d", BUSY, UNCOMMITTED),
        # other values are wrong unless operations are missing
        (held(3, 9), RIGHT, "e", MEASURE, OTHER_VALUES),
        (held(3, 9), RIGHT, "e", BUSY, "ok"),
        # where nothing was asked back, the oracle's file is what it is held against
        (held(3, 9), None, "d", BUSY, UNREAD),
        (held(3, 9), None, "d", UNASKED, "ok"),
        (held(3, 9), None, None, UNASKED, UNKNOWN),
        (held(1, 7, "e"), None, "d", UNASKED, ELSEWHERE),
    ],
)
def test_a_file_is_held_against_what_was_read_back_and_the_oracles(
    content: Any, readback: Any, written: str | None, asked: Requirements, expected: str
) -> None:
    refused = [EACH[0], (0, 0, 0)] if asked.tolerate_busy else []
    given = measured(*refused, *EACH, EACH[0], warmup=len(refused), readback=readback)
    answer = WANT.model_copy(update={"written": written})
    assert verdict(given, answer, asked, content=content) == expected


@pytest.mark.parametrize(("usual", "shows"), [(0, True), (1, False), (2, True)])
def test_a_check_that_finds_more_than_in_the_oracles_database_is_wrong(
    usual: int, *, shows: bool
) -> None:
    content = held(3, 9, failing={"no-debts": (2, "id 7")})
    answer = WANT.model_copy(update={"failing": {"no-debts": usual} if usual else {}})
    words = (
        "wrong: check no-debts finds 2 rows in the database after the process ended, and "
        f"{usual} in the oracle's" + "; the first is id 7" * shows
    )
    told = verdict(result(), answer, VERIFY, content=content, shows_values=shows)
    assert told == ("ok" if usual == 2 else words)


ANEW = ", and is asked anew by the next run"
IDENTITY: dict[str, Any] = RESULT["identity"]
FEATURES = ("operations", "shapes", "integers", "statements", "transactions")
DESCRIPTION: dict[str, Any] = {
    "contract": 2,
    # flags may differ: a process whose iterations are timed has settings of its own
    "identity": {**IDENTITY, "flags": ["gc=workstation"]},
    "sqlite": {"version": "3.50.4", "source_id": "x", "compile_options": []},
    "features": {name: [] for name in FEATURES},
}


def who(**changes: Any) -> dict[str, Any]:
    return {"identity": {**IDENTITY, **changes}}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"sqlite_version": "3.50.4"}, None),
        ({}, None),  # a start needs no SQLite
        ({"cell": "get/x"}, "get/x; it was asked for a/b"),
        ({"cell": "a" * 99}, f"{'a' * 57}…; it was asked for a/b"),
        (who(runner="node"), f"the runner node; its `describe` says x{ANEW}"),
        (who(runtime={"name": "x", "version": "2"}),
         f"the runtime x 2; its `describe` says x 1{ANEW}"),
        (who(driver={"name": "y", "version": "1"}),
         f"the driver y 1; its `describe` says x 1{ANEW}"),
        (who(architecture="arm64"), f"the architecture arm64; its `describe` says x86_64{ANEW}"),
        ({"sqlite_version": "3.7.0"},
         f"the SQLite version 3.7.0; its `describe` says 3.50.4{ANEW}"),
    ],
)  # fmt: skip
def test_a_result_is_that_of_its_cell_and_its_runner(
    changes: dict[str, Any], what: str | None
) -> None:
    told = verdict(result(**changes), description=DESCRIPTION, timing=made.timing())
    assert told == (f"failed: its result is of {what}" if what else "ok")


ANSWER = OracleAnswer(operations=1, rows=2, affected=0, checksum=3, readback=None, digest="right")
RUNTIMES = {"a": "A", "b": "B", "c": "A"}


def record(runner: str, outcome: Any = "wrong", **changes: Any) -> Verified:
    other = {"rows": 2, "checksum": 4, "digest": "other", **changes}
    cell = {"case": "x", "runner": runner, "outcome": outcome}
    return Verified.model_validate({**cell, **other})


A, B, C = map(record, "abc")


@pytest.mark.parametrize(
    ("records", "who"),
    [
        ([A, B], "both"),
        ([A, B, C], "all 3"),
        ([A, B, record("c", "failed", checksum=0), record("python", "ok")], "both"),
        ([A], None),
        ([A, C], None),  # in one runtime
        ([A, record("b", checksum=5)], None),
        ([A, B, record("c", "ok", checksum=3, digest="right")], None),
        ([A, record("python")], None),  # the oracle
        ([record(name, checksum=3, digest="right") for name in "ab"], None),  # wrong otherwise
    ],
)
def test_two_runtimes_with_one_other_answer_are_told(
    records: list[Verified], who: str | None
) -> None:
    words = (
        f"{who} runners agree with each other against the oracle: suspect the oracle, or a "
        "scenario whose answer is not the same everywhere"
    )
    assert suspicion(records, ANSWER, RUNTIMES) == (words if who else None)


def engine(*totals: object) -> Ask:
    """A runner whose SQLite gives these totals to the rows 1, 2 and so on; none for no answer."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, total)")
    connection.executemany("INSERT INTO t(total) VALUES (?)", [(total,) for total in totals])

    def ask(job: Job) -> Result | None:
        (step,) = job.steps
        assert step.parameters
        rows = [
            row for bound in step.parameters.rows for row in connection.execute(step.sql, bound)
        ]
        digest = hashlib.sha256(repr(rows).encode()).hexdigest()
        return made.result(rows=len(rows), digest=digest) if totals else None

    return ask


@pytest.mark.parametrize(
    ("operation", "steps", "mine", "oracle", "words"),
    [
        ("all", 1, engine(1, 2.5, "a"), engine(1.0, 2.5, "a"),
         ("column the total has 1 of type integer, 2 of type real and 2 of type text; the oracle "
          "has 3 of type real and 2 of type text")),
        # of the first row alone
        ("get", 1, engine(None, 2.5, "a"), engine(1.0, 2.5, 3),
         "column the total has 1 of type real and 1 of type null; the oracle has 2 of type real"),
        ("all", 1, engine(1, 2, 3), engine(4, 5, 6),
         "all columns have values of the oracle's types"),
        ("run", 1, engine(1), engine(2.0), None),
        ("all", 2, engine(1), engine(2.0), None),
        ("all", 1, engine(), engine(1), None),
    ],
)  # fmt: skip
def test_types_of_values_are_told_column_by_column(
    operation: str, steps: int, mine: Ask, oracle: Ask, words: str | None
) -> None:
    step = {
        "operation": operation,
        "sql": 'SELECT id, total AS "the total" FROM t WHERE id > ? ORDER BY id',
        "parameters": {"types": ["integer"], "rows": [[0], [1]]},
        "columns": [{"name": "id", "type": "integer"}, {"name": "the total", "type": "real"}],
    }
    job = {"mode": "verify", "cell": "c", "database": {"path": "x.db"}, "steps": [step] * steps,
           "measure": {"operations_per_iteration": 1}, "output": "o"}  # fmt: skip
    assert of_types(Job.model_validate(job), mine, oracle) == words
