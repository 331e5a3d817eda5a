"""Where faults are planted: clones of fakes, and copies of the real runners."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.clone import Clone
from tests.known import ROOT, RUNNERS


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder of its own for each fault, and the tools of the set-up."""

    folder: Path
    hyperfine: str
    honest: dict[tuple[str, ...], float] | None = None
    """Figures of honest runners so far, where plays are to compare with them; None if not."""

    def fakes(self) -> Clone:
        """A catalogue of tiny scenarios without runners; `Clone.runner` adds fakes."""
        return Clone.make(self.folder / "fakes", self.hyperfine)

    def real(self) -> Clone:
        """A copy of the real runners, scenarios and fixtures, for faults in their sources.

        `Clone.replace` plants one. JavaScript and Python start from the copy as they are; a runner
        that is compiled has to be built from it, and `use_tool` has to name what was built.
        """
        clone = Clone(self.folder / "real")
        ignore = shutil.ignore_patterns("node_modules", "__pycache__", "target", "bin", "obj")
        for name in ("runners", "scenarios", "fixtures"):
            shutil.copytree(ROOT / name, clone.root / name, ignore=ignore)
        modules = (RUNNERS / "node_modules").resolve()
        (clone.root / "runners/node_modules").symlink_to(modules, target_is_directory=True)
        shutil.copy(os.environ["SQLITMUS_PATHS"], clone.root / "paths.json")
        return clone


def use_tool(clone: Clone, name: str, program: Path) -> None:
    """Let `clone` start `program` as the tool `name`."""
    tools = json.loads((clone.root / "paths.json").read_text("utf-8"))
    tools[name] = {"path": str(program)}
    clone.write("paths.json", json.dumps(tools))
