"""The Python environments: one to run the harness (with `just`), one more for tests and lint."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.commands import Commands
from bootstrap.context import EXE, WINDOWS, Context, platform_facts
from bootstrap.sources import file_digest
from bootstrap.step import Entry, Step

SCRIPTS = "Scripts" if WINDOWS else "bin"


def _step(name: str, title: str, lock: str, scripts: Sequence[str]) -> Step:
    def facts(context: Context) -> Mapping[str, str]:
        return {
            "lock": file_digest(context.clone / lock),
            "python": sys.version,
            "base": sys.base_prefix,
            **platform_facts(),
        }

    def make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
        log = context.logs / f"{name}.log"
        python = folder / SCRIPTS / f"python{EXE}"
        venv = [sys.executable, "-m", "venv", folder]
        commands.run(log, venv, context.clone, context.environ)
        install = [
            python,
            *("-m", "pip", "install", "--no-input", "--disable-pip-version-check"),
            *("--require-hashes", "--only-binary", ":all:", "-r", context.clone / lock),
        ]
        commands.run(log, install, context.clone, context.environ)
        version = sys.version.split()[0]
        made = {script: Entry(f"{SCRIPTS}/{script}{EXE}") for script in scripts}
        return {name: Entry(f"{SCRIPTS}/python{EXE}", version), **made}

    # the interpreter that runs this is all that is needed
    return Step(name, title, lambda _: None, facts, make)


PYTHON = _step(
    "python",
    "installing the harness's packages and just",
    "harness/requirements.txt",
    ("just",),
)
PYTHON_DEV = _step(
    "python-dev",
    "installing pytest, ruff and what else tests need",
    "harness/requirements-dev.txt",
    ("just", "zizmor"),
)
