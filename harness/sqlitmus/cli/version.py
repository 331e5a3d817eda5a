"""`./just version`."""

import json
from typing import Annotated

import typer

from sqlitmus import __version__
from sqlitmus.vocabulary.contract import VERSION


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(version)


def version(json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Print the version of sqlitmus and of the runner contract."""
    if json_:
        print(json.dumps({"sqlitmus": __version__, "contract": VERSION}))
    else:
        print(f"sqlitmus {__version__}, contract {VERSION}")
