"""How a session ended."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.terms import Outcome


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended, and where its results are (None when it did not get that far)."""

    exit: Exit
    directory: Path | None


def exit_of(outcomes: Collection[Outcome]) -> Exit:
    """The exit code of a run whose cells ended so: wrong answers weigh more than failures.

    A run that has cells, and none of them ok, has measured nothing, which is a failure, too.
    """
    if "wrong" in outcomes:
        return Exit.WRONG_ANSWERS
    nothing = outcomes and "ok" not in outcomes
    return Exit.CELLS_FAILED if nothing or "failed" in outcomes else Exit.DONE
