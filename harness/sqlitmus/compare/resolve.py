"""Subjects made ready: versions fetched, files found, engine options known, all before a run."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from sqlitmus.catalog import runners
from sqlitmus.catalog.definitions import Catalog, Runner
from sqlitmus.compare import fetch, subject
from sqlitmus.compare.subject import Subject
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.paths import Tools
from sqlitmus.vocabulary.suggest import unknown


@dataclass(frozen=True, slots=True)
class Resolved:
    """A catalogue and tools that hold the subjects as runners, named by `labels`, in order.

    `subjects` are the texts by which the very same are found again: exact versions, whole paths.
    """

    catalog: Catalog
    tools: Tools
    labels: list[str]
    subjects: list[str]


def resolve(texts: list[str], catalog: Catalog, tools: Tools, *, quiet: bool = False) -> Resolved:
    """The subjects `texts` as runners of `catalog`.

    Raises UsageError for what does not exist and NotFit for what does not start here.
    """
    subjects = [subject.parse(text, catalog.runners) for text in texts]
    ready = [_ready(asked, catalog.runners[asked.runner], quiet=quiet) for asked in subjects]
    names = [str(found.subject) for found in ready]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice; a comparison needs different subjects")
    labels = subject.labels([found.subject for found in ready])
    known, folders = dict(catalog.runners), dict(catalog.folders)
    for found, label in zip(ready, labels, strict=True):
        name = found.subject.runner
        known[label], tools = subject.derive(
            catalog.runners[name],
            found.subject,
            label,
            tools,
            program=found.program,
            package=found.package,
        )
        folders[label] = catalog.folders[name]
    catalog = catalog.model_copy(update={"runners": known, "folders": folders})
    for found in runners.discover(catalog, labels, tools):
        _check(found)
    return Resolved(catalog, tools, labels, names)


@dataclass(frozen=True, slots=True)
class _Ready:
    subject: Subject  # its version is exact
    program: Path | None = None
    package: Path | None = None


def _ready(asked: Subject, spec: Runner, *, quiet: bool) -> _Ready:
    if asked.version:
        package = fetch.package_of(spec)
        fetched = fetch.fetch(package, asked.version, quiet=quiet)
        exact = replace(asked, version=fetched.version)
        if package.name == fetch.DRIVER:
            _check_binding(exact, fetched.path)
            return _Ready(exact, package=fetched.path)
        return _Ready(exact, program=fetched.path)
    if asked.path is None:
        return _Ready(asked)
    path = paths.given(asked.path)
    exact = replace(asked, path=str(path))
    if path.is_dir():
        _check_package(asked, spec, path)
        return _Ready(exact, package=path)
    if not path.is_file():
        raise UsageError(f"{asked}: there is no file {path}; name the executable to start")
    if not os.access(path, os.X_OK):
        raise UsageError(f"{asked}: {path} is no executable; name the one to start")
    return _Ready(exact, program=path)


def _check_package(asked: Subject, spec: Runner, folder: Path) -> None:
    if spec.driver != fetch.DRIVER:
        raise UsageError(f"{asked}: {folder} is a folder; name the executable to start")
    try:
        name = json.loads((folder / "package.json").read_bytes()).get("name")
    except (OSError, ValueError, AttributeError):
        name = None
    if name != fetch.DRIVER:
        raise UsageError(f"{asked}: {folder} does not hold the package {fetch.DRIVER}")
    _check_binding(asked, folder)


def _check_binding(asked: Subject, folder: Path) -> None:
    if any(folder.glob("prebuilds/*.node")) or any(folder.glob("build/*/better_sqlite3.node")):
        return
    raise NotFit(
        f"{asked}: {folder} holds no compiled binding, and install scripts are not run here. Take "
        f"version 13 or later, or build it elsewhere and name its folder: {asked.runner}=FOLDER"
    )


def _check(found: runners.Installed) -> None:
    """Raise when a described subject cannot do what is asked of it."""
    if found.missing or found.description is None:
        raise NotFit(f"{found.spec.name}: {found.missing}")
    options = found.description.features.engine
    for option in found.spec.engine:
        if option not in options:
            none = f"{found.spec.name}: this runner has no engine options"
            some = f"{found.spec.name}: {unknown('engine option', option, options)}"
            raise UsageError(some if options else none)
