"""What is held of a result: each outcome, with its reason."""

import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.run.verify import judge as judging
from sqlitmus.run.verify.answers import suspicion
from sqlitmus.run.verify.judge import (
    Ask,
    Evidence,
    Files,
    Held,
    Invocation,
    OracleAnswer,
    PreparedJob,
    Requirements,
    identity,
    of_types,
    windows,
)
from sqlitmus.run.verify.proof import Failing
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary.contract import (
    Column,
    Counts,
    Description,
    Job,
    Measure,
    Operation,
    Parameters,
    Proof,
    Result,
    Step,
)
from sqlitmus.vocabulary.pragmas import normal_pragma
from tests.run.test_freshness import PYTHON
from tests.run.test_hyperfine import RESULT
from tests.run.test_plausible import ALONE, MACHINE

EACH = [(3, 0, 5), (1, 1, 2)]
WANT = OracleAnswer(
    answers=EACH,
    operations=2,
    rows=4,
    affected=1,
    checksum=7,
    readback=Proof(rows=3, checksum=9),
    digest="ab" * 32,
)
VERIFY = Requirements(
    "verify",
    operations=2,
    iterations=1,
    inspect=True,
    pragmas=[("cache_size", -16000), ("synchronous", "NORMAL")],
    engine={},
)
MEASURE = replace(VERIFY, mode="measure", operations=1, iterations=3, walk=2)


def judge(
    given: Result,
    answer: OracleAnswer | None,
    required: Requirements,
    held: Held | None = None,
    *,
    shows_values: bool = False,
) -> tuple[str, str | None]:
    """What is made of a result, and of what the file that its process wrote holds."""
    here, run = Path(), Invocation(None, given, None)
    job = PreparedJob("a/b", here, here, required, ALONE, None, None, [], frozenset(), "")
    evidence = Evidence(PYTHON, job, run, answer, here, Files(), MACHINE)
    evidence = replace(evidence, shows_values=shows_values)
    vars(evidence)["held"] = held  # as if the file had been read
    return judging.judge(evidence)


def result(**changes: Any) -> Result:
    pragmas = {"cache_size": -16000, "synchronous": 1, "journal_mode": "delete"}
    right = {"effective": {"pragmas": pragmas}, "readback": {"rows": 3, "checksum": 9}}
    more = {"digest": "ab" * 32, **added_up(EACH, 2)}
    return Result.model_validate({**RESULT, **right, **more, **changes})


def added_up(answers: list[Counts], operations: int) -> dict[str, Any]:
    """These answers, to so many operations, and their sums."""
    rows, affected, checksum = (sum(each) for each in zip(*answers, strict=True))
    sums = {"rows": rows, "affected": affected, "checksum": checksum % 2**32}
    return {"answers": answers, "operations": operations, **sums}


def measured(*answers: Counts, warmup: int = 0, operations: int = 1, **changes: Any) -> Result:
    """The result of a process with an iteration for each answer; the first ones warm it up."""
    times = list(range(1, len(answers) + 1))
    counts = added_up(list(answers), operations * len(answers))
    each = {"warmup_ns": times[:warmup], "iterations_ns": times[warmup:]}
    return result(**{"digest": None, **counts, **each, **changes})


def test_the_right_answer_is_ok() -> None:
    assert judge(result(), WANT, VERIFY) == ("ok", None)
    assert judge(measured(*EACH, EACH[0]), WANT, MEASURE) == ("ok", None)
    assert judge(measured(*EACH, *EACH, EACH[0], warmup=2), WANT, MEASURE) == ("ok", None)


