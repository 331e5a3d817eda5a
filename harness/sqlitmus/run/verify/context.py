"""What the steps of a session share: runners, invocations, and what earlier runs on this machine
left.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import psutil
from pydantic import TypeAdapter, ValidationError

from bootstrap.guarded import marked
from sqlitmus import machine
from sqlitmus.catalog import jobs, runners
from sqlitmus.catalog.authorizer import confined
from sqlitmus.catalog.cases import Cells, PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import process_tree, system
from sqlitmus.run.processes.launch import Launcher, unsupported
from sqlitmus.run.processes.process import Hyperfine
from sqlitmus.run.processes.progress import Progress, Stop
from sqlitmus.run.processes.relay import Relay
from sqlitmus.run.verify.invocations import Invocations
from sqlitmus.run.verify.judge import COMPARED
from sqlitmus.run.verify.prober import Prober
from sqlitmus.run.verify.proof import Counter
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job, Model
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.text import counted, ending

# Raise it when answers are judged by other rules: what was verified by earlier ones is then checked
# again, whatever the runner.
JUDGED_BY = 3

_TIMING = {"iterations", "warmup_iterations", "warmup_ms", "database_bytes"}
M = TypeVar("M", bound=Model)
Entries = dict[str, dict[str, Any]]


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
    """One JSON `file`; a broken or foreign one counts as empty. Without one nothing lasts."""

    def __init__(self, file: Path | None, *, fresh: bool = False) -> None:
        self._file = file
        self.entries: Entries = {}
        self._new = False
        if file and not fresh:
            with suppress(OSError, ValueError):
                self.entries = TypeAdapter(Entries).validate_json(file.read_bytes())

    def get(self, key: str, model: type[M]) -> M | None:
        """What of this type is kept under `key`; None for nothing that can be read."""
        try:
            return model.model_validate(self.entries[key][model.__name__])
        except (KeyError, ValidationError):
            return None

    def keep(self, key: str, value: Model) -> None:
        """Remember `value` under `key`, one of each type."""
        self.take({key: {type(value).__name__: value.model_dump(mode="json")}})

    def take(self, entries: Entries) -> None:
        for key, entry in entries.items():
            of_key = self.entries.setdefault(key, {})
            self._new |= not entry.items() <= of_key.items()
            of_key.update(entry)

    def save(self) -> None:
        """Write the file if there is anything new; on a full disk only the memory is lost."""
        if self._file is None or not self._new:
            return
        partial = self._file.with_suffix(f".{os.getpid()}.part")
        try:
            partial.write_bytes(json.dumps(self.entries).encode())
            partial.replace(self._file)
            self._new = False
        except OSError:
            partial.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Context:
    """What the steps of a session share; `installed` includes the oracle. Unless it `starts`
    anything, what is remembered of cells is all there is."""

    catalog: Catalog
    invocations: Invocations
    installed: dict[str, Installed]
    memory: Memory
    progress: Progress
    stop: Stop
    size: str
    prober: Prober
    relay: Relay | None  # None where the system cannot let processes take turns
    tools: paths.Tools
    scratch: Path
    timeout_s: float
    starts: bool = True

    @property
    def oracle(self) -> Installed:
        """The runner whose answers the others must give."""
        return next(each for each in self.installed.values() if each.spec.role == "oracle")

    def key(self, case: PlannedCase, runner: str) -> str:
        return key(case, self.catalog, self.size, self.installed[runner], self.oracle)

    def present(self, cells: Cells) -> Cells:
        """`cells` without the runners that are missing."""
        usable = {name for name, runner in self.installed.items() if not runner.missing}
        return {case: [n for n in names if n in usable] for case, names in cells.items()}

    def fingerprint(self) -> str:
        """A hash of the runners and the machine, which stay the same while samples are added."""
        parts = [f"{name}:{i.fingerprint}" for name, i in sorted(self.installed.items())]
        return hashlib.sha256("\0".join([*parts, machine.identity()]).encode()).hexdigest()[:16]


def make_scratch() -> Path:
    """This process's folder for jobs and copies, on the fixtures' file system.

    Folders of processes that were killed, so that they could not clean up, are removed.
    """
    for folder in paths.cache("work").iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    scratch = paths.cache("work") / str(os.getpid())
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return scratch


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
    remember: bool = True,
    pins: Sequence[int] = (),
    keep_jobs: bool = True,
    held: tuple[int, ...] = (),
    start: bool = True,
) -> Generator[Context]:
    """The context for `cells`; its scratch folder is removed at the end. Raises NotFit.

    Nothing started in the block outlives it; the descriptors `held` are open until then. Without
    `start` nothing is started, and a runner that set-up will make counts as present. What is found
    out is kept for later sessions however the block ends, unless it is not to `remember`.
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
        prober = Prober(scratch, timeout_s)
        relay = None if unsupported() else Relay(executor, timeout_s, system.fastest())
        alive = (executor, launcher, prober, *([relay] if relay else []))
        stop = Stop(*(each.kill for each in alive))
        invocations = Invocations(
            *(catalog, executor, launcher, left, Counter.among(tools, scratch)),
            size=size,
            timeout_s=timeout_s,
            scratch=scratch,
            pins=[*pins],
            keep_jobs=keep_jobs,
            say=progress.insist,
        )
        memory = Memory(paths.cache("memory") / "cells.json" if remember else None, fresh=fresh)
        try:
            with stop.listening():
                if start:
                    prove(installed[oracle], scratch / "vectors", fresh=fresh)
                yield Context(
                    catalog,
                    invocations,
                    installed,
                    memory,
                    progress,
                    stop,
                    size,
                    prober,
                    relay,
                    tools,
                    scratch,
                    timeout_s,
                    start,
                )
        finally:
            memory.save()
            shutil.rmtree(scratch, ignore_errors=True)


