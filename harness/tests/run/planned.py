"""Counts of a cell, of which a test says only what it is about."""

from typing import Any

from sqlitmus.catalog.cases import Counts


def planned(
    deviation: float | None = 0.01,
    operation_ns: float | None = None,
    seconds: float = 1.0,
    **more: Any,
) -> Counts:
    given = {"operations": 1, "iterations": 5, "warmup_iterations": 0, "warmup_ms": 0, **more}
    seen = {"seconds": seconds, "deviation": deviation, "operation_ns": operation_ns}
    return Counts.model_validate({**given, **seen})
