"""Reads `scenarios/claims/*.toml` as claims that the catalogue can measure."""

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from pydantic import ValidationError

from sqlitmus.catalog import claimcheck
from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.tomlfile import place
from sqlitmus.catalog.tomllines import Lines, Place
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown


def read(folder: Path, catalog: Catalog, only: Collection[str] = ()) -> dict[str, Claim]:
    """The claims by name, in the order of their files; faults of others than `only` are passed by.

    A file is named `PREFIX-NAME.toml`; the prefix gives the order. Raises UsageError with file,
    line and place for all that is wrong, such as a cell that the catalogue lacks.
    """
    claims: dict[str, Claim] = {}
    texts: dict[str, tuple[Path, str]] = {}
    problems: list[str] = []
    for file in sorted(folder.glob("*.toml")):
        name = file.stem.partition("-")[2]
        if not name or name in texts:
            taken = f"{texts[name][0].name} has that name, too" if name else "there is none"
            problems.append(f"{file}: a claim is named by what follows the first dash; {taken}")
            continue
        claim, text, wrong = _read(file, name, catalog)
        texts[name] = file, text
        if not only or name in only:
            problems += wrong
        if claim and not wrong:
            claims[name] = claim
    if not problems:
        for name, problem in claimcheck.contradictions(claims):
            if not only or name in only:
                problems += _told(*texts[name], [(("contradicts",), problem)])
    if problems:
        raise UsageError("\n".join(dict.fromkeys(problems)))
    return claims


def _read(file: Path, name: str, catalog: Catalog) -> tuple[Claim | None, str, list[str]]:
    """The claim of a file, its text, and what is wrong with it, a line for each."""
    text = ""
    try:
        text = file.read_text(encoding="utf-8")
        claim = Claim.model_validate({"name": name, **tomllib.loads(text)})
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return None, text, [f"{file}: cannot be read as a claim: {error}"]
    except ValidationError as error:
        wrong = [(e["loc"], _words(e["type"], e["msg"])) for e in error.errors()]
        return None, text, _told(file, text, wrong)
    return claim, text, _told(file, text, claimcheck.problems(claim, catalog))


def named(claims: dict[str, Claim], names: list[str]) -> list[Claim]:
    """The claims called `names`, or all if it is empty; raises UsageError with the nearest name."""
    for name in names:
        if name not in claims:
            raise UsageError(unknown("claim", name, claims))
    return [claim for name, claim in claims.items() if not names or name in names]


def _told(file: Path, text: str, wrong: Iterable[tuple[Place, str]]) -> list[str]:
    """A line `FILE:LINE: PLACE: PROBLEM` for each."""
    pairs = list(wrong)
    if not pairs:
        return []
    lines = Lines(text)
    return [f"{file}:{lines.of(at)}: {place('', at)}: {problem}" for at, problem in pairs]


def _words(kind: str, message: str) -> str:
    """pydantic's words, but of what is absent and of what nobody knows."""
    if kind == "missing":
        return "is missing; add it"
    if kind == "extra_forbidden":
        return "there is no such key; correct its name, or take it out"
    return message.removeprefix("Value error, ")
