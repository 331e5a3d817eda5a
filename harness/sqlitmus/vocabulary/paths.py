"""Where things are: the clone's folders, and the set-up's tools with what is missing.

`$SQLITMUS_ROOT` names another folder with `scenarios/`, `fixtures/` and `runners/` than the clone:
a catalogue of one's own, whose runs land in its `results/`.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.vocabulary.errors import NotFit

ROOT = Path(os.environ.get("SQLITMUS_ROOT") or Path(__file__).parents[3]).resolve()
SCENARIOS = ROOT / "scenarios"
FIXTURES = ROOT / "fixtures"
RUNNERS = ROOT / "runners"
RESULTS = ROOT / "results"


def toolchain() -> Path:
    """The set-up's folder: `$SQLITMUS_TOOLCHAIN`, or `.toolchain` in the clone."""
    return Path(os.environ.get("SQLITMUS_TOOLCHAIN") or ROOT / ".toolchain")


def given(text: str) -> Path:
    """A path as the user wrote it, absolute: `./just` works in the clone wherever it was called,
    and says in `$SQLITMUS_CALLED_FROM` where that was."""
    path = Path(os.environ.get("SQLITMUS_CALLED_FROM", ""), Path(text).expanduser())
    return Path(os.path.abspath(path))  # noqa: PTH100 — a link stays one


def cache(name: str) -> Path:
    """A folder for `name` below the set-up's folder, made if need be."""
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
    """Paths of tools by name, and for tools that are not there what to do."""

    paths: dict[str, str]
    missing: dict[str, str]

    def need(self, name: str) -> str:
        """The path of `name`; raises NotFit with the hint."""
        if name in self.paths:
            return self.paths[name]
        hint = self.missing.get(name, "not set up; run ./just setup")
        raise NotFit(f"{name} is needed: {hint}")


def tools() -> Tools:
    """What the set-up found and built, from the file that `$SQLITMUS_PATHS` names."""
    paths = {"python": sys.executable}
    missing: dict[str, str] = {}
    name = os.environ.get("SQLITMUS_PATHS")
    if not name:
        return Tools(paths, missing)
    try:
        entries = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFit(f"{name}: {error}. Run ./just setup.") from error
    for tool, entry in entries.items():
        if "path" in entry:
            paths[tool] = entry["path"]
        else:
            missing[tool] = entry["missing"]
    return Tools(paths, missing)
