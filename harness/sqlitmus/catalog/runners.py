"""The runners on this machine: how to start them, their descriptions, and why one is missing."""

import hashlib
import itertools
import json
import os
import re
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from bootstrap.guarded import marked
from sqlitmus.catalog.cases import PlannedRunner
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.machine import process_tree, system
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import LEVELS, VERSION, Description, Level
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import ending, listed

DESCRIBE_TIMEOUT_S = 30
_under_way: set[subprocess.Popen[bytes]] = set()
_SOURCES = {".js", ".ts", ".mjs", ".py", ".json", ".toml", ".node"}


@dataclass(frozen=True, slots=True)
class Installed:
    """A runner with its command line and description; `missing` says why it cannot run.

    `fingerprint` changes with anything that could change its answers or its speed.
    """

    spec: RunnerSpec
    command: list[str]
    environment: dict[str, str]
    missing: str | None
    description: Description | None
    fingerprint: str

    def beyond(self, needed: Iterable[Level]) -> str | None:
        """Why a job that needs these levels of the contract is not sent to it; None if it is."""
        has = self.description.features.levels if self.description else LEVELS
        missing = [level for level in LEVELS if level in {*needed} - {*has}]
        reason = f"it needs more levels of the contract than the runner has: {listed(missing)}"
        return reason if missing else None

    def ends_at_nul(self) -> str | None:
        """Why it is not sent a job whose texts hold U+0000; None if it is."""
        reason = "its driver reads a text up to the first U+0000, which texts of this case hold"
        return None if self.spec.nul_in_text else reason

    def planned(self) -> PlannedRunner:
        """The runner as the plan and the report record it."""
        fields = self.spec.model_dump(include={"name", "title", "runtime", "driver", "role"})
        return PlannedRunner(**fields, missing=self.missing, description=self.description)


def discover(
    catalog: Catalog, names: list[str], tools: paths.Tools, *, start: bool = True
) -> list[Installed]:
    """The runners `names`, in that order, described side by side if they may be started."""
    with ThreadPoolExecutor(max_workers=system.usable()) as pool:
        specs = [catalog.runners[name] for name in names]
        folders = [catalog.folders[name] for name in names]
        try:
            install = partial(_install, start=start)
            return list(pool.map(install, specs, folders, itertools.repeat(tools)))
        except BaseException:  # Ctrl-C, too, which would wait for the slowest answer
            for process in list(_under_way):
                process_tree.kill(process)
            raise


