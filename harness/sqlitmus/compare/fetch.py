"""Fetches versions of runtimes and drivers from npm, each into its own folder of the toolchain.

A folder is a step of the set-up: it appears complete or not at all, and then needs no network. No
install script is run.
"""

import io
import json
import os
import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap.commands import Commands, StepError
from bootstrap.context import Context, Settings, platform_facts
from bootstrap.engine import ensure
from bootstrap.npm_steps import INSTALL, RUNTIMES
from bootstrap.progress import Progress
from bootstrap.step import RECORD, Entry, Step, look
from sqlitmus.catalog.declared import RunnerSpec
from sqlitmus.compare import npm
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError

STEP = "versions"
DRIVER = "better-sqlite3"
CLONE = Path(__file__).parents[3]

# npm's names of systems and processors, by Python's
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win"}
_PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class Package:
    """An npm package; `holds` is a glob below `node_modules` for the file or folder to use."""

    title: str
    name: str
    holds: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """An exact version, and the executable or the package's folder."""

    version: str
    path: Path


def package_of(spec: RunnerSpec) -> Package:
    """The npm package whose versions are those of runner `spec`: its driver's or its runtime's.

    Raises UsageError for a runner that does not come from npm, NotFit for a platform without a
    package.
    """
    if spec.driver == DRIVER:
        return Package(DRIVER, DRIVER, DRIVER)
    if spec.tool not in RUNTIMES:
        raise UsageError(
            f"{spec.name} has no versions to choose from: only those of runtimes and drivers from "
            f"npm can be fetched. Build the other one and name it: {spec.name}=PATH"
        )
    name = _node_package(platform_facts()) if spec.tool == "node" else spec.tool
    return Package(spec.tool, name, RUNTIMES[spec.tool])


def fetch(package: Package, version: str, *, quiet: bool = False) -> Fetched:
    """Fetch `version`, a version or range of npm's, unless it has been fetched before.

    Raises UsageError for a version that does not exist, NotFit without npm or network.
    """
    context = _context()
    exact = version
    if not (npm.is_exact(version) and look(_step(package, version), context).ready):
        exact = _resolve(context, package, version)
    step = _step(package, exact)
    try:
        state = ensure([step], context, Progress(io.StringIO() if quiet else None))[STEP]
    except OSError as error:
        raise NotFit(
            f"{context.toolchain}: {error}; choose another folder with SQLITMUS_TOOLCHAIN"
        ) from error
    path = state.path(package.name)
    if path is None:
        raise NotFit(f"{package.title} {exact} could not be fetched: {state.missing}")
    return Fetched(exact, path)


def _step(package: Package, version: str) -> Step:
    def blocker(_: Context) -> None:
        return None  # what is there needs no npm

    def facts(_: Context) -> Mapping[str, str]:
        return {"package": package.name, "version": version, **platform_facts()}

    def make(context: Context, folder: Path, commands: Commands) -> dict[str, Entry]:
        manifest = {"private": True, "dependencies": {package.name: version}}
        (folder / "package.json").write_bytes(json.dumps(manifest).encode())
        install = [*npm.program(context), "install", *INSTALL, "--prefer-offline"]
        commands.run(context.logs / f"{STEP}.log", install, folder, context.environ)
        files = sorted((folder / "node_modules").glob(package.holds))
        if not files:
            raise StepError(f"{package.name} {version} has no {package.holds} for this platform")
        return {package.name: Entry(files[0].relative_to(folder).as_posix(), version)}

    return Step(STEP, f"fetching {package.title} {version}", blocker, facts, make)


def _resolve(context: Context, package: Package, version: str) -> str:
    """The highest published version that `version`, a version or a range, covers."""
    try:
        versions = npm.view(context, f"{package.name}@{version}", "version")
        if not versions:  # older npm says nothing
            raise _unknown(context, package, version)
    except npm.RefusedError as error:
        if error.args[0] in ("E404", "ETARGET"):
            raise _unknown(context, package, version) from error
        here = ", ".join(_here(context, package))
        raise NotFit(
            f"{package.title}@{version}: npm cannot be asked for versions: {' '.join(error.args)}. "
            + (f"Without a network name one that is here: {here}" if here else "Nothing is here.")
        ) from error
    return max(versions, key=npm.order)


def _unknown(context: Context, package: Package, version: str) -> UsageError | NotFit:
    try:
        published = sorted(npm.view(context, package.name, "versions"), key=npm.order)
    except npm.RefusedError as error:
        return NotFit(f"{package.title}: npm has no package {package.name}: {error.args[0]}")
    numbers = re.match(r"[\^~]?(\d+(?:\.\d+)*)", version)
    place = bisect(published, npm.order(numbers[1]), key=npm.order) if numbers else len(published)
    near = ", ".join(published[max(0, place - 2) : place + 2])
    hint = f"; the nearest are {near}" if near else ""
    return UsageError(f"npm has no {package.title} {version}{hint}")


def _here(context: Context, package: Package) -> list[str]:
    """The versions fetched so far, in order."""
    versions: set[str] = set()
    for record in (context.toolchain / STEP).glob(f"*/{RECORD}"):
        facts = json.loads(record.read_bytes())["facts"]
        if facts["package"] == package.name:
            versions.add(facts["version"])
    return sorted(versions, key=npm.order)


def _node_package(platform: Mapping[str, str]) -> str:
    """The package of the set-up that holds Node's binary for a platform; raises NotFit."""
    text = (CLONE / "runners" / "package.json").read_text("utf-8")
    names: dict[str, str] = json.loads(text)["optionalDependencies"]
    system = _SYSTEMS.get(platform["platform"])
    processor = _PROCESSORS.get(platform["machine"].lower())
    for name in names:
        if name.startswith("node-") and name.endswith(f"-{system}-{processor}"):
            return name
    raise NotFit(
        f"npm has no Node for {platform['platform']} on {platform['machine']}; build one and name "
        "it: node=PATH"
    )


def _context() -> Context:
    return Context(CLONE, paths.toolchain().absolute(), Settings.load(), dict(os.environ))
