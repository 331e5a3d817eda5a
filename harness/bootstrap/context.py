"""Where a set-up happens: the clone, the toolchain folder, the settings and the environment."""

import os
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WINDOWS = sys.platform == "win32"
EXE = ".exe" if WINDOWS else ""


@dataclass(frozen=True)
class Settings:
    """The contents of `bootstrap.toml`, with the steps of `recipes` without their sets.

    `first_steps` are those before the first look of the recipes in `first_looks`.
    """

    versions: Mapping[str, str]
    recipes: Mapping[str, tuple[str, ...]]
    builds: Mapping[str, tuple[str, ...]]
    hints: Mapping[str, str]
    first_steps: tuple[str, ...] = ()
    first_looks: tuple[str, ...] = ()

    @staticmethod
    def load() -> "Settings":
        """Read the settings; a missing table raises `KeyError`."""
        path = Path(__file__).with_name("bootstrap.toml")
        raw = tomllib.loads(path.read_text("utf-8"))
        sets: dict[str, list[str]] = raw["sets"]
        recipes = {
            recipe: tuple(step for name in names for step in sets.get(name, [name]))
            for recipe, names in raw["recipes"].items()
        }
        builds = {claim: tuple(steps) for claim, steps in raw["builds"].items()}
        first = tuple(raw["first"]["steps"]), tuple(raw["first"]["recipes"])
        return Settings(raw["versions"], recipes, builds, raw["hints"], *first)


@dataclass(frozen=True)
class Context:
    """All that a step may look at; `environ` decides what is on PATH."""

    clone: Path
    toolchain: Path
    settings: Settings
    environ: Mapping[str, str]

    def find(self, tool: str) -> Path | None:
        """The tool's file on PATH, or None."""
        found = shutil.which(tool, path=self.environ.get("PATH", ""))
        return Path(found) if found else None

    def hint(self, tool: str) -> str:
        """What to say when `tool` is absent."""
        return self.settings.hints[tool]

    @property
    def logs(self) -> Path:
        """The folder with one log per step."""
        return self.toolchain / "logs"


def make_context(clone: Path) -> Context:
    """The context of this process: `$SQLITMUS_TOOLCHAIN`, or `.toolchain` in the clone."""
    chosen = os.environ.get("SQLITMUS_TOOLCHAIN")
    toolchain = Path(chosen).expanduser().absolute() if chosen else clone / ".toolchain"
    return Context(clone, toolchain, Settings.load(), dict(os.environ))


def platform_facts() -> dict[str, str]:
    """What a ready-made binary depends on; the `platform` module would be slow to import."""
    if sys.platform == "win32":
        # the interpreter's own: a variable would change below an emulated program
        return {"platform": sys.platform, "machine": sysconfig.get_platform()}
    return {"platform": sys.platform, "machine": os.uname().machine}
