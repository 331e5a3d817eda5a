"""What a runner is asked while its rows change, and what is made of its answers."""

from dataclasses import replace
from typing import Any

import pytest

from sqlitmus.catalog import choose, definitions
from sqlitmus.run.processes.process import Invocation
from sqlitmus.run.verify import freshness
from sqlitmus.run.verify.freshness import Manner, Question
from sqlitmus.vocabulary.contract import Counts, Result

GET = Manner("object", "number", "prepared", "get")
ALL = Manner("object", "number", "prepared", "all")
QUESTION = Question((ALL, GET), wide=True, nul=True, engine={})
IDENTITY = {
    "runner": "b",
    "runtime": {"name": "R", "version": "1"},
    "driver": {"name": "D", "version": "1"},
    "architecture": "x86_64",
}


def counts(question: Question, changed: int) -> Counts:
    """The right answer after the rows of so many steps were changed."""
    rows, checksum = freshness.right(question, changed)
    return rows, 0, checksum


def asked(question: Question = QUESTION, **changes: Any) -> tuple[str, str | None]:
    """The verdict on right answers with `changes`."""
    answers = [counts(question, changed) for changed in range(len(question.manners) + 1)]
    right = {
        "contract": 2,
        "cell": "freshness",
        "status": "ok",
        "identity": IDENTITY,
        "answers": answers,
        "digest": freshness.right_digest(question),
    }
    result = Result.model_validate({**right, **changes})
    return freshness.judged(question, Invocation(None, result, None))


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("nul", [True, False])
def test_right_answers_are_ok(wide: bool, nul: bool) -> None:
    assert asked(replace(QUESTION, wide=wide, nul=nul)) == ("ok", None)


def test_the_manner_that_returned_old_rows_is_named() -> None:
    first, second, third = (counts(QUESTION, changed) for changed in range(3))
    words = "stale: another process changed rows, and `{}` (prepared, object) returned the old ones"
    assert asked(answers=[first, first, third]) == ("wrong", words.format("all"))
    assert asked(answers=[first, second, second]) == ("wrong", words.format("get"))
    assert asked(answers=[first, first, first]) == ("wrong", words.format("all"))


def test_rows_that_never_were_are_wrong() -> None:
    first, second, third = (counts(QUESTION, changed) for changed in range(3))
    other = (*second[:2], second[2] ^ 1)
    by_all = "`all` (prepared, object)"
    names = f"{by_all}, `get` (prepared, object)"
    reason = f"its rows are not those of the database, read by {names}"
    assert asked(answers=[other, second, third]) == ("wrong", reason)
    reason = f"another process changed rows, and {by_all} returned neither old nor new ones"
    assert asked(answers=[first, other, third]) == ("wrong", reason)


def test_a_value_that_the_checksum_does_not_see_is_in_the_digest() -> None:
    outcome, reason = asked(digest="ab" * 32)
    assert outcome == "wrong"
    assert reason
    assert "its values are not those of the database" in reason


def test_what_was_not_answered_is_failed() -> None:
    assert asked(answers=[]) == ("failed", "its result has 0 answers to 3 iterations")
    assert asked(digest=None) == ("failed", "its result has no digest, which was asked for")
    assert asked(status="unsupported", reason="no barrier") == ("unsupported", "no barrier")
    assert asked(status="failed", error={"message": "locked"}) == ("failed", "locked")
    assert freshness.judged(QUESTION, Invocation(None, None, "ended with exit code 2")) == (
        "failed",
        "asked whether it answers from the database: ended with exit code 2",
    )


def test_a_run_asks_in_the_manners_of_its_cases() -> None:
    catalog = definitions.load()
    cases, _ = choose.choose(
        catalog, "quick", catalog.modes["quick"], ["get-pk@shape=array", "all"], [], [], None
    )
    manners = freshness.manners_of(cases, catalog)
    assert manners == {ALL, Manner("array", "number", "prepared", "get")}
    # A driver may have one shape for all statements of a connection.
    spec = catalog.runners["node"]
    assert [q.manners for q in freshness.questions(manners, ["number", "bigint"], spec)] == [
        (Manner("array", "number", "prepared", "get"),),
        (ALL,),
    ]


def test_integers_beyond_doubles_are_read_where_they_can_be() -> None:
    catalog = definitions.load()
    bigint = GET._replace(integers="bigint")
    node, rust = catalog.runners["node"], catalog.runners["rust"]
    lossy = freshness.questions([GET, bigint], ["number", "bigint"], node)
    assert {q.manners: q.wide for q in lossy} == {(GET,): False, (bigint,): True}
    assert [q.wide for q in freshness.questions([GET], ["number"], rust)] == [True]
    held = [row[-1] for row in QUESTION.stored(0, changed=False)]
    assert all(isinstance(value, int) and int(float(value)) != value for value in held)


def test_texts_hold_what_a_runner_says_that_they_can() -> None:
    catalog = definitions.load()
    for name in ("node", "deno"):
        (question,) = freshness.questions([GET], ["number"], catalog.runners[name])
        texts = [row[3] for row in question.stored(0, changed=True)]
        assert ["\0" in str(text) for text in texts] == [name == "node"] * 3
