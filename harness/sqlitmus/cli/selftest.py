"""`./just selftest`."""

import json
from typing import Annotated

import typer

from sqlitmus.cli.options import tell, with_options
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.text import json_text, listed


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(selftest)


@with_options("time_budget_s scheme seed out wait quiet", time_budget_s="5m", seed=1)
def selftest(
    runner: Annotated[
        str, typer.Option("-r", "--runner", help="Runner whose identical processes are compared.")
    ] = "node",
    case: Annotated[str, typer.Option(help="The case it does.")] = "get-pk@transaction=read",
    *,
    options: Options,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure this machine's own false-alarm rates, of both schemes unless one is named; the result
    stands in each later report."""
    from sqlitmus.catalog import definitions
    from sqlitmus.run.processes.progress import Progress
    from sqlitmus.run.selftest import TITLES, judge, record, save
    from sqlitmus.vocabulary import paths

    assert options.time_budget_s is not None
    assert options.seed is not None
    progress = Progress(quiet=options.quiet)
    recordings = record(
        definitions.load(),
        paths.tools(),
        progress,
        runner=runner,
        case_id=case,
        budget_s=options.time_budget_s,
        seed=options.seed,
        wait=options.wait,
        scheme=options.scheme,
    )
    progress.clear()
    result = judge(recordings, runner, case)
    file = save(result, recordings, options.folder)
    if json_:
        tell(json_text(json.dumps(result, indent=1, ensure_ascii=False)))
    else:
        tell("\n".join(result["lines"]))
        failed = [TITLES[name] for name in recordings if not result["schemes"][name]["passed"]]
        care = f"FAILED {listed(failed)}: verdicts of such runs on this machine need care"
        tell(care if failed else "passed")
    progress.say(f"recordings: {file}")
    raise typer.Exit(Exit.DONE if result["passed"] else Exit.GATE_FAILED)
