"""Finds the runs below the folders given, decides whether each can be merged, and copies it byte
for byte.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from sqlitmus.analysis import RunData, from_records
from sqlitmus.analysis.data import validated
from sqlitmus.catalog import plan as plans
from sqlitmus.catalog.plan import Plan
from sqlitmus.machine import host, plainfiles, system
from sqlitmus.machine.host import SYSTEMS, UNKNOWN
from sqlitmus.run.store import (
    MB,
    MOST_LINE,
    MOST_WHOLE,
    SIZES,
    check_name,
    cut_off,
    document,
    lines,
    optional,
)
from sqlitmus.run.store import NAME as RUN_NAME
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import one_line

NAME = "merged.json"
SOURCES = "sources"
SCHEMA = 1


class Source(Model):
    """A run in `sources/HASH/`, with its files unchanged.

    `hash` is the first 16 hexadecimal digits of SHA-256 over name, length and bytes of each file;
    `label` is the machine's name in the run, `blocks` the number of passes completed.
    """

    hash: str
    run: str
    label: str
    cpu: str
    created: str
    blocks: int
    complete: bool


class MergedMachine(Model):
    """The runs of a machine, which are read as one.

    `name` is unique in the file; `kind` is system and architecture such as `linux-x64`.
    """

    name: str
    kind: str
    label: str
    sources: list[Source]


class RefusedRun(Model):
    """A run that was not merged; `reason` names the file and the place in it."""

    path: str
    reason: str


class Merged(Model):
    """A merged run directory; `expected` are the requested machines that did not arrive."""

    schema_version: int = SCHEMA
    run: str
    created: str
    sqlitmus: str
    machines: list[MergedMachine]
    refused: list[RefusedRun]
    expected: list[str] = []


def is_merged(directory: Path) -> bool:
    """Whether `directory` was written by `merge`."""
    file = directory / NAME
    return file.is_file() and not file.is_symlink()


def read(directory: Path) -> Merged:
    """The manifest of a merged directory; raises UsageError when it is absent or unreadable."""
    file = directory / NAME
    if not is_merged(directory):
        raise UsageError(f"{directory} is no merged directory: it holds no {NAME}")
    try:
        merged = Merged.model_validate_json(plainfiles.read(file, MOST_WHOLE), extra="ignore")
    except (OSError, ValidationError) as error:
        raise UsageError(f"{file}: cannot be read: {error}; merge the runs again") from error
    if merged.schema_version != SCHEMA:
        raise UsageError(
            f"{file}: $.schema_version is {merged.schema_version}, this version reads {SCHEMA}; "
            "merge the runs again"
        )
    return merged


# The facts of a run that merging needs.


class Unacceptable(UsageError):
    """A reason to refuse a folder; the text says what is wrong with it, and where."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that may be merged.

    `path` is for messages; `kind` is system and architecture; `hardware` tells two machines of one
    label apart; `cases` are ids; `work` says what the run measures (see `catalog.plan.facts`); runs
    of one machine must agree in `settings`.
    """

    path: str
    hash: str
    run: str
    label: str
    created: str
    blocks: int
    complete: bool
    cpu: str
    kind: str
    hardware: tuple[str, ...]
    cases: frozenset[str]
    work: dict[str, str]
    settings: dict[str, str]

    def source(self) -> Source:
        """The run as `merged.json` records it."""
        return Source(
            hash=self.hash,
            run=self.run,
            label=self.label,
            cpu=self.cpu,
            created=self.created,
            blocks=self.blocks,
            complete=self.complete,
        )


def age(run: Run) -> tuple[str, bool, str]:
    """Sort key of runs by time; at the same time the complete one comes first."""
    return run.created, not run.complete, run.hash


# Copies and hashes the files of a run directory, byte for byte, within limits.


CHUNK = MB // 4
REQUIRED = ("plan.json", "machine.json", "verify.jsonl", "samples.jsonl")


def copy(origin: Path, target: Path) -> str:
    """Copy the known files of `origin` to the new folder `target`; returns their 16-digit hash.

    Raises UsageError for files that it refuses, OSError when `target` cannot be written.
    """
    digest = hashlib.sha256()
    target.mkdir(parents=True)
    for name, most in SIZES.items():
        size = plainfiles.size(origin / name)
        if size is None and name in REQUIRED:
            raise Unacceptable(f"{name} is missing; give the whole run directory")
        if size is None:
            continue
        digest.update(f"{name}\0{size}\0".encode())
        with (
            plainfiles.opened(origin / name, most) as stream,
            (target / name).open("wb") as into,
        ):
            _copy_file(name, stream, size, into, digest.update)
    return digest.hexdigest()[:16]


def _copy_file(
    name: str, stream: BinaryIO, size: int, into: BinaryIO, receive: Callable[[bytes], None]
) -> None:
    """Copy `size` bytes, and call `receive` with each chunk."""
    copied, line, length = 0, 1, 0
    for chunk in _chunks(name, stream):
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        # lines within a chunk are shorter than the limit
        if length + (first if first >= 0 else len(chunk)) > MOST_LINE:
            raise Unacceptable(
                f"{name} line {line}: longer than {MOST_LINE // MB} MB, which no run writes"
            )
        length = len(chunk) - last - 1 if last >= 0 else length + len(chunk)
        line += chunk.count(b"\n")
        copied += len(chunk)
        if copied > size:
            break
        receive(chunk)
        into.write(chunk)
    if copied != size:
        raise Unacceptable(f"{name}: changed while it was read; merge when the run has ended")


def _chunks(name: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        while chunk := stream.read(CHUNK):
            yield chunk
    except OSError as error:
        raise Unacceptable(f"{name}: cannot be read: {error.strerror}") from error


# Decides whether a folder holds a run that can be merged.


MOST_FACT = 1000  # characters
HARDWARE = ("cpu", "cores", "architecture", "memory", "os", "kernel")
SUITES_ONLY = {
    "compare": "a comparison is read by itself",
    "claims": "claims are read by themselves",
    "advise": "settings are tried on one machine",
}


def examine(folder: Path, path: str, digest: str, *, partial: bool) -> Run:
    """The run in `folder`; raises UsageError. `partial` accepts an interrupted run."""
    facts = {str(k): v for k, v in document(folder / "machine.json").items()}
    for name, value in facts.items():
        if not isinstance(value, str) or len(value) > MOST_FACT:
            raise Unacceptable(f"machine.json: $.{name}: expected a short text")
    raw = document(folder / "plan.json")
    plan = _plan(raw)
    run = _judge(folder, raw, facts)
    complete = run.samples.complete
    if not complete and not partial:
        raise Unacceptable(
            "samples.jsonl: no footer: the run was interrupted or is still measured; finish it "
            "with ./just run --resume, or take what there is with --partial"
        )
    for file in folder.glob("*.jsonl"):
        if cut_off(file) and (complete or file.name == "verify.jsonl"):
            raise Unacceptable(f"{file.name}: the last line is cut off; fetch the file again")
    kind = _kind(facts)
    gone_through = len({block.block for block in run.blocks if not block.repeated})
    return Run(
        path=path,
        hash=digest,
        run=plan.run,
        label=plan.machine or kind,
        created=plan.created,
        blocks=plan.blocks if complete else min(gone_through, plan.blocks),
        complete=complete,
        cpu=one_line(facts.get("cpu", UNKNOWN), MOST_FACT),
        kind=kind,
        hardware=tuple(facts.get(name, UNKNOWN) for name in HARDWARE),
        cases=frozenset(case.id for case in plan.cases),
        work=plans.facts(plan),
        settings={
            "reference": plan.reference,
            "canary": plan.canary or "none",
            "floor": plan.floor or "none",
            "correction": plan.correction,
            "margin": f"{plan.margin:g}",
            "sessions": str(plan.sessions),
            "looks": str(plan.looks),
        },
    )


def _plan(raw: dict[str, Any]) -> Plan:
    version = raw.get("schema_version")
    if version != plans.SCHEMA:
        raise Unacceptable(
            f"plan.json: $.schema_version is {version!r}, this version reads {plans.SCHEMA}; "
            "measure again, or merge with the sqlitmus that wrote it"
        )
    plan = validated(Plan, raw, "plan.json", extra="ignore")
    if plan.kind != "suite":
        raise Unacceptable(
            f"plan.json: $.kind is {plan.kind}; only runs of a suite are merged: "
            f"{SUITES_ONLY[plan.kind]}"
        )
    _check_names(plan)
    for case in plan.cases:
        if f"scenario {case.scenario}" not in plan.definitions:
            raise Unacceptable(
                f"plan.json: $.definitions has no scenario {case.scenario}, so its work cannot "
                "be compared with that of other runs; measure again with this version"
            )
    return plan


def _check_names(plan: Plan) -> None:
    check_name("plan.json: $.run", plan.run)
    check_name("plan.json: $.machine", plan.machine or "none")
    try:
        datetime.fromisoformat(plan.created)
    except ValueError as error:
        raise Unacceptable(f"plan.json: $.created: {error}") from error


def _judge(folder: Path, plan: dict[str, Any], facts: dict[str, Any]) -> RunData:
    def records(name: str) -> Iterator[Any]:
        return chain.from_iterable(chunk for _, chunk in lines(folder / name))

    for number, record in enumerate(records("details.jsonl"), start=1):
        if not isinstance(record, dict):
            raise Unacceptable(f"details.jsonl line {number}: expected a JSON object")
    return from_records(
        plan,
        records("verify.jsonl"),
        _edges(folder / "samples.jsonl"),
        facts,
        blocks=records("blocks.jsonl"),
        selftest=optional(folder / "selftest.json"),
        gate=optional(folder / "gate.json"),
    )


def _edges(file: Path) -> Iterator[Any]:
    """The header and every other line that is no sample.

    A sample can make its cell bad, but never the run, so that none needs to be read for judging;
    all are parsed nevertheless.
    """
    for first, chunk in lines(file, numbers=False):
        if first > 1 and list(map(type, chunk)).count(list) == len(chunk):
            continue
        for number, record in enumerate(chunk, first):
            headed = isinstance(record, dict) and "schema" in record
            if headed != (number == 1):
                raise Unacceptable(
                    f"samples.jsonl line {number}: the header, which names the columns, stands in "
                    "line 1 and only there; fetch the file again"
                )
            if not isinstance(record, list):
                yield record


def _kind(facts: dict[str, str]) -> str:
    """System and architecture, such as `linux-x64`; unknown systems are distributions of Linux."""
    system = facts.get("os", "").partition(" ")[0].lower()
    if system not in ("darwin", "windows", "freebsd", "openbsd", "netbsd"):
        system = "linux"
    named = host.named(facts.get("architecture", ""))
    return f"{SYSTEMS.get(system, system)}-{named if RUN_NAME.fullmatch(named) else UNKNOWN}"


# Finds the runs below the folders given, without following links, and takes each of them.


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
            if is_merged(place):
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
    workers = ProcessPoolExecutor(system.usable(), mp_context=context)
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

    if origin.folder.resolve() != origin.folder:
        raise Unacceptable("leads elsewhere through a link; give the folder itself")
    digest = copy(origin.folder, target)
    if origin.hash not in (None, digest):
        raise Unacceptable(
            f"hash {digest} is not the one in {NAME}: a file was changed; merge the run itself"
        )
    run = examine(target, origin.path, digest, partial=origin.partial)
    return replace(run, label=origin.label) if origin.label else run


def _holders(folder: Path, depth: int) -> Iterator[Path]:
    """The folders that hold, or should have held, a run directory or a merged one."""
    inside = {entry.name: entry for entry in _entries(folder)}
    if inside.keys() & {*SIZES, NAME}:
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
        merged = read(directory)
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
        folder = directory / SOURCES / name
        place = f"{path}/{SOURCES}/{name}"
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
