"""How a wrong answer differs from the oracle's: the types of its values, column by column.

A runner tells no values, so it is asked for types in their place: how often each of them comes.
"""

from collections.abc import Callable

from sqlitmus.vocabulary.contract.job import Job
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.contract.step import Column, Step
from sqlitmus.vocabulary.nouns import listed

TYPES = ("integer", "real", "text", "blob", "null")
Ask = Callable[[Job], Result | None]
"""Performs a job in verify mode; None if it has no answer."""


def of_types(job: Job, mine: Ask, oracle: Ask) -> str | None:
    """Which column of the only step of `job` has values of other types, and of which, in words.

    None where there are several steps, or one that returns no rows, or where nothing is known.
    """
    if len(job.steps) != 1 or job.steps[0].operation not in ("get", "all", "iterate"):
        return None
    (step,) = job.steps
    for column in step.columns:
        question = _job(job, step, _counts(column), "")
        answers = mine(question), oracle(question)
        digests = [answer and answer.digest for answer in answers]
        if None in digests:
            return None
        if digests[0] != digests[1]:
            its, the_oracles = (_of_each_type(job, step, column, ask) for ask in (mine, oracle))
            return f"column {column.name} has {its}; the oracle has {the_oracles}"
    return "all columns have values of the oracle's types"


def _counts(column: Column) -> dict[str, str]:
    """A number for each type: how many values of `column` have it."""
    return {
        kind: f"count(CASE typeof({_quoted(column)}) WHEN '{kind}' THEN 1 END)" for kind in TYPES
    }


def _of_each_type(job: Job, step: Step, column: Column, ask: Ask) -> str:
    """How many values of `column` have which type."""
    words: list[str] = []
    for kind in TYPES:
        only = _job(job, step, {"n": "1"}, f"WHERE typeof({_quoted(column)}) = '{kind}'")
        answer = ask(only)
        if answer and answer.rows:
            words.append(f"{answer.rows:,} of type {kind}")
    return listed(words) or "no values"


def _job(job: Job, step: Step, columns: dict[str, str], where: str) -> Job:
    """`job` with such `columns` of the rows of its step; of its first row, if it gets no more."""
    first = " LIMIT 1" if step.operation == "get" else ""
    chosen = ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
    changes = {
        "operation": "all",
        "sql": f"SELECT {chosen} FROM (SELECT * FROM ({step.sql}){first}) {where}".rstrip(),
        "columns": [Column(name=name, type="integer") for name in columns],
    }
    return job.model_copy(update={"steps": [step.model_copy(update=changes)], "inspect": False})


def _quoted(column: Column) -> str:
    doubled = column.name.replace('"', '""')
    return f'"{doubled}"'
