"""What merging needs to know of a run."""

from dataclasses import dataclass

from sqlitmus.catalog.plan import Shard
from sqlitmus.machines.manifest import Source


@dataclass(frozen=True, slots=True)
class Run:
    """A run that may be merged.

    `path` is for messages, `kind` system and architecture, `hardware` what tells two machines of
    one label apart, `cases` the ids, `work` what it measures (see
    `catalog.same_work`); `settings` what the
    runs of one machine must agree in.
    """

    path: str
    hash: str
    run: str
    label: str
    shard: Shard | None
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
        """As `merged.json` has it."""
        return Source(
            hash=self.hash,
            run=self.run,
            label=self.label,
            shard=self.shard,
            cpu=self.cpu,
            created=self.created,
            blocks=self.blocks,
            complete=self.complete,
        )


def age(run: Run) -> tuple[str, bool, str]:
    """Runs in order of time; of one time the complete one first."""
    return run.created, not run.complete, run.hash
