"""Finds the runs below the folders given, without following links, and takes each of them."""

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from sqlitmus.machine import affinity
from sqlitmus.machines import manifest
from sqlitmus.machines.candidate import Run, Unacceptable
from sqlitmus.machines.copying import copy
from sqlitmus.machines.manifest import Merged, RefusedRun
from sqlitmus.run.folder import SIZES
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.plain import one_line

DEPTH = 2  # results/ARTIFACT/RUN
MOST_SHOWN = 500  # characters of a path or a reason
FEW = 4  # runs that are read before a second process has started


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder that should hold a run; `path` is for messages, `hash` is the expected one."""

    folder: Path
    path: str
    partial: bool
    hash: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What lies below the folders given; `expected` are machines that an earlier merge missed."""

    origins: list[Origin]
    refused: list[RefusedRun]
    expected: list[str]


@dataclass(frozen=True, slots=True)
class Given:
    """A folder to search, and the machine's name for all runs in it; "" keeps their own."""

    folder: Path
    label: str = ""


def find(given: list[Given], *, partial: bool) -> Inventory:
    """The run directories, and those inside merged ones, at or up to two levels below each folder.

    Raises UsageError for a folder that does not exist.
    """
    inventory = Inventory([], [], [])
    folders = [entry.folder for entry in given]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                f"{folder}: there is no such folder; give folders that hold runs, as DIR or as "
                "NAME=DIR"
            )
    top = _top(folders)
    for folder, label in ((entry.folder, entry.label) for entry in given):
        before = len(inventory.origins) + len(inventory.refused)
        for place in _holders(folder.resolve(), DEPTH):
            path = _shown(folder, place, top)
            if manifest.is_merged(place):
                _merged(place, path, label, inventory)
            else:
                inventory.origins.append(Origin(place, path, partial, label=label))
        if len(inventory.origins) + len(inventory.refused) == before:
            reason = "holds no run directory, nor does a folder up to two levels below"
            inventory.refused.append(
                RefusedRun(path=_shown(folder, folder.resolve(), top), reason=reason)
            )
    return inventory


def take_all(origins: list[Origin], staging: Path) -> Iterator[tuple[Path, Run | RefusedRun]]:
    """Each origin as copied to a folder below `staging`, with its run or refusal; see `take`."""
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


def take(origin: Origin, target: Path) -> Run | RefusedRun:
    """Copy a run and judge the copy, so that the copy kept is the one judged."""
    try:
        return _taken(origin, target)
    except UsageError as error:
        return _refusal(origin.path, error, origin.folder, target)


def _taken(origin: Origin, target: Path) -> Run:
    from sqlitmus.machines.admit import examine

    if origin.folder.resolve() != origin.folder:
        raise Unacceptable("leads elsewhere through a link; give the folder itself")
    digest = copy(origin.folder, target)
    if origin.hash not in (None, digest):
        raise Unacceptable(
            f"hash {digest} is not the one in {manifest.NAME}: a file was changed; merge the run "
            "itself"
        )
    run = examine(target, origin.path, digest, partial=origin.partial)
    return replace(run, label=origin.label) if origin.label else run


def _holders(folder: Path, depth: int) -> Iterator[Path]:
    """The folders that hold, or should have held, a run directory or a merged one."""
    inside = {entry.name: entry for entry in _entries(folder)}
    if inside.keys() & {*SIZES, manifest.NAME}:
        yield folder
    elif depth:
        for name, entry in sorted(inside.items()):
            if entry.is_dir(follow_symlinks=False) and not name.startswith("."):
                yield from _holders(folder / name, depth - 1)


def _entries(folder: Path) -> Iterable[os.DirEntry[str]]:
    """The entries of a folder without links; none when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.is_symlink()]
    except OSError:
        return []


def _refusal(path: str, error: UsageError, *folders: Path) -> RefusedRun:
    """What was said of files in one of the folders, which `path` names."""
    reason = str(error)
    for folder in folders:
        reason = reason.replace(f"{folder}{os.sep}", "")
    return RefusedRun(path=path, reason=_shortened(reason))


def _merged(directory: Path, path: str, label: str, inventory: Inventory) -> None:
    """Add the sources of a merged directory, and its refusals."""
    try:
        merged = manifest.read(directory)
    except UsageError as error:
        inventory.refused.append(_refusal(path, error, directory))
        return
    inventory.refused.extend(
        RefusedRun(path=_shortened(old.path), reason=_shortened(old.reason))
        for old in merged.refused
    )
    inventory.expected.extend(map(_shortened, merged.expected))
    inventory.origins.extend(_sources(merged, directory, path, label))


def _sources(merged: Merged, directory: Path, path: str, label: str) -> Iterator[Origin]:
    for source in (source for machine in merged.machines for source in machine.sources):
        name = source.hash if re.fullmatch("[0-9a-f]{16}", source.hash) else "?"
        folder = directory / manifest.SOURCES / name
        place = f"{path}/{manifest.SOURCES}/{name}"
        yield Origin(folder, place, not source.complete, source.hash, label)


def _top(given: list[Path]) -> Path | None:
    try:
        return Path(os.path.commonpath([folder.parent for folder in given]))
    except ValueError:  # on several drives
        return None


def _shown(folder: Path, place: Path, top: Path | None) -> str:
    """`place` for messages: relative to where the folders given diverge."""
    path = folder / place.relative_to(folder.resolve())
    return _shortened((path.relative_to(top) if top else path).as_posix())


def _shortened(text: str) -> str:
    return one_line(text, MOST_SHOWN)
