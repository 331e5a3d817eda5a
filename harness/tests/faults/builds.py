"""Runners that are compiled, built anew from a clone with changed sources; slow."""

import os
import shlex
import subprocess
from pathlib import Path

from tests.fakes.clone import Clone
from tests.faults.stage import use_tool


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
