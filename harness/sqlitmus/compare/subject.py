"""The subjects of `compare`: a runner, perhaps in another version, program or engine; fetched
and found before a run.
"""

import io
import json
import os
import re
import subprocess
from bisect import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from pydantic import TypeAdapter, ValidationError

from bootstrap.commands import Commands, StepError
from bootstrap.context import Context, Settings, platform_facts
from bootstrap.engine import ensure
from bootstrap.npm_steps import INSTALL, RUNTIMES
from bootstrap.progress import Progress
from bootstrap.step import RECORD, Entry, Step, look
from sqlitmus.catalog import runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.run.plan.options import Options
from sqlitmus.vocabulary import contract, paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.paths import Tools
from sqlitmus.vocabulary.text import unknown

VIEW_TIMEOUT_S = 120


class _Refusal(Model, extra="ignore"):
    code: str = ""
    summary: str = ""


class _Refused(Model):
    error: _Refusal


_Answer: TypeAdapter[str | list[str] | _Refused] = TypeAdapter(str | list[str] | _Refused)


class RefusedError(Exception):
    """npm's own error: its code, then its summary."""


def view(context: Context, spec: str, key: str) -> list[str]:
    """The versions that `npm view` lists under a key; empty when an older npm prints nothing.

    Raises RefusedError with npm's own error, NotFit when its answer makes no sense.
    """
    command = [*program(context), "view", spec, key, "--json", "--fetch-retries=0"]
    try:
        done = subprocess.run(
            command,
            env=dict(context.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VIEW_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise NotFit(f"{command[0]}: {error.strerror}; reinstall Node.js") from error
    except subprocess.TimeoutExpired as error:
        raise RefusedError("ETIMEDOUT", f"no answer in {VIEW_TIMEOUT_S} s") from error
    if not done.stdout.strip() and not done.returncode:
        return []
    try:
        answer = _Answer.validate_json(done.stdout)
    except ValidationError as error:
        output = (done.stdout.strip() or done.stderr.strip()).decode(errors="replace")[:200]
        raise NotFit(f"`npm view {spec} {key}` answered no version but {output!r}") from error
    if isinstance(answer, _Refused):
        raise RefusedError(answer.error.code, answer.error.summary)
    listed = [answer] if isinstance(answer, str) else answer
    strange = [text for text in listed if not is_exact(text)]
    if strange:
        raise NotFit(f"`npm view {spec} {key}` answered no version but {strange[0]!r}")
    return listed


def program(context: Context) -> list[str]:
    """The command that starts npm; raises NotFit with the hint.

    On Windows npm is a batch file, whose interpreter would interpret the ^, < and > of a range, so
    Node starts the script that the batch file starts.
    """
    npm = context.find("npm")
    if npm is None:
        raise NotFit(f"versions are fetched with npm: {context.hint('npm')}")
    script = npm.parent / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node = context.find("node")
    if npm.suffix.lower() == ".cmd" and node and script.is_file():
        return [str(node), str(script)]
    return [str(npm)]


def is_exact(text: str) -> bool:
    """Whether `text` is a single version rather than a range."""
    return bool(re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", text))


def order(version: str) -> tuple[list[int], bool, str]:
    """A sort key of versions: a pre-release comes before its release."""
    numbers, dash, rest = version.partition("-")
    return [int(part) for part in numbers.split(".")], not dash, rest


EXPECTED = (
    "expected RUNNER, RUNNER@VERSION or RUNNER=PATH, each with +OPTION=VALUE where wanted, such as "
    "node@24, node=/opt/node/bin/node or rust+threading=serialized"
)
PACKAGE_VARIABLE = "SQLITMUS_BETTER_SQLITE3"  # read in runners/javascript/drivers/driver.js

_OPTION = re.compile(r"\+(?=[A-Za-z_]\w*=)")  # a path may hold a plus sign of its own
_VERSION = re.compile(r"[0-9A-Za-z^~<>=*][0-9A-Za-z.^~<>=|* -]*")
_VALUE = re.compile(r"[0-9A-Za-z_.-]+")


@dataclass(frozen=True, slots=True)
class Subject:
    """A runner and its differences; `version` is one of npm's, exact or a range.

    Its text is what the user writes; `parse` reads it back.
    """

    runner: str
    version: str | None = None
    path: str | None = None
    engine: dict[str, str | int] = field(default_factory=dict[str, str | int])

    @property
    def detail(self) -> str:
        """The difference as the user writes it; empty for a plain runner."""
        version = f"@{self.version}" if self.version else ""
        path = f"={self.path}" if self.path else ""
        return version + path + "".join(f"+{k}={v}" for k, v in sorted(self.engine.items()))

    def __str__(self) -> str:
        return self.runner + self.detail


def parse(text: str, runners: Iterable[str]) -> Subject:
    """The subject of `text`; raises UsageError with the nearest names and examples."""
    head, *options = _OPTION.split(text)
    name, kind, rest = re.fullmatch(r"([^@=]*)([@=]?)(.*)", head, re.DOTALL).groups()  # pyright: ignore[reportOptionalMemberAccess] — it matches every text
    names = list(runners)
    bare, plus, option = name.partition("+")
    if plus and bare in names:
        raise UsageError(f"{text!r}: +{option} has no value; {EXPECTED}")
    if name not in names:
        raise UsageError(f"{text!r}: {unknown('runner', name, names)}; {EXPECTED}")
    if kind and not rest:
        what = "version" if kind == "@" else "path"
        raise UsageError(f"{text!r}: no {what} after {name}{kind}; {EXPECTED}")
    version = path = None
    if kind == "@":
        if not _VERSION.fullmatch(rest):
            raise UsageError(f"{text!r}: {rest!r} is no version and no range of npm's; {EXPECTED}")
        version = re.sub(r"^v(?=\d)", "", rest)
    elif kind:
        path = rest
    return Subject(name, version, path, _engine(text, options))


def _engine(text: str, options: list[str]) -> dict[str, str | int]:
    engine: dict[str, str | int] = {}
    for option in options:
        key, _, value = option.partition("=")
        if not _VALUE.fullmatch(value):
            raise UsageError(f"{text!r}: +{key}={value} has no value that is a word; {EXPECTED}")
        if key in engine:
            raise UsageError(f"{text!r}: +{key} is given twice; keep one")
        engine[key] = int(value) if re.fullmatch(r"-?[0-9]+", value) else value
    return engine


def labels_of(subjects: list[Subject]) -> list[str]:
    """Short, distinct names of the subjects; a path is cut to the end that distinguishes it."""
    length = 2
    while True:
        short = [str(replace(s, path=_tail(s.path, length))) for s in subjects]
        if len(set(short)) == len(set(map(str, subjects))):
            return short
        length += 1


def _tail(path: str | None, length: int) -> str | None:
    whole = PurePath(path or "")
    parts = whole.parts[bool(whole.anchor) :]
    return path if len(parts) <= length else "…/" + "/".join(parts[-length:])


def derive(
    runner: RunnerSpec,
    subject: Subject,
    label: str,
    tools: Tools,
    *,
    program: Path | None = None,
    package: Path | None = None,
) -> tuple[RunnerSpec, Tools]:
    """`runner` under the name `label`: the same sources, started as the subject asks.

    `program` is the executable to start instead of the runner's tool, `package` the folder of the
    better-sqlite3 to load. A plain subject changes nothing.
    """
    if not subject.detail:
        return runner, tools
    changes: dict[str, object] = {
        "name": label,
        "title": f"{runner.title}, {subject.detail.lstrip('@=+')}",
        "role": "runner",  # only the catalogue's own is the floor or the oracle
        "engine": {**runner.engine, **subject.engine},
    }
    if program:
        tools = Tools({**tools.paths, label: str(program)}, tools.missing)
        filled = {runner.tool: str(program), f"{runner.tool}_dir": str(program.parent)}
        changes["tool"] = label
        changes["command"] = [_fill(word, filled) for word in runner.command]
        changes["handwritten"] = [_fill(word, filled) for word in runner.handwritten]
    if package:
        url = package.as_uri() + "/"
        changes["environment"] = {**runner.environment, PACKAGE_VARIABLE: url}
        changes["sources"] = [*runner.sources, str(package)]
    return runner.model_copy(update=changes), tools


def _fill(word: str, values: dict[str, str]) -> str:
    """`word` with some of its placeholders replaced by text that `runners.expand` leaves alone."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value.replace("{", "{{").replace("}", "}}"))
    return word


# Fetches versions of runtimes and drivers from npm, each into its own folder of the toolchain.

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
    context = Context(CLONE, paths.toolchain().absolute(), Settings.load(), dict(os.environ))
    exact = version
    if not (is_exact(version) and look(_step(package, version), context).ready):
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
        install = [*program(context), "install", *INSTALL, "--prefer-offline"]
        commands.run(context.logs / f"{STEP}.log", install, folder, context.environ)
        files = sorted((folder / "node_modules").glob(package.holds))
        if not files:
            raise StepError(f"{package.name} {version} has no {package.holds} for this platform")
        return {package.name: Entry(files[0].relative_to(folder).as_posix(), version)}

    return Step(STEP, f"fetching {package.title} {version}", blocker, facts, make)


def _resolve(context: Context, package: Package, version: str) -> str:
    """The highest published version that `version`, a version or a range, covers."""
    try:
        versions = view(context, f"{package.name}@{version}", "version")
        if not versions:  # older npm says nothing
            raise _unknown(context, package, version)
    except RefusedError as error:
        if error.args[0] in ("E404", "ETARGET"):
            raise _unknown(context, package, version) from error
        here = ", ".join(_here(context, package))
        raise NotFit(
            f"{package.title}@{version}: npm cannot be asked for versions: {' '.join(error.args)}. "
            + (f"Without a network name one that is here: {here}" if here else "Nothing is here.")
        ) from error
    return max(versions, key=order)


def _unknown(context: Context, package: Package, version: str) -> UsageError | NotFit:
    try:
        published = sorted(view(context, package.name, "versions"), key=order)
    except RefusedError as error:
        return NotFit(f"{package.title}: npm has no package {package.name}: {error.args[0]}")
    numbers = re.match(r"[\^~]?(\d+(?:\.\d+)*)", version)
    place = bisect(published, order(numbers[1]), key=order) if numbers else len(published)
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
    return sorted(versions, key=order)


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
    subjects = [parse(text, catalog.runners) for text in texts]
    located = [_locate(each, catalog.runners[each.runner], quiet=quiet) for each in subjects]
    names = [str(exact) for exact, *_ in located]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice; a comparison needs different subjects")
    labels = labels_of([exact for exact, *_ in located])
    for (exact, program, package), label in zip(located, labels, strict=True):
        spec = catalog.runners[exact.runner]
        derived, tools = derive(spec, exact, label, tools, program=program, package=package)
        catalog = _with(catalog, exact.runner, {label: derived})
    for installed in runners.discover(catalog, labels, tools):
        _check(installed)
    return Resolved(catalog, tools, labels, names)


def with_subjects(
    options: Options, texts: list[str], catalog: Catalog, tools: Tools
) -> tuple[Options, Catalog, Tools]:
    """The same with the subjects `texts` as runners, where one names more than a runner, such as
    `node@24`; unchanged where all are runners of the catalogue. Raises as `resolve` does."""
    if not any(set("@=+") & set(text) for text in texts):
        return options, catalog, tools
    resolved = resolve(texts, catalog, tools)
    changed = replace(options, runners=resolved.labels, subjects=resolved.subjects)
    return changed, resolved.catalog, resolved.tools


def with_versions(
    texts: Iterable[str], catalog: Catalog, tools: Tools, *, quiet: bool = False
) -> tuple[Catalog, Tools]:
    """The same with `texts`, runners in exact versions, as runners of these names; one that cannot
    be had is missing, with the reason."""
    for text in texts:
        try:
            of = resolve([text], catalog, tools, quiet=quiet)
            catalog, tools = of.catalog, of.tools
        except (NotFit, UsageError) as error:
            name = parse(text, catalog.runners).runner
            changes = {"name": text, "title": text, "tool": text}
            absent = catalog.runners[name].model_copy(update=changes)
            catalog = _with(catalog, name, {text: absent})
            tools = Tools(tools.paths, {**tools.missing, text: str(error)})
    return catalog, tools


def copies(text: str, count: int, catalog: Catalog, tools: Tools) -> Resolved:
    """`count` equal runners made of the subject `text`, each with a number. Raises as `resolve`."""
    single = resolve([text], catalog, tools)
    (label,) = single.labels
    spec = single.catalog.runners[label]
    named = {f"{label}-{number}": f"{spec.title}, copy {number}" for number in range(1, count + 1)}
    specs = {
        name: spec.model_copy(update={"name": name, "title": title, "role": "runner"})
        for name, title in named.items()
    }
    catalog = _with(single.catalog, label, specs)
    return Resolved(catalog, single.tools, list(named), single.subjects)


def _with(catalog: Catalog, of: str, specs: Mapping[str, RunnerSpec]) -> Catalog:
    """The catalogue with these runners, too, which have the folder of the runner `of`."""
    folders = {**catalog.folders, **dict.fromkeys(specs, catalog.folders[of])}
    return catalog.model_copy(update={"runners": {**catalog.runners, **specs}, "folders": folders})


def _locate(
    requested: Subject, spec: RunnerSpec, *, quiet: bool
) -> tuple[Subject, Path | None, Path | None]:
    """The subject with its exact version, its program and its package."""
    if requested.version:
        package = package_of(spec)
        fetched = fetch(package, requested.version, quiet=quiet)
        exact = replace(requested, version=fetched.version)
        if package.name == DRIVER:
            _check_binding(exact, fetched.path)
            return exact, None, fetched.path
        return exact, fetched.path, None
    if requested.path is None:
        return requested, None, None
    path = paths.given(requested.path)
    exact = replace(requested, path=str(path))
    if path.is_dir():
        _check_package(requested, spec, path)
        return exact, None, path
    if not path.is_file():
        raise UsageError(f"{requested}: there is no file {path}; name the executable to start")
    if not os.access(path, os.X_OK):
        raise UsageError(f"{requested}: {path} is no executable; name the one to start")
    return exact, path, None


def _check_package(requested: Subject, spec: RunnerSpec, folder: Path) -> None:
    if spec.driver != DRIVER:
        raise UsageError(f"{requested}: {folder} is a folder; name the executable to start")
    try:
        name = json.loads((folder / "package.json").read_bytes()).get("name")
    except (OSError, ValueError, AttributeError):
        name = None
    if name != DRIVER:
        raise UsageError(f"{requested}: {folder} does not hold the package {DRIVER}")
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
        if problem := contract.problem(option, value):
            raise UsageError(f"{installed.spec.name}: {problem}")
