"""Where runs are: below what was given, without following links; and each of them taken."""

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from sqlitmus.machine import affinity
from sqlitmus.machines import manifest as model
from sqlitmus.machines.candidate import Run
from sqlitmus.machines.copying import LIMITS, copy
from sqlitmus.machines.manifest import Merged, Refused
from sqlitmus.machines.values import Unacceptable, plain
from sqlitmus.vocabulary.errors import NotFit, UsageError

DEPTH = 2  # results/ARTIFACT/RUN
FEW = 4  # runs that are read before a second process has started


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder that is to hold a run; `path` is for messages, `hash` what it must have."""

    folder: Path
    path: str
    partial: bool
    hash: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What lies below the folders given; `expected` are machines that an earlier merge missed."""

    origins: list[Origin]
    refused: list[Refused]
    expected: list[str]


def find(given: list[Path], *, partial: bool) -> Found:
    """Run directories, and those in merged ones, at or at most two levels below each folder.

    Raises UsageError for one that is not there.
    """
    found = Found([], [], [])
    for folder in given:
        if not folder.is_dir():
            raise UsageError(f"{folder}: there is no such folder; give folders that hold runs")
    top = _top(given)
    for folder in given:
        before = len(found.origins) + len(found.refused)
        for place in _holders(folder.resolve(), DEPTH):
            path = _shown(folder, place, top)
            if model.is_merged(place):
                _merged(place, path, found)
            else:
                found.origins.append(Origin(place, path, partial))
        if len(found.origins) + len(found.refused) == before:
            reason = "holds no run directory, nor does a folder up to two levels below"
            found.refused.append(Refused(path=_shown(folder, folder.resolve(), top), reason=reason))
    return found


def take_all(origins: list[Origin], staging: Path) -> Iterator[tuple[Path, Run | Refused]]:
    """Each origin, copied to a folder below `staging`, and what it is; see `take`."""
    targets = [staging / f"{number:04}" for number in range(len(origins))]
    if len(origins) <= FEW:
        yield from zip(targets, map(take, origins, targets), strict=True)
        return
    context = get_context("spawn")  # on every system the same
    workers = ProcessPoolExecutor(affinity.usable(), mp_context=context)
    try:
        with workers as pool:
            yield from zip(targets, pool.map(take, origins, targets), strict=True)
    except BrokenProcessPool as error:
        raise NotFit(
            "a process that read runs was killed, as happens when memory runs out; merge fewer at "
            "a time: a merged directory can be merged again"
        ) from error


def take(origin: Origin, target: Path) -> Run | Refused:
    """Copy a run and judge the copy, so that what was judged is what is kept."""
    try:
        return _taken(origin, target)
    except Unacceptable as error:
        return Refused(path=origin.path, reason=plain(str(error)))


def _taken(origin: Origin, target: Path) -> Run:
    from sqlitmus.machines.admit import examine

    if origin.folder.resolve() != origin.folder:
        raise Unacceptable("leads elsewhere through a link; give the folder itself")
    digest = copy(origin.folder, target)
    if origin.hash not in (None, digest):
        raise Unacceptable(
            f"hash {digest} is not the one in {model.NAME}: a file was changed; merge the run "
            "itself"
        )
    return examine(target, origin.path, digest, partial=origin.partial)


def _holders(folder: Path, depth: int) -> Iterator[Path]:
    """Folders that are, or were to be, a run directory or a merged one."""
    inside = {entry.name: entry for entry in _entries(folder)}
    if inside.keys() & {*LIMITS, model.NAME}:
        yield folder
    elif depth:
        for name, entry in sorted(inside.items()):
            if entry.is_dir(follow_symlinks=False) and not name.startswith("."):
                yield from _holders(folder / name, depth - 1)


def _entries(folder: Path) -> Iterable[os.DirEntry[str]]:
    """What is in a folder, without links; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.is_symlink()]
    except OSError:
        return []


def _merged(directory: Path, path: str, found: Found) -> None:
    """Add the sources of a merged directory, and what it had to refuse."""
    try:
        merged = model.read(directory)
    except UsageError as error:
        told = str(error).replace(f"{directory}{os.sep}", "")
        found.refused.append(Refused(path=path, reason=plain(told)))
        return
    found.refused.extend(
        Refused(path=plain(old.path), reason=plain(old.reason)) for old in merged.refused
    )
    found.expected.extend(map(plain, merged.expected))
    found.origins.extend(_sources(merged, directory, path))


def _sources(merged: Merged, directory: Path, path: str) -> Iterator[Origin]:
    for source in (source for machine in merged.machines for source in machine.sources):
        name = source.hash if re.fullmatch("[0-9a-f]{16}", source.hash) else "?"
        folder = directory / model.SOURCES / name
        yield Origin(folder, f"{path}/{model.SOURCES}/{name}", not source.complete, source.hash)


def _top(given: list[Path]) -> Path | None:
    try:
        return Path(os.path.commonpath([folder.parent for folder in given]))
    except ValueError:  # on several drives
        return None


def _shown(folder: Path, place: Path, top: Path | None) -> str:
    """A place below `folder` from where the folders given part."""
    path = folder / place.relative_to(folder.resolve())
    return plain((path.relative_to(top) if top else path).as_posix())
