"""Who leads, who ties and who is behind, what went wrong first: the headline as data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf

from sqlitmus.results.estimate import Interval
from sqlitmus.results.headline import (
    Behind,
    Broken,
    FewBlocks,
    Leads,
    LeftOut,
    Missing,
    NoOrder,
    Statement,
)
from sqlitmus.results.notices import CanarySummary
from sqlitmus.results.report import Case, Comparison, Runner, Standing
from sqlitmus.stats.distributions import binomial_tail
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.verdicts import Verdict

# Scenarios bound by SQLite itself: there to check the method, not to choose a runtime by.
_CONTROLS = "controls"
_ALPHA = 0.05
_SUSPICIOUS = 0.01


def headline(
    runners: Sequence[Runner],
    cases: Sequence[Case],
    standings: Sequence[Standing],
    blocks: int,
    guards: Mapping[str, float],
) -> list[Statement]:
    """Problems, then what may be said of each group.

    `guards` is the noise of each group's mean, a log ratio that an interval must clear.
    """
    statements: list[Statement] = [*_problems(runners, cases)]
    if blocks < MIN_BLOCKS:
        statements.append(FewBlocks(blocks, MIN_BLOCKS))
    for group in dict.fromkeys(case.group for case in cases):
        if group != _CONTROLS and blocks >= MIN_BLOCKS:
            mine = [s for s in standings if s.group == group]
            order = leads(group, runners, mine, exp(guards.get(group, 0.0)))
            statements += [order] if order else []
    if not statements:
        measured = any(cell.outcome == "ok" for case in cases for cell in case.cells)
        statements.append(NoOrder(measured))
    return statements


def canary_summary(runner: str | None, results: Sequence[Comparison | None]) -> CanarySummary:
    """What comparing the reference with itself showed; `runner` is None where each case has its
    own.

    The chance of as many alarms as were seen is binomial at 5 % per case: the cases are treated as
    independent, so it is a guide, not a test.
    """
    tested = [c for c in results if c is not None and c.verdict is not Verdict.NOT_TESTABLE]
    alarms = sum(c.verdict.different for c in tested)
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


@dataclass(frozen=True, slots=True)
class _Rival:
    """A standing against the leader, its bounds open where there is no interval."""

    standing: Standing
    ratio: Interval

    @property
    def low(self) -> float:
        return 0.0 if self.ratio.low is None else self.ratio.low

    @property
    def high(self) -> float:
        return inf if self.ratio.high is None else self.ratio.high


def leads(
    group: str, runners: Sequence[Runner], standings: Sequence[Standing], noise: float
) -> Leads | None:
    """The order of a group by its standings; None where none of the runners can be compared.

    A ratio that does not clear `noise`, itself a ratio, tells nobody apart.
    """
    choices = [runner.name for runner in runners if runner.role == "runner"]
    table = {
        (s.runner, s.reference): _Rival(s, s.ratio)
        for s in standings
        if s.ratio is not None and s.runner in choices and s.reference in choices
    }
    compared = [name for name in choices if any(name in pair for pair in table)]
    if not compared:
        return None
    leader = _leader(compared, table, noise)
    rivals = sorted(
        (table[name, leader] for name in compared if name != leader), key=lambda r: r.ratio.value
    )
    not_ok = {s.runner: s.not_ok for s in standings}
    present = [runner.name for runner in runners if runner.missing is None]
    return Leads(
        group,
        rivals[0].standing.cases,
        leader,
        # a rival whose ratio has no interval cannot be told from the leader either
        ties=[rival.standing.runner for rival in rivals if rival.low <= noise],
        behind=[Behind(r.standing.runner, r.ratio) for r in rivals if r.low > noise],
        unresolved=sum(rival.standing.unresolved for rival in rivals),
        compared=sum(rival.standing.cases for rival in rivals),
        left_out=[
            LeftOut(name, not_ok[name])
            for name in choices
            if name in present and name not in compared and not_ok.get(name)
        ],
    )


def _leader(compared: list[str], table: dict[tuple[str, str], _Rival], noise: float) -> str:
    """The runner with the smallest mean against the first, unless another resolvedly beats it."""
    base = compared[0]
    leader = min(compared, key=lambda n: 1.0 if n == base else table[n, base].ratio.value)
    for name in compared:
        if name != leader and table[name, leader].high < 1 / noise:
            leader = name
    return leader
