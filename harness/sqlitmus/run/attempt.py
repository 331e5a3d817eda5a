"""One run of one cell: about to start, and ended and judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.finished import Invocation
from sqlitmus.run.preparation import PreparedJob
from sqlitmus.run.proof import Held
from sqlitmus.vocabulary.detail import Launch
from sqlitmus.vocabulary.terms import Outcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one cell, judged; `log` is kept only when the cell went wrong.

    `held` is what the database file of a writing cell held afterwards; `wal` the sizes of its
    write-ahead log meanwhile, (ms, bytes), where they were asked for.
    """

    invocation: Invocation
    outcome: Outcome
    reason: str | None
    log: str | None
    launch: Launch | None = None
    held: Held | None = None
    wal: Sequence[tuple[float, int]] = ()


@dataclass(frozen=True, slots=True)
class Begun:
    """A run of a cell that is about to start: the files of its job, its log, its environment."""

    case: PlannedCase
    runner: Installed
    ready: PreparedJob
    log: Path
    environment: dict[str, str]

    @property
    def command(self) -> list[str]:
        """What starts it."""
        return [*self.runner.command, "--job", str(self.ready.file)]
