"""Who is ahead of whom by contrasts whose intervals hold at once: groups, limits, and the
headline.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, permutations
from math import ceil, inf, log, log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.cells import ratios
from sqlitmus.analysis.pairs import RESOLUTION, Pairs, Question, independent, over_sessions
from sqlitmus.results import report
from sqlitmus.results.ranking import Contrast, Cost, Excluded, Open, Ranking, place
from sqlitmus.stats.estimate import Array, TrimmedMeans, moderate, normal
from sqlitmus.stats.verdict import MIN_BLOCKS, Contrasts, Verdicts, alarms, group_means, together
from sqlitmus.vocabulary.verdicts import CONTROLS, Side, Verdict

START: Final = "start-up"
POWER_Z, BOTH_Z = 0.8416212335729143, 1.2815515655446004  # normal, one-sided: 80 %, 90 %
_MB = 2**20
Table = Mapping[tuple[str, str], Contrast]  # by (runner, reference)


def tables(pairs: Sequence[tuple[str, str]], of: Contrasts) -> list[Table]:
    """Both directions of `pairs`, one table for each time that the rows go through them; a pair
    without a mean is not there."""
    mean, low, high = of.logs.mean, of.low, of.high
    words: list[Verdict] = of.verdicts.names().tolist()
    rows = zip(ratios(mean, low, high), ratios(-mean, -high, -low), words, strict=True)
    blocks: list[int] = of.logs.count.tolist()
    made: list[dict[tuple[str, str], Contrast]] = []
    for (number, (runner, reference)), (forth, back, word), count in zip(
        cycle(enumerate(pairs)), rows, blocks, strict=False
    ):
        if number == 0:
            made.append({})
        if forth and back:
            made[-1][runner, reference] = Contrast(runner, reference, forth, word, count)
            made[-1][reference, runner] = Contrast(reference, runner, back, word.opposite, count)
    return [*made]


def rank(
    table: Table,
    names: Sequence[str],
    *,
    level: Callable[[str], float] | None = None,
    reference: str | None = None,
    margin: float = 0.0,
) -> Ranking:
    """The order of `names`; those in front in the order of their `level`.

    The contrasts hold together, so what follows from them holds, too: who is slower than somebody
    who is slower than a third is slower than the third. Of one alone nothing is compared.
    """
    slower = _chains(
        [(a, b) for (a, b), each in table.items()
         if a in names and b in names and each.verdict.side == "slower"]
    )  # fmt: skip
    front = [name for name in names if not any((name, other) in slower for other in names)]
    if level:
        front.sort(key=level)
    if reference:
        over = [table[name, reference] for name in names if (name, reference) in table]
    else:
        behind = [name for name in names if name not in front]
        over = [each for name in behind if (each := _over_front(table, name, front))]
    tied = [(a, b) for a in front for b in front if a != b]
    lone = front[0] if len(front) == 1 else None
    return Ranking(
        front,
        bool(tied) and all(p in table and table[p].verdict is Verdict.EQUIVALENT for p in tied),
        sorted(
            (replace(each, implied=_side(each, slower)) for each in over),
            key=lambda each: (each.ratio.value, each.runner),
        ),
        [] if reference else [table[pair] for n in front[1:] if (pair := (n, front[0])) in table],
        [n for n in names if lone and (n, lone) in table and table[n, lone].ratio.within(margin)],
        margin,
        reference,
    )


def _chains(slower: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """All pairs that follow from (slower, faster) pairs."""
    chains = set(slower)
    while more := {(a, d) for a, b in chains for c, d in chains if b == c and a != d} - chains:
        chains |= more
    return chains


def _side(contrast: Contrast, slower: set[tuple[str, str]]) -> Side:
    if contrast.verdict.side != "undecided":
        return contrast.verdict.side
    forth, back = (contrast.runner, contrast.reference), (contrast.reference, contrast.runner)
    if (forth in slower) == (back in slower):
        return "undecided"
    return "slower" if forth in slower else "faster"


def _over_front(table: Table, name: str, front: Sequence[str]) -> Contrast | None:
    """Over the first in front than which `name` is shown to be slower, else over the first."""
    over = [table[name, first] for first in front if (name, first) in table]
    resolved = (each for each in over if each.verdict.side == "slower")
    return next(resolved, next(iter(over), None))


def still_open(
    table: Table, front: Sequence[str], blocks: int, level: float, margin: float
) -> Open | None:
    """The first of `front` and the next that is not shown to be equivalent to it, with the number
    of blocks that would settle them; None where all are settled, or have no interval.

    The half-width of an interval at `level` falls with the root of the blocks, of which there are
    `blocks`. It has to come within the distance to 1, or to the margin where that is further, with
    a power of 80 %: for both ends of an equivalence 90 % each.
    """
    rows = (table.get((name, front[0])) for name in front[1:])
    row = next((row for row in rows if row and row.verdict is not Verdict.EQUIVALENT), None)
    if row is None or row.ratio.low is None or row.ratio.high is None:
        return None
    apart, within = abs(log(row.ratio.value)), log1p(margin) - abs(log(row.ratio.value))
    distance, power_z = (apart, POWER_Z) if apart >= within else (within, BOTH_Z)
    half = log(row.ratio.high / row.ratio.low) / 2
    factor = half * (1 + power_z / normal(level)) / distance
    return Open(row.runner, row.reference, max(ceil(blocks * factor**2), blocks + 1))


def exceeded(cost: Cost, memory_mib: float | None, start_ms: float | None) -> Iterator[Excluded]:
    """Each limit that a runner's cost exceeds; None for no limit."""
    if memory_mib and cost.memory and cost.memory > memory_mib * _MB:
        yield Excluded(cost.runner, "memory", cost.memory, memory_mib * _MB)
    if start_ms and cost.start and cost.start > start_ms * 1e6:
        yield Excluded(cost.runner, START, cost.start, start_ms * 1e6)


