"""Who is ahead of whom by contrasts whose intervals hold at once, and who exceeds limits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, exp, inf, isnan, log, log1p
from typing import Final, Protocol

from sqlitmus.results.estimate import Interval
from sqlitmus.results.ranking import Contrast, Cost, Excluded, Open, Ranking
from sqlitmus.stats.distributions import normal
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.verdicts import Side, Verdict

START: Final = "start-up"
POWER_Z, BOTH_Z = 0.8416212335729143, 1.2815515655446004  # normal, one-sided: 80 %, 90 %
_MB = 2**20
Table = Mapping[tuple[str, str], Contrast]  # by (runner, reference)


def contrasts(
    pairs: Sequence[tuple[str, str]],
    mean: Array,
    low: Array,
    high: Array,
    verdicts: Sequence[Verdict],
) -> Table:
    """Both directions of `pairs` from their log ratios; a pair without a mean is not there."""
    table: dict[tuple[str, str], Contrast] = {}
    for (runner, reference), value, bottom, top, verdict in zip(
        pairs, mean.tolist(), low.tolist(), high.tolist(), verdicts, strict=True
    ):
        if not isnan(value):
            forth, back = ratio(value, bottom, top), ratio(-value, -top, -bottom)
            table[runner, reference] = Contrast(runner, reference, forth, verdict)
            table[reference, runner] = Contrast(reference, runner, back, verdict.opposite)
    return table


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


class Limits(Protocol):
    """The most memory of a process and the longest start; None for no limit."""

    @property
    def memory_mib(self) -> float | None: ...
    @property
    def start_ms(self) -> float | None: ...


def exceeded(cost: Cost, limits: Limits) -> Iterator[Excluded]:
    """Each limit that a runner's cost exceeds."""
    if limits.memory_mib and cost.memory and cost.memory > limits.memory_mib * _MB:
        yield Excluded(cost.runner, "memory", cost.memory, limits.memory_mib * _MB)
    if limits.start_ms and cost.start and cost.start > limits.start_ms * 1e6:
        yield Excluded(cost.runner, START, cost.start, limits.start_ms * 1e6)


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


def ratio(mean: float, low: float, high: float) -> Interval:
    """A ratio from logarithms; no bounds where they are NaN."""
    return Interval(exp(mean), *(None if isnan(end) else exp(end) for end in (low, high)))