FIRST = "; that is the answer to the first iteration"
READ = "readback: {}; the oracle has 3 rows with checksum 9"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (added_up([(2, 0, 5), EACH[1]], 2), "operation 0: rows 2; the oracle has 3"),
        (added_up([EACH[0], (1, 0, 2)], 2), "operation 1: affected 0; the oracle has 1"),
        (added_up([EACH[0], (1, 1, 3)], 2), "operation 1: checksum 3; the oracle has 2"),
        (added_up([EACH[0]] * 2, 2), f"operation 1: rows 3; the oracle has 1{FIRST}"),
        ({"readback": {"rows": 3, "checksum": 8}}, READ.format("3 rows with checksum 8")),
        ({"readback": None}, READ.format(None)),
        ({"digest": "cd" * 32}, "digest: cdcdcdcdcdcd…; the oracle has abababababab…"),
    ],
)
def test_another_answer_is_wrong(changes: dict[str, Any], reason: str) -> None:
    assert judge(result(**changes), WANT, VERIFY) == ("wrong", reason)


@pytest.mark.parametrize(
    ("iterations", "at", "reason"),
    [
        ([EACH[0]] * 3, 1, f"rows 3; the oracle has 1{FIRST}"),
        ([EACH[0], (1, 1, 7), EACH[0]], 1, "checksum 7; the oracle has 2"),
        ([*EACH, EACH[1]], 2, "rows 1; the oracle has 3"),  # the pool begins again too late
    ],
)
@pytest.mark.parametrize("warmup", [0, 1])  # told of what comes after the warm-up as well
def test_each_iteration_has_an_answer_of_its_own(
    iterations: list[Counts], at: int, reason: str, warmup: int
) -> None:
    told = judge(
        measured(*iterations, warmup=warmup), WANT, replace(MEASURE, iterations=3 - warmup)
    )
    assert told == ("wrong", f"iteration {at} (operations {at} to {at}): {reason}")


def test_iterations_need_not_divide_the_walk() -> None:
    three = OracleAnswer(
        answers=[(1, 0, 1), (1, 0, 2), (1, 0, 4)],
        operations=3, rows=3, affected=0, checksum=7, readback=None, digest="ab" * 32,
    )  # fmt: skip
    asked = replace(MEASURE, operations=2, walk=3)
    right = measured((2, 0, 3), (2, 0, 5), (2, 0, 6), operations=2, readback=None)
    assert judge(right, three, asked) == ("ok", None)
    again = measured((2, 0, 3), (2, 0, 3), (2, 0, 3), operations=2, readback=None)
    reason = f"iteration 1 (operations 2 to 3): checksum 3; the oracle has 5{FIRST}"
    assert judge(again, three, asked) == ("wrong", reason)


def test_of_a_warm_up_that_met_a_lock_less_is_expected() -> None:
    """Workers count only in timed iterations how often they met one."""
    tolerant = replace(MEASURE, tolerate_busy=True, left_open=frozenset({"readback"}))
    locked = measured((3, 0, 5), (0, 0, 0), *EACH, EACH[0], warmup=2)
    assert judge(locked, WANT, tolerant) == ("ok", None)
    assert judge(locked, WANT, MEASURE)[0] == "wrong"
    later = measured(*EACH, EACH[0], (0, 0, 0), EACH[0], warmup=2)
    assert judge(later, WANT, tolerant)[0] == "wrong"


def test_what_the_oracle_was_not_asked_is_not_held_against_anybody() -> None:
    unknown = replace(MEASURE, walk=4)  # of which WANT has two
    assert judge(measured(*EACH, (9, 9, 9)), WANT, unknown) == ("ok", None)
    assert judge(measured(*EACH, (9, 9, 9)), WANT, MEASURE)[0] == "wrong"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answers": EACH}, "its result has 2 answers to 3 iterations"),
        ({"answers": []}, "its result has 0 answers to 3 iterations"),
        ({"rows": 3}, "its counts are not the sums of its answers"),
        ({"operations": 2}, "its counts are not the sums of its answers"),
        ({"checksum": 7}, "its counts are not the sums of its answers"),
    ],
)
def test_answers_that_are_not_those_of_its_iterations_are_failed(
    changes: dict[str, Any], reason: str
) -> None:
    assert judge(measured(*EACH, EACH[0], **changes), WANT, MEASURE) == ("failed", reason)


COUNTS = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2**32 - 1))


