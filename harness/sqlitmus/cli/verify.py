"""`./just verify`."""

import json
import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus.cli.options import Cases, Filters, Runners, Size, Suite, Timeout, tell, warn
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.text import one_line

if TYPE_CHECKING:
    from sqlitmus.catalog.definitions import Catalog
    from sqlitmus.vocabulary import paths


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)


def verify(
    suite: Suite = "quick",
    filters: Filters = None,
    cases: Cases = None,
    runners: Runners = None,
    size: Size = "m",
    timeout: Timeout = None,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare each cell's answer with the oracle's; measure nothing."""
    from sqlitmus.catalog import definitions
    from sqlitmus.vocabulary import paths

    ended = compare(
        *(definitions.load(), paths.tools(), suite, cases, runners, filters),
        size=size,
        timeout=timeout,
        json_=json_,
    )
    raise typer.Exit(ended)


def compare(
    catalog: "Catalog",
    tools: "paths.Tools",
    suite: str,
    cases: list[str] | None,
    runners: list[str] | None,
    filters: list[str] | None,
    *,
    size: str,
    timeout: float | None,
    json_: bool = False,
    keep_jobs: bool = True,
) -> Exit:
    """Verify cells of a suite and tell what came of each; jobs of what goes wrong are kept if
    `keep_jobs`."""
    from sqlitmus.catalog import choose
    from sqlitmus.run.blocks import exit_of
    from sqlitmus.run.context import opened
    from sqlitmus.run.progress import Progress
    from sqlitmus.run.verify import verify_at_once, verify_cells
    from sqlitmus.vocabulary import paths
    from sqlitmus.vocabulary.detail import durability

    _, mode = choose.mode_of(catalog, suite, None)
    chosen, cells = choose.choose(
        catalog, suite, mode, cases or [], runners or [], filters or [], None
    )
    session = opened(
        *(catalog, tools, Progress(), cells),
        size=size,
        timeout_s=timeout or mode.timeout_s,
        fresh=True,
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
