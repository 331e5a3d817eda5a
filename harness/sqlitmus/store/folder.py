"""One run's folder, and the folder of results that it lies in."""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from sqlitmus.catalog.plan import Plan, check_counts
from sqlitmus.machine import plainfiles
from sqlitmus.store import file as runs
from sqlitmus.store.file import FILE, LOGS, ONLY, Block, Look, Record, Sample, Verified, opened
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import listed

T = TypeVar("T")


def selftest_file() -> Path:
    """That of this machine's last self-test, of which each new run keeps a copy."""
    return paths.cache("memory") / "self-test.json"


class RunDirectory:
    """One run's folder under `results/`: its file, its logs, and what is rendered of it.

    What cannot be written raises NotFit; whatever is written is on the disk when the call returns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = path / FILE

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Plan,
        machine: Mapping[str, str],
        verified: Iterable[Verified],
        selftest: str | None = None,
    ) -> "RunDirectory":
        """Make the folder and a file without samples, which appears only when it is whole.

        Raises UsageError where the folder exists, and for a plan beyond what is read.
        """
        check_counts(plan)
        try:
            with runs.new_folder(path) as db:
                db.execute("PRAGMA journal_mode = WAL")  # reports can be made meanwhile
                with db:
                    db.execute("BEGIN")
                    runs.insert_run(db, plan, machine, verified, selftest=selftest)
        except FileExistsError as error:
            raise UsageError(f"{path} exists already; choose another --label or --out") from error
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise NotFit(
                f"{path}: results cannot be written: {why}. Free space or choose another folder "
                "with --out."
            ) from error
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """An existing run, given its folder or its file; raises UsageError when it is none."""
        folder = path.parent if path.name == FILE else path
        runs.check_file(folder)
        return cls(folder.resolve())

    def check_changeable(self) -> None:
        """Raise UsageError where going on with the run would change a file elsewhere."""
        logs = self.path / LOGS
        for file in (self.file, *(logs.iterdir() if logs.exists() else ())):
            plainfiles.changeable(file)

    def plan(self) -> Plan:
        return self._read(runs.plan_of)

    def verified(self) -> list[Verified]:
        return self._read(runs.verified_of)

    def blocks(self) -> list[Block]:
        return self._read(runs.blocks_of)

    def looks(self) -> list[Look]:
        return self._read(runs.looks_of)

    def samples(self) -> list[Sample]:
        return self._read(runs.samples_of)

    def complete(self) -> bool:
        with opened(self.file) as db:
            return bool(db.execute("SELECT complete FROM run").fetchone()[0])

    def concluded(self) -> bool:
        """Whether the gate of a comparison has decided."""
        with opened(self.file) as db:
            return bool(db.execute("SELECT gate NOT NULL FROM run").fetchone()[0])

    def add(self, records: Sequence[Record]) -> None:
        """Add the processes of a set: there are all, or none."""
        with opened(self.file, write=True) as db:
            runs.insert_records(db, ONLY, records)

    def add_block(self, block: Block) -> None:
        with opened(self.file, write=True) as db:
            runs.insert_block(db, ONLY, block)

    def add_look(self, look: Look) -> None:
        with opened(self.file, write=True) as db:
            runs.insert_look(db, ONLY, look)

    def change_plan(self, plan: Plan) -> None:
        """Replace the plan by one that says more of how the run went."""
        self._update("plan = ?", plan.model_dump_json())

    def reopen(self, plan: Plan) -> None:
        """Let a complete run go on by `plan`, which has more blocks."""
        self._update("plan = ?, complete = 0", plan.model_dump_json())

    def conclude(self, sentences: Sequence[str]) -> None:
        """Keep what the gate of a comparison came to."""
        self._update("gate = ?", json.dumps({"lines": [*sentences]}))

    def finish(self, plan: Plan) -> None:
        """Mark the run as complete by `plan`, and leave one file that reading adds none to."""
        self._update("plan = ?, complete = 1", plan.model_dump_json())
        # Whoever reads it just now keeps the log, which does no harm.
        whole = runs.connection(self.file, write=True)
        with closing(whole) as db, suppress(sqlite3.OperationalError):
            db.execute("PRAGMA busy_timeout = 1000")
            db.execute("PRAGMA journal_mode = DELETE")

    def _read(self, read: Callable[[sqlite3.Connection, int], T]) -> T:
        with opened(self.file) as db:
            return read(db, ONLY)

    def _update(self, change: str, text: str) -> None:
        with opened(self.file, write=True) as db:
            db.execute(f"UPDATE run SET {change}", (text,))


def name_of(planned: datetime, label: str) -> str:
    """The name of a run with `label` that was planned at `planned`."""
    return f"{planned:%Y-%m-%dT%H%M%SZ}-{label}"


def free_moment(
    folder: Path,
    label: str,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> datetime:
    """The present moment, or the next second's if `folder` holds a run of this one's name.

    A run that has been verified and piloted is not refused because another one was as quick.
    """
    while (folder / name_of(moment := now(), label)).exists():
        sleep(1 - moment.microsecond / 1e6)
    return moment


FREE_BYTES_NEEDED = 256 * 2**20


def check_disk(results: Path) -> None:
    """Raise NotFit when the results or the copies of databases would not fit on the disk."""
    for place, hint in ((results, "--out"), (paths.toolchain(), "SQLITMUS_TOOLCHAIN")):
        try:
            place.mkdir(parents=True, exist_ok=True)
            probe = place / f".write-probe-{time.monotonic_ns()}"
            probe.write_bytes(b"x")
            probe.unlink()
            free = shutil.disk_usage(place).free
        except OSError as error:
            raise NotFit(
                f"{place}: cannot be written: {error.strerror}; choose another with {hint}"
            ) from error
        if free < FREE_BYTES_NEEDED:
            raise NotFit(
                f"{place}: only {free >> 20} MB free, {FREE_BYTES_NEEDED >> 20} MB are needed; "
                f"free some or choose another folder with {hint}"
            )


def check_copies(most: Mapping[Path, tuple[int, str]]) -> None:
    """Raise NotFit when databases that cases write would outgrow the disk; `most` has for each
    fixture the bytes of all copies that exist at once, and of which case that is."""
    place = paths.toolchain()
    free = shutil.disk_usage(place).free - FREE_BYTES_NEEDED
    if most and sum(size for size, _ in most.values()) > free:
        cases = listed([f"{case} ({size / 2**20:,.1f} MB)" for size, case in most.values()])
        raise NotFit(
            f"{place}: the databases that cases write, one for each runner, would outgrow the "
            f"disk: {cases}, and {free / 2**20:,.1f} MB are free beside {FREE_BYTES_NEEDED >> 20} "
            "MB for results; free some, set SQLITMUS_TOOLCHAIN to another folder, or measure fewer"
        )


def latest(results: Path) -> Path:
    """The newest run in `results`; raises UsageError when there is none."""
    pointer = results / "latest"
    if pointer.is_symlink() or pointer.is_dir():
        run = pointer.resolve()
    elif plainfiles.size(pointer) is not None:
        run = results / plainfiles.read(pointer, plainfiles.MB).decode("utf-8", "replace").strip()
    else:
        raise UsageError(f"there is no run in {results} yet; start one with ./just bench-quick")
    if run.resolve().parent != results.resolve():
        raise UsageError(
            f"{pointer} leads elsewhere, to {run}; name the run that you mean, or remove it"
        )
    return run


def point_latest(run: Path) -> None:
    """Let `latest` beside `run` point at it: a link, or a file with the name where links fail.

    Raises NotFit where a folder has that name, which may be somebody's copy of a run.
    """
    pointer = run.parent / "latest"
    try:
        pointer.unlink(missing_ok=True)
    except OSError as error:
        raise NotFit(
            f"{pointer}: cannot be made to point at the newest run: {error.strerror}; rename or "
            "remove what has that name"
        ) from error
    try:
        pointer.symlink_to(run.name, target_is_directory=True)
    except OSError:
        pointer.write_bytes((run.name + "\n").encode())
