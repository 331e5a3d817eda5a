"""Reads `scenarios/claims/*.toml` as claims that the catalogue can measure."""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from sqlitmus.catalog.cases import case_id, parse_case
from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.definitions import Catalog, place
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown


def read(folder: Path, catalog: Catalog) -> dict[str, Claim]:
    """The claims by name, in the order of their files.

    A file is named `PREFIX-NAME.toml`; the prefix gives the order. Raises UsageError with file and
    place for invalid claims and for cells that the catalogue lacks.
    """
    claims: dict[str, Claim] = {}
    for file in sorted(folder.glob("*.toml")):
        try:
            value = tomllib.loads(file.read_text(encoding="utf-8"))
            claim = Claim.model_validate({"name": file.stem.partition("-")[2], **value})
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot be read as a claim: {error}") from error
        except ValidationError as error:
            lines = [f"{file}: {place('', e['loc'])}: {e['msg']}" for e in error.errors()]
            raise UsageError("\n".join(lines)) from error
        _check(claim, catalog, file)
        claims[claim.name] = claim
    return claims


def named(claims: dict[str, Claim], names: list[str]) -> list[Claim]:
    """The claims called `names`, or all if it is empty; raises UsageError with the nearest name."""
    for name in names:
        if name not in claims:
            raise UsageError(unknown("claim", name, claims))
    return [claim for name, claim in claims.items() if not names or name in names]


def _check(claim: Claim, catalog: Catalog, file: Path) -> None:
    for number, group in enumerate(claim.groups):
        for index, row in enumerate(group.rows):
            at = f"{file}: groups[{number}].rows[{index}]"
            try:
                pairs = list(group.pairs(row))
            except KeyError as error:
                raise UsageError(f"{at}: row {row.name!r} has no value for {error}") from error
            if not row.untestable:
                for pair in pairs:
                    for case, runner in pair:
                        _check_cell(case, runner, catalog, at)
    for number, table in enumerate(claim.tables):
        for case in table.cases:
            for runner in table.runners:
                _check_cell(case, runner, catalog, f"{file}: tables[{number}]")


def _check_cell(case: str, runner: str, catalog: Catalog, at: str) -> None:
    if runner not in catalog.runners:
        raise UsageError(f"{at}: {unknown('runner', runner, catalog.runners)}")
    try:
        scenario, axes = parse_case(case, catalog)
    except UsageError as error:
        raise UsageError(f"{at}: {error}") from error
    canonical = case_id(scenario, axes, catalog.scenarios[scenario])
    if canonical != case:
        raise UsageError(f"{at}: the case {case!r} is called {canonical!r}; write that")
