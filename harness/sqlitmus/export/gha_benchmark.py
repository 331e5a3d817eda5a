"""Rows for github-action-benchmark, tool `customSmallerIsBetter`: one number per benchmark, the
primary time.

https://github.com/benchmark-action/github-action-benchmark
"""

import json
from collections.abc import Iterable

from sqlitmus.export import tracked
from sqlitmus.export.model import Row
from sqlitmus.render.document import format as fmt
from sqlitmus.results.estimate import Interval


def render(rows: Iterable[Row]) -> str:
    """All rows that can be tracked."""
    benchmarks = [entry(row, time) for row in rows if (time := tracked.time(row))]
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def entry(row: Row, time: Interval) -> dict[str, str | float]:
    """One benchmark: `range` and `extra` are texts that the action shows beside the value."""
    benchmark: dict[str, str | float] = {
        "name": tracked.name(row),
        "unit": f"ns/{row.unit}",
        "value": time.value,
    }
    if time.low is not None and time.high is not None:
        places = fmt.decimals(time.value, time.low, time.high)
        benchmark["range"] = f"95 % {fmt.bounded(time.low, time.high, places)}"
    return {**benchmark, "extra": "\n".join(extra(row))}


def extra(row: Row) -> Iterable[str]:
    """How it compares within this run, and what it comes from."""
    if row.ratio is not None:
        value = " ".join(fmt.ratio(Interval(row.ratio, row.ratio_low, row.ratio_high)))
        yield f"{value.rstrip()} the time of {row.reference}: {row.verdict}"
    yield f"{row.blocks} blocks, noise grade {row.grade or 'unknown'}"
    parts = [
        (row.runtime, row.runtime_version),
        (row.driver, row.driver_version),
        ("SQLite", row.sqlite_version),
    ]
    yield ", ".join(f"{name} {version or 'of unknown version'}" for name, version in parts)
