"""`./just claims`."""

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.catalog import runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.published import Claim, ClaimGroup
from sqlitmus.cli import options as command
from sqlitmus.cli.run import PlanOnly, foretell
from sqlitmus.machine import system
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.paths import Tools

# What a build is called → the runner whose tool it is, the one that stands for it where no build is
# given, and the threading mode that it must have.
BUILDS = {
    "serialized": ("node-threadsafe1", "node-better-sqlite3-threadsafe1", 1),
    "multi": ("node-threadsafe2", "node-better-sqlite3-threadsafe2", 2),
}
EXPECTED = "expected --build serialized=PATH multi=PATH, two executables of Node"


def given(words: tuple[str, str], catalog: Catalog, tools: Tools) -> tuple[Tools, list[str]]:
    """`tools` with the builds of `words`, and both as a plan keeps them: `RUNNER=PATH`.

    Raises UsageError for words that do not name both, or name what is not a build of one Node with
    that threading mode, NotFit for one that does not start.
    """
    named = {name: path for name, _, path in (word.partition("=") for word in words)}
    if set(named) != set(BUILDS) or not all(named.values()):
        raise UsageError(f"--build {' '.join(words)}: {EXPECTED}")
    subjects: list[str] = []
    for name, (runner, *_) in BUILDS.items():
        path = paths.given(named[name])
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UsageError(f"--build {name}={named[name]}: {path} is no executable; {EXPECTED}")
        subjects.append(f"{runner}={path}")
    tools = again(subjects, tools)
    _check(catalog, tools)
    return tools, subjects


def again(subjects: list[str], tools: Tools) -> Tools:
    """`tools` with what `subjects`, texts of `given`, name."""
    return Tools({**tools.paths, **dict(text.split("=", 1) for text in subjects)}, tools.missing)


def with_versions(
    claims: list[Claim],
    sources: Collection[str],
    catalog: Catalog,
    tools: Tools,
    *,
    quiet: bool = False,
) -> tuple[Catalog, Tools]:
    """The same with the versions of runners that the claims compare, and those that the authors'
    programs of the claims in `sources` need, fetched where npm has them."""
    from sqlitmus.compare.subject import with_versions

    named = dict.fromkeys(runner for claim in claims for _, runner in claim.cells())
    pinned = [claim.evidence for claim in claims if claim.evidence and claim.name in sources]
    alias = {name: text for evidence in pinned for name, text in evidence.versions.items()}
    texts = [*(runner for runner in named if "@" in runner), *alias.values()]
    catalog, tools = with_versions(texts, catalog, tools, quiet=quiet)
    paths = {name: tools.paths[text] for name, text in alias.items() if text in tools.paths}
    return catalog, Tools({**tools.paths, **paths}, tools.missing)


def with_builds(claims: list[Claim]) -> list[Claim]:
    """The claims with the builds of Node in their rows, in place of what stands for them."""
    builds = {stands_in: runner for runner, stands_in, _ in BUILDS.values()}

    def built(group: ClaimGroup) -> ClaimGroup:
        cells = {
            name: cell.model_copy(update={"runner": builds.get(cell.runner or "", cell.runner)})
            for name, cell in (("base", group.base), ("new", group.new))
        }
        return group.model_copy(update=cells)

    return [c.model_copy(update={"groups": [*map(built, c.groups)]}) for c in claims]


def _check(catalog: Catalog, tools: Tools) -> None:
    """Raise unless the builds differ in their threading mode, and in no version."""
    versions: set[tuple[str, str]] = set()
    pair = runners.discover(catalog, [runner for runner, *_ in BUILDS.values()], tools)
    for (name, (*_, mode)), installed in zip(BUILDS.items(), pair, strict=True):
        program = f"--build {name}={tools.paths[installed.spec.tool]}"
        if installed.description is None:
            raise NotFit(f"{program}: {installed.missing}")
        sqlite = installed.description.sqlite
        if f"THREADSAFE={mode}" not in sqlite.compile_options:
            modes = [o for o in sqlite.compile_options if o.startswith("THREADSAFE=")]
            raise UsageError(
                f"{program}: its SQLite is built with {modes[0] if modes else 'no such option'}; "
                f"expected THREADSAFE={mode}"
            )
        versions.add((installed.description.identity.runtime.version, sqlite.version))
    if len(versions) > 1:
        texts = " and ".join(f"Node {node} with SQLite {lib}" for node, lib in sorted(versions))
        raise UsageError(f"--build: {texts}: the threading mode must be all that differs")


