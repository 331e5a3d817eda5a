"""Is what is here fit? `./just doctor`, `./just version` and `./just verify`."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from sqlitmus import __version__
from sqlitmus.catalog import definitions
from sqlitmus.cli.options import compare_answers, tell, with_options
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import VERSION
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.text import one_line


def doctor(
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    strict: Annotated[
        bool, typer.Option(help="Exit 3 on warnings and missing runners, too.")
    ] = False,
) -> None:
    """Say whether this machine is fit to measure on, and what to change."""
    from sqlitmus import machine
    from sqlitmus.catalog import runners

    checks = machine.checks()
    loaded = definitions.load()
    everyone = runners.discover(loaded, list(loaded.runners), paths.tools())
    # only claims about builds need variants, and set them up
    present = [r for r in everyone if r.description or r.spec.role != "variant"]
    if json_:
        listed = [{"name": r.spec.name, "missing": r.missing} for r in present]
        tell(json.dumps({"checks": [asdict(c) for c in checks], "runners": listed}, indent=1))
    else:
        for check in checks:
            advice = f" — {check.advice}" if check.advice else ""
            tell(f"{check.state:8} {check.name:12} {check.finding}{advice}")
        for runner in present:
            if runner.missing == paths.NOT_YET + "setup":
                continue  # a line for all of them stands above
            described = runner.description
            text = (
                f"missing: {runner.missing}"
                if described is None
                else f"{described.identity.driver.name} {described.identity.driver.version}, "
                f"SQLite {described.sqlite.version}"
            )
            state = "warning" if described is None else "ok"
            tell(one_line(f"{state:8} {runner.spec.name:20} {text}"))
    states = {check.state for check in checks}
    states |= {"warning" for runner in present if runner.missing}
    if "failure" in states or (strict and "warning" in states):
        raise typer.Exit(Exit.NOT_FIT)


def version(json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Print the version of sqlitmus and of the runner contract."""
    if json_:
        print(json.dumps({"sqlitmus": __version__, "contract": VERSION}))
    else:
        print(f"sqlitmus {__version__}, contract {VERSION}")


@with_options("suite filters cases runners size timeout_s")
def verify(
    options: Options,
    *,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare each cell's answer with the oracle's; measure nothing."""
    raise typer.Exit(compare_answers(options, definitions.load(), paths.tools(), json_=json_))
