"""Cold start, CPU and memory: figures beside the primary time, each with verdicts of its own."""

from collections.abc import Sequence

import numpy as np

from sqlitmus.analysis.cells import optional
from sqlitmus.analysis.noise import guard_of
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.results.report import Interval, Measure
from sqlitmus.stats.estimate import Array, medians


def measures(
    values: Array,
    names: list[str],
    reference: str,
    twins: Sequence[int] | None,
    question: Question,
) -> list[list[Measure | None]]:
    """Per case and runner the median of `values` and how it compares with the reference's.

    `values` is cases x series x blocks, NaN where there is none, the canary the last series;
    `twins` are whom it repeats in each case. Verdicts are corrected together, and guarded by what
    the canary says of this very figure.
    """
    own = names.index(reference)
    runners = values[:, :-1]
    compared = compare_with(runners, own, question, guard_of(values, twins, question))
    shape = runners.shape[:2]
    low, high = compared.logs.interval()
    columns = (
        optional(medians(runners.reshape(-1, runners.shape[2])).value),
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
    return [flat[c * shape[1] : (c + 1) * shape[1]] for c in range(shape[0])]
