"""The figures beside the primary time, each judged by itself."""

from collections.abc import Iterable, Sequence

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.noise import guard_of
from sqlitmus.analysis.pairs import compare_with
from sqlitmus.analysis.question import Question
from sqlitmus.results.report import Interval, Measure
from sqlitmus.stats.estimate import Array, medians
from sqlitmus.vocabulary.figure import Alike, Figure


def measures(
    figure: Figure,
    values: Array,
    work: Sequence[Alike],
    names: list[str],
    reference: str,
    twins: Sequence[int] | None,
    question: Question,
) -> list[list[Measure | None]]:
    """Per case and runner the `figure` and, if it is judged, how it compares with the reference's.

    `values` is cases x series x blocks, NaN where there is none, the canary the last series;
    `work` says per case how far the runners did the same, `twins` whom the canary repeats. Verdicts
    are corrected together, and guarded by what the canary says of this very figure.
    """
    own = names.index(reference)
    runners = _only(values, map(figure.shown, work))[:, :-1]
    shape = runners.shape[:2]
    typical = optional(_over_blocks(figure, runners.reshape(-1, runners.shape[2])))
    if not any(map(figure.compared, work)):
        return _by_case([None if v is None else Measure(v) for v in typical], shape[1])
    equal = _only(values, map(figure.compared, work))
    compared = compare_with(equal[:, :-1], own, question, guard_of(equal, twins, question))
    low, high = compared.logs.interval()
    columns = (
        typical,
        *(optional(np.exp(column)) for column in (compared.logs.mean, low, high)),
        compared.verdicts.names().tolist(),
    )
    flat = [
        None
        if value is None
        else Measure(value)
        if ratio is None
        else Measure(value, Interval(ratio, below, above), verdict)
        for value, ratio, below, above, verdict in zip(*columns, strict=True)
    ]
    return _by_case(flat, shape[1])


def _only(values: Array, cases: Iterable[bool]) -> Array:
    """The values of those cases, NaN in the others."""
    return np.where(np.array([*cases])[:, None, None], values, np.nan)


def _over_blocks(figure: Figure, rows: Array) -> Array:
    """One value per row of blocks; NaN without any."""
    if figure.over_blocks == "median":
        return medians(rows).value
    known = ~np.isnan(rows)
    count = known.sum(axis=1)
    total = np.where(known, rows, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _by_case(flat: list[Measure | None], width: int) -> list[list[Measure | None]]:
    return [flat[start : start + width] for start in range(0, len(flat), width)]