def folders() -> list[Path]:
    """The vectors of the catalogue, those of the clone if it has none."""
    for folder in (paths.OWN_RUNNERS, paths.RUNNERS):
        if vectors := sorted((folder / "contract" / "vectors").glob("*/job.json")):
            return [job.parent for job in vectors]
    return []


def job_of(vector: Path) -> Job:
    """The job of a vector, with its places for paths still in it."""
    return Job.model_validate_json((vector / "job.json").read_bytes())


def place(vector: Path, folder: Path) -> str:
    """Make the database of a vector in `folder`; its job as text, which writes its result there."""
    folder.mkdir(parents=True)
    database, output = folder / "vector.db", folder / "result.json"
    script = vector / "database.sql"
    if script.exists():
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            with confined(connection):
                connection.executescript(script.read_text("utf-8"))
    text = (vector / "job.json").read_text("utf-8")
    places = {"{database}": database, "{output}": output, "{vector}": vector.resolve()}
    for word, path in places.items():
        text = text.replace(word, json.dumps(str(path))[1:-1])
    return text


def difference(result: dict[str, Any], expected: dict[str, Any], *, digested: bool) -> str | None:
    """How a result differs from what the vector expects, in the first thing; None for not at all.

    The digest counts only where the job asks for one, which is when it is `digested`.
    """
    if result["status"] != expected["status"]:
        return f"status: {result['status']}, not {expected['status']}"
    names = expected.keys() & {*COMPARED, "answers"} if expected["status"] == "ok" else set[str]()
    names = names if digested else names - {"digest"}
    for name in sorted(names, key=lambda name: (name == "answers", name)):  # the sums are shorter
        if result.get(name) != expected[name]:
            return f"{name}: {result.get(name)}, not {expected[name]}"
    return None


TIMEOUT_S = 60.0


def prove(oracle: Installed, scratch: Path, *, fresh: bool) -> None:
    """Raise NotFit unless the oracle, to be believed, gives the expected answers to the contract's
    vectors in verify mode.

    It is asked as for a case, without a runner's own settings. That it was right is remembered for
    its files and those of the vectors; `fresh` forgets it. `scratch` is a folder to be made.
    """
    questions = dict(_questions())
    if not questions:
        raise NotFit("the contract's vectors are gone; restore runners/contract/vectors")
    key = _key_of_questions(oracle, questions)
    record = paths.cache("memory") / "oracle.txt"
    if not fresh and record.exists() and record.read_text("utf-8") == key:
        return
    record.unlink(missing_ok=True)
    for vector in questions:
        text = place(vector, scratch / vector.name)
        job = jobs.question(Job.model_validate_json(text))
        (scratch / f"{vector.name}.json").write_bytes(job.text().encode())
    words = _perform(oracle, scratch)
    for vector, expected in questions.items():
        if problem := _problem(scratch / vector.name / "result.json", expected):
            raise NotFit(
                f"the oracle does not reproduce the contract's vector {vector.name} ({problem}), "
                "so no answer can be checked by it; restore runners/python, or whatever else was "
                f"changed of Python and its SQLite\n{words}".rstrip()
            )
    with suppress(OSError):  # a full disk costs nothing but the memory
        record.write_bytes(key.encode())


def _questions() -> Iterator[tuple[Path, dict[str, Any]]]:
    """The vectors that are questions to the oracle, in verify mode and for nothing that a runner
    may lack, and the expected answers."""
    for vector in folders():
        expected = json.loads((vector / "expected.json").read_bytes())
        if job_of(vector).mode == "verify" and expected["status"] != "unsupported":
            yield vector, expected


def _problem(output: Path, expected: dict[str, Any]) -> str | None:
    try:
        result = json.loads(output.read_bytes())
    except (OSError, ValueError):
        return "it wrote no result"
    # What it does not have it says, and then it has no answer that could be believed.
    if result["status"] == "unsupported":
        return None
    return difference(result, expected, digested=True)


def _perform(oracle: Installed, folder: Path) -> str:
    """Let the oracle perform the jobs in `folder`; the last lines of what it says meanwhile."""
    command = [*oracle.command, "--jobs", str(folder)]
    try:
        done = subprocess.run(
            command,
            env=marked(oracle.environment),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            start_new_session=True,  # Ctrl-C stops the session, not an answer half given
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ending(done.stderr.decode(errors="replace"), "its stderr")


def _key_of_questions(oracle: Installed, questions: Iterable[Path]) -> str:
    """A hash of all that could change whether the oracle answers `questions`."""
    digest = hashlib.sha256(f"{oracle.fingerprint} {sqlite3.sqlite_version}".encode())
    for vector in questions:
        for file in sorted(filter(Path.is_file, vector.rglob("*"))):
            name = file.relative_to(vector.parent).as_posix()
            digest.update(f"\0{name}\0".encode() + file.read_bytes())
    return digest.hexdigest()
