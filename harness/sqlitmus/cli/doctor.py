"""Is what is here fit? `./just doctor`, `./just version` and `./just verify`."""

import json
import shutil
from dataclasses import asdict
from typing import Annotated

import typer

from sqlitmus import __version__
from sqlitmus.catalog import definitions
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.cli.options import tell, warn, with_options
from sqlitmus.run.plan.options import Options
from sqlitmus.run.processes.progress import Progress
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import VERSION
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.figures import durability
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
    raise typer.Exit(compare(options, definitions.load(), paths.tools(), json_=json_))


def compare(
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    *,
    json_: bool = False,
    keep_jobs: bool = True,
) -> Exit:
    """Verify cells of a suite and tell what came of each; jobs of what goes wrong are kept if
    `keep_jobs`."""
    from sqlitmus.run.measure.blocks import exit_of
    from sqlitmus.run.plan import planning
    from sqlitmus.run.verify.answers import verify_at_once, verify_cells
    from sqlitmus.run.verify.context import opened

    _, mode = options.mode_in(catalog)
    chosen, cells = planning.chosen(options, catalog, mode)
    session = opened(
        *(catalog, tools, Progress(), cells),
        size=options.size,
        timeout_s=options.timeout_s or mode.timeout_s,
        fresh=True,
        remember=False,
        keep_jobs=keep_jobs,
    )
    with session as context:
        present = context.present(cells)
        answers = verify_cells(context, chosen, present)
        if not context.stop.requested:
            verify_at_once(context, chosen, present, answers)
        stopped = bool(context.stop.requested)
        context.progress.clear()
        evidence = paths.cache("evidence")
        shutil.rmtree(evidence)
        evidence.mkdir()
        context.invocations.keep_logs(evidence)
    records = list(answers.records.values())
    if json_:
        tell(json.dumps([r.model_dump(mode="json") for r in records], indent=1))
    else:
        for record in records:
            words = record.reason or durability(record.syncs, record.uncounted)
            reason = f": {words}" if words else ""
            tell(one_line(f"{record.outcome:12} {record.case}/{record.runner}{reason}"))
        if any(record.log for record in records):
            warn(f"jobs, results and logs of what went wrong: {evidence}")
    return Exit.INTERRUPTED if stopped else exit_of({record.outcome for record in records})