@given(
    st.lists(COUNTS, max_size=9), st.integers(1, 12), st.integers(1, 9), st.sampled_from([0, -1, 1])
)
def test_a_window_is_the_sum_of_its_operations(
    each: list[Counts], length: int, count: int, beyond: int
) -> None:
    """The model adds up operation by operation: a whole walk begins again, a part of one ends."""
    cyclic = bool(each) and not beyond
    walk = 0 if beyond < 0 else len(each) + beyond
    answer = WANT.model_copy(update={"answers": each})
    expected: list[Counts | None] = []
    for first in range(0, length * count, length):
        numbers = range(first, first + length)
        if not cyclic and numbers[-1] >= len(each):
            expected.append(None)
            continue
        mine = [each[number % len(each)] for number in numbers]
        rows, affected, checksum = (sum(one) for one in zip(*mine, strict=True))
        expected.append((rows, affected, checksum % 2**32))
    assert windows(answer, length, count, walk) == expected


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("no such function: jsonb", "has no function jsonb"),
        ("SQLite Error 1: 'no such module: fts5'.", "has no module fts5"),
        ("no such collation sequence: icu (at line 1)", "has no collation sequence icu"),
        ('near ">>": syntax error in "SELECT a ->> \'$.b\'"', "does not know the syntax near >>"),
    ],
)
def test_what_its_sqlite_lacks_is_unsupported_by_its_name(message: str, lacks: str) -> None:
    failed = result(status="failed", error={"message": message}, sqlite_version="3.35.5")
    reason = f"its SQLite 3.35.5 {lacks}"
    assert judge(failed, WANT, VERIFY) == ("unsupported", reason)
    assert judge(failed, WANT, MEASURE) == ("unsupported", reason)


LOCKED = {"message": "locked", "sqlite_code": 5, "sql": "SELECT 1"}


@pytest.mark.parametrize(
    ("status", "changes", "words"),
    [
        ("failed", {"error": {"message": "no such table: t", "sqlite_code": 1}},
         "no such table: t (SQLite code 1)"),
        ("failed", {"error": LOCKED}, "locked (SQLite code 5) in: SELECT 1"),
        ("failed", {"error": {"message": "lost"}}, "lost"),
        ("unsupported", {"reason": "no such shape"}, "no such shape"),
    ],
)  # fmt: skip
def test_unsupported_and_failed_are_told_in_the_runners_words(
    status: str, changes: dict[str, Any], words: str
) -> None:
    assert judge(result(status=status, **changes), WANT, VERIFY) == (status, words)


THREADS = replace(VERIFY, pragmas=[], engine={"threading": "serialized", "memstatus": 0})


@pytest.mark.parametrize(
    ("asked", "effective", "reason"),
    [
        (VERIFY, {"cache_size": -16000}, "PRAGMA synchronous was set but not read back"),
        (VERIFY, {"cache_size": -2000, "synchronous": 1},
         "PRAGMA cache_size=-16000 did not take: it reads back -2000"),
        (VERIFY, {"cache_size": -16000, "synchronous": 2},
         "PRAGMA synchronous=NORMAL did not take: it reads back 2"),
        (THREADS, {"threading": "multi-thread", "memstatus": 0},
         "engine threading=serialized did not take: it reads back multi-thread"),
        (THREADS, {"threading": "serialized", "memstatus": 1},
         "engine memstatus=0 did not take: it reads back 1"),
        (THREADS, {"threading": "serialized"}, "engine memstatus was set but not read back"),
    ],
)  # fmt: skip
def test_a_pragma_or_an_engine_option_that_did_not_take_is_failed(
    asked: Requirements, effective: dict[str, str | int], reason: str
) -> None:
    given = result(effective={"engine" if asked is THREADS else "pragmas": effective})
    assert judge(given, WANT, asked) == ("failed", reason)


def test_a_proof_is_whole() -> None:
    whole = measured(*EACH, EACH[0])
    reason = "its result has no digest, which verification needs"
    assert judge(result(digest=None), WANT, VERIFY) == ("failed", reason)
    assert judge(whole, WANT, replace(MEASURE, digest=True)) == ("failed", reason)
    reason = "its result has 2 timed iterations; 3 were asked for"
    assert judge(measured(*EACH), WANT, MEASURE) == ("failed", reason)


