"""The facts of a run that merging needs."""

from dataclasses import dataclass

from sqlitmus.machines.manifest import Source
from sqlitmus.vocabulary.errors import UsageError


class Unacceptable(UsageError):
    """A reason to refuse a folder; the text says what is wrong with it, and where."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that may be merged.

    `path` is for messages; `kind` is system and architecture; `hardware` tells two machines of one
    label apart; `cases` are ids; `work` says what the run measures (see `catalog.same_work`); runs
    of one machine must agree in `settings`.
    """

    path: str
    hash: str
    run: str
    label: str
    created: str
    blocks: int
    complete: bool
    cpu: str
    kind: str
    hardware: tuple[str, ...]
    cases: frozenset[str]
    work: dict[str, str]
    settings: dict[str, str]

    def source(self) -> Source:
        """The run as `merged.json` records it."""
        return Source(
            hash=self.hash,
            run=self.run,
            label=self.label,
            cpu=self.cpu,
            created=self.created,
            blocks=self.blocks,
            complete=self.complete,
        )


def age(run: Run) -> tuple[str, bool, str]:
    """Sort key of runs by time; at the same time the complete one comes first."""
    return run.created, not run.complete, run.hash
