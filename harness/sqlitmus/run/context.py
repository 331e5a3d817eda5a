"""What the steps of a session share: runners, invocations, and what earlier runs on this machine
left.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from sqlitmus import machine
from sqlitmus.catalog import runners
from sqlitmus.catalog.cases import Cells, PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import process_tree, system
from sqlitmus.run.copies import make_scratch
from sqlitmus.run.counts import Observed
from sqlitmus.run.freshness import Prober
from sqlitmus.run.invocations import Invocations
from sqlitmus.run.judge import OracleAnswer
from sqlitmus.run.launch import Launcher, unsupported
from sqlitmus.run.oracle import prove
from sqlitmus.run.process import Hyperfine
from sqlitmus.run.progress import Progress, Stop
from sqlitmus.run.proof import Counter
from sqlitmus.run.relay import Relay
from sqlitmus.run.turns import Settling
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.detail import Syncs
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

    def verified(self, key: str) -> Verified | None:
        """The verification kept under `key`."""
        return self._kept(key, "verified", Verified)

    def expected(self, key: str) -> OracleAnswer | None:
        """The remembered answer of the oracle."""
        return self._kept(key, "answer", OracleAnswer)

    def observed(self, key: str) -> Observed | None:
        """The remembered observation of a pilot."""
        return self._kept(key, "observed", Observed)

    def syncs(self, key: str) -> Syncs | None:
        """The remembered count of syncs."""
        return self._kept(key, "syncs", Syncs)

    def settling(self, key: str) -> Settling | None:
        """How a process of the cell was seen to settle after a switch."""
        return self._kept(key, "settling", Settling)

    def fresh(self, key: str) -> bool:
        """Whether a runner was found to answer from the database."""
        return "fresh" in self._entries.get(key, {})

    def keep_fresh(self, key: str) -> None:
        """Remember that it does; what went wrong is tried again."""
        self._entries.setdefault(key, {})["fresh"] = True

    def keep_verified(self, key: str, record: Verified) -> None:
        """Remember a verification that is ok or unsupported; other outcomes are tried again."""
        if record.outcome in ("ok", "unsupported"):
            self._entries.setdefault(key, {})["verified"] = record.model_dump(mode="json")

    def keep_expected(self, key: str, answer: OracleAnswer) -> None:
        """Remember the oracle's answer."""
        self._entries.setdefault(key, {})["answer"] = answer.model_dump(mode="json")

    def keep_observed(self, key: str, observed: Observed) -> None:
        """Remember a pilot's observation."""
        self._entries.setdefault(key, {})["observed"] = observed.model_dump(mode="json")

    def keep_settling(self, key: str, seen: Settling) -> None:
        """Remember how a process of the cell settles."""
        self._entries.setdefault(key, {})["settling"] = seen.model_dump(mode="json")

    def keep_syncs(self, key: str, counted: Syncs) -> None:
        """Remember a count of syncs."""
        self._entries.setdefault(key, {})["syncs"] = counted.model_dump(mode="json")

    def _kept(self, key: str, name: str, model: type[M]) -> M | None:
        try:
            return model.model_validate(self._entries[key][name])
        except (KeyError, ValidationError):
            return None

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
    """What the steps of a session share; `installed` includes the oracle."""

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
) -> Generator[Context]:
    """The context for `cells`; its scratch folder is removed at the end. Raises NotFit.

    Nothing started in the block outlives it; the descriptors `held` are open until then.
    """
    with process_tree.none_outlive(*held) as left:
        if many := process_tree.of_the_dead():
            were = counted(many, "process", "processes")
            progress.insist(f"ended {were} that a killed run or set-up had left running")
        with _opened(
            *(catalog, tools, progress, cells, left),
            size=size,
            timeout_s=timeout_s,
            fresh=fresh,
            pins=pins,
            keep_jobs=keep_jobs,
        ) as context:
            yield context


@contextmanager
def _opened(
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    cells: Cells,
    left: process_tree.Leftovers,
    *,
    size: str,
    timeout_s: float,
    fresh: bool,
    pins: list[int] | None,
    keep_jobs: bool,
) -> Generator[Context]:
    hyperfine = tools.need("hyperfine")
    requested = {name for names in cells.values() for name in names}
    oracle = next(name for name, spec in catalog.runners.items() if spec.role == "oracle")
    names = [name for name in catalog.runners if name in requested or name == oracle]
    installed = {i.spec.name: i for i in runners.discover(catalog, names, tools)}
    if installed[oracle].missing:
        raise NotFit(f"the oracle is missing: {installed[oracle].missing}")
    missing = {name: i.missing for name, i in installed.items() if i.missing}
    for name, reason in missing.items():
        progress.say(f"{name}: missing: {reason}")
    if requested <= missing.keys():
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
            )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
