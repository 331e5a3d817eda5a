"""A step of the set-up, its key, and the folder that holds what it made.

Each step makes one folder, `<toolchain>/<step>/<key>`, where the key is a hash of all that went in.
So clones with other inputs never disturb one another, and a folder once complete never changes.
The record file is written last: a folder without it was interrupted, and is made anew.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.commands import Commands
from bootstrap.context import Context

RECORD = ".sqlitmus-step.json"
LAYOUT = "1"  # raise it when a step makes its folder differently from the same inputs


@dataclass(frozen=True)
class Entry:
    """One thing that a step made: its path inside the step's folder, and its version if known."""

    path: str
    version: str | None = None


@dataclass(frozen=True)
class Step:
    """What to make, from what: `facts` are the inputs, `make` fills the folder.

    `blocker` says what is absent on this machine, or None. `tools` are the entries that a runner
    may ask for. `recipe` is the one to run to have them. What the steps `after` make is there when
    `make` begins, unless it failed.
    """

    name: str
    title: str
    blocker: Callable[[Context], str | None]
    facts: Callable[[Context], Mapping[str, str]]
    make: Callable[[Context, Path, Commands], dict[str, Entry]]
    tools: tuple[str, ...] = ()
    recipe: str = "setup"
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """A step now: `ready` with its entries, `missing` with the reason, or neither: to be made."""

    step: Step
    folder: Path | None = None
    entries: Mapping[str, Entry] | None = None
    missing: str | None = None

    @property
    def ready(self) -> bool:
        """Whether what the step makes is there."""
        return self.entries is not None

    @property
    def to_make(self) -> bool:
        """Whether it is not there, and could be made."""
        return not self.ready and self.missing is None

    def path(self, name: str) -> Path | None:
        """The absolute path of an entry, or None."""
        if self.folder is None or not self.entries or name not in self.entries:
            return None
        return self.folder / self.entries[name].path


def key_of(name: str, facts: Mapping[str, str]) -> str:
    """Sixteen hexadecimal digits that change with any input."""
    text = json.dumps([LAYOUT, name, sorted(facts.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def look(step: Step, context: Context) -> State:
    """The state of a step, found without starting a process once its tools have been probed."""
    reason = step.blocker(context)
    if reason is not None:
        return State(step, missing=reason)
    folder = context.toolchain / step.name / key_of(step.name, step.facts(context))
    return State(step, folder, _read_record(folder))


def make(state: State, context: Context, commands: Commands) -> State:
    """Make the step's folder from nothing, its record last. Raises `StepError` or `OSError`."""
    folder = state.folder
    if folder is None:
        raise ValueError(f"step {state.step.name} has no folder to make")
    started = time.monotonic()
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    entries = state.step.make(context, folder, commands)
    record = {
        "entries": {name: [entry.path, entry.version] for name, entry in entries.items()},
        "facts": dict(state.step.facts(context)),
        "seconds": round(time.monotonic() - started, 1),
    }
    part = folder / (RECORD + ".part")
    part.write_text(json.dumps(record, indent=1), "utf-8")
    part.replace(folder / RECORD)
    return State(state.step, folder, entries)


def _read_record(folder: Path) -> dict[str, Entry] | None:
    try:
        raw: dict[str, Any] = json.loads((folder / RECORD).read_bytes())
        entries = {name: Entry(path, version) for name, (path, version) in raw["entries"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # someone may have tidied a binary away
    return entries if all((folder / entry.path).exists() for entry in entries.values()) else None