def crossing(lead: Array, other: Array, calls: Array, place: int) -> float | None:
    """How many calls of an operation make two runners' sums equal, the other calls staying as they
    are; None where that is not more than there are.

    `lead` and `other` are their times of a call, of which only those that are called need be known.
    """
    used = calls > 0
    used[place] = False
    behind = float(calls[used] @ (other - lead)[used])
    gained = float(lead[place] - other[place])
    at = behind / gained if gained > 0 else -inf
    return at if calls[place] < at < inf else None


@dataclass(frozen=True, slots=True, eq=False)
class CommonSet:
    """The cases of one group over which its runners are compared, and the runners that are.

    `taken` and `members` are masks over all cases and all runners.
    """

    taken: NDArray[np.bool_]
    members: NDArray[np.bool_]


def common_set(ok: NDArray[np.bool_], in_group: NDArray[np.bool_]) -> CommonSet:
    """The cases of a group that every member completed; `ok` is cases x runners.

    Members are the runners that completed at least half of the cases that anyone completed. One
    runner that can do little would otherwise shrink the comparison of all the others to nothing; a
    runner with a few gaps costs them only those cases. Who is no member gets no ratio, because one
    over fewer cases would be read as if it were over the same.
    """
    attainable = in_group & ok.any(axis=1)
    done = (ok & attainable[:, None]).sum(axis=0)
    members = (done > 0) & (2 * done >= attainable.sum())
    taken = attainable & ok[:, members].all(axis=1)
    return CommonSet(taken, members)


def standings(
    pairs: Pairs,
    ok: NDArray[np.bool_],
    groups: list[str],
    order: list[str],
    question: Question,
    times: Array | None = None,
) -> list[report.Standing]:
    """For each group of `order` every ordered pair of runners; `groups` has one name per case.

    All groups and pairs are one family: its intervals hold together (`stats.verdict.together`), and
    so does all that is read off them. `times` is cases x runners x blocks, None where the two sides
    of a pair share no block; the cases are taken as independent then. Of a group of one case no
    more is said than by the verdict on that case.
    """
    names = np.array(groups)
    commons = {group: common_set(ok, names == group) for group in order}
    means = [_means(pairs, common, times, question.sessions) for common in commons.values()]
    if not means:
        return []
    logs = TrimmedMeans(
        *(np.concatenate([getattr(part, column) for part in means])
          for column in ("mean", "error", "freedom", "count"))
    )  # fmt: skip
    shares = np.repeat(
        [_share(question, common) for common in commons.values()], len(pairs.indices)
    )
    family = together(logs, question.margin, question.alpha, shares)
    code = family.verdicts.code.reshape(len(order), -1).copy()
    for row, common in zip(code, commons.values(), strict=True):
        if common.taken.sum() == 1:
            row[:] = Verdicts(row).capped(Verdicts(_codes(pairs, common)[0])).code
    family = replace(family, verdicts=Verdicts(code.ravel()))
    named = [(pairs.names[i], pairs.names[j]) for i, j in pairs.indices]
    return [
        standing
        for (group, common), table in zip(commons.items(), tables(named, family), strict=False)
        for standing in _group(pairs, group, common, (names == group)[:, None] & ~ok, table)
    ]


def _group(
    pairs: Pairs, group: str, common: CommonSet, not_ok: NDArray[np.bool_], table: Table
) -> Iterator[report.Standing]:
    """The standings of a group from its `table`; `not_ok` is cases x runners."""
    codes, names = Verdicts(_codes(pairs, common)), pairs.names
    gaps: list[int] = not_ok.sum(axis=0).tolist()
    counts: list[list[int]] = [
        codes.are(*(v for v in Verdict if v.side == side)).sum(axis=0).tolist()
        for side in ("faster", "slower", "equivalent")
    ]
    for reference, runner in permutations(range(len(names)), 2):
        contrast = table.get((names[runner], names[reference]))
        pair = place(min(runner, reference), max(runner, reference))
        won, lost, draws = (side[pair] for side in counts) if contrast else (0, 0, 0)
        cases = len(codes.code) if contrast else 0
        yield report.Standing(
            runner=names[runner],
            reference=names[reference],
            group=group,
            contrast=contrast,
            cases=cases,
            faster=won if runner > reference else lost,
            slower=lost if runner > reference else won,
            equivalent=draws,
            unresolved=cases - won - lost - draws,
            not_ok=gaps[runner],
        )