@command.with_options(
    "runners mode scheme blocks time_budget_s size seed label out timeout_s fresh wait quiet"
)
def claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Which claims; all by default. `new NAME` writes the file of a new one, "
            "`releases node` measures ten releases against their notes.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Say what there is; measure nothing.")] = (
        False
    ),
    json_: Annotated[bool, typer.Option("--json", help="With --list: as JSON.")] = False,
    *,
    options: Options,
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
    key: Annotated[
        bool,
        typer.Option("--key", help="Only the rows that decide a claim, in a third of the time."),
    ] = False,
    plan: PlanOnly = False,
    source: Annotated[
        list[Path] | None,
        typer.Option(
            parser=paths.given,
            metavar="DIR",
            help="A clone of what a claim was published with: its authors' own programs run beside "
            "ours. Claims say which commit.",
        ),
    ] = None,
    format_: command.Format = "text",
    all_rows: Annotated[
        bool, typer.Option("--all", help="In text and md every row of long groups.")
    ] = False,
    explain: command.Explain = False,
) -> None:
    """Measure again what others published, and say whether it holds on this machine."""
    from sqlitmus.catalog import claims as claimfiles, definitions, published
    from sqlitmus.run import session

    command.check_format(format_)
    folder = paths.SCENARIOS / "claims"
    if names and names[0] == "new":
        _begin(folder, names[1:])
        return
    if names and names[0] == "releases":
        names = [f"releases-{runner}" for runner in names[1:] or ["node"]]
    catalog = definitions.load()
    chosen = list(claimfiles.read(folder, catalog, names or []).values())
    if not chosen:
        raise UsageError(f"{folder}: there is no claim")
    if key:
        chosen = [claim.with_key_rows() for claim in chosen]
    if list_:
        _list(chosen, as_json=json_)
        return
    if json_:
        raise UsageError("--json belongs to --list; for a run, use --format json")
    tools, subjects = paths.tools(), list[str]()
    if build:
        tools, subjects = given(build, catalog, tools)
        chosen = with_builds(chosen)
    pinned = {claim.name: claim.evidence for claim in chosen if claim.evidence}
    sources = published.matching(pinned, source or [])
    options = replace(
        options,
        kind="claims",
        claims=chosen,
        pins=_pins(pins, chosen),
        label=options.label or "claims",
        subjects=subjects,
        sources={name: str(folder) for name, folder in sources.items()},
    )
    catalog, tools = with_versions(chosen, sources, catalog, tools, quiet=options.quiet)
    if plan:
        foretell(options, catalog, tools)
        return
    progress = command.watched(options)
    ended = session.run(options, catalog, tools, progress)
    command.finish(ended, progress, format_, all_rows=all_rows, explain=explain)


def _begin(folder: Path, names: list[str]) -> None:
    """Write the file of a new claim."""
    from sqlitmus.catalog.claims import TEXT, file_name

    if len(names) != 1:
        raise UsageError("new takes one name, such as: ./just claims new my-claim")
    file = folder / file_name(names[0], [f.name for f in folder.glob("*.toml")])
    command.save(TEXT, file)
    command.tell(f"{file}: fill in what is empty, then: ./just claims {names[0]} --mode smoke")


def _list(chosen: list[Claim], *, as_json: bool) -> None:
    command.show(
        [
            {
                "claim": claim.name,
                "title": claim.title,
                "source": claim.source,
                "rows": len(claim.rows),
                "cells": len(set(claim.cells())),
            }
            for claim in chosen
        ],
        as_json=as_json,
    )


def _pins(text: str | None, chosen: list[Claim]) -> list[int]:
    """The processors of `0,1`, none of `none`, and by default as many as were published.

    Raises UsageError for what is no list of numbers.
    """
    if text is None:
        return system.first_processor(max(claim.pins for claim in chosen))
    try:
        return [] if text == "none" else [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(
            f"--pins {text!r}: expected numbers of processors, such as 0,1, or none"
        ) from error
