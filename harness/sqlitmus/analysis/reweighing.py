"""What the figures by a reader's own calls are made of, as data."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from sqlitmus.analysis.weighing import Decided, Operations
from sqlitmus.results.report import Case
from sqlitmus.results.weighed import CatchUp, OperationParts, PairParts, Weighing
from sqlitmus.stats.distributions import normal
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.verdicts import Verdict


def packed(
    of: Operations,
    decided: Decided,
    parts: Sequence[OperationParts],
    start: list[float | None],
    catching: list[CatchUp],
) -> Weighing:
    """All that other calls' figures are made of, as data."""
    sessions = of.question.sessions
    lower = np.tril_indices(2 * len(of.order))
    pairs: list[PairParts] = []
    for k, (runner, reference) in enumerate(of.pairs):
        rows = slice(k * sessions, (k + 1) * sessions)
        pairs.append(
            PairParts(
                runner,
                reference,
                [_known(row) for row in of.of.difference[rows]],
                [_known(row) for row in of.of.middle[rows]],
                [_known(row[lower]) for row in of.of.square[rows]],
                of.of.left[rows].tolist(),
                of.of.count[rows].tolist(),
                [list(Verdict)[code] for code in of.single[k].tolist()],
            )
        )
    return Weighing(
        decided.level,
        normal(decided.level),
        MIN_BLOCKS,
        of.names,
        list(parts),
        pairs,
        start,
        catching,
    )


def parts_of(of: Operations, place: int, name: str, case: Case, units: int) -> OperationParts:
    """What sums take from the operation in `place`, which is `case`; a call is so many `units`."""
    canary = of.canary
    row = None
    if canary is not None and not np.isnan(canary.error[place]):
        row = (float(canary.mean[place]), float(canary.error[place]),
               float(canary.freedom[place]), int(canary.count[place]))  # fmt: skip
    cells = {cell.runner: cell for cell in case.cells}
    levels = _known(of.levels[place])
    cpu, memory = (
        [
            None if level is None or figure not in cells[runner].figures
            else cells[runner].figures[figure].value * times
            for runner, level in zip(of.names, levels, strict=True)
        ]
        for figure, times in (("cpu", units), ("peak_rss", 1))
    )  # fmt: skip
    return OperationParts(case.id, name, case.metric == "cold", row, levels, cpu, memory)


def _known(row: Array) -> list[float | None]:
    return [None if isnan(value) else value for value in row.tolist()]
