"""Where faults are planted: clones of fakes, and copies of the real runners, built anew."""

import json
import os
import shlex
import shutil
import subprocess
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


def build_rust(clone: Clone) -> None:
    """Compile the Rust runner of `clone`, from packages that are here, and let it use that."""
    target = clone.root / "built/cargo"
    # a fault shows in a slow runner as well as in a fast one, which takes minutes to compile
    quickly = {"LTO": "off", "OPT_LEVEL": "0", "CODEGEN_UNITS": "16"}
    _run(
        ["cargo", "build", "--release", "--locked", "--offline", "--bin", "sqlitmus-rust"],
        clone.root / "runners/rust",
        CARGO_TARGET_DIR=str(target),
        **{f"CARGO_PROFILE_RELEASE_{name}": value for name, value in quickly.items()},
    )
    use_tool(clone, "rust", target / "release/sqlitmus-rust")


def build_dotnet(clone: Clone) -> None:
    """Publish the .NET runner of `clone`, from packages that are here, and let it use that."""
    folder, out = clone.root / "runners/dotnet", clone.root / "built/published"
    publish = [
        *("dotnet", "publish", str(folder / "sqlitmus-dotnet.csproj"), "-c", "Release"),
        *("-o", str(out), "--artifacts-path", str(clone.root / "built/artifacts")),
        *("--nologo", "-nodeReuse:false"),
    ]
    # a compiler server would outlive this
    _run(publish, folder, UseSharedCompilation="false")
    # A clone's commands run in a bare environment, which does not say where the runtime is.
    root = os.environ.get("DOTNET_ROOT", "")
    program = shlex.quote(str(out / "sqlitmus-dotnet"))
    started = clone.write(
        "built/start-dotnet", f'#!/bin/sh\nDOTNET_ROOT={shlex.quote(root)} exec {program} "$@"\n'
    )
    started.chmod(0o755)
    use_tool(clone, "dotnet", started)


def _run(command: list[str], folder: Path, **environment: str) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
