"""`./just claims`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlitmus.cli.options import (
    Blocks,
    Format,
    Fresh,
    Label,
    Mode,
    Out,
    Quiet,
    Runners,
    SchemeName,
    Seed,
    Size,
    TimeBudget,
    Timeout,
    Wait,
    check_label,
    scheme,
    seconds,
)
from sqlitmus.cli.output import check_format, save, tell
from sqlitmus.machine import affinity
from sqlitmus.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from sqlitmus.catalog.claims import Claim


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(claims)


def claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Which claims; all by default. `new NAME` writes the file of a new one.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Say what there is; measure nothing.")] = (
        False
    ),
    json_: Annotated[bool, typer.Option("--json", help="With --list: as JSON.")] = False,
    runners: Runners = None,
    mode: Mode = None,
    scheme_: SchemeName = None,
    blocks: Blocks = None,
    time_budget: TimeBudget = None,
    pins: Annotated[
        str | None,
        typer.Option(
            help="Processors for the processes of a cell that has several, such as 0,1, or none; "
            "as many as the publication had by default."
        ),
    ] = None,
    build: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="serialized=PATH multi=PATH",
            help="Two builds of Node, for the claim on the threading mode.",
        ),
    ] = None,
    size: Size = "m",
    seed: Seed = None,
    label: Label = "",
    out: Out = None,
    format_: Format = "text",
    all_rows: Annotated[
        bool, typer.Option("--all", help="In text and md every row of long groups.")
    ] = False,
    timeout: Timeout = None,
    fresh: Fresh = False,
    wait: Wait = False,
    quiet: Quiet = False,
) -> None:
    """Measure again what others published, and say whether it holds on this machine."""
    from sqlitmus.catalog import claimfiles, definitions
    from sqlitmus.cli import builds
    from sqlitmus.cli.report import finish
    from sqlitmus.run import session
    from sqlitmus.run.progress import Progress
    from sqlitmus.vocabulary import paths

    check_format(format_)
    check_label(label)
    folder = paths.SCENARIOS / "claims"
    if names and names[0] == "new":
        _begin(folder, names[1:])
        return
    catalog = definitions.load()
    chosen = claimfiles.named(claimfiles.read(folder, catalog, names or []), names or [])
    if not chosen:
        raise UsageError(f"{folder}: there is no claim")
    if list_:
        _list(chosen, as_json=json_)
        return
    if json_:
        raise UsageError("--json belongs to --list; for a run, use --format json")
    tools, subjects = paths.tools(), list[str]()
    if build:
        tools, subjects = builds.given(build, catalog, tools)
        chosen = builds.with_builds(chosen)
    options = session.Options(
        kind="claims",
        mode=mode,
        scheme=scheme(scheme_),
        claims=chosen,
        runners=runners or [],
        blocks=blocks,
        time_budget_s=seconds(time_budget) if time_budget else None,
        pins=_pins(pins, chosen),
        size=size,
        seed=seed,
        label=label or "claims",
        out=out,
        timeout_s=timeout,
        fresh=fresh,
        wait=wait,
        rerun=_rerun(names, runners, mode, scheme_, blocks, time_budget, pins, build),
        subjects=subjects,
    )
    progress = Progress(quiet=quiet)
    ended = session.run(options, catalog, tools, progress)
    finish(ended, progress, format_, all_rows=all_rows)


def _begin(folder: Path, names: list[str]) -> None:
    """Write the file of a new claim."""
    from sqlitmus.catalog import claimtemplate

    if len(names) != 1:
        raise UsageError("new takes one name, such as: ./just claims new my-claim")
    file = folder / claimtemplate.file_name(names[0], [f.name for f in folder.glob("*.toml")])
    save(claimtemplate.TEXT, file)
    tell(f"{file}: fill in what is empty, then: ./just claims {names[0]} --mode smoke")


def _list(chosen: "list[Claim]", *, as_json: bool) -> None:
    from sqlitmus.cli.list_ import show

    show(
        [
            {
                "claim": claim.name,
                "title": claim.title,
                "source": claim.source,
                "rows": sum(len(group.rows) for group in claim.groups),
                "cells": len(set(claim.cells())),
            }
            for claim in chosen
        ],
        as_json=as_json,
    )


def _pins(text: str | None, chosen: "list[Claim]") -> list[int]:
    """The processors of `0,1`, none of `none`, and by default as many as were published.

    Raises UsageError for what is no list of numbers.
    """
    if text is None:
        return affinity.first(max(claim.pins for claim in chosen))
    try:
        return [] if text == "none" else [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(
            f"--pins {text!r}: expected numbers of processors, such as 0,1, or none"
        ) from error


def _rerun(
    names: list[str] | None,
    runners: list[str] | None,
    mode: str | None,
    scheme: str | None,
    blocks: int | None,
    time_budget: str | None,
    pins: str | None,
    build: tuple[str, str] | None,
) -> str:
    """The command that measures the same again, in another order."""
    words = ["./just", "claims", *(names or [])]
    words += [word for runner in runners or [] for word in ("-r", runner)]
    options = {"--mode": mode, "--scheme": scheme, "--blocks": blocks}
    options |= {"--time-budget": time_budget, "--pins": pins}
    words += [word for name, value in options.items() if value for word in (name, str(value))]
    words += ["--build", *build] if build else []
    return shlex.join(words)
