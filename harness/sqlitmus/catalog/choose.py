"""Suites, filters and runners choose the cells of a run. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlitmus.catalog.cases import Cells, PlannedCase, cases_of, make_case, parse_case
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.published import Claim
from sqlitmus.catalog.scenario import Mode, RunnerSpec
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import nearest, unknown

KEYS = ("scenario", "group", "bound", "runner", "runtime", "driver", "case")


def narrow(
    cases: list[PlannedCase], runners: list[RunnerSpec], texts: list[str], catalog: Catalog
) -> Cells:
    """Runner names per case id that match `-f`: all terms of one of `texts`, if there are any.

    A term is a substring of `case/runner`, or `key:value` where the key is one of `KEYS` or an
    axis. A leading `-` excludes what the term matches. Raises UsageError when no cell matches.
    """
    keys = {*KEYS, *(axis for spec in catalog.scenarios.values() for axis in spec.axes)}
    alternatives = [[_term(term, keys) for term in text.split()] for text in texts or [""]]

    def matches(case: PlannedCase, runner: RunnerSpec) -> bool:
        facts = {
            **case.axes,
            "scenario": case.scenario,
            "case": case.id,
            "group": case.group,
            "bound": case.bound_by,
            "runner": runner.name,
            "runtime": runner.runtime.lower(),
            "driver": runner.driver.lower(),
        }
        name = f"{case.id}/{runner.name}"
        return any(
            all(
                (facts.get(key) == value.lower() if key else value in name) != exclude
                for exclude, key, value in terms
            )
            for terms in alternatives
        )

    left = {c.id: [r.name for r in runners if matches(c, r)] for c in cases}
    left = {case: names for case, names in left.items() if names}
    if not left:
        candidates = [c.id for c in cases] + [r.name for r in runners]
        words = [t.lstrip("-").partition(":")[2] or t for text in texts for t in text.split()]
        near = nearest(words[-1] if words else "", candidates)
        raise UsageError(
            f"nothing in this suite matches {' | '.join(texts)!r}."
            + (f" Did you mean {near}?" if near else "")
            + " `./just list` shows what there is; --suite full has more cases."
        )
    return left


def _term(text: str, keys: set[str]) -> tuple[bool, str | None, str]:
    """Whether the term excludes, its key and its value."""
    exclude = text.startswith("-") and len(text) > 1
    text = text.removeprefix("-")
    key, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[a-z_]+", key):
        return exclude, None, text
    if key not in keys:
        raise UsageError(unknown("filter key", key, keys))
    return exclude, key, value


def mode_of(catalog: Catalog, suite: str, mode: str | None) -> tuple[str, Mode]:
    """The name and definition of `mode`, or the suite's own; raises UsageError for unknown ones."""
    if suite not in catalog.suites:
        raise UsageError(unknown("suite", suite, catalog.suites))
    name = mode or catalog.suites[suite].mode
    if name not in catalog.modes:
        raise UsageError(unknown("mode", name, catalog.modes))
    return name, catalog.modes[name]


def choose_claims(
    catalog: Catalog, mode: Mode, claims: list[Claim], runner_names: list[str], cores: int
) -> tuple[list[PlannedCase], Cells]:
    """The cases that `claims` can show on `cores`, and the runners of each.

    `runner_names` restricts the runners unless it is empty. Raises UsageError when no claim
    measures any of them.
    """
    for name in runner_names:
        if name not in catalog.runners:
            raise UsageError(unknown("runner", name, catalog.runners))
    cases: dict[str, PlannedCase] = {}
    cells: Cells = {}
    for text, runner in (cell for claim in claims for cell in claim.cells(cores)):
        if runner_names and runner not in runner_names:
            continue
        case = make_case(*parse_case(text, catalog), catalog, mode)
        cases.setdefault(case.id, case)
        if runner not in cells.setdefault(case.id, []):
            cells[case.id].append(runner)
    if not cells:
        untestable = [row.untestable for claim in claims for row in claim.rows]
        reasons = "; ".join(filter(None, dict.fromkeys(untestable)))
        raise UsageError(
            f"none of the claims {', '.join(c.name for c in claims)} is measured on "
            f"{', '.join(runner_names) or f'{cores} cores'}{reasons and f' ({reasons})'}; see "
            "./just claims --list"
        )
    order = list(catalog.runners)
    return list(cases.values()), {c: sorted(n, key=order.index) for c, n in cells.items()}


def spare_of(catalog: Catalog, suite_name: str, mode: Mode) -> list[str]:
    """The ids of the suite's spare cases, the first to be left out last."""
    spare = catalog.suites[suite_name].model_copy(update={"cases": []})
    return [case.id for case in cases_of(spare, catalog, mode)]


def choose(
    catalog: Catalog,
    suite_name: str,
    mode: Mode,
    case_ids: list[str],
    runner_names: list[str],
    filters: list[str],
    reference: str | None,
) -> tuple[list[PlannedCase], Cells]:
    """The cases of a suite, or those of `case_ids`, and the runners of each.

    Raises UsageError with the nearest names for anything that does not exist.
    """
    suite = catalog.suites[suite_name]
    for name in [*runner_names, *filter(None, [reference])]:
        if name not in catalog.runners:
            raise UsageError(unknown("runner", name, catalog.runners))
    cases = cases_of(suite, catalog, mode)
    if case_ids:
        parsed = [parse_case(text, catalog) for text in case_ids]
        made = [make_case(name, axes, catalog, mode) for name, axes in parsed]
        cases = list({case.id: case for case in made}.values())
    unasked = {"variant"} if suite.oracle else {"variant", "oracle"}
    specs = [
        spec
        for name, spec in catalog.runners.items()
        if (name in runner_names if runner_names else spec.role not in unasked)
    ]
    cells = narrow(cases, specs, filters, catalog)
    chosen = sorted({name for names in cells.values() for name in names})
    if reference and reference not in chosen:
        raise UsageError(
            f"the reference {reference} is not among the runners of this run: {', '.join(chosen)}; "
            f"add -r {reference} or choose another --reference"
        )
    return [case for case in cases if case.id in cells], cells


KEY = 1000  # rows that one key row outweighs


def of_claims(claims: Iterable[Claim], cells: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The runner that runs twice in each case of `cells`, "" for none; empty where no figures are
    published.

    A case's is the one with most key rows, or else with most rows: a figure's noise is that of its
    own runner, and one that is a thousand times faster varies a thousand times as much, above all
    in its longest latencies. Of the cases of a scenario that would repeat the same runner, the one
    with most rows does, and stands for the others.
    """
    weights: dict[str, Counter[str]] = {}
    for claim in claims:
        for group in claim.groups:
            for row in group.rows:
                if row.published is None or row.untestable:
                    continue
                for case, runner in (cell for pair in group.pairs(row) for cell in pair):
                    if runner in cells.get(case, ()):
                        weights.setdefault(case, Counter())[runner] += KEY if row.key else 1
    chosen = dict.fromkeys(cells, "") if weights else {}
    stands: set[tuple[str, str]] = set()
    for case, runners in sorted(weights.items(), key=lambda item: -max(item[1].values())):
        runner = runners.most_common(1)[0][0]
        place = case.partition("@")[0], runner
        if place not in stands:
            stands.add(place)
            chosen[case] = runner
    return chosen
