"""Who leads, who ties and who is behind, what went wrong first: the headline as data."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlitmus.analysis.ranking import Table, rank
from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.headline import Broken, FewBlocks, Group, Missing, NoOrder, Statement
from sqlitmus.results.notices import CanarySummary
from sqlitmus.results.ranking import Contrast, Excluded
from sqlitmus.results.report import Case, Runner, Standing
from sqlitmus.stats.distributions import binomial_tail
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.terms import CONTROLS
from sqlitmus.vocabulary.verdicts import Verdict

_ALPHA = 0.05
_SUSPICIOUS = 0.01


def headline(
    runners: Sequence[Runner],
    cases: Sequence[Case],
    standings: Sequence[Standing],
    blocks: int,
    reference: str,
    margin: float,
) -> list[Statement]:
    """Problems, then what may be said of each group, over `reference` where that took part."""
    statements: list[Statement] = [*_problems(runners, cases)]
    if blocks < MIN_BLOCKS:
        statements.append(FewBlocks(blocks, MIN_BLOCKS))
    for group in dict.fromkeys(case.group for case in cases):
        if group != CONTROLS and blocks >= MIN_BLOCKS:
            mine = [s for s in standings if s.group == group]
            order = group_order(group, runners, cases, mine, reference, margin)
            statements += [order] if order else []
    if not statements:
        measured = any(cell.outcome == "ok" for case in cases for cell in case.cells)
        statements.append(NoOrder(measured))
    return statements


def canary_summary(runner: str | None, results: Sequence[Comparison | None]) -> CanarySummary:
    """What comparing the reference with itself showed; `runner` is None where each case has its
    own.

    An alarm is a p of at most 5 % before any correction: only of those does chance give 5 % of the
    cases. The chance of as many as were seen is binomial; the cases are treated as independent, so
    it is a guide, not a test.
    """
    tested = [c for c in results if c is not None and c.verdict is not Verdict.NOT_TESTABLE]
    alarms = sum(c.p is not None and c.p <= _ALPHA for c in tested)
    ratios = [comparison.ratio for comparison in tested]
    return CanarySummary(
        runner,
        len(tested),
        alarms,
        _ALPHA * len(tested),
        max(ratios, key=lambda ratio: max(ratio.value, 1 / ratio.value), default=None),
        many=bool(alarms) and binomial_tail(alarms, len(tested), _ALPHA) < _SUSPICIOUS,
    )


def _problems(runners: Sequence[Runner], cases: Sequence[Case]) -> Iterable[Statement]:
    for outcome in ("wrong", "failed"):
        for runner in runners:
            ids = [
                case.id
                for case in cases
                if any((c.runner, c.outcome) == (runner.name, outcome) for c in case.cells)
            ]
            if ids:
                yield Broken(runner.name, outcome, ids, len(cases))
    for runner in runners:
        if runner.missing is not None:
            yield Missing(runner.name, runner.missing)


def group_order(
    group: str,
    runners: Sequence[Runner],
    cases: Sequence[Case],
    standings: Sequence[Standing],
    reference: str,
    margin: float,
) -> Group | None:
    """The order of a group by its standings; None where none of the runners can be compared.

    Runners to choose from are compared with each other, and each is held against `reference`, which
    may be a yardstick. Where that was not compared in this group, the first of those in front takes
    its place. The order of `runners` decides the order in which equal ones are named, and nothing
    else.
    """
    choices = [runner.name for runner in runners if runner.role == "runner"]
    table: Table = {
        (s.runner, s.reference): Contrast(s.runner, s.reference, s.ratio, s.verdict)
        for s in standings
        if s.ratio and s.verdict
    }
    compared = [name for name in choices if any((name, other) in table for other in choices)]
    if not compared:
        return None
    base = reference
    if not any((name, reference) in table for name in compared):
        base = next(iter(rank(table, compared).front), compared[0])
    present = [runner.name for runner in runners if runner.missing is None]
    missing = {
        name: [c.id for c in cases for each in c.cells
               if c.group == group and each.runner == name and each.outcome != "ok"]
        for name in choices if name in present and name not in compared
    }  # fmt: skip
    excluded = [Excluded(name, "cases", cases=ids) for name, ids in missing.items() if ids]
    order = replace(rank(table, compared, reference=base, margin=margin), excluded=excluded)
    return Group(group, max(s.cases for s in standings if s.ratio), order)
