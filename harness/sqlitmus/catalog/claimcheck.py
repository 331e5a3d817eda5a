"""What is wrong with a claim beyond its shape: blanks, impossible figures, unknown cells.

The models of `claims` stay lenient, because a run keeps the text of its claims.
"""

import string
from collections.abc import Iterator, Mapping

from sqlitmus.catalog import claimfigures
from sqlitmus.catalog.cases import case_id, parse_case
from sqlitmus.catalog.claims import Claim, ClaimGroup, ClaimRow
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.tomllines import Place
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown

# A factor beyond which "the same size" means nothing.
WIDEST = 10.0
_TEXTS = ("title", "source", "published_on", "hypothesis")


def problems(claim: Claim, catalog: Catalog) -> Iterator[tuple[Place, str]]:
    """(place, what is wrong and what to do) of all that keeps `claim` from being measured."""
    for name in _TEXTS:
        if not getattr(claim, name).strip():
            yield (name,), "is empty; say it in a sentence, or nobody can check the claim"
    for name, lesson in claim.lessons:
        if name in claim.lessons.model_fields_set and not str(lesson).strip():
            yield ("lessons", name), "is empty; say what that outcome means for a service"
    for number, group in enumerate(claim.groups):
        yield from _group(group, ("groups", number), catalog)
    for number, table in enumerate(claim.tables):
        for case in table.cases:
            for runner in table.runners:
                for problem in _cell(case, runner, catalog):
                    yield ("tables", number), problem


def contradictions(claims: Mapping[str, Claim]) -> Iterator[tuple[str, str]]:
    """(claim, problem) of each `contradicts` that the other publication does not return."""
    for name, claim in claims.items():
        other = claim.contradicts
        if other and other not in claims:
            yield name, unknown("claim", other, claims)
        elif other and claims[other].contradicts != name:
            yield name, f'{other} does not name this one; write contradicts = "{name}" there'


def _group(group: ClaimGroup, at: Place, catalog: Catalog) -> Iterator[tuple[Place, str]]:
    if group.tolerance > WIDEST:
        yield (
            (*at, "tolerance"),
            f"{group.tolerance:g} counts almost any size as the same; expected at most {WIDEST:g}",
        )
    used = set[str]()
    blank = False
    for name, cell in (("base", group.base), ("new", group.new)):
        used |= _braces(cell.case) | _braces(cell.runner or "")
        if not cell.case and not all(row.untestable for row in group.rows):
            blank = True
            yield (*at, name), "names no case; `./just list cases` shows what there is"
    for index, row in enumerate(group.rows):
        here = (*at, "rows", index)
        if not row.name.strip():
            yield (*here, "name"), "is empty; say what is compared"
        for problem in _figure(group, row):
            yield (*here, "published"), problem
        for name in sorted(row.values.keys() - used):
            yield (*here, "values", name), f"no brace of base or new is called {{{name}}}"
        if missing := sorted(used - row.values.keys()):
            yield here, f"row {row.name!r} has no value for {', '.join(map(repr, missing))}"
        elif not row.untestable and not blank:
            yield from ((here, problem) for problem in _cells(group, row, catalog))


def _figure(group: ClaimGroup, row: ClaimRow) -> Iterator[str]:
    if row.published is None:
        return
    saves = group.compare == "difference"
    yield from claimfigures.problems(row.published, row.said, saves=saves)
    low, high = 1 / group.tolerance, group.tolerance
    if group.expects == "no effect" and not low <= row.published <= high:
        yield (
            f"{row.published:g} is an effect by this group's own tolerance, which calls "
            f'{low:.3g} to {high:.3g} none; leave out expects = "no effect"'
        )


def _cells(group: ClaimGroup, row: ClaimRow, catalog: Catalog) -> Iterator[str]:
    for base, new in group.pairs(row):
        wrong = [
            problem for case, runner in (base, new) for problem in _cell(case, runner, catalog)
        ]
        yield from wrong
        if base == new and not wrong:
            yield f"row {row.name!r} compares {'/'.join(base)} with itself; let base and new differ"


def _cell(case: str, runner: str, catalog: Catalog) -> Iterator[str]:
    """What is wrong with a cell that a claim names."""
    if runner not in catalog.runners:
        yield unknown("runner", runner, catalog.runners)
        return
    try:
        scenario, axes = parse_case(case, catalog)
    except UsageError as error:
        yield str(error)
        return
    canonical = case_id(scenario, axes, catalog.scenarios[scenario])
    if canonical != case:
        yield f"the case {case!r} is called {canonical!r}; write that"


def _braces(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}
