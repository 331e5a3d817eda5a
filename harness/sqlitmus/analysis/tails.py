"""Latencies of cases under load, and cells whose planned operations the machine started late."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.cells import intervals
from sqlitmus.analysis.claims.details import Sizes
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.notices import cores
from sqlitmus.analysis.outcomes import Outcomes, usable
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.results.estimate import Interval
from sqlitmus.results.tails import Tail, Tails
from sqlitmus.stats.estimate import Array, medians
from sqlitmus.vocabulary.histogram import bounds

LATE_NS = 500_000
"""A pacing error beyond it is no longer small beside the latencies that users see."""


def late(run: RunData) -> NDArray[np.bool_]:
    """Per case and series whether the machine was late where a p99 is compared: half of the blocks
    or more have a p99 of the pacing error beyond `LATE_NS`."""
    pacing = run.samples.figures["pacing"]
    typical = medians(pacing.reshape(-1, pacing.shape[2])).value.reshape(pacing.shape[:2])
    planned = np.array([case.metric == "p99" for case in run.plan.cases], dtype=np.bool_)
    return (typical > LATE_NS) & planned[:, None]


def tails(run: RunData, outcomes: Outcomes, times: Array, behind: NDArray[np.bool_]) -> list[Tails]:
    """Each case whose latencies were recorded; runners that are not ok are left out.

    `times` are the primary times (cases x series x blocks), NaN where a cell is not ok;
    `behind` is where the machine was `late`.
    """
    if run.plan.kind == "claims":  # shown there as the claim asks
        return []
    figures = {name: usable(of, outcomes) for name, of in run.samples.figures.items()}
    recorded: list[Tails] = []
    for place, case in enumerate(run.plan.cases):
        of_case = {name: values[place] for name, values in figures.items()}
        of_case["time"] = times[place]
        cells = _cells(run, case, place, of_case, behind[place])
        if cells:
            planned = any(cell.pacing is not None for cell in cells)
            writer = any(cell.writer_p99 for cell in cells)
            recorded.append(
                Tails(
                    case=case.id,
                    title=case.title,
                    question=case.question,
                    axes={name: str(value) for name, value in case.axes.items()},
                    unit=case.unit,
                    planned=planned,
                    threads=case.workers * (case.processes or 1) + writer,
                    cores=cores(run.machine),
                    cells=cells,
                )
            )
    return recorded


def _cells(
    run: RunData,
    case: PlannedCase,
    place: int,
    figures: dict[str, Array],
    behind: NDArray[np.bool_],
) -> list[Tail]:
    """`figures` by name are series x blocks."""
    of = {name: intervals(medians(values)) for name, values in figures.items()}
    histograms = run.details.histograms if run.details else dict[tuple[int, int], Counter[int]]()
    logs = run.details.wal if run.details else {}
    memories = run.details.resident if run.details else {}
    cells: list[Tail] = []
    for series, runner in enumerate(run.plan.runners):
        if of["p50"][series] is None:
            continue
        wal = sorted(logs.get((place, series), []), key=_largest)
        resident = sorted(memories.get((place, series), []), key=_largest)
        pacing, time = of["pacing"][series], of["time"][series]
        cells.append(
            Tail(
                runner=runner.name,
                p50=of["p50"][series],
                p99=of["p99"][series],
                p999=of["p999"][series],
                longest=of["longest"][series],
                most=_known(figures["longest"][series]).max().item(),
                writer_p99=of["writer_p99"][series],
                rate=_rate(time) if time and case.metric == "steady" and not pacing else None,
                busy=_known(figures["busy"][series]).mean().item(),
                unfair=of["unfair"][series],
                pacing=pacing and pacing.value,
                late=bool(behind[series]),
                buckets=[
                    (*bounds(number), count)
                    for number, count in sorted(histograms.get((place, series), Counter()).items())
                ],
                wal=wal[len(wal) // 2] if wal else [],
                wal_most=intervals(medians(np.array([[*map(_largest, wal)]], dtype=np.float64)))[0]
                if wal
                else None,
                timer_p99=of["timer_p99"][series],
                timer_longest=of["timer_longest"][series],
                growth=of["growth"][series],
                resident=resident[len(resident) // 2] if resident else [],
            )
        )
    return cells


def _known(values: Array) -> Array:
    return values[~np.isnan(values)]


def _largest(sizes: Sizes) -> int:
    return max(size for _, size in sizes)


def _rate(time: Interval) -> Interval:
    """Units of work a second."""
    low, high = (None if end is None else 1e9 / end for end in (time.high, time.low))
    return Interval(1e9 / time.value, low, high)
