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
    answer_of,
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

IDENTITY = {
    "runner": "x",
    "runtime": {"name": "x", "version": "1"},
    "driver": {"name": "x", "version": "1"},
    "architecture": "x86_64",
}
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
    right = {
        "contract": 2,
        "cell": "a/b",
        "status": "ok",
        "identity": IDENTITY,
        "effective": {
            "pragmas": {"cache_size": -16000, "synchronous": 1, "journal_mode": "delete"}
        },
        "readback": {"rows": 3, "checksum": 9},
        "digest": "ab" * 32,
        **added_up(EACH, 2),
    }
    return Result.model_validate({**right, **changes})


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


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (added_up([(2, 0, 5), EACH[1]], 2), "operation 0: rows 2; the oracle has 3"),
        (added_up([EACH[0], (1, 0, 2)], 2), "operation 1: affected 0; the oracle has 1"),
        (added_up([EACH[0], (1, 1, 3)], 2), "operation 1: checksum 3; the oracle has 2"),
        (
            added_up([EACH[0], EACH[0]], 2),
            "operation 1: rows 3; the oracle has 1; that is the answer to the first iteration",
        ),
        (
            {"readback": {"rows": 3, "checksum": 8}},
            "readback: 3 rows with checksum 8; the oracle has 3 rows with checksum 9",
        ),
        ({"readback": None}, "readback: None; the oracle has 3 rows with checksum 9"),
        ({"digest": "cd" * 32}, "digest: cdcdcdcdcdcd…; the oracle has abababababab…"),
    ],
)
def test_another_answer_is_wrong(changes: dict[str, Any], reason: str) -> None:
    assert judge(result(**changes), WANT, VERIFY) == ("wrong", reason)


@pytest.mark.parametrize(
    ("iterations", "reason"),
    [
        (
            [EACH[0]] * 3,
            (
                "iteration 1 (operations 1 to 1): rows 3; the oracle has 1; "
                "that is the answer to the first iteration"
            ),
        ),
        (
            [EACH[0], (1, 1, 7), EACH[0]],
            "iteration 1 (operations 1 to 1): checksum 7; the oracle has 2",
        ),
        (
            [*EACH, EACH[1]],  # the pool begins again too late
            "iteration 2 (operations 2 to 2): rows 1; the oracle has 3",
        ),
    ],
)
def test_each_iteration_has_an_answer_of_its_own(iterations: list[Counts], reason: str) -> None:
    assert judge(measured(*iterations), WANT, MEASURE) == ("wrong", reason)
    # told of what comes after the warm-up as well
    assert judge(measured(*iterations, warmup=1), WANT, replace(MEASURE, iterations=2)) == (
        "wrong",
        reason,
    )


def test_iterations_need_not_divide_the_walk() -> None:
    three = OracleAnswer(
        answers=[(1, 0, 1), (1, 0, 2), (1, 0, 4)],
        operations=3, rows=3, affected=0, checksum=7, readback=None, digest="ab" * 32,
    )  # fmt: skip
    asked = replace(MEASURE, operations=2, walk=3)
    right = measured((2, 0, 3), (2, 0, 5), (2, 0, 6), operations=2, readback=None)
    assert judge(right, three, asked) == ("ok", None)
    again = measured((2, 0, 3), (2, 0, 3), (2, 0, 3), operations=2, readback=None)
    assert judge(again, three, asked) == (
        "wrong",
        (
            "iteration 1 (operations 2 to 3): checksum 3; the oracle has 5; "
            "that is the answer to the first iteration"
        ),
    )


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


def test_a_table_that_is_not_there_has_failed() -> None:
    failed = result(status="failed", error={"message": "no such table: t", "sqlite_code": 1})
    assert judge(failed, WANT, VERIFY) == ("failed", "no such table: t (SQLite code 1)")


def test_unsupported_and_failed_are_told_in_the_runners_words() -> None:
    assert judge(result(status="unsupported", reason="no such shape"), WANT, VERIFY) == (
        "unsupported",
        "no such shape",
    )
    error = {"message": "locked", "sqlite_code": 5, "sql": "SELECT 1"}
    assert judge(result(status="failed", error=error), WANT, VERIFY) == (
        "failed",
        "locked (SQLite code 5) in: SELECT 1",
    )
    assert judge(result(status="failed", error={"message": "lost"}), WANT, VERIFY) == (
        "failed",
        "lost",
    )


@pytest.mark.parametrize(
    ("changes", "asked", "reason"),
    [
        ({"digest": None}, VERIFY, "its result has no digest, which verification needs"),
        (
            {"effective": {"pragmas": {"cache_size": -16000}}},
            VERIFY,
            "PRAGMA synchronous was set but not read back",
        ),
        (
            {"effective": {"pragmas": {"cache_size": -2000, "synchronous": 1}}},
            VERIFY,
            "PRAGMA cache_size=-16000 did not take: it reads back -2000",
        ),
        (
            {"effective": {"pragmas": {"cache_size": -16000, "synchronous": 2}}},
            VERIFY,
            "PRAGMA synchronous=NORMAL did not take: it reads back 2",
        ),
    ],
)
def test_a_right_answer_without_its_proof_is_failed(
    changes: dict[str, Any], asked: Requirements, reason: str
) -> None:
    assert judge(result(**changes), WANT, asked) == ("failed", reason)


def test_a_measurement_is_whole() -> None:
    whole = measured(*EACH, EACH[0])
    reason = "its result has no digest, which verification needs"
    assert judge(whole, WANT, replace(MEASURE, digest=True)) == ("failed", reason)
    reason = "its result has 2 timed iterations; 3 were asked for"
    assert judge(measured(*EACH), WANT, MEASURE) == ("failed", reason)


