"""What is held of a result: each outcome, with its reason."""

from dataclasses import replace
from typing import Any

import pytest

from sqlitmus.run.judge import OracleAnswer, Requirements, answer_of, judge, normal
from sqlitmus.vocabulary.contract.result import Proof, Result

IDENTITY = {
    "runner": "x",
    "runtime": {"name": "x", "version": "1"},
    "driver": {"name": "x", "version": "1"},
    "architecture": "x86_64",
}
WANT = OracleAnswer(
    operations=2,
    rows=4,
    affected=1,
    checksum=7,
    readback=Proof(rows=3, checksum=9),
    digest="ab" * 32,
)
VERIFY = Requirements(
    "verify",
    1,
    inspect=True,
    pragmas=[("cache_size", -16000), ("synchronous", "NORMAL")],
    engine={},
)
MEASURE = replace(VERIFY, mode="measure", iterations=3)


def result(**changes: Any) -> Result:
    right = {
        "contract": 1,
        "cell": "a/b",
        "status": "ok",
        "identity": IDENTITY,
        "effective": {
            "pragmas": {"cache_size": -16000, "synchronous": 1, "journal_mode": "delete"}
        },
        "operations": 2,
        "rows": 4,
        "affected": 1,
        "checksum": 7,
        "readback": {"rows": 3, "checksum": 9},
        "digest": "ab" * 32,
    }
    return Result.model_validate({**right, **changes})


def test_the_right_answer_is_ok() -> None:
    assert judge(result(), WANT, VERIFY) == ("ok", None)
    assert judge(result(digest=None, iterations_ns=[1, 2, 3]), WANT, MEASURE) == ("ok", None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"operations": 3}, "operations: 3; the oracle has 2"),
        ({"rows": 3}, "rows: 3; the oracle has 4"),
        ({"affected": 0}, "affected: 0; the oracle has 1"),
        ({"checksum": 8}, "checksum: 8; the oracle has 7"),
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
    ("message", "lacks"),
    [
        ("no such function: jsonb", "function jsonb"),
        ("SQLite Error 1: 'no such module: fts5'.", "module fts5"),
        ("no such collation sequence: icu (at line 1)", "collation sequence icu"),
    ],
)
def test_what_its_sqlite_lacks_is_unsupported_by_its_name(message: str, lacks: str) -> None:
    failed = result(status="failed", error={"message": message}, sqlite_version="3.35.5")
    reason = f"its SQLite 3.35.5 has no {lacks}"
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
            {"digest": None, "iterations_ns": [1, 2, 3]},
            replace(MEASURE, digest=True),
            "its result has no digest, which verification needs",
        ),
        (
            {"iterations_ns": [1, 2]},
            MEASURE,
            "its result has 2 timed iterations; 3 were asked for",
        ),
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


def test_pragmas_are_not_missed_where_no_inspection_was_asked_for() -> None:
    uninspected = replace(MEASURE, inspect=False)
    given = result(effective={}, iterations_ns=[1, 2, 3])
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
    uninspected = replace(THREADS, mode="measure", iterations=3, inspect=False)
    given = result(effective={}, iterations_ns=[1, 2, 3])
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
    assert normal(name, value) == normal(name, read)


def test_the_oracles_result_becomes_the_expectation() -> None:
    assert answer_of(result()) == WANT
