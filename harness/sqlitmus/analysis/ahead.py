"""Who is ahead of whom by comparisons whose intervals hold at once, and who exceeds limits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, exp, isnan, log, log1p
from typing import Final, Protocol

from sqlitmus.results.estimate import Interval
from sqlitmus.results.recommendation import Beside, Beyond, Open, Standby
from sqlitmus.stats.distributions import normal
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.verdicts import Verdict

START: Final = "start-up"
POWER_Z, BOTH_Z = 0.8416212335729143, 1.2815515655446004  # normal, one-sided: 80 %, 90 %
_MB = 2**20
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


def still_open(
    table: Table, front: Sequence[str], blocks: int, level: float, margin: float
) -> Open | None:
    """The first of `front` and the next that is not shown to be equivalent to it, with the number
    of blocks that would settle them; None where all are settled, or have no interval.

    The half-width of an interval at `level` falls with the root of the blocks, of which there are
    `blocks`. It has to come within the distance to 1, or to the margin where that is further, with
    a power of 80 %: for both ends of an equivalence 90 % each.
    """
    rows = [(name, table.get((name, front[0]))) for name in front[1:]]
    name, row = next(
        ((n, r) for n, r in rows if r and r.verdict is not Verdict.EQUIVALENT), (None, None)
    )
    if name is None or row is None or row.ratio.low is None or row.ratio.high is None:
        return None
    apart, within = abs(log(row.ratio.value)), log1p(margin) - abs(log(row.ratio.value))
    distance, power_z = (apart, POWER_Z) if apart >= within else (within, BOTH_Z)
    half = log(row.ratio.high / row.ratio.low) / 2
    factor = half * (1 + power_z / normal(level)) / distance
    return Open(name, front[0], max(ceil(blocks * factor**2), blocks + 1))


class Limits(Protocol):
    """The most memory of a process and the longest start; None for no limit."""

    @property
    def memory_mib(self) -> float | None: ...
    @property
    def start_ms(self) -> float | None: ...


def exceeded(cost: Beside, limits: Limits) -> Iterator[Beyond]:
    """Each limit that a runner's cost exceeds."""
    if limits.memory_mib and cost.memory and cost.memory > limits.memory_mib * _MB:
        yield Beyond(cost.runner, "memory", cost.memory, limits.memory_mib * _MB)
    if limits.start_ms and cost.start and cost.start > limits.start_ms * 1e6:
        yield Beyond(cost.runner, START, cost.start, limits.start_ms * 1e6)


def ratio(mean: float, low: float, high: float) -> Interval:
    """A ratio from logarithms; no bounds where they are NaN."""
    return Interval(exp(mean), *(None if isnan(end) else exp(end) for end in (low, high)))