def test_pragmas_are_not_missed_where_no_inspection_was_asked_for() -> None:
    uninspected = replace(MEASURE, inspect=False)
    given = measured(*EACH, EACH[0], effective={})
    assert judge(given, WANT, uninspected) == ("ok", None)


THREADS = replace(VERIFY, pragmas=[], engine={"threading": "serialized", "memstatus": 0})


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (
            {"threading": "multi-thread", "memstatus": 0},
            "engine threading=serialized did not take: it reads back multi-thread",
        ),
        (
            {"threading": "serialized", "memstatus": 1},
            "engine memstatus=0 did not take: it reads back 1",
        ),
        ({"threading": "serialized"}, "engine memstatus was set but not read back"),
    ],
)
def test_an_engine_option_that_did_not_take_is_failed(
    engine: dict[str, str | int], reason: str
) -> None:
    given = result(effective={"engine": engine})
    assert judge(given, WANT, THREADS) == ("failed", reason)


def test_engine_options_in_effect_pass_and_others_than_asked_for_do_not_matter() -> None:
    both = {"threading": "serialized", "memstatus": "0"}
    assert judge(result(effective={"engine": both}), WANT, THREADS) == ("ok", None)
    unasked = replace(THREADS, engine={})
    assert judge(result(effective={"engine": both}), WANT, unasked) == ("ok", None)
    uninspected = replace(MEASURE, pragmas=[], engine=THREADS.engine, inspect=False)
    given = measured(*EACH, EACH[0], effective={})
    assert judge(given, WANT, uninspected) == ("ok", None)


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


def test_the_oracles_result_becomes_the_expectation() -> None:
    assert answer_of(result()) == WANT


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
    ],
    ids=["one runner", "one runtime", "two answers", "one is right", "the oracle itself"],
)
def test_others_are_not(records: list[Verified]) -> None:
    assert suspicion(records, ANSWER, RUNTIMES) is None


def test_runners_that_are_wrong_for_another_reason_than_their_answer_are_not() -> None:
    right = {"checksum": 3, "digest": "right"}
    assert suspicion([record("a", **right), record("b", **right)], ANSWER, RUNTIMES) is None


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
        result = {"contract": 2, "cell": "c", "status": "ok", "identity": IDENTITY}
        digest = hashlib.sha256(repr(rows).encode()).hexdigest()
        return Result.model_validate({**result, "rows": len(rows), "digest": digest})

    return ask


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


def test_a_column_of_another_type_is_told_with_both_types() -> None:
    assert of_types(job(), engine(1, 2.5, "a"), engine(1.0, 2.5, "a")) == (
        "column the total has 1 of type integer, 2 of type real and 2 of type text; the oracle has "
        "3 of type real and 2 of type text"
    )


def test_of_what_gets_the_first_row_only_that_is_told() -> None:
    assert of_types(job("get"), engine(None, 2.5, "a"), engine(1.0, 2.5, 3)) == (
        "column the total has 1 of type real and 1 of type null; the oracle has 2 of type real"
    )


def test_other_values_of_the_same_types_are_told_as_that() -> None:
    words = of_types(job(), engine(1, 2, 3), engine(4, 5, 6))
    assert words == "all columns have values of the oracle's types"


@pytest.mark.parametrize("asked_job", [job("run"), job(steps=2)], ids=["writes", "several"])
def test_what_has_no_rows_of_its_own_is_not_asked_for_types(asked_job: Job) -> None:
    assert of_types(asked_job, engine(1), engine(2.0)) is None


def test_who_does_not_answer_is_not_told_of() -> None:
    assert of_types(job(), lambda _: None, engine(1)) is None


ANEW = ", and is asked anew by the next run"
DESCRIBED: dict[str, Any] = RESULT["identity"]  # pyright: ignore[reportAssignmentType]
DESCRIPTION = Description.model_validate(
    {
        "contract": 2,
        "identity": {**DESCRIBED, "flags": ["gc=workstation"]},
        "sqlite": {"version": "3.50.4", "source_id": "x", "compile_options": []},
        "features": {
            "operations": [],
            "shapes": [],
            "integers": [],
            "statements": [],
            "transactions": [],
        },
    }
)


def of_runner(**changes: Any) -> Result:
    return Result.model_validate({**RESULT, **changes})


def test_the_runners_own_result_of_its_cell() -> None:
    # flags may differ: a process whose iterations are timed has settings of its own
    assert identity(of_runner(sqlite_version="3.50.4"), "a/b", DESCRIPTION) is None
    assert identity(of_runner(), "a/b", DESCRIPTION) is None  # a start needs no SQLite


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cell": "get/x"}, "its result is of get/x; it was asked for a/b"),
        (
            {"identity": {**DESCRIBED, "runner": "node"}},
            f"its result is of the runner node; its `describe` says x{ANEW}",
        ),
        (
            {"identity": {**DESCRIBED, "runtime": {"name": "x", "version": "2"}}},
            f"its result is of the runtime x 2; its `describe` says x 1{ANEW}",
        ),
        (
            {"identity": {**DESCRIBED, "architecture": "arm64"}},
            f"its result is of the architecture arm64; its `describe` says x86_64{ANEW}",
        ),
        (
            {"sqlite_version": "3.7.0"},
            f"its result is of the SQLite version 3.7.0; its `describe` says 3.50.4{ANEW}",
        ),
        ({"cell": "a" * 99}, f"its result is of {'a' * 57}…; it was asked for a/b"),
    ],
)
def test_another_result(changes: dict[str, Any], reason: str) -> None:
    assert identity(of_runner(**changes), "a/b", DESCRIPTION) == reason


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
