"""A PATH with nothing on it but an npm that does as it is told."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("npm.py")


@dataclass(frozen=True)
class Npm:
    """The folder that stands for PATH."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> "Npm":
        """Put `npm` into `folder`; it knows no package yet."""
        folder.mkdir()
        shutil.copy(SCRIPT, folder / "npm.py")
        npm = folder / "npm"
        npm.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{folder}/npm.py" "$@"\n', "utf-8")
        npm.chmod(0o755)
        return cls(folder)

    def says(self, **state: Any) -> None:
        """What it answers from here on; see `npm.py`."""
        (self.folder / "npm.json").write_text(json.dumps(state), "utf-8")

    def calls(self) -> list[str]:
        """The commands so far, without options."""
        file = self.folder / "calls"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return [line.split(" --")[0] for line in lines]
