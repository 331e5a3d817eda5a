"""The files `scenarios/claims/*.toml`: read, checked and begun."""

import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path

from pydantic import ValidationError

from sqlitmus.catalog.cases import case_id, parse_case
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.jobs import work
from sqlitmus.catalog.published import Claim, ClaimGroup, ClaimRow, figure_problems
from sqlitmus.catalog.toml import Place, at_lines, parse, words
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import unknown

# The file that a new claim begins with.
TEXT = Path(__file__).with_name("claim.toml").read_text("utf-8")


def file_name(name: str, files: Iterable[str]) -> str:
    """The name of a new claim's file, which comes after those that are there.

    Raises UsageError for a name that is taken, or that no file should have.
    """
    if name == "new" or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise UsageError(
            f"{name!r} cannot name a claim; expected lower-case words and digits with dashes "
            "between them, and not new"
        )
    prefixes: list[str] = []
    for file in files:
        prefix, _, taken = file.removesuffix(".toml").partition("-")
        if taken == name:
            raise UsageError(f"{file} is the claim {name} already; choose another name")
        prefixes.append(prefix)
    last = max((p for p in prefixes if p in string.ascii_lowercase), default="")
    following = string.ascii_lowercase.index(last) + 1 if last else 0
    return f"{string.ascii_lowercase[min(following, 25)]}-{name}.toml"


# A factor beyond which "the same size" means nothing.
WIDEST = 10.0
# Metrics that any process has.
PROCESS = ("wall", "cpu time")
_TEXTS = ("title", "source", "published_on", "hypothesis")


def problems(claim: Claim, catalog: Catalog) -> Iterator[tuple[Place, str]]:
    """(place, what is wrong and what to do) of all that keeps `claim` from being measured. Of a
    group whose parts contradict each other nothing more is said."""
    if not any(row.published or row.untestable for row in claim.rows):
        yield (), "no row has a published ratio, so there is nothing to reproduce"
    for name in _TEXTS:
        if not getattr(claim, name).strip():
            yield (name,), "is empty; say it in a sentence, or nobody can check the claim"
    for name, lesson in claim.lessons:
        if name in claim.lessons.model_fields_set and not str(lesson).strip():
            yield ("lessons", name), "is empty; say what that outcome means for a service"
    yield from _without_program(claim, catalog)
    for number, group in enumerate(claim.groups):
        at = ("groups", number)
        contradictory = [(at, problem) for problem in _contradictory(group)]
        yield from contradictory or _group(group, at, catalog)
    for number, table in enumerate(claim.tables):
        for cell in product(table.cases, table.runners):
            yield from ((("tables", number), problem) for problem in _cell(*cell, catalog))


def _without_program(claim: Claim, catalog: Catalog) -> Iterator[tuple[Place, str]]:
    """Rows whose `theirs` is no program of the claim's evidence, or not of what they compare, and
    versions of no runner that these need."""
    programs = claim.evidence.programs if claim.evidence else {}
    for name, text in claim.evidence.versions.items() if claim.evidence else ():
        if text.partition("@")[0] not in catalog.runners:
            yield ("evidence", "versions", name), unknown("runner", text, catalog.runners)
    for number, group in enumerate(claim.groups):
        for index, row in enumerate(group.rows):
            at = ("groups", number, "rows", index, "theirs")
            for name in row.theirs or ():
                if name not in programs:
                    yield at, unknown("program in the claim's evidence", name, programs)
                elif group.metric not in PROCESS and "?P<figure>" not in programs[name].prints:
                    yield at, f"{name} prints no figure, so it has only the times of its process"
            if row.theirs and group.compare == "difference":
                yield at, "the authors' programs are compared by ratios; leave it out"


def _otherwise(claim: Claim, catalog: Catalog) -> Iterator[tuple[Place, str]]:
    """Facts of the publication that the cases here do not show."""
    for number, fact in enumerate(claim.facts):
        at = ("facts", number)
        try:
            here = work(fact.case, catalog)
        except UsageError as error:
            yield (*at, "case"), str(error)
            continue
        for name, problem in fact.differences(here):
            yield (*at, "holds", name), problem


