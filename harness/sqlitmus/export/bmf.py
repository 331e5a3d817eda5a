"""Rows as Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format.

`latency` is Bencher's own measure, in ns: the primary time with its interval. The other measures
carry their units in their names.
"""

import json
from collections.abc import Iterable

from sqlitmus.export import tracked
from sqlitmus.export.model import Row
from sqlitmus.results.estimate import Interval
from sqlitmus.vocabulary import figures


def render(rows: Iterable[Row]) -> str:
    """All rows that can be tracked, by benchmark, then measure."""
    benchmarks = {
        tracked.name(row): measures(row, time) for row in rows if (time := tracked.time(row))
    }
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def measures(row: Row, time: Interval) -> dict[str, dict[str, float]]:
    """The figures that a row has; `time` is its primary one."""
    figures_of_row = {
        "latency": (time.value, time.low, time.high),
        **{
            figure.sampled.replace("_", "-"): (getattr(row, figure.column), None, None)
            for figure in figures.FIGURES
            if figure.name != row.metric
        },
        "overhead-ns": (
            row.overhead_ns_per_unit,
            row.overhead_ns_per_unit_low,
            row.overhead_ns_per_unit_high,
        ),
    }
    keys = ("value", "lower_value", "upper_value")
    return {
        name: {key: end for key, end in zip(keys, ends, strict=True) if end is not None}
        for name, ends in figures_of_row.items()
        if ends[0] is not None
    }
