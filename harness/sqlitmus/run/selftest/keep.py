"""What a self-test keeps: its recordings, and its result for the reports that follow."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.terms import Scheme

FILE = "selftest.json"


@dataclass(frozen=True, slots=True)
class Recording:
    """A scheme's steady ns of an iteration: of equal processes (blocks x slots), and of a slower
    one (blocks); and the seconds that each block's pass took."""

    equal: list[list[float]]
    slower: list[float]
    seconds: list[float]


def record_file() -> Path:
    """The file of this machine's last result, of which each new run keeps a copy."""
    return paths.cache("memory") / FILE


def save(result: dict[str, Any], recordings: dict[Scheme, Recording], folder: Path) -> Path:
    """Save the result for later reports, and the recordings for inspection."""
    record_file().write_bytes(json.dumps(result, indent=1, ensure_ascii=False).encode())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result['created'].replace(':', '')}-selftest.json"
    recorded = {
        name: {"equal_ns": each.equal, "slower_ns": each.slower, "seconds": each.seconds}
        for name, each in recordings.items()
    }
    file.write_bytes(json.dumps({**result, "recorded": recorded}, ensure_ascii=False).encode())
    return file