def test_settings_that_nobody_asked_for_or_inspects_do_not_matter() -> None:
    both = {"threading": "serialized", "memstatus": "0"}
    for asked in (THREADS, replace(THREADS, engine={})):
        assert judge(result(effective={"engine": both}), WANT, asked) == ("ok", None)
    given = measured(*EACH, EACH[0], effective={})
    for asked in (MEASURE, replace(MEASURE, pragmas=[], engine=THREADS.engine)):
        assert judge(given, WANT, replace(asked, inspect=False)) == ("ok", None)


def test_a_job_without_steps_has_nothing_to_compare() -> None:
    assert judge(result(checksum=0, rows=0), None, VERIFY) == ("ok", None)


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("synchronous", "NORMAL", 1),
        ("temp_store", "memory", 2),
        ("foreign_keys", "OFF", 0),
        ("journal_mode", "WAL", "wal"),
        ("cache_size", -16000, "-16000"),
    ],
)
def test_a_pragma_is_compared_in_the_form_in_which_sqlite_reads_it_back(
    name: str, value: str | int, read: str | int
) -> None:
    assert normal_pragma(name, value) == normal_pragma(name, read)


ANSWER = OracleAnswer(operations=1, rows=2, affected=0, checksum=3, readback=None, digest="right")
RUNTIMES = {"a": "A", "b": "B", "c": "A"}


def record(runner: str, outcome: Any = "wrong", **changes: Any) -> Verified:
    other = {"rows": 2, "checksum": 4, "digest": "other", **changes}
    cell = {"case": "x", "runner": runner, "outcome": outcome}
    return Verified.model_validate({**cell, **other})


def test_two_runtimes_with_one_other_answer_are_told() -> None:
    words = (
        "both runners agree with each other against the oracle: suspect the oracle, or a scenario "
        "whose answer is not the same everywhere"
    )
    assert suspicion([record("a"), record("b")], ANSWER, RUNTIMES) == words
    three = [record("a"), record("b"), record("c")]
    assert suspicion(three, ANSWER, RUNTIMES) == words.replace("both", "all 3")
    silent = [record("a"), record("b"), record("c", "failed", checksum=0), record("python", "ok")]
    assert suspicion(silent, ANSWER, RUNTIMES) == words


@pytest.mark.parametrize(
    "records",
    [
        [record("a")],
        [record("a"), record("c")],
        [record("a"), record("b", checksum=5)],
        [record("a"), record("b"), record("c", "ok", checksum=3, digest="right")],
        [record("a"), record("python")],
        [record(name, checksum=3, digest="right") for name in "ab"],
    ],
    ids=["one runner", "one runtime", "two", "one is right", "the oracle", "wrong otherwise"],
)
def test_others_are_not(records: list[Verified]) -> None:
    assert suspicion(records, ANSWER, RUNTIMES) is None


SQL = 'SELECT id, total AS "the total" FROM t WHERE id > ? ORDER BY id'


def engine(*totals: object) -> Ask:
    """A runner whose SQLite gives these totals to the rows 1, 2 and so on."""
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
        return Result.model_validate({**RESULT, "rows": len(rows), "digest": digest})

    return ask


def silent(_: Job) -> Result | None:
    """A runner that does not answer."""
    return None


