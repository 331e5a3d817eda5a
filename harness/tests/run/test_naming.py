"""Names of runs: two that are planned within one second are both kept."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlitmus.run.planning import free_moment, name_of

BEGIN = datetime(2026, 1, 31, 23, 59, 59, 250_000, UTC)


def test_a_name_that_is_taken_waits_for_the_next_second(tmp_path: Path) -> None:
    now, slept = BEGIN, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += timedelta(seconds=seconds)

    names: list[str] = []
    for label in ("quick", "quick", "full"):
        names.append(name_of(free_moment(tmp_path, label, lambda: now, sleep), label))
        (tmp_path / names[-1]).mkdir()
    assert names == [
        "2026-01-31T235959Z-quick",
        "2026-02-01T000000Z-quick",
        "2026-02-01T000000Z-full",
    ]
    assert slept == [0.75]
