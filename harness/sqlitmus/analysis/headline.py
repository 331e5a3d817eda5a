"""Who leads, who ties and who is behind, what went wrong first: the headline as data."""

from collections.abc import Iterable, Sequence
from math import inf

from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.headline import (
    Against,
    Broken,
    FewBlocks,
    Leads,
    LeftOut,
    Missing,
    NoOrder,
    Statement,
)
from sqlitmus.results.notices import CanarySummary
from sqlitmus.results.report import Case, Runner, Standing
from sqlitmus.stats.distributions import binomial_tail
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.terms import CONTROLS
from sqlitmus.vocabulary.verdicts import Side, Verdict

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
            order = leads(group, runners, mine, reference, margin)
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


Table = dict[tuple[str, str], Standing]


def leads(
    group: str,
    runners: Sequence[Runner],
    standings: Sequence[Standing],
    reference: str,
    margin: float,
) -> Leads | None:
    """The order of a group by its standings; None where none of the runners can be compared.

    Runners to choose from are compared with each other to find the fastest, and each is held
    against `reference`, which may be a yardstick. Where that was not compared in this group, the
    first of those in front takes its place. The order of `runners` decides the order in which equal
    ones are named, and nothing else.
    """
    choices = [runner.name for runner in runners if runner.role == "runner"]
    table: Table = {(s.runner, s.reference): s for s in standings if s.ratio is not None}
    compared = [name for name in choices if any((name, other) in table for other in choices)]
    if not compared:
        return None
    front = [
        name
        for name in compared
        if not any(_side(table, name, other) == "slower" for other in compared)
    ]
    rivals = [name for name in compared if len(front) == 1 and name not in front]
    unsettled = [name for name in rivals if _side(table, name, front[0]) != "slower"]
    close = [name for name in rivals if _within(table, name, front[0], margin)]
    tied = [(name, other) for name in front for other in (*front, *unsettled) if name != other]
    base = reference
    if not any((name, reference) in table for name in compared):
        base = next(iter(front), compared[0])
    against = [s for name in compared if (s := table.get((name, base)))]
    not_ok = {s.runner: s.not_ok for s in standings}
    present = [runner.name for runner in runners if runner.missing is None]
    return Leads(
        group,
        max(table[pair].cases for pair in table),
        front,
        unsettled,
        [] if unsettled else close,
        bool(tied) and all(_side(table, *pair) == "equivalent" for pair in tied),
        base,
        margin,
        [
            Against(s.runner, s.ratio, s.verdict)
            for s in sorted(against, key=lambda s: (_value(s), s.runner))
            if s.ratio is not None and s.verdict is not None
        ],
        [
            LeftOut(name, not_ok[name])
            for name in choices
            if name in present and name not in compared and not_ok.get(name)
        ],
    )


def _within(table: Table, runner: str, other: str, margin: float) -> bool:
    standing = table.get((runner, other))
    return bool(standing and standing.ratio and standing.ratio.within(margin))


def _side(table: Table, runner: str, other: str) -> Side:
    """On which side of `other` the runner is shown to be; undecided without a verdict."""
    standing = table.get((runner, other))
    return standing.verdict.side if standing and standing.verdict else "undecided"


def _value(standing: Standing) -> float:
    return standing.ratio.value if standing.ratio else inf
