"""Resolves subjects before a run: fetches versions, finds files, checks engine options."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from sqlitmus.catalog import runners
from sqlitmus.catalog.declared import RunnerSpec
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.compare import fetch, subject
from sqlitmus.compare.subject import Subject
from sqlitmus.vocabulary import engine, paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.paths import Tools
from sqlitmus.vocabulary.suggest import unknown


@dataclass(frozen=True, slots=True)
class Resolved:
    """A catalogue and tools that hold the subjects as runners, named by `labels`, in order.

    `subjects` are texts that resolve to the same again: exact versions, absolute paths.
    """

    catalog: Catalog
    tools: Tools
    labels: list[str]
    subjects: list[str]


def resolve(texts: list[str], catalog: Catalog, tools: Tools, *, quiet: bool = False) -> Resolved:
    """The subjects `texts` as runners of `catalog`.

    Raises UsageError for subjects that do not exist, NotFit for those that do not start here.
    """
    subjects = [subject.parse(text, catalog.runners) for text in texts]
    ready = [
        _locate(requested, catalog.runners[requested.runner], quiet=quiet) for requested in subjects
    ]
    names = [str(located.subject) for located in ready]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice; a comparison needs different subjects")
    labels = subject.labels([located.subject for located in ready])
    specs, folders = dict(catalog.runners), dict(catalog.folders)
    for located, label in zip(ready, labels, strict=True):
        name = located.subject.runner
        specs[label], tools = subject.derive(
            catalog.runners[name],
            located.subject,
            label,
            tools,
            program=located.program,
            package=located.package,
        )
        folders[label] = catalog.folders[name]
    catalog = catalog.model_copy(update={"runners": specs, "folders": folders})
    for installed in runners.discover(catalog, labels, tools):
        _check(installed)
    return Resolved(catalog, tools, labels, names)


@dataclass(frozen=True, slots=True)
class _Located:
    subject: Subject  # its version is exact
    program: Path | None = None
    package: Path | None = None


def _locate(requested: Subject, spec: RunnerSpec, *, quiet: bool) -> _Located:
    if requested.version:
        package = fetch.package_of(spec)
        fetched = fetch.fetch(package, requested.version, quiet=quiet)
        exact = replace(requested, version=fetched.version)
        if package.name == fetch.DRIVER:
            _check_binding(exact, fetched.path)
            return _Located(exact, package=fetched.path)
        return _Located(exact, program=fetched.path)
    if requested.path is None:
        return _Located(requested)
    path = paths.given(requested.path)
    exact = replace(requested, path=str(path))
    if path.is_dir():
        _check_package(requested, spec, path)
        return _Located(exact, package=path)
    if not path.is_file():
        raise UsageError(f"{requested}: there is no file {path}; name the executable to start")
    if not os.access(path, os.X_OK):
        raise UsageError(f"{requested}: {path} is no executable; name the one to start")
    return _Located(exact, program=path)


def _check_package(requested: Subject, spec: RunnerSpec, folder: Path) -> None:
    if spec.driver != fetch.DRIVER:
        raise UsageError(f"{requested}: {folder} is a folder; name the executable to start")
    try:
        name = json.loads((folder / "package.json").read_bytes()).get("name")
    except (OSError, ValueError, AttributeError):
        name = None
    if name != fetch.DRIVER:
        raise UsageError(f"{requested}: {folder} does not hold the package {fetch.DRIVER}")
    _check_binding(requested, folder)


def _check_binding(requested: Subject, folder: Path) -> None:
    if any(folder.glob("prebuilds/*.node")) or any(folder.glob("build/*/better_sqlite3.node")):
        return
    raise NotFit(
        f"{requested}: {folder} holds no compiled binding, and install scripts are not run here. "
        "Take version 13 or later, or build it elsewhere and name its folder: "
        f"{requested.runner}=FOLDER"
    )


def _check(installed: runners.Installed) -> None:
    """Raise when an installed subject is missing, or cannot have one of its engine options."""
    if installed.missing or installed.description is None:
        raise NotFit(f"{installed.spec.name}: {installed.missing}")
    options = installed.description.features.engine
    for option, value in installed.spec.engine.items():
        if option not in options:
            none = f"{installed.spec.name}: this runner has no engine options"
            some = f"{installed.spec.name}: {unknown('engine option', option, options)}"
            raise UsageError(some if options else none)
        if problem := engine.problem(option, value):
            raise UsageError(f"{installed.spec.name}: {problem}")
