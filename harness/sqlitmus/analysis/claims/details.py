"""`details.jsonl` as columns, in the places of the samples."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from sqlitmus.analysis.samples import Array, Samples
from sqlitmus.vocabulary.detail import Detail, Latencies

Read = Callable[[Detail], float | None]


def _of(whose: Callable[[Detail], Latencies | None], name: str) -> Read:
    def read(detail: Detail) -> float | None:
        latencies = whose(detail)
        return None if latencies is None else getattr(latencies, name)

    return read


# Name → how it is read: times in ns per operation, shares of 1, numbers of one invocation.
FIGURES: dict[str, Read] = {
    "loop": lambda d: d.loop_ns / d.operations if d.operations else None,
    "average": _of(lambda d: d.latencies, "mean"),
    "p50": _of(lambda d: d.latencies, "p50"),
    "p99": _of(lambda d: d.latencies, "p99"),
    "p999": _of(lambda d: d.latencies, "p999"),
    "max": _of(lambda d: d.latencies, "max"),
    "writer p50": _of(lambda d: d.writer, "p50"),
    "writer p99": _of(lambda d: d.writer, "p99"),
    "writer p999": _of(lambda d: d.writer, "p999"),
    "busy": lambda d: d.busy,
    "writer busy": lambda d: d.writer_busy,
    "pacing": lambda d: d.pacing_p99_ns,
    "spread": lambda d: d.spread,
    "cpu": lambda d: sum(d.launch.cpus.values()) if d.launch and d.launch.cpus else None,
    "skew": lambda d: median(d.launch.skew_us) * 1e3 if d.launch and d.launch.skew_us else None,
}


Sizes = list[tuple[float, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """What invocations told beyond their times.

    `figures` holds an array (cases × series × blocks) for each name of `FIGURES`, NaN = not
    recorded. By (case, series): `histograms` of all blocks' operations together, and `cpus`, the
    median share of each processor in use, and of each block that has them the sizes of the
    write-ahead log, `wal`, and of the process's memory, `resident`, (ms, bytes).
    """

    figures: dict[str, Array]
    histograms: dict[tuple[int, int], Counter[int]]
    cpus: dict[tuple[int, int], dict[str, float]]
    wal: dict[tuple[int, int], list[Sizes]] = field(
        default_factory=dict[tuple[int, int], list[Sizes]]
    )
    resident: dict[tuple[int, int], list[Sizes]] = field(
        default_factory=dict[tuple[int, int], list[Sizes]]
    )


@dataclass(slots=True)
class _Cell:
    buckets: Counter[int] = field(default_factory=Counter[int])
    cpus: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    wal: list[Sizes] = field(default_factory=list[Sizes])
    resident: list[Sizes] = field(default_factory=list[Sizes])


def read_details(
    details: Iterable[Detail], samples: Samples, superseded: Collection[tuple[int, int]]
) -> Details:
    """Columns; a detail belongs to the sample at its position.

    Blocks and takes that are `superseded` count for nothing, nor do details without a sample. Of
    several for one sample the last counts: a killed run leaves a detail whose sample comes later.
    """
    places = {
        int(samples.position[case, series, block]): (case, series, block)
        for case, series, block in np.argwhere(samples.position >= 0).tolist()
    }
    figures = {name: np.full(samples.position.shape, np.nan) for name in FIGURES}
    cells: dict[tuple[int, int], _Cell] = {}
    last: dict[tuple[int, int, int], Detail] = {}
    for detail in details:
        place = places.get(detail.position)
        if place is not None and (place[2], detail.take) not in superseded:
            last[place] = detail
    for place, detail in last.items():
        for name, read in FIGURES.items():
            value = read(detail)
            figures[name][place] = np.nan if value is None else value
        cell = cells.setdefault((place[0], place[1]), _Cell())
        if detail.latencies:
            cell.buckets.update(dict(detail.latencies.buckets))
        for name, share in detail.launch.cpus.items() if detail.launch else ():
            cell.cpus.setdefault(name, []).append(share)
        if detail.wal:
            cell.wal.append(detail.wal)
        if detail.resident:
            cell.resident.append(detail.resident)
    return Details(
        figures,
        {at: cell.buckets for at, cell in cells.items() if cell.buckets},
        {
            at: {name: median(shares) for name, shares in cell.cpus.items()}
            for at, cell in cells.items()
            if cell.cpus
        },
        {at: cell.wal for at, cell in cells.items() if cell.wal},
        {at: cell.resident for at, cell in cells.items() if cell.resident},
    )


def width(name: str) -> float:
    """The width of a histogram's bucket, as a log ratio, if figure `name` is read off one."""
    return 1 / 128 if name in ("p50", "p99", "p999", "max") else 0.0
