"""`./just compare`."""

from dataclasses import replace
from typing import Annotated

import typer

from sqlitmus.cli.options import Explain, Format, check_format, finish, watched, with_options, write
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError


@with_options(
    "suite mode scheme filters cases blocks time_budget_s margin gate strict size seed label out "
    "timeout_s fresh wait quiet"
)
def compare(
    base: Annotated[
        str,
        typer.Argument(
            help="The baseline: RUNNER, RUNNER@VERSION, RUNNER=PATH, each with "
            "+OPTION=VALUE where wanted; or a finished run's directory."
        ),
    ],
    new: Annotated[str, typer.Argument(help="The new subject, in the same form.")],
    options: Options,
    *,
    runner: Annotated[
        str | None,
        typer.Option("-r", "--runner", help="Of two finished runs, the runner to compare."),
    ] = None,
    format_: Format = "text",
    all_rows: Annotated[
        bool, typer.Option("--all", help="In text and md also rows without a difference.")
    ] = False,
    explain: Explain = False,
) -> None:
    """Compare two builds or versions in one interleaved run, or two finished runs."""
    from sqlitmus.catalog import definitions
    from sqlitmus.cli.options import text_of
    from sqlitmus.compare.comparison import measure, of_runs

    check_format(format_)
    if options.strict and not options.gate:
        raise UsageError("--strict belongs to --gate; add --gate PERCENT, or leave it out")
    progress = watched(options)
    if _is_run(base) or _is_run(new):
        if not (_is_run(base) and _is_run(new)):
            other = new if _is_run(base) else base
            raise UsageError(
                f"{other!r} is not a run directory but the other argument is; give two run "
                "directories or two subjects"
            )
        if options.gate:
            raise UsageError("--gate needs new measurements; leave it out for two finished runs")
        report = replace(of_runs(paths.given(base), paths.given(new), runner), rerun=options.rerun)
        write(text_of(report, format_, all_rows=all_rows, brief=not (explain or all_rows)), None)
        return
    if runner:
        raise UsageError("-r is for two finished runs; here BASE and NEW name the runners")
    options = replace(
        options,
        kind="compare",
        correction="holm",
        mode=options.mode or ("gate" if options.gate else "standard"),
        label=options.label or "compare",
    )
    done = measure([base, new], options, definitions.load(), paths.tools(), progress)
    finish(done, progress, format_, all_rows=all_rows, explain=explain)


def _is_run(text: str) -> bool:
    from sqlitmus.store.file import FILE

    return (paths.given(text) / FILE).is_file()
