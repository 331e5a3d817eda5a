"""Each runner against each other over a group of cases, all over the same cases."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.logratios import RESOLUTION, over_sessions
from sqlitmus.analysis.pairs import Pairs, independent
from sqlitmus.analysis.question import Question
from sqlitmus.results.report import Interval, Standing
from sqlitmus.stats.estimate import Array, TrimmedMeans
from sqlitmus.stats.groups import capped, group_means, together
from sqlitmus.stats.verdict import Verdicts
from sqlitmus.vocabulary.verdicts import Verdict


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
    guards: Mapping[str, float] | None = None,
) -> list[Standing]:
    """For each group of `order` every ordered pair of runners; `groups` has one name per case.

    All groups and pairs are one family: its intervals hold together (`stats.groups.together`), and
    so does all that is read off them. `times` is cases x runners x blocks, None where the two sides
    of a pair share no block; the cases are taken as independent then. `guards` is the noise of each
    group's mean, a log ratio that an interval must clear. Of a group of one case no more is said
    than by the verdict on that case.
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
    guard = np.repeat([(guards or {}).get(group, 0.0) for group in order], len(pairs.indices))
    shares = np.repeat(
        [_share(question, common) for common in commons.values()], len(pairs.indices)
    )
    family = together(logs, question.margin, guard, question.alpha, shares)
    standing: list[Standing] = []
    for place, (group, common) in enumerate(commons.items()):
        rows = slice(place * len(pairs.indices), (place + 1) * len(pairs.indices))
        verdicts = Verdicts(family.verdicts.code[rows])
        if common.taken.sum() == 1:
            verdicts = capped(verdicts, Verdicts(_codes(pairs, common)[0]))
        ratios = (logs.mean[rows], family.low[rows], family.high[rows])
        not_ok: list[int] = ((names == group)[:, None] & ~ok).sum(axis=0).tolist()
        standing += _group(pairs, group, common, not_ok, ratios, verdicts)
    return standing


def _group(
    pairs: Pairs,
    group: str,
    common: CommonSet,
    not_ok: list[int],
    ratios: tuple[Array, Array, Array],
    verdicts: Verdicts,
) -> list[Standing]:
    """The standings of a group from its pairs' log ratios and verdicts."""
    codes = Verdicts(_codes(pairs, common))
    faster, slower, equivalent = (
        codes.are(*(v for v in Verdict if v.side == side)).sum(axis=0).tolist()
        for side in ("faster", "slower", "equivalent")
    )
    value, low, high = ratios
    words: list[Verdict] = verdicts.names().tolist()
    standing: list[Standing] = []
    for k, (i, j) in enumerate(pairs.indices):
        counted = 0 if np.isnan(value[k]) else len(codes.code)
        wins, losses, draws = (faster[k], slower[k], equivalent[k]) if counted else (0, 0, 0)
        for runner, reference, ratio, won, lost, word in (
            (i, j, (value[k], low[k], high[k]), wins, losses, words[k]),
            (j, i, (-value[k], -high[k], -low[k]), losses, wins, words[k].opposite),
        ):
            standing.append(
                Standing(
                    runner=pairs.names[runner],
                    reference=pairs.names[reference],
                    group=group,
                    ratio=_ratio(*ratio) if counted else None,
                    cases=counted,
                    faster=won,
                    slower=lost,
                    equivalent=draws,
                    unresolved=counted - won - lost - draws,
                    not_ok=not_ok[runner],
                    verdict=word if counted else None,
                )
            )
    place = {name: number for number, name in enumerate(pairs.names)}
    return sorted(standing, key=lambda s: (place[s.reference], place[s.runner]))


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
    return TrimmedMeans(mean, error, means.freedom, means.count)


def _ratio(value: float, low: float, high: float) -> Interval | None:
    if np.isnan(value):
        return None
    if np.isnan(low):
        return Interval(float(np.exp(value)), None, None)
    return Interval(*(float(np.exp(v)) for v in (value, low, high)))
