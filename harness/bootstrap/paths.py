"""What set-up tells the harness: the paths file, the link to npm's modules, the environment."""

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from bootstrap.context import WINDOWS, Context
from bootstrap.step import State
from bootstrap.steps import ENTRIES


def entry(states: Mapping[str, State], step: str, name: str) -> dict[str, str]:
    """`{"path": ..., "version": ...}` (version where known), or `{"missing": reason}`."""
    state = states[step]
    path = state.path(name)
    if path is None:
        absent = f"no package for this platform provides {name}"
        if not state.ready:
            absent = f"not set up yet; run ./just {state.step.recipe}"
        return {"missing": state.missing or absent}
    known = (state.entries or {})[name].version
    return {"path": str(path)} | ({"version": known} if known else {})


def paths_file(context: Context) -> Path:
    """Where this clone's paths file is, or will be."""
    clone = hashlib.sha256(str(context.clone).encode()).hexdigest()[:16]
    return context.toolchain / "clones" / f"{clone}.json"


def write_paths(context: Context, states: Mapping[str, State]) -> Path:
    """Write this clone's paths file, if its content is new, and return where it is."""
    content = {name: entry(states, *source) for name, source in ENTRIES.items()}
    text = json.dumps(content, indent=2) + "\n"
    file = paths_file(context)
    with contextlib.suppress(OSError):
        if file.read_text("utf-8") == text:
            return file
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.stem}.{os.getpid()}")
    part.write_text(text, "utf-8")
    part.replace(file)
    return file


def link_modules(context: Context, modules: Path) -> str | None:
    """Point `runners/node_modules` at npm's folder in the toolchain; what hinders it, or None.

    Bare imports in runners resolve through this link, in all three runtimes.
    """
    link = context.clone / "runners" / "node_modules"
    if link.exists() and link.samefile(modules):
        return None
    if link.is_symlink() or _is_junction(link):
        link.unlink()
    elif link.exists():
        return f"{link} is a folder of its own, not set-up's link; remove it and run this again"
    _make_link(link, modules)
    return None


if sys.platform == "win32":
    import _winapi

    def _is_junction(path: Path) -> bool:
        try:
            return bool(path.readlink())
        except OSError:
            return False

    def _make_link(link: Path, target: Path) -> None:
        _winapi.CreateJunction(str(target), str(link))  # a symbolic link would need a privilege
else:

    def _is_junction(_path: Path) -> bool:
        return False

    def _make_link(link: Path, target: Path) -> None:
        link.symlink_to(target, target_is_directory=True)


def just_environ(context: Context, paths: Path, scripts: Path) -> dict[str, str]:
    """The environment of `just`: where things are, and the Python environment first on PATH."""
    environ = dict(context.environ)
    environ["SQLITMUS_TOOLCHAIN"] = str(context.toolchain)
    environ["SQLITMUS_PATHS"] = str(paths)
    environ["PYTHONPATH"] = str(context.clone / "harness")
    # byte code is kept even where the environment forbids it: without, each start compiles all
    environ["PYTHONDONTWRITEBYTECODE"] = ""
    search = [str(scripts), environ.get("PATH", "")]
    if WINDOWS and context.find("sh") is None:
        search += [str(folder) for folder in _git_shells(context)]
    environ["PATH"] = os.pathsep.join(part for part in search if part)
    _point_to_dotnet(context, environ)
    return environ


def _git_shells(context: Context) -> list[Path]:
    git = context.find("git")
    return [git.resolve().parent.parent / "usr" / "bin"] if git else []


def _point_to_dotnet(context: Context, environ: dict[str, str]) -> None:
    """A published .NET program looks for its runtime in DOTNET_ROOT, but not on PATH."""
    dotnet = context.find("dotnet")
    if dotnet is not None and "DOTNET_ROOT" not in environ:
        home = dotnet.resolve().parent
        if (home / "host" / "fxr").is_dir():
            environ["DOTNET_ROOT"] = str(home)
