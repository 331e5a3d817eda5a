"""A workload as commands make it of its file: its database copied, its scenarios in a catalogue."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.workload.database import snapshot
from sqlitmus.workload.file import Source, read
from sqlitmus.workload.scenarios import catalogue
from sqlitmus.workload.trace import with_queries

Leave = Callable[[str], None] | None


@dataclass(frozen=True, slots=True)
class Workload:
    """What was read, the copy of its database, and the catalogue with its scenarios."""

    source: Source
    copy: Path
    catalogue: Catalog

    @property
    def scenarios(self) -> dict[str, Scenario]:
        return self.catalogue.scenarios


def workload(file: Path, known: Catalog, leave: Leave = None) -> Workload:
    """The workload of a file; `leave` hears what of a trace is left out, else that is refused."""
    source = with_queries(read(file, known), leave or (lambda _: None))
    copies = file.parent / "copies"
    copies.mkdir(exist_ok=True)
    copy = snapshot(source.database, copies)
    return Workload(source, copy.file, catalogue(source, copy, known, leave))