def job(operation: Operation = "all", steps: int = 1) -> Job:
    step = Step(
        operation=operation,
        sql=SQL,
        parameters=Parameters(types=["integer"], rows=[[0], [1]]),
        columns=[Column(name="id", type="integer"), Column(name="the total", type="real")],
    )
    measure = Measure(operations_per_iteration=1)
    database = {"path": "x.db"}
    return Job.model_validate(
        {"mode": "verify", "cell": "c", "database": database, "steps": [step] * steps,
         "measure": measure, "output": "o"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "mine", "oracle", "words"),
    [
        (job(), engine(1, 2.5, "a"), engine(1.0, 2.5, "a"),
         ("column the total has 1 of type integer, 2 of type real and 2 of type text; the oracle "
          "has 3 of type real and 2 of type text")),
        (job("get"), engine(None, 2.5, "a"), engine(1.0, 2.5, 3),
         "column the total has 1 of type real and 1 of type null; the oracle has 2 of type real"),
        (job(), engine(1, 2, 3), engine(4, 5, 6), "all columns have values of the oracle's types"),
        (job("run"), engine(1), engine(2.0), None),
        (job(steps=2), engine(1), engine(2.0), None),
        (job(), silent, engine(1), None),
    ],
    ids=["another", "another in the first row", "the same", "writes", "several", "no answer"],
)  # fmt: skip
def test_types_of_values_are_told_column_by_column(
    asked: Job, mine: Ask, oracle: Ask, words: str | None
) -> None:
    assert of_types(asked, mine, oracle) == words


ANEW = ", and is asked anew by the next run"
DESCRIBED: dict[str, Any] = RESULT["identity"]  # pyright: ignore[reportAssignmentType]
FEATURES = ("operations", "shapes", "integers", "statements", "transactions")
DESCRIPTION = Description.model_validate(
    {
        "contract": 2,
        "identity": {**DESCRIBED, "flags": ["gc=workstation"]},
        "sqlite": {"version": "3.50.4", "source_id": "x", "compile_options": []},
        "features": {name: [] for name in FEATURES},
    }
)


def of_runner(**changes: Any) -> Result:
    return Result.model_validate({**RESULT, **changes})


def test_the_runners_own_result_of_its_cell() -> None:
    # flags may differ: a process whose iterations are timed has settings of its own
    assert identity(of_runner(sqlite_version="3.50.4"), "a/b", DESCRIPTION) is None
    assert identity(of_runner(), "a/b", DESCRIPTION) is None  # a start needs no SQLite


def who(**changes: Any) -> dict[str, Any]:
    return {"identity": {**DESCRIBED, **changes}}


@pytest.mark.parametrize(
    ("changes", "what", "rest"),
    [
        ({"cell": "get/x"}, "get/x", "it was asked for a/b"),
        ({"cell": "a" * 99}, f"{'a' * 57}…", "it was asked for a/b"),
        (who(runner="node"), "the runner node", f"its `describe` says x{ANEW}"),
        (who(runtime={"name": "x", "version": "2"}), "the runtime x 2",
         f"its `describe` says x 1{ANEW}"),
        (who(architecture="arm64"), "the architecture arm64", f"its `describe` says x86_64{ANEW}"),
        ({"sqlite_version": "3.7.0"}, "the SQLite version 3.7.0",
         f"its `describe` says 3.50.4{ANEW}"),
    ],
)  # fmt: skip
def test_another_result(changes: dict[str, Any], what: str, rest: str) -> None:
    told = identity(of_runner(**changes), "a/b", DESCRIPTION)
    assert told == f"its result is of {what}; {rest}"


def test_a_check_that_finds_more_than_in_the_oracles_database_is_wrong() -> None:
    right = Proof(rows=3, checksum=9)
    found_two = Held(right, "cd" * 32, failing={"no-debts": Failing(2, "id 7")})
    words = (
        "check no-debts finds 2 rows in the database after the process ended, and {} in the "
        "oracle's"
    )
    assert judge(result(), WANT, VERIFY, found_two) == ("wrong", words.format(0))
    shown = judge(result(), WANT, VERIFY, found_two, shows_values=True)
    assert shown == ("wrong", f"{words.format(0)}; the first is id 7")
    with_one = WANT.model_copy(update={"failing": {"no-debts": 1}})
    assert judge(result(), with_one, VERIFY, found_two) == ("wrong", words.format(1))
    with_two = WANT.model_copy(update={"failing": {"no-debts": 2}})
    assert judge(result(), with_two, VERIFY, found_two) == ("ok", None)
