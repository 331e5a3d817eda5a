"""`./just selftest`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli import options
from sqlitmus.cli.options import Wait, seconds, tell
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.text import json_text, listed


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(selftest)


def selftest(
    runner: Annotated[
        str, typer.Option("-r", "--runner", help="Runner whose identical processes are compared.")
    ] = "node",
    case: Annotated[str, typer.Option(help="The case it does.")] = "get-pk@transaction=read",
    time_budget: Annotated[
        str, typer.Option(help="As many blocks as fit, such as 90s, 5m or 1h.")
    ] = "5m",
    scheme: Annotated[
        str | None,
        typer.Option(
            help="Only relay (processes take turns) or process (one after the other); by default "
            "both, and which is better here."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the recording.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    wait: Wait = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Measure this machine's own false-alarm rates; the result stands in each later report."""
    from sqlitmus.catalog import definitions
    from sqlitmus.run.progress import Progress
    from sqlitmus.run.selftest import TITLES, judge, record, save
    from sqlitmus.vocabulary import paths

    progress = Progress(quiet=quiet)
    recordings = record(
        definitions.load(),
        paths.tools(),
        progress,
        runner=runner,
        case_id=case,
        budget_s=seconds(time_budget),
        seed=seed,
        wait=wait,
        scheme=options.scheme(scheme),
    )
    progress.clear()
    result = judge(recordings, runner, case)
    file = save(result, recordings, out or paths.RESULTS)
    if json_:
        tell(json_text(json.dumps(result, indent=1, ensure_ascii=False)))
    else:
        tell("\n".join(result["lines"]))
        failed = [TITLES[name] for name in recordings if not result["schemes"][name]["passed"]]
        care = f"FAILED {listed(failed)}: verdicts of such runs on this machine need care"
        tell(care if failed else "passed")
    progress.say(f"recordings: {file}")
    raise typer.Exit(Exit.DONE if result["passed"] else Exit.GATE_FAILED)
