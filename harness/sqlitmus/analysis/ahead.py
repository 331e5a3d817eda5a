"""Who is ahead of whom by comparisons whose intervals hold at once."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, isnan

from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import Standby
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.verdicts import Verdict

Table = Mapping[tuple[str, str], Standby]  # by (runner, reference)


def tabled(
    pairs: Sequence[tuple[str, str]],
    mean: Array,
    low: Array,
    high: Array,
    verdicts: Sequence[Verdict],
) -> Table:
    """Both directions of `pairs` from their log ratios; a pair without a mean is not there."""
    table: dict[tuple[str, str], Standby] = {}
    for (runner, reference), value, bottom, top, verdict in zip(
        pairs, mean.tolist(), low.tolist(), high.tolist(), verdicts, strict=True
    ):
        if isnan(value):
            continue
        table[runner, reference] = Standby(runner, ratio(value, bottom, top), verdict)
        back = ratio(-value, -top, -bottom)
        table[reference, runner] = Standby(reference, back, verdict.opposite)
    return table


def front_of(table: Table, fit: Sequence[str], value: Callable[[str], float]) -> list[str]:
    """Those of `fit` than whom none of `fit` is shown to be faster, by `value`."""
    front = [
        name
        for name in fit
        if not any(table[name, o].verdict.side == "slower" for o in fit if (name, o) in table)
    ]
    return sorted(front, key=value)


def alike(table: Table, front: Sequence[str]) -> bool:
    """Whether each of `front` is shown to be equivalent to each other."""
    tied = [(a, b) for a in front for b in front if a != b]
    return bool(tied) and all(p in table and table[p].verdict is Verdict.EQUIVALENT for p in tied)


def ratio(mean: float, low: float, high: float) -> Interval:
    """A ratio from logarithms; no bounds where they are NaN."""
    return Interval(exp(mean), *(None if isnan(end) else exp(end) for end in (low, high)))
