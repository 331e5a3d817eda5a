"""Runners whose SQLite is old."""

from collections.abc import Iterator, Sequence

from sqlitmus.results.report import Runner
from sqlitmus.results.weighed import OldEngine

# Minor versions of SQLite; some three come out in a year.
_YEARS_OLDER = 9


def old_engines(runners: Sequence[Runner]) -> Iterator[OldEngine]:
    """Whose SQLite is years older than the newest among `runners`."""
    versions = {
        runner.name: (_minor(runner.sqlite_version), runner.sqlite_version)
        for runner in runners
        if runner.sqlite_version
    }
    if not versions:
        return
    newest, text = max(versions.values())
    for name, (minor, version) in versions.items():
        if newest - minor >= _YEARS_OLDER:
            yield OldEngine(name, version, text)


def _minor(version: str) -> int:
    """3.35.5 as 35; every SQLite of the last twenty years is a 3."""
    parts = version.split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0
