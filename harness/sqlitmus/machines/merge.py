"""Merges run directories into one directory, top to bottom: find, take, arrange, write."""

import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlitmus import __version__
from sqlitmus.machines import manifest
from sqlitmus.machines.arrange import arrange
from sqlitmus.machines.candidate import Run
from sqlitmus.machines.discover import Given, find, take_all
from sqlitmus.machines.manifest import Merged, MergedMachine, RefusedRun
from sqlitmus.run.latest import point_latest
from sqlitmus.run.naming import name_of
from sqlitmus.vocabulary.errors import NotFit, UsageError


@dataclass(frozen=True, slots=True)
class Done:
    """A merged directory; `twice` are the paths of runs that occurred more than once."""

    directory: Path
    merged: Merged
    twice: list[list[str]]


def label_of(label: str) -> str:
    """The label of a merged run to which the user gives `label`, which may be empty."""
    return f"merged-{label}" if label else "merged"


def merge(
    given: list[Given], out: Path, label: str, expect: list[str], now: datetime, *, partial: bool
) -> Done:
    """Merge the runs below the folders `given` into a new folder in `out`.

    Raises UsageError when nothing can be merged, and NotFit when `out` cannot be written.
    """
    name = name_of(now, label_of(label))
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".merge-", dir=out) as staging:
            return _merge(given, Path(staging), out / name, expect, now, partial=partial)
    except OSError as error:
        raise NotFit(
            f"{out}: cannot be written: {error.strerror}; free some space or choose another folder "
            "with --out"
        ) from error


def _merge(
    given: list[Given],
    staging: Path,
    target: Path,
    expect: list[str],
    now: datetime,
    *,
    partial: bool,
) -> Done:
    if target.exists():
        raise UsageError(f"{target} exists already; choose another --label or --out")
    inventory = find(given, partial=partial)
    runs: dict[str, list[Run]] = {}
    copies: dict[str, Path] = {}
    refused = list(inventory.refused)
    for folder, taken in take_all(inventory.origins, staging):
        if isinstance(taken, Run):
            runs.setdefault(taken.hash, []).append(taken)
            copies[taken.hash] = folder
        else:
            refused.append(taken)
            shutil.rmtree(folder, ignore_errors=True)
    once = [min(same, key=lambda run: run.path) for same in runs.values()]
    machines, misfits = arrange(once)
    refused = _each_once([*refused, *misfits])
    if not machines:
        lines = [f"\n  {r.path}: {r.reason}" for r in refused]
        raise UsageError(f"nothing can be merged:{''.join(lines)}")
    merged = Merged(
        run=target.name,
        created=now.isoformat(timespec="seconds"),
        sqlitmus=__version__,
        machines=machines,
        refused=refused,
        expected=_absent([*expect, *inventory.expected], machines),
    )
    _write(merged, copies, staging / "merged", target)
    twice = [sorted({run.path for run in same}) for same in runs.values() if len(same) > 1]
    return Done(target, merged, sorted(paths for paths in twice if len(paths) > 1))


def _write(merged: Merged, copies: dict[str, Path], folder: Path, target: Path) -> None:
    """Write the merged directory, which appears only when it is complete."""
    (folder / manifest.SOURCES).mkdir(parents=True)
    for machine in merged.machines:
        for source in machine.sources:
            copies[source.hash].rename(folder / manifest.SOURCES / source.hash)
    text = merged.model_dump_json(indent=1)
    (folder / manifest.NAME).write_bytes((text + "\n").encode())
    folder.rename(target)
    point_latest(target)


def _absent(names: list[str], machines: list[MergedMachine]) -> list[str]:
    arrived = {name for machine in machines for name in (machine.name, machine.label)}
    return sorted(set(names) - arrived)


def _each_once(refused: list[RefusedRun]) -> list[RefusedRun]:
    pairs = {(refusal.path, refusal.reason): refusal for refusal in refused}
    return [pairs[key] for key in sorted(pairs)]