def contradictions(claims: Mapping[str, Claim]) -> Iterator[tuple[str, str]]:
    """(claim, problem) of each `contradicts` that the other publication does not return."""
    for name, claim in claims.items():
        other = claim.contradicts
        if other and other not in claims:
            yield name, unknown("claim", other, claims)
        elif other and claims[other].contradicts != name:
            yield name, f'{other} does not name this one; write contradicts = "{name}" there'


def _contradictory(group: ClaimGroup) -> Iterator[str]:
    """Which parts of a group do not go together."""
    if any(not row.untestable for row in group.rows):
        named = [cell.runner is not None for cell in (group.base, group.new)]
        if group.runners and any(named):
            yield "give either runners or a runner in both cells"
        elif not group.runners and not all(named):
            yield "give runners, or a runner in base and in new"
    if group.per == "row" and group.metric == "wall":
        yield "wall is the time of a process; it has no time per row"
    effect = group.expects == "effect"
    if not effect and group.compare == "difference":
        yield 'expects = "no effect" is for ratios; leave out compare'
    elif not effect and "tolerance" not in group.model_fields_set:
        yield 'expects = "no effect" needs the tolerance that still counts as none'
    for row in group.rows:
        if effect and group.compare == "ratio" and row.published == 1.0:
            yield f"row {row.name!r}: published = 1 is no effect; set expects"
        if row.key and row.published is None:
            yield f"row {row.name!r}: a key row needs a published ratio"


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
    if not 0 < row.published < float("inf"):
        yield f"{row.published} is no ratio; expected base / new as a positive number"
        return
    saves = group.compare == "difference"
    yield from figure_problems(row.published, row.said, saves=saves)
    if row.kind != "ratio" and (saves or group.expects == "no effect"):
        yield f'kind = "{row.kind}" is for ratios of an effect; leave it out'
    if row.kind == "range" and row.ends is None:
        yield "a range needs `ends`, such as ends = [3, 6]"
    if row.ends and not 0 < row.ends[0] <= row.published <= row.ends[1] < float("inf"):
        low, high = row.ends
        yield f"{row.published:g} does not lie between its ends, {low:g} and {high:g}"
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
    name, at, version = runner.partition("@")
    if name not in catalog.runners:
        yield unknown("runner", name, catalog.runners)
        return
    if at and not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"runner {runner!r}: expected an exact version, such as {name}@1.2.3"
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


def read(folder: Path, catalog: Catalog, only: Collection[str] = ()) -> dict[str, Claim]:
    """The claims called `only`, or all if it is empty, by name in the order of their files.

    A file is named `PREFIX-NAME.toml`; the prefix gives the order. Raises UsageError with file,
    line and place for all that is wrong with them, such as a cell that the catalogue lacks, and
    with the nearest name for a claim that is not there.
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
        chosen = not only or name in only
        claim, text, wrong = _read(file, name, catalog, facts=chosen)
        texts[name] = file, text
        if chosen:
            problems += wrong
        if claim and not wrong:
            claims[name] = claim
    if not problems:
        for name, problem in contradictions(claims):
            if not only or name in only:
                problems += at_lines(*texts[name], [(("contradicts",), problem)])
    problems += [unknown("claim", name, claims) for name in only if name not in texts]
    if problems:
        raise UsageError("\n".join(dict.fromkeys(problems)))
    return {name: claim for name, claim in claims.items() if not only or name in only}


def _read(
    file: Path, name: str, catalog: Catalog, *, facts: bool
) -> tuple[Claim | None, str, list[str]]:
    """The claim of a file, its text, and what is wrong with it, a line for each; with its `facts`
    what its cases do otherwise, for which their jobs are made."""
    text = ""
    try:
        tables, text = parse(file)
        claim = Claim.model_validate({"name": name, **tables})
    except UsageError as error:
        return None, text, [str(error)]
    except ValidationError as error:
        return None, text, at_lines(file, text, ((e["loc"], words(e)) for e in error.errors()))
    otherwise = _otherwise(claim, catalog) if facts else ()
    return claim, text, at_lines(file, text, [*problems(claim, catalog), *otherwise])
