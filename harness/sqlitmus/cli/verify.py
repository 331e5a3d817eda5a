"""`./just verify`."""

import json
import shutil
import sys
from typing import Annotated

import typer

from sqlitmus.cli.options import Cases, Filters, Runners, Size, Suite, Timeout
from sqlitmus.vocabulary.errors import Exit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)


def verify(
    suite: Suite = "quick",
    filters: Filters = None,
    cases: Cases = None,
    runners: Runners = None,
    size: Size = "m",
    timeout: Timeout = 60.0,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare each cell's answer with the oracle's; measure nothing."""
    from sqlitmus.catalog import choose, definitions
    from sqlitmus.run.blocks import exit_of
    from sqlitmus.run.context import opened
    from sqlitmus.run.progress import Progress
    from sqlitmus.run.verify import verify_cells
    from sqlitmus.vocabulary import paths
    from sqlitmus.vocabulary.syncs import durability

    catalog = definitions.load()
    _, mode = choose.mode_of(catalog, suite, None)
    chosen, cells = choose.choose(
        catalog, suite, mode, cases or [], runners or [], filters or [], None
    )
    session = opened(
        catalog, paths.tools(), Progress(), cells, size=size, timeout_s=timeout, fresh=True
    )
    with session as context:
        present = context.present(cells)
        answers = verify_cells(context, chosen, present)
        stopped = bool(context.stop.requested)
        context.progress.clear()
        evidence = paths.cache("evidence")
        shutil.rmtree(evidence)
        evidence.mkdir()
        context.invocations.keep_logs(evidence)
    records = list(answers.records.values())
    if json_:
        print(json.dumps([r.model_dump(mode="json") for r in records], indent=1))
    else:
        for record in records:
            words = record.reason or durability(record.syncs, record.uncounted)
            reason = f": {words}" if words else ""
            print(f"{record.outcome:12} {record.case}/{record.runner}{reason}")
        if any(record.log for record in records):
            print(f"jobs, results and logs of what went wrong: {evidence}", file=sys.stderr)
    exit_code = exit_of({record.outcome for record in records})
    raise typer.Exit(Exit.INTERRUPTED if stopped else exit_code)
