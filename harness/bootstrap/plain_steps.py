"""The plain programs of `bench-truth`, which nothing else needs: those that are compiled."""

from collections.abc import Mapping
from pathlib import Path

from bootstrap.built_steps import (
    DOTNET,
    RUST,
    crate_facts,
    install_crate,
    project_facts,
    publish,
)
from bootstrap.commands import Commands
from bootstrap.context import Context
from bootstrap.step import Entry, Step

RECIPE = "bench-truth"


def _crate(context: Context) -> Path:
    return context.clone / "runners" / "plain" / "rust"


def _rust_facts(context: Context) -> Mapping[str, str]:
    return crate_facts(context, _crate(context))


def _make_rust(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    name, crate = "plain-rust", _crate(context)
    path = install_crate(
        context, crate, folder, commands, name, "sqlitmus-plain", target="rust"
    )  # the runner's work folder holds the same SQLite
    return {name: Entry(path)}


def _project(context: Context) -> Path:
    return context.clone / "runners" / "plain" / "dotnet" / "sqlitmus-plain-dotnet.csproj"


def _dotnet_facts(context: Context) -> Mapping[str, str]:
    root = context.clone / "runners"
    project = _project(context)
    shared = root / "dotnet" / "Directory.Build.props"  # which the project imports
    return project_facts(context, root, [*project.parent.glob("*.*"), shared])


def _make_dotnet(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
    log = context.logs / "plain-dotnet.log"
    name = publish(context, _project(context), folder, commands, log, "sqlitmus-plain-dotnet")
    return {"plain-dotnet": Entry(name)}


PLAIN = (
    Step(
        "plain-rust",
        "compiling the plain program in Rust",
        RUST.blocker,
        _rust_facts,
        _make_rust,
        tools=("plain-rust",),
        recipe=RECIPE,
        after=("rust",),  # whose SQLite it takes
    ),
    Step(
        "plain-dotnet",
        "publishing the plain program in .NET",
        DOTNET.blocker,
        _dotnet_facts,
        _make_dotnet,
        tools=("plain-dotnet",),
        recipe=RECIPE,
    ),
)
