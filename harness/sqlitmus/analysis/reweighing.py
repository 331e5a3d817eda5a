"""What the figures by a reader's own weights are made of, as data."""

from collections.abc import Sequence
from math import isnan, log

import numpy as np

from sqlitmus.analysis.weighing import Decided, Groups
from sqlitmus.results.report import Case
from sqlitmus.results.weighed import CatchUp, GroupParts, PairParts, Weighing
from sqlitmus.stats.distributions import normal
from sqlitmus.stats.estimate import Array
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.verdicts import Verdict


def packed(
    groups: Groups,
    decided: Decided,
    cases: Sequence[Case],
    start: list[float | None],
    catching: list[CatchUp],
) -> Weighing:
    """All that other weights' figures are made of, as data."""
    sessions, size = groups.question.sessions, len(groups.order)
    lower = np.tril_indices(size)
    pairs: list[PairParts] = []
    many: list[int] = groups.of.cases.tolist()
    for k, (runner, reference) in enumerate(groups.pairs):
        rows = slice(k * sessions, (k + 1) * sessions)
        pairs.append(
            PairParts(
                runner,
                reference,
                [_known(row) for row in groups.of.mean[rows]],
                [_known(row[lower]) for row in groups.of.square[rows]],
                groups.of.left[rows].tolist(),
                groups.of.count[rows].tolist(),
                [
                    list(Verdict)[code] if one_case == 1 else None
                    for code, one_case in zip(groups.single[k].tolist(), many, strict=True)
                ],
            )
        )
    return Weighing(
        decided.level,
        normal(decided.level),
        MIN_BLOCKS,
        groups.names,
        [_group(groups, place, cases) for place in range(size)],
        pairs,
        start,
        catching,
    )


def _group(groups: Groups, place: int, cases: Sequence[Case]) -> GroupParts:
    canary = groups.canary
    row = None
    if canary is not None and not np.isnan(canary.error[place]):
        row = (float(canary.mean[place]), float(canary.error[place]),
               float(canary.freedom[place]), int(canary.count[place]))  # fmt: skip
    mine = [cases[number] for number in groups.taken[place]]
    figures = [
        beside(mine, name) if member else (None, None, None)
        for name, member in zip(groups.names, groups.members[place].tolist(), strict=True)
    ]
    return GroupParts(
        groups.order[place], int(groups.of.cases[place]), row,
        *([row[column] for row in figures] for column in range(3)),
    )  # fmt: skip


def beside(cases: Sequence[Case], name: str) -> tuple[float | None, float | None, float | None]:
    """Mean logarithms of a runner's time and CPU time over `cases`, None where one is not known of
    some case, and the most memory that is known."""
    cells = [next(cell for cell in case.cells if cell.runner == name) for case in cases]
    times = [cell.time.value if cell.time else None for cell in cells]
    cpu = [cell.figures["cpu"].value if "cpu" in cell.figures else None for cell in cells]
    memory = [cell.figures["peak_rss"].value for cell in cells if "peak_rss" in cell.figures]
    return _mean_log(times), _mean_log(cpu), max(memory, default=None)


def _mean_log(values: Sequence[float | None]) -> float | None:
    logs = [log(value) for value in values if value]
    return sum(logs) / len(logs) if logs and len(logs) == len(values) else None


def _known(row: Array) -> list[float | None]:
    return [None if isnan(value) else value for value in row.tolist()]
