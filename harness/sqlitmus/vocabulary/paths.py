"""The clone's folders, and the set-up's tools with those that are missing.

`$SQLITMUS_ROOT` names another folder than the clone with `scenarios/`, `fixtures/` and `runners/`:
a catalogue of one's own, whose runs go to its `results/`. What it lacks is the clone's: a folder of
scenarios or fixtures, and the files of profiles, modes, suites, presets and settings. Its runners
are added to the clone's.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.vocabulary.errors import NotFit, UsageError

CLONE = Path(__file__).resolve().parents[3]
ROOT = Path(os.environ.get("SQLITMUS_ROOT") or CLONE).resolve()


def inherited(name: str) -> Path:
    """The path of `name` in the catalogue's folder, or in the clone where that has none."""
    return ROOT / name if (ROOT / name).exists() else CLONE / name


def or_clones(file: Path) -> Path:
    """A file of `scenarios/`, or the clone's of that name where there is none."""
    return file if file.exists() else CLONE / "scenarios" / file.name


SCENARIOS = inherited("scenarios")
FIXTURES = inherited("fixtures")
RUNNERS = CLONE / "runners"
OWN_RUNNERS = ROOT / "runners"
RESULTS = ROOT / "results"
NOT_YET = "not set up yet; run ./just "
"""What set-up says of a tool that it was not asked for, before the recipe that asks for it."""


def toolchain() -> Path:
    """The set-up's folder: `$SQLITMUS_TOOLCHAIN`, or `.toolchain` in the clone."""
    return Path(os.environ.get("SQLITMUS_TOOLCHAIN") or ROOT / ".toolchain")


def given(text: str) -> Path:
    """The absolute path of what the user wrote; raises UsageError for what can be none.

    `./just` changes to the clone; `$SQLITMUS_CALLED_FROM` is the folder in which it was called.
    """
    if "\0" in text:
        raise UsageError(f"{text!r} is no path: it holds the character U+0000; take it out")
    path = Path(os.environ.get("SQLITMUS_CALLED_FROM", ""), Path(text).expanduser())
    return Path(os.path.abspath(path))  # noqa: PTH100 — a link stays one


def cache(name: str) -> Path:
    """A folder for `name` below the set-up's folder, created if absent."""
    folder = toolchain() / "cache" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotFit(
            f"{folder}: cannot be made: {error.strerror}. Set SQLITMUS_TOOLCHAIN to a folder that "
            "can be written."
        ) from error
    return folder


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of tools by name, and hints for the tools that are missing."""

    paths: dict[str, str]
    missing: dict[str, str]

    def need(self, name: str) -> str:
        """The path of `name`; raises NotFit with the hint."""
        if name in self.paths:
            return self.paths[name]
        hint = self.missing.get(name, "not set up; run ./just setup")
        raise NotFit(f"{name} is needed: {hint}")


def tools() -> Tools:
    """The tools that the set-up installed, from the file that `$SQLITMUS_PATHS` names."""
    name = os.environ.get("SQLITMUS_PATHS")
    entries: dict[str, dict[str, str]] = {}
    try:
        if name:
            entries = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFit(f"{name}: {error}. Run ./just setup.") from error
    paths = {tool: entry["path"] for tool, entry in entries.items() if "path" in entry}
    missing = {tool: entry["missing"] for tool, entry in entries.items() if "path" not in entry}
    return Tools({"python": sys.executable, **paths}, missing)
