"""When runners side against the oracle, and when they only are wrong."""

from typing import Any

import pytest

from sqlitmus.run.verify.answers import suspicion
from sqlitmus.run.verify.judge import OracleAnswer
from sqlitmus.store.file import Verified

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
