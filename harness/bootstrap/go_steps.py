"""What is installed with Go: actionlint, the linter of workflows. Only lint needs it."""

from collections.abc import Mapping
from pathlib import Path

from bootstrap.commands import Commands
from bootstrap.context import EXE, Context, platform_facts
from bootstrap.step import Entry, Step

MODULE = "github.com/rhysd/actionlint/cmd/actionlint"


def _no_go(context: Context) -> str | None:
    return None if context.find("go") else context.hint("go")


def _actionlint_facts(context: Context) -> Mapping[str, str]:
    return {"version": context.settings.versions["actionlint"], **platform_facts()}


def _make_actionlint(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    version = context.settings.versions["actionlint"]
    environ = {**context.environ, "GOBIN": str(folder)}
    for name in ("GOOS", "GOARCH"):  # a linter is for this machine
        environ.pop(name, None)
    install = ["go", "install", f"{MODULE}@v{version}"]
    commands.run(context.logs / "actionlint.log", install, folder, environ)
    return {"actionlint": Entry(f"actionlint{EXE}", version)}


ACTIONLINT = Step(
    "actionlint",
    "compiling actionlint",
    _no_go,
    _actionlint_facts,
    _make_actionlint,
    recipe="lint",
)
