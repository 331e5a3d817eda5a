"""The verdict strip: whole sentences for someone choosing a runtime, what went wrong first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf

from sqlitmus.analysis.phrases import SHOWN, listed, sentence, some, times
from sqlitmus.results.report import Case, Comparison, Interval, Runner, Standing
from sqlitmus.stats.distributions import binomial_tail
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Verdict

# Scenarios bound by SQLite itself: there to check the method, not to choose a runtime by.
_CONTROLS = "controls"
_ALPHA = 0.05
_SUSPICIOUS = 0.01
_PROBLEMS = {"wrong": "gave wrong answers", "failed": "failed"}


def headline(
    runners: Sequence[Runner],
    cases: Sequence[Case],
    standings: Sequence[Standing],
    blocks: int,
    guards: Mapping[str, float],
) -> list[str]:
    """Problems, then what may be said of each group.

    `guards` is the noise of each group's mean, a log ratio that an interval must clear.
    """
    sentences = [*_problems(runners, cases)]
    if blocks < MIN_BLOCKS:
        sentences.append(
            f"With {counted(blocks, 'complete block')} this run says who works, not who is faster: "
            f"verdicts need at least {MIN_BLOCKS} blocks."
        )
    groups = dict.fromkeys(case.group for case in cases)
    for group in groups:
        if group != _CONTROLS and blocks >= MIN_BLOCKS:
            mine = [s for s in standings if s.group == group]
            sentences += _group(group, runners, mine, exp(guards.get(group, 0.0)))
    if not sentences:
        measured = any(cell.outcome == "ok" for case in cases for cell in case.cells)
        only = "Only controls were measured; they choose no runtime."
        sentences.append(only if measured else "Nothing was measured.")
    return sentences


def canary_summary(runner: str | None, results: Sequence[Comparison | None]) -> str:
    """What comparing the reference with itself showed; empty without a canary.

    The chance of as many alarms as were seen is binomial at 5 % per case: the cases are treated as
    independent, so it is a guide, not a test.
    """
    if runner is None:
        return ""
    tested = [c for c in results if c is not None and c.verdict is not Verdict.NOT_TESTABLE]
    if not tested:
        return f"Canary: {runner} against itself could not be tested in this run."
    alarms = sum(c.verdict.different for c in tested)
    furthest = max(tested, key=lambda c: max(c.ratio.value, 1 / c.ratio.value))
    text = (
        f"Canary: {runner} against itself differs in {alarms} of {counted(len(tested), 'case')} "
        f"(chance alone gives about {_ALPHA * len(tested):.1f}); the ratio furthest from 1 is "
        f"{times(furthest.ratio)}."
    )
    if alarms and binomial_tail(alarms, len(tested), _ALPHA) < _SUSPICIOUS:
        text += " That is more than chance explains: do not trust small differences in this run."
    return text


def _problems(runners: Sequence[Runner], cases: Sequence[Case]) -> Iterable[str]:
    hit: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for cell in case.cells:
            if cell.outcome in _PROBLEMS:
                hit.setdefault((cell.outcome, cell.runner), []).append(case.id)
    for outcome, words in _PROBLEMS.items():
        for runner in runners:
            ids = hit.get((outcome, runner.name))
            if ids:
                yield (
                    f"{runner.name} {words} in {len(ids)} of {counted(len(cases), 'case')} "
                    f"({some(ids)}): no times are given for these."
                )
    for runner in runners:
        if runner.missing is not None:
            yield sentence(f"{runner.name} is missing: {runner.missing}")


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


def _group(
    group: str, runners: Sequence[Runner], standings: Sequence[Standing], noise: float
) -> list[str]:
    """Who leads a group, who ties with the leader, how far the others are behind.

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
        return []
    leader = _leader(compared, table, noise)
    behind = sorted(
        (table[name, leader] for name in compared if name != leader), key=lambda r: r.ratio.value
    )
    # a rival whose ratio has no interval cannot be told from the leader either
    ties = [rival.standing.runner for rival in behind if rival.low <= noise]
    slower = [rival for rival in behind if rival.low > noise]
    text = f"{group.capitalize()} ({counted(behind[0].standing.cases, 'case')}): "
    if ties:
        text += f"no single fastest, {listed([leader, *ties])} are not told apart"
    else:
        text += f"{leader} is fastest"
    if slower:
        shown = slower if len(slower) <= SHOWN else [*slower[: SHOWN - 1], slower[-1]]
        parts = [f"{rival.standing.runner} takes {times(rival.ratio)}" for rival in shown]
        text += f"; against {leader}, {listed(parts)} times as long"
    unresolved = sum(rival.standing.unresolved for rival in behind)
    total = sum(rival.standing.cases for rival in behind)
    if unresolved:
        text += f"; {unresolved} of {counted(total, 'comparison')} with {leader} not resolved"
    text += "."
    not_ok = {s.runner: s.not_ok for s in standings}
    present = [runner.name for runner in runners if runner.missing is None]
    left_out = [
        f"{name} ({counted(not_ok[name], 'case')} not ok)"
        for name in choices
        if name in present and name not in compared and not_ok.get(name)
    ]
    return [text + (f" Left out: {listed(left_out)}." if left_out else "")]


def _leader(compared: list[str], table: dict[tuple[str, str], _Rival], noise: float) -> str:
    """The runner with the smallest mean against the first, unless another resolvedly beats it."""
    base = compared[0]
    leader = min(compared, key=lambda n: 1.0 if n == base else table[n, base].ratio.value)
    for name in compared:
        if name != leader and table[name, leader].high < 1 / noise:
            leader = name
    return leader
