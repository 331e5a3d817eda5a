"""Counts the syncs of a write cell's transactions, in processes whose times nobody uses.

They do what is timed later: verify mode has a loop of its own in some runners. A process also syncs
while it opens, resets and closes the database. So it is counted twice, the second time with twice
the operations: the difference is that of the transactions alone.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from sqlitmus.catalog.cases import steps_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.syncs import Syncs

# as `struct counts` of harness/counter/syncs.c has them: fsync, fdatasync, bytes
_COUNTS = struct.Struct("3Q")
Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counter:
    """The library that counts, or why there is none, and the file that it counts in."""

    library: str | None
    missing: str
    file: Path

    @classmethod
    def among(cls, tools: paths.Tools, scratch: Path) -> "Counter":
        """The counter that set-up built; `scratch` is to hold its file."""
        library = tools.paths.get("sync-counter")
        missing = tools.missing.get("sync-counter", "sync-counter is not set up; run ./just setup")
        if library and re.search("[ :]", library):
            missing = (
                f"{library} cannot be preloaded, since a blank or a colon in its path ends it; "
                "choose another SQLITMUS_TOOLCHAIN"
            )
            library = None
        return cls(library, missing, scratch / "syncs")

    def preloaded(self, database: Path) -> dict[str, str]:
        """The environment in which a process that writes to `database` is counted, from 0."""
        self.file.unlink(missing_ok=True)  # what an earlier process left may still count in it
        self.file.write_bytes(bytes(_COUNTS.size))
        return {
            "LD_PRELOAD": self.library or "",
            "SQLITMUS_COUNTS": str(self.file),
            "SQLITMUS_COUNTED": str(database.resolve()),
        }

    def counts(self) -> Counts:
        """What was counted since `preloaded`."""
        return _COUNTS.unpack(self.file.read_bytes())


def writes_files(case: PlannedCase, catalog: Catalog) -> bool:
    """Whether `case` writes to a database that is a file."""
    scenario = catalog.scenarios[case.scenario]
    return scenario.writes and not scenario.memory


def transactions(case: PlannedCase, catalog: Catalog) -> int:
    """Commits of one iteration of `case`; 0 where they do not follow from its operations."""
    scenario = catalog.scenarios[case.scenario]
    if scenario.writer or scenario.tolerate_busy:
        return 0
    if (case.variant.transaction or scenario.transaction) != "none":
        return case.operations
    steps = steps_of(scenario, case.axes)
    if any(step.operation == "execute" for step in steps):
        return 0  # it may begin and commit
    runs = [step for step in steps if step.operation == "run"]
    return case.operations * sum(step.repeat for step in runs if step.fails is None)


def counted_cases(case: PlannedCase) -> tuple[PlannedCase, PlannedCase]:
    """One iteration of `case` without warm-up, and the same with twice the operations; a reset
    comes before both alone."""
    only = {"iterations": 1, "warmup_iterations": 0, "warmup_ms": 0}
    if case.reset_every:
        only["reset_every"] = 2 * case.operations
    first = case.model_copy(update=only)
    return first, first.model_copy(update={"operations": 2 * case.operations})


def difference(first: Counts, second: Counts, transactions: int) -> Syncs | str:
    """What `transactions` more did in the second process than in the first, or why that is not
    known."""
    fsync, fdatasync, written = (b - a for a, b in zip(first, second, strict=True))
    if not first[2]:
        return (
            "not one of its writes to the database was seen: it is linked statically, calls the "
            "system without the C library, or writes elsewhere"
        )
    try:
        return Syncs(transactions=transactions, fsync=fsync, fdatasync=fdatasync, bytes=written)
    except ValidationError:
        return "with twice the transactions it synced or wrote less"
