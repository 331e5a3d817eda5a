"""A name for a run: the second in which it was planned, and its label."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path


def _now() -> datetime:
    return datetime.now(UTC)


def name_of(planned: datetime, label: str) -> str:
    """The name of a run with `label` that was planned at `planned`."""
    return f"{planned:%Y-%m-%dT%H%M%SZ}-{label}"


def free_moment(
    folder: Path,
    label: str,
    now: Callable[[], datetime] = _now,
    sleep: Callable[[float], None] = time.sleep,
) -> datetime:
    """The present moment, or the next second's if `folder` holds a run of this one's name.

    A run that has been verified and piloted is not refused because another one was as quick.
    """
    while (folder / name_of(moment := now(), label)).exists():
        sleep(1 - moment.microsecond / 1e6)
    return moment