def _share(question: Question, common: CommonSet) -> float:
    """That of the error for a group: its cases' least, since when each ended was its own affair."""
    if question.shares is None or not common.taken.any():
        return 1.0
    return float(question.shares[common.taken].min())


def _codes(pairs: Pairs, common: CommonSet) -> NDArray[np.int8]:
    """The verdicts on the cases taken, cases x pairs."""
    return pairs.verdicts.code.reshape(pairs.cases, -1)[common.taken]


def _means(pairs: Pairs, common: CommonSet, times: Array | None, sessions: int) -> TrimmedMeans:
    """Per pair the mean log ratio over the cases taken; NaN where one of the two is no member."""
    later, earlier = ([pair[side] for pair in pairs.indices] for side in (0, 1))
    cases = int(common.taken.sum())
    if not cases or times is None:
        means = independent(pairs, common.taken)
    else:
        logs = np.log(times[common.taken])
        differences = logs[:, later] - logs[:, earlier]
        each = differences.reshape(cases, len(later) * sessions, times.shape[2] // sessions)
        means, _ = over_sessions(group_means(each, resolution=RESOLUTION), sessions)
    member = common.members[later] & common.members[earlier]
    mean, error = (np.where(member, column, np.nan) for column in (means.mean, means.error))
    means = TrimmedMeans(mean, error, means.freedom, means.count)
    return moderate(means, len(later)) if sessions == 1 and times is not None else means


def headline(
    runners: Sequence[report.Runner],
    cases: Sequence[report.Case],
    standings: Sequence[report.Standing],
    blocks: int,
    reference: str,
    margin: float,
) -> list[report.Statement]:
    """Problems, then what may be said of each group, over `reference` where that took part."""
    statements: list[report.Statement] = [*_problems(runners, cases)]
    if blocks < MIN_BLOCKS:
        statements.append(report.FewBlocks(blocks, MIN_BLOCKS))
    for group in dict.fromkeys(case.group for case in cases):
        if group != CONTROLS and blocks >= MIN_BLOCKS:
            mine = [s for s in standings if s.group == group]
            order = group_order(group, runners, cases, mine, reference, margin)
            statements += [order] if order else []
    if not statements:
        groups = {case.group for case in cases if any(cell.outcome == "ok" for cell in case.cells)}
        measured = "controls" if groups == {CONTROLS} else "no two" if groups else "nothing"
        statements.append(report.NoOrder(measured))
    return statements


def canary_summary(runner: str | None, results: Sequence[Contrast | None]) -> report.CanarySummary:
    """What comparing the reference with itself showed, by p-values before any correction; `runner`
    is None where each case has its own."""
    tested = [c for c in results if c is not None and c.verdict is not Verdict.NOT_TESTABLE]
    number, below, many = alarms(np.array([c.p for c in tested], dtype=np.float64))
    ratios = [comparison.ratio for comparison in tested]
    return report.CanarySummary(
        runner,
        number,
        below,
        max(ratios, key=lambda ratio: max(ratio.value, 1 / ratio.value), default=None),
        many,
    )


def _problems(
    runners: Sequence[report.Runner], cases: Sequence[report.Case]
) -> Iterable[report.Statement]:
    for outcome in ("wrong", "failed"):
        for runner in runners:
            ids = [
                case.id
                for case in cases
                if any((c.runner, c.outcome) == (runner.name, outcome) for c in case.cells)
            ]
            if ids:
                yield report.Broken(runner.name, outcome, ids, len(cases))
    for runner in runners:
        if runner.missing is not None:
            yield report.Missing(runner.name, runner.missing)


def group_order(
    group: str,
    runners: Sequence[report.Runner],
    cases: Sequence[report.Case],
    standings: Sequence[report.Standing],
    reference: str,
    margin: float,
) -> report.Group | None:
    """The order of a group by its standings; None where none of the runners can be compared.

    Runners to choose from are compared with each other, and each is held against `reference`, which
    may be a yardstick. Where that was not compared in this group, the first of those in front takes
    its place. The order of `runners` decides the order in which equal ones are named, and nothing
    else.
    """
    choices = [runner.name for runner in runners if runner.role == "runner"]
    table: Table = {(s.runner, s.reference): s.contrast for s in standings if s.contrast}
    compared = [name for name in choices if any((name, other) in table for other in choices)]
    if not compared:
        return None
    base = reference
    if not any((name, reference) in table for name in compared):
        base = next(iter(rank(table, compared).front), compared[0])
    present = [runner.name for runner in runners if runner.missing is None]
    left = [name for name in choices if name in present and name not in compared]
    excluded = Excluded.untimed(
        (name, c.id, each.apart) for name in left for c in cases for each in c.cells
        if c.group == group and each.runner == name and (each.apart or each.outcome != "ok")
    )  # fmt: skip
    order = replace(rank(table, compared, reference=base, margin=margin), excluded=excluded)
    return report.Group(group, max(s.cases for s in standings if s.contrast), order)
