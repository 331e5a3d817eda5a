"""Files of a catalogue with a fault: the rows of `faults.toml`."""

import tomllib
from pathlib import Path
from typing import Any

from tests.known import ROOT

FAULTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text("utf-8"))


def faults(*files: str) -> list[tuple[str, str, str, str]]:
    """File, old and new text, and what is said, for each fault in these files."""
    return [(file, *fault) for file in files for fault in FAULTS[file]["wrong"]]


def plant(folder: Path, file: str, old: str, new: str) -> Path:
    """The file in `folder`, that of the table or of the clone, with `new` instead of `old`."""
    target = folder / file
    source = target if target.exists() else ROOT / "scenarios" / file
    text = FAULTS[file].get("right") or source.read_text("utf-8")
    assert old in text
    target.write_text(text.replace(old, new, 1), "utf-8")
    return target
