"""What would change a decision by calls: how many of an operation make others come out equal."""

from collections.abc import Iterator, Sequence

import numpy as np

from sqlitmus.analysis.ranking import Table, crossing
from sqlitmus.analysis.weighing import Operations
from sqlitmus.catalog.presets import MOST
from sqlitmus.results.ranking import Change
from sqlitmus.stats.estimate import Array


def changes_in(
    of: Operations, calls: Array, alone: Sequence[Table], lead: str, fit: Sequence[str]
) -> Iterator[Change]:
    """For each operation that others are shown to be faster in: who needs the fewest calls of it to
    come out equal with `lead`, where a service may make as many."""
    times = np.exp(of.levels)
    first = times[:, of.names.index(lead)]
    for place, (case, table) in enumerate(zip(of.order, alone, strict=True)):
        ahead = [
            (at, name, table[name, lead].ratio)
            for name in fit
            if (name, lead) in table
            and table[name, lead].verdict.side == "faster"
            and (at := crossing(first, times[:, of.names.index(name)], calls, place))
            and at <= MOST
        ]
        if ahead:
            at, name, ratio = min(ahead, key=lambda one: one[0])
            yield Change(case, name, ratio, calls=at)


def telling(of: Operations, alone: Sequence[Table], front: Sequence[str]) -> Iterator[Change]:
    """Each operation by which one of `front` is shown to be ahead of all others in front."""
    for case, table in zip(of.order, alone, strict=True):
        for name in front:
            over = [table.get((name, other)) for other in front if other != name]
            if all(each and each.verdict.side == "faster" for each in over):
                nearest = max((each.ratio for each in over if each), key=lambda ratio: ratio.value)
                yield Change(case, name, nearest)
