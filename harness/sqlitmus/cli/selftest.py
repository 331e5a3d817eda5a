"""`./just selftest`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.cli.options import Wait, seconds
from sqlitmus.cli.output import tell
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.plain import json_text


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
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the recording.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    wait: Wait = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Measure this machine's own false-alarm rate; the result stands in each later report."""
    from sqlitmus.catalog import definitions
    from sqlitmus.run import selftest as test
    from sqlitmus.run.progress import Progress
    from sqlitmus.vocabulary import paths

    progress = Progress(quiet=quiet)
    recording = test.record(
        definitions.load(),
        paths.tools(),
        progress,
        runner=runner,
        case_id=case,
        budget_s=seconds(time_budget),
        seed=seed,
        wait=wait,
    )
    progress.clear()
    result = test.judge(recording, runner, case)
    file = test.save(result, recording, out or paths.RESULTS)
    if json_:
        tell(json_text(json.dumps(result, indent=1, ensure_ascii=False)))
    else:
        tell("\n".join(result["lines"]))
        tell("passed" if result["passed"] else "FAILED: verdicts of this machine need care")
    progress.say(f"recording: {file}")
    raise typer.Exit(Exit.DONE if result["passed"] else Exit.GATE_FAILED)
