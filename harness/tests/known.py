"""The clone's catalogue as tests ask it: cases and jobs by the names that users give them.

What makes them can move without the tests that read them here.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sqlitmus.catalog import cases, claims, definitions, jobs
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job

ROOT = paths.CLONE
RUNNERS = ROOT / "runners"
KNOWN = definitions.load()


def tools(
    programs: Mapping[str, str] | None = None, missing: Mapping[str, str] | None = None
) -> paths.Tools:
    """The tools of the set-up; or these `programs` by name, and why others are `missing`."""
    if programs is None:
        return paths.tools()
    return paths.Tools({**programs}, {**(missing or {})})


def read(folder: Path) -> Catalog:
    """The catalogue of a folder that has all of its own."""
    return definitions.read(folder / "scenarios", folder / "fixtures", folder / "runners")


def published(known: Catalog = KNOWN) -> dict[str, claims.Claim]:
    """The clone's claims, by name."""
    return claims.read(ROOT / "scenarios/claims", known)


def case_of(text: str, known: Catalog = KNOWN, mode: str = "quick") -> PlannedCase:
    """The case that `text` names."""
    return cases.make_case(*cases.parse_case(text, known), known, known.modes[mode])


def job_of(
    of: str | PlannedCase, mode: Any = "measure", known: Catalog = KNOWN, **given: Any
) -> Job:
    """The job of a case that is given or named, of 1,000 rows unless another `size` is `given`."""
    planned = case_of(of, known) if isinstance(of, str) else of
    has_fixture = known.scenarios[planned.scenario].fixture
    usual: dict[str, Any] = {
        "cell": f"{planned.id}/x",
        "database": Path("users.db") if has_fixture else None,
        "size": 1000,
        "output": Path("result.json"),
    }
    return jobs.make_job(planned, known, mode=mode, **{**usual, **given})


@cache
def commands() -> Mapping[str, Any]:
    """The commands of the command line, by name."""
    import typer

    from sqlitmus import cli

    app = typer.Typer()
    cli.register(app)
    return typer.main.get_group(app).commands


def options(command: str) -> set[str]:
    """The options of a command of the command line."""
    given = (option for parameter in commands()[command].params for option in parameter.opts)
    return {"--help", *given}
