"""`./just doctor`."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from sqlitmus.vocabulary.errors import Exit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    strict: Annotated[
        bool, typer.Option(help="Exit 3 on warnings and missing runners, too.")
    ] = False,
) -> None:
    """Say whether this machine is fit to measure on, and what to change."""
    from sqlitmus import machine
    from sqlitmus.catalog import definitions, runners
    from sqlitmus.vocabulary import paths

    checks = machine.checks()
    loaded = definitions.load()
    present = runners.discover(loaded, list(loaded.runners), paths.tools())
    if json_:
        listed = [{"name": r.spec.name, "missing": r.missing} for r in present]
        print(json.dumps({"checks": [asdict(c) for c in checks], "runners": listed}, indent=1))
    else:
        for check in checks:
            advice = f" — {check.advice}" if check.advice else ""
            print(f"{check.state:8} {check.name:12} {check.finding}{advice}")
        for runner in present:
            described = runner.description
            text = (
                f"missing: {runner.missing}"
                if described is None
                else f"{described.identity.driver.name} {described.identity.driver.version}, "
                f"SQLite {described.sqlite.version}"
            )
            print(f"{'warning' if described is None else 'ok':8} {runner.spec.name:20} {text}")
    states = {check.state for check in checks}
    states |= {"warning" for runner in present if runner.missing}
    if "failure" in states or (strict and "warning" in states):
        raise typer.Exit(Exit.NOT_FIT)
