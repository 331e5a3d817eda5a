"""What the steps of a session share: runners, invocations, the memory of earlier runs."""

import hashlib
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlitmus import machine
from sqlitmus.catalog import runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import Cells, PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import affinity, leftovers
from sqlitmus.run import memory
from sqlitmus.run import oracle as oracles
from sqlitmus.run.hyperfine import Hyperfine
from sqlitmus.run.interrupt import Stop
from sqlitmus.run.invocations import Invocations
from sqlitmus.run.prober import Prober
from sqlitmus.run.processes.launch import Launcher, unsupported
from sqlitmus.run.progress import Progress
from sqlitmus.run.relay.relay import Relay
from sqlitmus.run.scratch import make_scratch
from sqlitmus.run.syncs import Counter
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.nouns import counted


@dataclass(frozen=True, slots=True)
class Context:
    """What the steps of a session share; `installed` includes the oracle."""

    catalog: Catalog
    invocations: Invocations
    installed: dict[str, Installed]
    oracle: Installed
    memory: memory.Memory
    progress: Progress
    stop: Stop
    size: str
    counter: Counter
    prober: Prober
    timeout_s: float
    relay: Relay | None  # None where the system cannot let processes take turns

    def key(self, case: PlannedCase, runner: str) -> str:
        """The memory's key of a cell."""
        return memory.key(case, self.catalog, self.size, self.installed[runner], self.oracle)

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
    with leftovers.none_outlive(*held) as left:
        if many := leftovers.of_the_dead():
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
    left: leftovers.Leftovers,
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
    relay = None if unsupported() else Relay(executor, timeout_s, affinity.fastest())
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
    earlier = memory.Memory(fresh=fresh)
    try:
        with stop.listening():
            oracles.prove(installed[oracle], scratch / "vectors", fresh=fresh)
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
