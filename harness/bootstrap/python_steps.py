"""The Python environments: one to run the harness (with `just`), one more for tests and lint."""

import sys
from collections.abc import Mapping
from pathlib import Path

from bootstrap.commands import Commands, StepError
from bootstrap.context import EXE, WINDOWS, Context, platform_facts
from bootstrap.sources import tree_digest
from bootstrap.step import Entry, Step

SCRIPTS = "Scripts" if WINDOWS else "bin"
LOCKS = {"python": "harness/requirements.txt", "python-dev": "harness/requirements-dev.txt"}
JUST_LOCK = "harness/requirements-just.txt"
INSTALL = (
    *("-m", "pip", "install", "--no-input", "--disable-pip-version-check"),
    *("--require-hashes", "--only-binary", ":all:"),
)
# `just` has no wheel for Windows on Arm, which runs programs for x64, too
FOR_X64 = ("--platform", "win_amd64", "--no-deps", "--target")


def _facts(context: Context, name: str) -> Mapping[str, str]:
    locks = [LOCKS[name], JUST_LOCK] if name == "python" else [LOCKS[name]]
    return {
        "lock": tree_digest(context.clone, [context.clone / lock for lock in locks]),
        "python": sys.version,
        "base": sys.base_prefix,
        **platform_facts(),
    }


def _environment(context: Context, folder: Path, commands: Commands, name: str) -> dict[str, Entry]:
    """Make the environment `name` with the packages of its lock file."""
    venv = [sys.executable, "-m", "venv", folder]
    commands.run(context.logs / f"{name}.log", venv, context.clone, context.environ)
    _install(context, folder, commands, name, LOCKS[name])
    return {name: Entry(f"{SCRIPTS}/python{EXE}", sys.version.split()[0])}


def _install(
    context: Context, folder: Path, commands: Commands, name: str, lock: str, *options: str | Path
) -> None:
    python = folder / SCRIPTS / f"python{EXE}"
    words = [python, *INSTALL, *options, "-r", context.clone / lock]
    commands.run(context.logs / f"{name}.log", words, context.clone, context.environ)


def _make_python(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    entries = _environment(context, folder, commands, "python")
    apart = folder / "just" if platform_facts()["machine"] == "win-arm64" else None
    options = (*FOR_X64, apart) if apart else ()
    _install(context, folder, commands, "python", JUST_LOCK, *options)
    just = next((apart or folder / SCRIPTS).rglob(f"just{EXE}"), None)
    if just is None:
        raise StepError("the package rust-just brought no `just`")
    return {**entries, "just": Entry(just.relative_to(folder).as_posix())}


def _make_dev(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    entries = _environment(context, folder, commands, "python-dev")
    return {**entries, "zizmor": Entry(f"{SCRIPTS}/zizmor{EXE}")}


# the interpreter that runs this is all that they need
PYTHON = Step(
    "python",
    "installing the harness's packages and just",
    lambda _: None,
    lambda context: _facts(context, "python"),
    _make_python,
    tools=("python",),
)
PYTHON_DEV = Step(
    "python-dev",
    "installing pytest, ruff and what else tests need",
    lambda _: None,
    lambda context: _facts(context, "python-dev"),
    _make_dev,
)
