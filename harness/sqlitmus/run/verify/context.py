"""What the steps of a session share: runners, invocations, and what earlier runs on this machine
left.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from sqlitmus import machine
from sqlitmus.catalog import runners
from sqlitmus.catalog.cases import Cells, PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import process_tree, system
from sqlitmus.run.processes.copies import make_scratch
from sqlitmus.run.processes.launch import Launcher, unsupported
from sqlitmus.run.processes.process import Hyperfine
from sqlitmus.run.processes.progress import Progress, Stop
from sqlitmus.run.processes.relay import Relay
from sqlitmus.run.verify.freshness import Prober
from sqlitmus.run.verify.invocations import Invocations
from sqlitmus.run.verify.oracle import prove
from sqlitmus.run.verify.proof import Counter
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.text import counted

# Raise it when answers are judged by other rules: what was verified by earlier ones is then checked
# again, whatever the runner.
JUDGED_BY = 3

_TIMING = {"iterations", "warmup_iterations", "warmup_ms", "database_bytes"}
M = TypeVar("M", bound=Model)
_Entries = TypeAdapter(dict[str, dict[str, Any]])


def key(
    case: PlannedCase, catalog: Catalog, size: str, runner: Installed, oracle: Installed
) -> str:
    """A hash of the case, its scenario and fixture, both runners' fingerprints, and the rules.

    Counts that do not affect the answer are left out.
    """
    scenario = catalog.scenarios[case.scenario]
    fixture = catalog.fixtures[case.fixture].model_dump_json() if case.fixture else ""
    parts = [case.model_dump_json(exclude=_TIMING), scenario.model_dump_json(), fixture, size]
    parts += [runner.spec.model_dump_json(), runner.fingerprint, oracle.fingerprint]
    parts.append(str(JUDGED_BY))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


class Memory:
    """One JSON file in the set-up's folder; a broken or foreign file counts as empty."""

    def __init__(self, file: Path | None = None, *, fresh: bool = False) -> None:
        self._file = file or paths.cache("memory") / "cells.json"
        self._entries: dict[str, dict[str, Any]] = {}
        if not fresh:
            with suppress(OSError, ValueError):
                self._entries = _Entries.validate_json(self._file.read_bytes())

    def get(self, key: str, model: type[M]) -> M | None:
        """What of this type is kept under `key`; None for nothing that can be read."""
        try:
            return model.model_validate(self._entries[key][model.__name__])
        except (KeyError, ValidationError):
            return None

    def keep(self, key: str, value: Model) -> None:
        """Remember `value` under `key`, one of each type."""
        self._entries.setdefault(key, {})[type(value).__name__] = value.model_dump(mode="json")

    def save(self) -> None:
        """Write the file; on a full disk only the memory is lost."""
        partial = self._file.with_suffix(f".{os.getpid()}.part")
        try:
            partial.write_bytes(json.dumps(self._entries).encode())
            partial.replace(self._file)
        except OSError:
            partial.unlink(missing_ok=True)


# What the steps of a session share: runners, invocations, the memory of earlier runs.


@dataclass(frozen=True, slots=True)
class Context:
    """What the steps of a session share; `installed` includes the oracle. Unless it `starts`
    anything, what is remembered of cells is all there is."""

    catalog: Catalog
    invocations: Invocations
    installed: dict[str, Installed]
    oracle: Installed
    memory: Memory
    progress: Progress
    stop: Stop
    size: str
    counter: Counter
    prober: Prober
    timeout_s: float
    relay: Relay | None  # None where the system cannot let processes take turns
    starts: bool = True

    def key(self, case: PlannedCase, runner: str) -> str:
        """The memory's key of a cell."""
        return key(case, self.catalog, self.size, self.installed[runner], self.oracle)

    def present(self, cells: Cells) -> Cells:
        """`cells` without the runners that are missing."""
        usable = {name for name, runner in self.installed.items() if not runner.missing}
        return {case: [n for n in names if n in usable] for case, names in cells.items()}

    def fingerprint(self) -> str:
        """A hash of the runners and the machine, which stay the same while samples are added."""
        parts = [f"{name}:{i.fingerprint}" for name, i in sorted(self.installed.items())]
        return hashlib.sha256("\0".join([*parts, machine.identity()]).encode()).hexdigest()[:16]


@contextmanager
def opened(
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    cells: Cells,
    *,
    size: str,
    timeout_s: float,
    fresh: bool,
    pins: list[int] | None = None,
    keep_jobs: bool = True,
    held: tuple[int, ...] = (),
    start: bool = True,
) -> Generator[Context]:
    """The context for `cells`; its scratch folder is removed at the end. Raises NotFit.

    Nothing started in the block outlives it; the descriptors `held` are open until then. Without
    `start` nothing is started, and a runner that set-up will make counts as present.
    """
    alone = nullcontext(process_tree.Leftovers())
    with process_tree.none_outlive(*held) if start else alone as left:
        if start and (many := process_tree.of_the_dead()):
            were = counted(many, "process", "processes")
            progress.insist(f"ended {were} that a killed run or set-up had left running")
        hyperfine = tools.need("hyperfine") if start else ""
        requested = {name for names in cells.values() for name in names}
        oracle = next(name for name, spec in catalog.runners.items() if spec.role == "oracle")
        names = [name for name in catalog.runners if name in requested or name == oracle]
        installed = {i.spec.name: i for i in runners.discover(catalog, names, tools, start=start)}
        if installed[oracle].missing:
            raise NotFit(f"the oracle is missing: {installed[oracle].missing}")
        if not start:
            later = {n: i for n, i in installed.items() if i.missing == f"{paths.NOT_YET}setup"}
            installed |= {name: replace(i, missing=None) for name, i in later.items()}
        missing = {name: i.missing for name, i in installed.items() if i.missing}
        for name, reason in missing.items():
            progress.say(f"{name}: missing: {reason}")
        if start and requested <= missing.keys():
            raise NotFit("no runner is present; run ./just setup and read what it reports")
        scratch = make_scratch()
        executor = Hyperfine(hyperfine, scratch)
        launcher = Launcher(scratch)
        prober = Prober(scratch)
        relay = None if unsupported() else Relay(executor, timeout_s, system.fastest())
        stop = Stop(executor, launcher, prober, *([relay] if relay else []))
        logs = scratch / "logs"
        logs.mkdir()
        invocations = Invocations(
            catalog,
            executor,
            size=size,
            timeout_s=timeout_s,
            scratch=scratch,
            logs=logs,
            launcher=launcher,
            leftovers=left,
            pins=pins,
            keep_jobs=keep_jobs,
            say=progress.insist,
        )
        earlier = Memory(fresh=fresh)
        try:
            with stop.listening():
                if start:
                    prove(installed[oracle], scratch / "vectors", fresh=fresh)
                yield Context(
                    catalog,
                    invocations,
                    installed,
                    installed[oracle],
                    earlier,
                    progress,
                    stop,
                    size,
                    Counter.among(tools, scratch),
                    prober,
                    timeout_s,
                    relay,
                    start,
                )
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
