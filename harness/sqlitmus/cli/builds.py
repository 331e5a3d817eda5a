"""The two builds of Node that a user gives to `claims --build`, one for each threading mode."""

import os

from sqlitmus.catalog import runners
from sqlitmus.catalog.claims import Claim, ClaimGroup
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.paths import Tools

# What a build is called → the runner whose tool it is, and the threading mode that it must have.
BUILDS = {"serialized": ("node-threadsafe1", 1), "multi": ("node-threadsafe2", 2)}
# The runners that stand for builds of Node where none are given → those of the builds.
STAND_INS = {
    "node-better-sqlite3-threadsafe1": "node-threadsafe1",
    "node-better-sqlite3-threadsafe2": "node-threadsafe2",
}
EXPECTED = "expected --build serialized=PATH multi=PATH, two executables of Node"


def given(words: tuple[str, str], catalog: Catalog, tools: Tools) -> tuple[Tools, list[str]]:
    """`tools` with the builds of `words`, and both as a plan keeps them: `RUNNER=PATH`.

    Raises UsageError for words that do not name both, or name what is not a build of one Node with
    that threading mode, NotFit for one that does not start.
    """
    named = {name: path for name, _, path in (word.partition("=") for word in words)}
    if set(named) != set(BUILDS) or not all(named.values()):
        raise UsageError(f"--build {' '.join(words)}: {EXPECTED}")
    subjects: list[str] = []
    for name, (runner, _) in BUILDS.items():
        path = paths.given(named[name])
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UsageError(f"--build {name}={named[name]}: {path} is no executable; {EXPECTED}")
        subjects.append(f"{runner}={path}")
    tools = again(subjects, tools)
    _check(catalog, tools)
    return tools, subjects


def again(subjects: list[str], tools: Tools) -> Tools:
    """`tools` with what `subjects`, texts of `given`, name."""
    return Tools({**tools.paths, **dict(text.split("=", 1) for text in subjects)}, tools.missing)


def with_builds(claims: list[Claim]) -> list[Claim]:
    """The claims with the builds of Node in their rows, in place of what stands for them."""
    return [
        claim.model_copy(update={"groups": [_measured_with_builds(g) for g in claim.groups]})
        for claim in claims
    ]


def _measured_with_builds(group: ClaimGroup) -> ClaimGroup:
    cells = {
        name: cell.model_copy(update={"runner": STAND_INS.get(cell.runner or "", cell.runner)})
        for name, cell in (("base", group.base), ("new", group.new))
    }
    return group.model_copy(update=cells)


def _check(catalog: Catalog, tools: Tools) -> None:
    """Raise unless the builds differ in their threading mode, and in no version."""
    versions: set[tuple[str, str]] = set()
    names = [runner for runner, _ in BUILDS.values()]
    pair = runners.discover(catalog, names, tools)
    for (name, (_, mode)), installed in zip(BUILDS.items(), pair, strict=True):
        program = f"--build {name}={tools.paths[installed.spec.tool]}"
        if installed.description is None:
            raise NotFit(f"{program}: {installed.missing}")
        sqlite = installed.description.sqlite
        if f"THREADSAFE={mode}" not in sqlite.compile_options:
            modes = [o for o in sqlite.compile_options if o.startswith("THREADSAFE=")]
            raise UsageError(
                f"{program}: its SQLite is built with {modes[0] if modes else 'no such option'}; "
                f"expected THREADSAFE={mode}"
            )
        versions.add((installed.description.identity.runtime.version, sqlite.version))
    if len(versions) > 1:
        texts = " and ".join(f"Node {node} with SQLite {lib}" for node, lib in sorted(versions))
        raise UsageError(f"--build: {texts}: the threading mode must be all that differs")
