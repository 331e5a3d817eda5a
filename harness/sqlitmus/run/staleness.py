"""What is made of the answers of a runner whose rows changed: right, stale or neither."""

from collections.abc import Sequence

from sqlitmus.run.checksum import Value, checksum, digest
from sqlitmus.run.finished import Invocation
from sqlitmus.run.freshness import BOUND, REPEAT, WIDE, Manner, Question
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.terms import Outcome


def judged(question: Question, invocation: Invocation) -> tuple[Outcome, str | None]:
    """The outcome of an invocation that answers a question, and the reason unless it is ok."""
    result = invocation.result
    if result is None:
        return "failed", f"asked whether it answers from the database: {invocation.problem}"
    if result.status == "unsupported":
        return "unsupported", result.reason
    if result.status == "failed":
        return "failed", result.error.message if result.error else None
    return _verdict(question, result)


def _verdict(question: Question, result: Result) -> tuple[Outcome, str | None]:
    manners, answers = question.manners, result.answers
    if len(answers) != len(manners) + 1:
        return "failed", f"its result has {len(answers)} answers to {len(manners) + 1} iterations"
    for changed, answer in enumerate(answers):
        if error := _error(question, changed, (answer[0], answer[2])):
            return "wrong", error
    if result.digest is None:
        return "failed", "its result has no digest, which was asked for"
    if result.digest != right_digest(question):
        return "wrong", f"its values are not those of the database, read by {_names(manners)}"
    return "ok", None


def _error(question: Question, changed: int, got: tuple[int, int]) -> str | None:
    """What is wrong with the rows and checksum after the rows of so many steps were changed."""
    if got == right(question, changed):
        return None
    if not changed:
        return f"its rows are not those of the database, read by {_names(question.manners)}"
    manner = question.manners[changed - 1]
    if got == right(question, changed - 1):
        return f"stale: another process changed rows, and {manner} returned the old ones"
    return f"another process changed rows, and {manner} returned neither old nor new ones"


def _names(manners: Sequence[Manner]) -> str:
    return ", ".join(map(str, manners))


def right(question: Question, changed: int) -> tuple[int, int]:
    """Rows and checksum of an iteration after the rows of so many steps were changed."""
    executions = _executions(question, changed)
    return sum(map(len, executions)), checksum(executions)


def right_digest(question: Question) -> str:
    """The digest after the last iteration."""
    return digest(_executions(question, len(question.manners)))


def _executions(question: Question, changed: int) -> list[list[tuple[Value, ...]]]:
    text = question.text(BOUND)
    columns, bound = (7, (text, WIDE)) if question.wide else (6, (text,))
    executions: list[list[tuple[Value, ...]]] = []
    for step, manner in enumerate(question.manners):
        rows = question.stored(step, changed=step < changed)
        rows = rows if manner.operation in ("all", "iterate") else rows[:1]
        executions += [[(*row[2:columns], *bound) for row in rows]] * REPEAT
    return executions
