"""`./just selftest`."""

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sqlitmus.catalog import definitions
from sqlitmus.catalog.cases import make_case, parse_case
from sqlitmus.cli.options import measured, reporting, save_reports, tell, watched, with_options
from sqlitmus.run.plan.options import Options
from sqlitmus.run.processes.progress import Progress
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, UsageError
from sqlitmus.vocabulary.text import json_text

if TYPE_CHECKING:
    from sqlitmus.results.report import SelfTest
    from sqlitmus.run.measure.blocks import Ended

COPIES = 5


@with_options(
    "mode scheme blocks time_budget_s margin size seed label out timeout_s fresh wait quiet",
    mode="quick",
    time_budget_s="5m",
    label="selftest",
)
def selftest(
    runner: Annotated[
        str,
        typer.Option(
            "-r",
            "--runner",
            help="Runner whose equal copies are measured; also a subject such as node@24.",
        ),
    ] = "node",
    case: Annotated[str, typer.Option(help="The case they do.")] = "get-pk@transaction=read",
    *,
    options: Options,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure equal copies of one runner as a run measures runners, and count the reports that tell
    them apart; later reports show the result."""
    from sqlitmus.compare.subject import copies
    from sqlitmus.run import session

    catalog = definitions.load()
    resolved = copies(runner, COPIES, catalog, paths.tools())
    _, mode = options.mode_in(catalog)
    if make_case(*parse_case(case, catalog), catalog, mode).metric == "cold":
        raise UsageError(f"{case} is a cold case; the self-test needs a steady one")
    options = replace(
        options,
        kind="selftest",
        cases=[case],
        runners=resolved.labels,
        reference=resolved.labels[0],
        subjects=resolved.subjects,
    )
    progress = watched(options)
    conclude(
        session.run(options, resolved.catalog, resolved.tools, progress), progress, json_=json_
    )


def conclude(ended: "Ended", progress: Progress, *, json_: bool = False) -> NoReturn:
    """End a self-test: its lines on stdout and in its report, its result for later reports."""
    from sqlitmus.analysis import analyse, load
    from sqlitmus.analysis.selftest import BLOCKS_NEEDED, self_test
    from sqlitmus.store.folder import RunDirectory, selftest_file

    directory = measured(ended, progress)
    with reporting(directory):
        run = load(directory)
        result = None if ended.exit else self_test(run)
        if result:
            selftest_file().write_bytes(_json(result).encode())
            RunDirectory.open(directory).conclude(result.lines)
            run = replace(run, gate=result.lines)
        save_reports(analyse(run), directory)
    progress.say(f"report: {directory / 'report.html'}")
    if ended.exit:
        raise typer.Exit(ended.exit)
    if result is None:
        progress.insist(
            f"{run.plan.blocks} blocks are too few for a rate: {BLOCKS_NEEDED} are needed; "
            "give more --time-budget or --blocks"
        )
        raise typer.Exit(Exit.UNDECIDED)
    if json_:
        tell(json_text(_json(result)))
    else:
        word = "passed" if result.passed else "FAILED: verdicts on this machine need care"
        tell("\n".join([*result.lines, word]))
    raise typer.Exit(Exit.DONE if result.passed else Exit.GATE_FAILED)


def _json(result: "SelfTest") -> str:
    return json.dumps(asdict(result), indent=1, ensure_ascii=False)
