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
    from sqlitmus.run import context
    from sqlitmus.run.blocks import exit_of
    from sqlitmus.run.progress import Progress
    from sqlitmus.run.verify import verify_cells
    from sqlitmus.vocabulary import paths

    known = definitions.load()
    _, mode = choose.mode_of(known, suite, None)
    chosen, cells = choose.choose(
        known, suite, mode, cases or [], runners or [], filters or [], None
    )
    opened = context.opened(
        known, paths.tools(), Progress(), cells, size=size, timeout_s=timeout, fresh=True
    )
    with opened as at:
        present = at.present(cells)
        answers = verify_cells(at, chosen, present)
        stopped = bool(at.stop.requested)
        at.progress.clear()
        evidence = paths.cache("evidence")
        shutil.rmtree(evidence)
        evidence.mkdir()
        at.workbench.keep_logs(evidence)
    records = list(answers.records.values())
    if json_:
        print(json.dumps([r.model_dump(mode="json") for r in records], indent=1))
    else:
        for record in records:
            reason = f": {record.reason}" if record.reason else ""
            print(f"{record.outcome:12} {record.case}/{record.runner}{reason}")
        if any(record.log for record in records):
            print(f"jobs, results and logs of what went wrong: {evidence}", file=sys.stderr)
    found = exit_of({record.outcome for record in records})
    raise typer.Exit(Exit.INTERRUPTED if stopped else found)