def environment(spec: RunnerSpec, tools: paths.Tools, root: Path = paths.RUNNERS) -> dict[str, str]:
    """The environment of a runner's process: settings of the user's shell are left out."""
    keep = ("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "DOTNET_ROOT", "USERPROFILE")
    scrubbed = {name: os.environ[name] for name in keep if name in os.environ}
    values = expand(list(spec.environment.values()), tools, root)
    return {**scrubbed, "LANG": "C.UTF-8", **dict(zip(spec.environment, values, strict=True))}


def expand(arguments: list[str], tools: paths.Tools, root: Path = paths.RUNNERS) -> list[str]:
    """Fill `{tool}`, `{tool_dir}`, `{tool_url}` and `{runners}`, which is `root`, into words of a
    command or of an environment."""
    names = {"runners": str(root)}
    for tool, path in tools.paths.items():
        names |= {tool: path, f"{tool}_dir": str(Path(path).parent)}
        names[f"{tool}_url"] = Path(path).absolute().as_uri()
    try:
        return [argument.format(**names) for argument in arguments]
    except (KeyError, IndexError, ValueError) as error:
        placeholders = ", ".join(f"{{{name}}}" for name in sorted(names))
        raise UsageError(
            f"runner command {arguments}: cannot fill in {error}; expected one of {placeholders}"
        ) from error


def _install(spec: RunnerSpec, folder: Path, tools: paths.Tools, *, start: bool) -> Installed:
    started = [tool for tool in tools.missing if f"{{{tool}}}" in spec.command]
    absent = next((tool for tool in (spec.tool, *started) if tool not in tools.paths), None)
    if absent is not None:
        unknown = spec.without or (
            f"{absent} is not set up; run ./just setup, or see docs/adding-a-runner.md "
            "for a tool that set-up does not know yet"
        )
        return Installed(spec, [], {}, tools.missing.get(absent, unknown), None, "")
    env = environment(spec, tools, folder.parent)
    command = expand(spec.command, tools, folder.parent)
    folders = [folder / source for source in spec.sources]
    chosen = {name: env[name] for name in spec.environment}
    fingerprint = _fingerprint(spec, command, chosen, folders)
    if not start:
        return Installed(spec, command, env, None, None, fingerprint)
    try:
        description = describe(command, env, fingerprint)
    except ValueError as error:
        return Installed(spec, command, env, f"`describe` failed: {error}", None, fingerprint)
    major = re.match(r"\d+", description.identity.runtime.version)
    if major and int(major[0]) < spec.nul_in_text_from:
        spec = spec.model_copy(update={"nul_in_text": False})
    return Installed(spec, command, env, None, description, fingerprint)


def _fingerprint(
    spec: RunnerSpec, command: list[str], chosen: dict[str, str], folders: list[Path]
) -> str:
    # Of the inherited environment only what a runtime is found by; PATH varies by shell.
    found_by = os.environ.get("DOTNET_ROOT", "")
    settings = [chosen, spec.steady_environment, spec.engine]
    text = json.dumps([command, *settings, found_by])
    digest = hashlib.sha256(text.encode())
    for argument in command:
        if Path(argument).is_file():
            status = Path(argument).stat()
            digest.update(f"{argument} {status.st_size} {status.st_mtime_ns}".encode())
    for folder in folders:
        for file in [folder] if folder.is_file() else sorted(folder.rglob("*")):
            below = file.relative_to(folder).parts
            skip = "node_modules" in below or "tests" in below
            if file.suffix in _SOURCES and not skip and file.is_file():
                digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def forget(runner: Installed) -> None:
    """Ask `runner` anew the next time: what is remembered of it is not what it says now."""
    with suppress(OSError):
        _remembered(runner.fingerprint).unlink()


def _remembered(fingerprint: str) -> Path:
    return paths.cache("descriptions") / f"{fingerprint}.json"


def describe(command: list[str], env: dict[str, str], fingerprint: str) -> Description:
    cached = _remembered(fingerprint)
    if cached.exists():
        try:
            return _current(Description.model_validate_json(cached.read_bytes()))
        except ValueError:
            cached.unlink(missing_ok=True)
    code, out, err = _answer([*command, "describe"], env)
    if code:
        log = cached.with_suffix(".log")
        with suppress(OSError):
            log.write_bytes(err)
        message = ending(err.decode(errors="replace"), str(log))
        raise ValueError(f"exit code {code}: {message or 'no message'}")
    try:
        description = Description.model_validate_json(out)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "(whole answer)"
        raise ValueError(
            f"its answer does not fit the contract: {where}: {first['msg']}"
        ) from error
    _current(description)
    partial = cached.with_suffix(f".{os.getpid()}.part")
    with suppress(OSError):  # a full disk here costs nothing but the memory
        partial.write_bytes(description.model_dump_json().encode())
        partial.replace(cached)
    return description


def _current(description: Description) -> Description:
    """The description of a runner that speaks the contract as it is; ValueError for any other."""
    if description.contract != VERSION:
        raise ValueError(
            f"it speaks version {description.contract} of the contract, and this is {VERSION}; "
            "see runners/contract/CONTRACT.md"
        )
    return description


def _answer(command: list[str], env: dict[str, str]) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr; raises ValueError when there is no answer."""
    try:
        process = subprocess.Popen(
            command,
            env=marked(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            creationflags=process_tree.OWN_GROUP,
        )
    except OSError as error:
        raise ValueError(f"{command[0]}: {error.strerror}") from error
    _under_way.add(process)
    with process:
        try:
            out, err = process.communicate(timeout=DESCRIBE_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"no answer in {DESCRIBE_TIMEOUT_S} s") from error
        finally:
            if process.returncode is None:
                process_tree.kill(process)
            _under_way.discard(process)
        return process.wait(), out, err
