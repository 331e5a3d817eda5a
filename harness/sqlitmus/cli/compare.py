"""`./just compare`."""

import shlex
import sys
from dataclasses import replace
from typing import Annotated

import typer

from sqlitmus.cli.options import (
    Blocks,
    Cases,
    Filters,
    Format,
    Fresh,
    Label,
    Margin,
    Mode,
    Out,
    Quiet,
    SchemeName,
    Seed,
    Size,
    Suite,
    TimeBudget,
    Timeout,
    Wait,
    check_format,
    check_label,
    finish,
    scheme,
    seconds,
    write,
)
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

DEFAULT_MARGIN = 2.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    base: Annotated[
        str,
        typer.Argument(
            help="The baseline: RUNNER, RUNNER@VERSION, RUNNER=PATH, each with "
            "+OPTION=VALUE where wanted; or a finished run's directory."
        ),
    ],
    new: Annotated[str, typer.Argument(help="The new subject, in the same form.")],
    suite: Suite = "quick",
    mode: Mode = None,
    scheme_: SchemeName = None,
    filters: Filters = None,
    cases: Cases = None,
    runner: Annotated[
        str | None,
        typer.Option("-r", "--runner", help="Of two finished runs, the runner to compare."),
    ] = None,
    blocks: Blocks = None,
    time_budget: TimeBudget = None,
    margin: Margin = DEFAULT_MARGIN,
    gate: Annotated[
        float | None,
        typer.Option(
            help="Exit 1 if a case is slower by more than this many percent, and a second, "
            "freshly seeded measurement confirms it; 4 if a case has no time on either side; 5 if "
            "an answer is wrong. What is too noisy to tell is named.",
            min=0.1,
            max=100,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="With --gate: exit 6 if a case is too noisy to tell."),
    ] = False,
    size: Size = "m",
    seed: Seed = None,
    label: Label = "",
    out: Out = None,
    format_: Format = "text",
    all_rows: Annotated[
        bool, typer.Option("--all", help="In text and md also rows without a difference.")
    ] = False,
    timeout: Timeout = None,
    fresh: Fresh = False,
    wait: Wait = False,
    quiet: Quiet = False,
) -> None:
    """Compare two builds or versions in one interleaved run, or two finished runs."""
    from sqlitmus.catalog import definitions
    from sqlitmus.cli.options import text_of
    from sqlitmus.compare.comparison import Request, measure, of_runs
    from sqlitmus.run import session
    from sqlitmus.run.progress import Progress

    check_format(format_)
    check_label(label)
    if strict and not gate:
        raise UsageError("--strict belongs to --gate; add --gate PERCENT, or leave it out")
    progress = Progress(quiet=quiet)
    rerun = f"./just compare {shlex.join(_lasting(sys.argv[2:]))}"
    if _is_run(base) or _is_run(new):
        if not (_is_run(base) and _is_run(new)):
            other = new if _is_run(base) else base
            raise UsageError(
                f"{other!r} is not a run directory but the other argument is; give two run "
                "directories or two subjects"
            )
        if gate:
            raise UsageError("--gate needs new measurements; leave it out for two finished runs")
        report = replace(of_runs(paths.given(base), paths.given(new), runner), rerun=rerun)
        write(text_of(report, format_, all_rows=all_rows), None)
        return
    if runner:
        raise UsageError("-r is for two finished runs; here BASE and NEW name the runners")
    options = session.Options(
        suite=suite,
        mode=mode or ("gate" if gate else "standard"),
        scheme=scheme(scheme_),
        kind="compare",
        correction="holm",
        filters=filters or [],
        cases=cases or [],
        blocks=blocks,
        time_budget_s=seconds(time_budget) if time_budget else None,
        margin=margin / 100,
        size=size,
        seed=seed,
        label=label or "compare",
        out=out,
        timeout_s=timeout,
        fresh=fresh,
        wait=wait,
        rerun=rerun,
        gate=gate / 100 if gate else None,
        strict=strict,
    )
    done = measure(Request(base, new, options), definitions.load(), paths.tools(), progress)
    finish(done, progress, format_, all_rows=all_rows)


def _lasting(arguments: list[str]) -> list[str]:
    """The arguments without those that say where results go, which a rerun chooses anew."""
    before = ["", *arguments]
    pairs = zip(before, arguments, strict=False)
    return [now for last, now in pairs if "--out" not in (last, now) and now[:6] != "--out="]


def _is_run(text: str) -> bool:
    from sqlitmus.store.file import FILE

    return (paths.given(text) / FILE).is_file()
