"""Each runner against each other over a group of cases, all over the same cases."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.pairs import Pairs
from sqlitmus.results.report import Interval, Standing
from sqlitmus.stats.estimate import LEVEL, Array, student_t_of
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
    pairs: Pairs, ok: NDArray[np.bool_], groups: list[str], order: list[str]
) -> list[Standing]:
    """For each group of `order` every ordered pair of runners; `groups` has one name per case.

    The ratio is exp(mean of the cases' trimmed mean log ratios); its standard error on the log
    scale is sqrt(sum of squared errors) / cases, and t has the fewest degrees of freedom among the
    cases, which errs to the wide side. Cases without an interval leave the ratio without one.
    """
    result: list[Standing] = []
    names = np.array(groups)
    for group in order:
        in_group = names == group
        result += _group(pairs, ok, in_group, group)
    return result


def _group(
    pairs: Pairs, ok: NDArray[np.bool_], in_group: NDArray[np.bool_], group: str
) -> list[Standing]:
    common = common_set(ok, in_group)
    members = common.members.tolist()
    not_ok: list[int] = (in_group[:, None] & ~ok).sum(axis=0).tolist()
    value, low, high = _means(pairs, common.taken)
    codes = pairs.verdicts.code.reshape(pairs.cases, -1)[common.taken]
    faster, slower, equivalent = (
        Verdicts(codes).are(*(v for v in Verdict if v.side == side)).sum(axis=0).tolist()
        for side in ("faster", "slower", "equivalent")
    )
    result: list[Standing] = []
    for k, (i, j) in enumerate(pairs.indices):
        counted = len(codes) if members[i] and members[j] and not np.isnan(value[k]) else 0
        wins, losses, draws = (faster[k], slower[k], equivalent[k]) if counted else (0, 0, 0)
        for runner, reference, ratio, won, lost in (
            (i, j, (value[k], low[k], high[k]), wins, losses),
            (j, i, (-value[k], -high[k], -low[k]), losses, wins),
        ):
            result.append(
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
                )
            )
    place = {name: number for number, name in enumerate(pairs.names)}
    return sorted(result, key=lambda s: (place[s.reference], place[s.runner]))


def _means(pairs: Pairs, taken: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Per pair the mean log ratio over the cases `taken` and its interval; NaN over none."""
    width, cases = len(pairs.indices), int(taken.sum())
    if not width or not cases:
        none = np.full(width, np.nan)
        return none, none, none
    mean, error, freedom = (
        column.reshape(pairs.cases, width)[taken]
        for column in (pairs.logs.mean, pairs.logs.error, pairs.logs.freedom)
    )
    value = mean.mean(axis=0)
    half = np.sqrt(np.square(error).sum(axis=0)) / cases
    half *= student_t_of(freedom.min(axis=0), LEVEL)
    return value, value - half, value + half


def _ratio(value: float, low: float, high: float) -> Interval | None:
    if np.isnan(value):
        return None
    if np.isnan(low):
        return Interval(float(np.exp(value)), None, None)
    return Interval(*(float(np.exp(v)) for v in (value, low, high)))
