"""A runner that misbehaves on purpose: `--behaviour=NAME` says how, the oracle gives the answers.

Stdlib only. `--state=FILE` counts the measured invocations; several runners may share one. Each
process leaves its id in the folder `--pids=FOLDER`, so that a test can see that none is left.
"""

# pyright: basic

import contextlib
import itertools
import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import job as oracle_job  # pyright: ignore[reportMissingImports]
import main as oracle  # pyright: ignore[reportMissingImports]
import session  # pyright: ignore[reportMissingImports]
import values  # pyright: ignore[reportMissingImports]
import workers  # pyright: ignore[reportMissingImports]

ITERATION_NS = 1_000_000
Json = dict[str, Any]


def by_name(*acts: Any) -> dict[str, Any]:
    """Functions by what `--behaviour` calls them."""
    return {act.__name__.replace("_", "-"): act for act in acts}


def main() -> int:
    """Behave as asked; the exit code."""
    words = arguments(sys.argv[1:])
    oracle.IDENTITY["runner"] = words.get("--name", "fake")
    behaviour, _, argument = words.get("--behaviour", "honest").partition("=")
    if "describe" in words and behaviour != "describe-hangs":
        return describe(behaviour)
    if pids := words.get("--pids"):
        Path(pids).mkdir(exist_ok=True)
        Path(pids, str(os.getpid())).touch()
    state = Path(words["--state"]) if "--state" in words else None
    file = Path(words.get("--job", ""))
    if behaviour == "leaves":
        leave(argument)
        return perform("honest", "", file, state)
    if behaviour == "family":
        with family(*argument.split(",")):
            return perform("honest", "", file, state)
    if behaviour in ("describe-hangs", "hangs-with"):
        hang_with(*filter(None, argument.split(",")))
    return perform(behaviour, argument, file, state)


def arguments(words: list[str]) -> dict[str, str]:
    """`--name=value` and `--job FILE` by their names, and the command `describe`.

    argparse would take a tenth of the time of a fake that starts.
    """
    given: dict[str, str] = {}
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        given[name] = value or (words[place + 1] if name == "--job" else "")
    return given


def describe(behaviour: str) -> int:
    """The oracle's description, or what a broken runner says."""
    told = oracle.describe()
    if behaviour == "describe-crashes":
        print("no such driver", file=sys.stderr)
        return 3
    if behaviour == "describe-prints-rubbish":
        print("hello")
        return 0
    if behaviour == "describe-lacks-sqlite":
        del told["sqlite"]
    print(json.dumps(told))
    return 0


def perform(behaviour: str, argument: str, file: Path, state: Path | None) -> int:
    """One job."""
    job = oracle_job.load(file)
    if job.cell == "stalls":  # faults under load are planted in real runners
        behaviour = "honest"
    if behaviour == "uncounted" and os.environ.pop("LD_PRELOAD", None):
        os.execv(sys.executable, [sys.executable, *sys.argv])
    measured = job.mode == "measure"
    number = count(state) if state and measured and not probed(job) else 0
    if refuse := refusal(behaviour, job):
        return refuse(job)
    if behaviour in SABOTAGE:
        SABOTAGE[behaviour]()
    if behaviour in WHEN_MEASURED and measured and not probed(job):
        WHEN_MEASURED[behaviour]()
    trespasses = behaviour in TRESPASSES and not probed(job)
    if trespasses and argument in ("", job.mode):
        TRESPASSES[behaviour](Path(job.database.path))
    if behaviour == "in-turn" and job.measure.share and not probed(job):
        at_release(argument, state)
    if behaviour == "waits" and measured and number == int(argument):
        wait_for_the_test(state)
    if behaviour == "fails-after" and measured and number > int(argument):
        print(f"gave up at measured invocation {number}", file=sys.stderr)
        return 7
    manner = behaviour.removesuffix("-when-measured")
    dodges = manner in WRITES and (manner == behaviour or measured)
    result, code = oracle.run(WRITES[manner](job) if dodges else job)
    falsify(result, job, behaviour, argument, number)
    oracle.write(result, Path(job.output))
    return 1 if behaviour == "wrong-exit-code" else code


def probed(job: Any) -> bool:
    """Whether the harness acts beside the runner, and does not measure it."""
    return job.cell in ("freshness", "stalls")


def refusal(behaviour: str, job: Any) -> Any:
    """What a fake does instead of the job; None where it does the job."""
    if probed(job):
        return WHEN_ASKED.get(behaviour)
    if behaviour in AT_BARRIER and job.measure.share and job.measure.share.first:
        return AT_BARRIER[behaviour]
    return REFUSALS.get(behaviour)


def falsify(result: Json, job: Any, behaviour: str, argument: str, number: int) -> None:
    """Tell another result than what was done, or do something to the database behind it."""
    measured = job.mode == "measure"
    if behaviour in TIMES and measured:
        time = round(TIMES[behaviour](number))
        result["iterations_ns"] = [time] * job.measure.iterations
        result["cpu_ns"] = time * job.measure.iterations
    if behaviour in LIES:
        LIES[behaviour](result, job)
    if behaviour in FIGURES and measured:
        FIGURES[behaviour](result, argument)
    if measured and (behaviour in TIMES or behaviour == "collects"):
        for worker in result["workers"]:  # whose stamps are of the same clock
            pairs = zip(worker["spans_us"], result["iterations_ns"], strict=True)
            worker["spans_us"] = [(begin, begin + ns / 1000) for (begin, _), ns in pairs]
    if behaviour in AFTERWARDS:
        AFTERWARDS[behaviour](Path(job.database.path))


def count(state: Path) -> int:
    """The number of this measured invocation, from 1."""
    with state.open("ab") as stream:
        stream.write(b".")
        return stream.tell()


def wait_for_the_test(state: Path | None) -> None:
    """Tell that this invocation is under way, then block until the test opens the other end."""
    assert state is not None
    gate = state.with_suffix(".gate")
    os.mkfifo(gate)
    state.with_suffix(".waiting").touch()
    gate.open("rb").close()


def at_release(what: str, state: Path | None) -> None:
    """Let something happen before this process is released for the N-th time: `what` is ACT@N."""
    act, _, number = what.partition("@")
    honest, releases = workers.await_release, itertools.count(1)

    def await_release() -> None:
        if next(releases) == int(number):
            TURNED[act](state)
        honest()

    workers.await_release = await_release


TURNED: dict[str, Any] = {
    "dies": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "leaves": lambda _: leave("session"),
    "forks": lambda _: leave("daemon"),
    "waits": lambda state: state.with_suffix(".waiting").exists() or wait_for_the_test(state),
}


# Without a result. ------------------------------------------------------------------------------


def crash(_job: object) -> int:
    """End with an exit code that the contract does not know."""
    print("segfault in the driver, says the fake", file=sys.stderr)
    return 3


def hang(_job: object) -> int:
    """Never end, ignore SIGTERM, and start a child that does the same."""
    hang_with("group")
    return 0


def dies(number: signal.Signals) -> Any:
    """End by this signal."""
    return lambda _job: os.kill(os.getpid(), number)


def leave(kind: str) -> None:
    """Start a process that lives on: in this `group`, in a `session` of its own, or as a `daemon`
    with an `empty` environment or this one's; returns when it runs."""
    kind, _, environment = kind.partition("-")
    before = started()
    import subprocess

    text = DAEMON + CHILD if kind == "daemon" else CHILD
    subprocess.Popen(
        [sys.executable, "-c", text, str(pids_folder()), str(os.getpid())],
        start_new_session=kind != "group",
        env={} if environment == "empty" else None,
    )
    while started() == before:
        time.sleep(0.005)


def started() -> set[int]:
    """Ids of the children that this process ever left; other fakes have the same folder."""
    return {int(file.stem) for file in pids_folder().glob(f"*.{os.getpid()}")}


@contextmanager
def family(*kinds: str) -> Generator[None]:
    """Such processes live as long as the block, which does not end while a file `hang` exists."""
    for kind in kinds:
        leave(kind)
    try:
        yield
    finally:
        while (pids_folder() / "hang").exists():
            time.sleep(0.01)
        for pid in started():
            os.kill(pid, signal.SIGKILL)


def hang_with(*kinds: str) -> None:
    """Start such processes, then never end."""
    for kind in kinds:
        leave(kind)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


DAEMON = """
import os
if os.fork():
    os._exit(0)
"""
CHILD = """
import os, pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
(pathlib.Path(sys.argv[1]) / f"{os.getpid()}.{sys.argv[2]}").touch()
while True:
    signal.pause()
"""


def pids_folder() -> Path:
    """The folder given with --pids."""
    given = [a for a in sys.argv if a.startswith("--pids=")]
    return Path(given[0].removeprefix("--pids="))


def bad_json(job: Any) -> int:
    """Write something that is no JSON."""
    Path(job.output).write_text('{"contract": 2, "cell": ', "utf-8")
    return 0


def foreign_json(job: Any) -> int:
    """Write JSON of another shape."""
    Path(job.output).write_text('{"contract": 2, "rows": "many"}', "utf-8")
    return 0


def silent(_job: object) -> int:
    """Succeed without a result."""
    return 0


def stderr_only(_job: object) -> int:
    """Succeed with a message and without a result."""
    print("all went well", file=sys.stderr)
    return 0


def write(job: Any, status: str, **more: Json | str) -> int:
    """A result without answers; the exit code that goes with it."""
    head = {"contract": 2, "cell": job.cell, "identity": oracle.IDENTITY}
    oracle.write({**head, "status": status, **more}, Path(job.output))
    return int(status == "failed")


def unsupported(job: Any) -> int:
    """Say that there is no such feature."""
    return write(job, "unsupported", reason="fakes have no such thing")


def unread(_job: object) -> int:
    """Know less of the contract than the job asks for."""
    print(f'{sys.argv[-1]}: unknown operation "get"', file=sys.stderr)
    return 2


def panic(_job: object) -> int:
    """End as a program in Go does that dereferences nil."""
    print("panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:", file=sys.stderr)
    return 2


def failed(job: Any) -> int:
    """Report a failure as the contract wants it."""
    error = {"message": "database disk image is malformed", "sqlite_code": 11, "sql": "SELECT 1"}
    return write(job, "failed", error=error)


def message_drives_terminal(job: Any) -> int:
    """Report a failure in a message that drives a terminal and feigns a line, without an end."""
    message = "\x1b[2J\x9b31m\x07\u202e\r\nfeigned: ok\n" + "long " * 100_000
    print(message, file=sys.stderr)
    return write(job, "failed", error={"message": message})


def crash_when_released(job: Any) -> int:
    """Stand at the barrier until released, then end."""
    print("ready", flush=True)
    sys.stdin.readline()
    return crash(job)


def unsupported_when_measured(job: Any) -> int:
    """Be verified, and then say that there is no such feature."""
    if job.mode == "measure":
        return unsupported(job)
    result, code = oracle.run(job)
    oracle.write(result, Path(job.output))
    return code


def leaks(job: Any) -> int:
    """Keep more and more when measured, without an end."""
    if job.mode != "measure":
        return unsupported_when_measured(job)
    kept: list[bytearray] = []
    while True:
        kept.append(bytearray(os.urandom(1)) * 2**20)
        time.sleep(0.001)


def removes_scratch(job: Any) -> int:
    """Remove everything beside the result when measured, after an honest verification."""
    code = unsupported_when_measured(job)
    if job.mode == "measure":
        import shutil

        shutil.rmtree(Path(job.output).parent)
    return code


def writes_keys_twice(job: Any) -> int:
    """Say two things with one name, the right one last, which is what most readers take."""
    result, code = oracle.run(job)
    Path(job.output).write_text('{"rows": 7, ' + json.dumps(result)[1:], "utf-8")
    return code


def leaves_fifo(job: Any) -> int:
    """Leave a pipe that nobody writes to."""
    os.mkfifo(job.output)
    return 0


def leaves_zero(job: Any) -> int:
    """Leave a link to what never ends."""
    Path(job.output).symlink_to("/dev/zero")
    return 0


def leaves_folder(job: Any) -> int:
    """Leave a folder."""
    Path(job.output).mkdir()
    return 0


def leaves_numbers(job: Any) -> int:
    """Begin a result of 10^8 numbers."""
    with Path(job.output).open("wb") as stream:
        stream.write(b'{"contract": 2, "warmup_ns": [')
        stream.writelines(b"1," * 10**6 for _ in range(100))
    return 0


def know_contract_1(_job: object) -> int:
    """Refuse a job as a runner of an older contract does."""
    print("$.contract: 2; expected 1", file=sys.stderr)
    return 2


# What befalls a process whose rows another one changes.
WHEN_ASKED = {"hangs-when-asked": hang, "knows-contract-1": know_contract_1}

# What befalls each process of several but the first.
AT_BARRIER = {"crashes-at-barrier": crash_when_released, "hangs-before-barrier": hang}

REFUSALS = by_name(
    *(crash, leaks, hang, bad_json, foreign_json, silent, stderr_only, unsupported, unread, panic),
    *(failed, unsupported_when_measured, removes_scratch, writes_keys_twice, leaves_fifo),
    *(leaves_zero, leaves_folder, leaves_numbers, message_drives_terminal),
) | {
    "killed": dies(signal.SIGKILL),
    "traps": dies(signal.SIGTRAP),
}  # the latter as V8 without memory

# Another answer than the oracle's, made where a careless runner would make it. ------------------


def other_rows(change: Any) -> Any:
    """Fold other columns and rows than those of the answer."""

    def sabotage() -> None:
        honest = values.Tally.result
        values.Tally.result = lambda tally, columns, rows, *read: honest(
            tally, *change(columns, rows), *read
        )

    return sabotage


def without_last_column(columns: Any, rows: Any) -> Any:
    return columns[:-1], [tuple(row)[:-1] for row in rows]


def in_doubles(columns: Any, rows: Any) -> Any:
    return columns, [tuple(int(float(v)) if isinstance(v, int) else v for v in r) for r in rows]


def unsynced() -> None:
    """Sync nothing while the clock runs, with settings that look right before and after."""
    honest = session.Session.lap

    def lap(worker: Any) -> None:
        worker._connection.execute("PRAGMA synchronous=OFF")
        honest(worker)
        worker._connection.execute("PRAGMA synchronous=FULL")

    session.Session.lap = lap


def remembers() -> None:
    """Read the rows of a statement and its parameters once, as a cache of queries does."""
    honest = session.compile_loop
    session.compile_loop = lambda part, connection: honest(part, Memory(connection))


class Memory:
    """A connection that asks the database nothing twice."""

    def __init__(self, connection: Any) -> None:
        self.in_transaction = False
        self._connection = connection
        self._rows: dict[Any, Rows] = {}

    def execute(self, sql: str, row: tuple[Any, ...] = ()) -> "Rows":
        if (sql, row) not in self._rows:
            self._rows[sql, row] = Rows(self._connection.execute(sql, row))
        return self._rows[sql, row]


class Rows(list[Any]):
    """Rows as a cursor gives them."""

    def fetchone(self) -> Any:
        return self[0] if self else None

    def fetchall(self) -> "Rows":
        return self


SABOTAGE = {
    "skips-column": other_rows(without_last_column),
    "one-row-less": other_rows(lambda columns, rows: (columns, rows[:-1])),
    "rounds-53-bit": other_rows(in_doubles),
    **by_name(unsynced, remembers),
}


# Other operations than those of a measured process, which a verification does not show. ----------


def other_parts(change: Any) -> None:
    """Let the threads do otherwise."""
    honest = workers.parts
    workers.parts = lambda job: [change(part) for part in honest(job)]


def starts_again() -> None:
    """Begin at the first row of the pool in each iteration."""
    other_parts(lambda part: replace(part, stride=0))


def skips_a_row() -> None:
    """Take the next row of a pool instead of the first one that differs from it."""

    def change(part: Any) -> Any:
        steps: list[Any] = []
        for step in part.steps:
            rows = list(step.parameters.rows)
            at = next(n for n, row in enumerate(rows[:-1]) if row != rows[n + 1])
            rows[at] = rows[at + 1]
            steps.append(replace(step, parameters=replace(step.parameters, rows=rows)))
        return replace(part, steps=steps)

    other_parts(change)


def repeats_its_answer() -> None:
    """Tell of each iteration what the first one returned."""
    honest = session.Session.lap

    def lap(worker: Any) -> None:
        honest(worker)
        worker.laps[-1] = replace(worker.laps[-1], counts=worker.laps[0].counts)

    session.Session.lap = lap


class NeverCheckpointed(sqlite3.Connection):
    """Leaves everything in the log, and says of itself what it was asked to be."""

    asked = 1000

    def execute(self, sql: str, *bound: Any) -> sqlite3.Cursor:
        name, _, value = sql.partition("=")
        if name != "PRAGMA wal_autocheckpoint":
            return super().execute(sql, *bound)
        if not value:
            return super().execute(f"SELECT {self.asked}")
        self.asked = int(value)
        return super().execute("PRAGMA wal_autocheckpoint=0")


class FullDisk(sqlite3.Connection):
    """Has no room for another page."""

    def execute(self, sql: str, *bound: Any) -> sqlite3.Cursor:
        if not sql.startswith("INSERT"):
            return super().execute(sql, *bound)
        super().execute("PRAGMA max_page_count=1")
        return super().execute("INSERT INTO sink(a) VALUES (zeroblob(9999))")


def connects(kind: type[sqlite3.Connection]) -> None:
    """Use such connections."""
    honest = sqlite3.connect
    sqlite3.connect = lambda *given, **options: honest(*given, factory=kind, **options)


WHEN_MEASURED = {
    "fills-the-disk": lambda: connects(FullDisk),
    "stops-checkpointing": lambda: connects(NeverCheckpointed),
    **by_name(starts_again, skips_a_row, repeats_its_answer),
}


# Damage to databases that are not the runner's own. ----------------------------------------------


def deletes_rows(database: Path) -> None:
    """Clear out a table that others read, too."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM tiny WHERE id > 4")
        connection.commit()


def deletes_database(database: Path) -> None:
    """Tidy up behind others."""
    database.unlink()


def leaves_wal(database: Path) -> None:
    """Write, and die before what was written is in the file itself."""
    code = f"import sqlite3, os; c = sqlite3.connect({str(database)!r}, isolation_level=None)\n"
    code += "c.execute('DELETE FROM tiny WHERE id > 4'); os._exit(0)"
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True)


def deletes_elsewhere(database: Path) -> None:
    """Clear out what another case reads, from one that has a copy of its own."""
    for file in (database.parents[2] / "fixtures").glob("tiny-*.db"):
        deletes_rows(file)


TRESPASSES = by_name(deletes_rows, deletes_database, leaves_wal, deletes_elsewhere)


# Writes that do not reach the database, though the connection that wrote reads them back. ---------


class Uncommitted(sqlite3.Connection):
    """Begins a transaction at the first write and never commits it."""

    def execute(self, sql: str, *bound: Any) -> sqlite3.Cursor:
        if sql.startswith(("BEGIN", "COMMIT")):
            return super().execute("SELECT 1")
        if sql.startswith(("INSERT", "DELETE")) and not self.in_transaction:
            super().execute("BEGIN")
        return super().execute(sql, *bound)


class Astray(sqlite3.Connection):
    """Deletes the row after the one that is bound."""

    def execute(self, sql: str, bound: Any = ()) -> sqlite3.Cursor:
        if sql.startswith("DELETE") and bound:
            bound = [bound[0] + 1, *bound[1:]]
        return super().execute(sql, bound)


class Backdating(sqlite3.Connection):
    """Sets a column that nobody can foresee, beside what it was told to write."""

    def execute(self, sql: str, *bound: Any) -> sqlite3.Cursor:
        cursor = super().execute(sql, *bound)
        if sql.startswith("INSERT INTO entry"):
            super().execute("UPDATE entry SET at = '1970-01-01'")
        return cursor


def through(kind: type[sqlite3.Connection]) -> Any:
    """Perform the job on such connections."""
    return lambda job: connects(kind) or job


def writes_elsewhere(job: Any) -> Any:
    """Work on a copy."""
    copy = f"{job.output}.copy.db"
    import shutil

    shutil.copyfile(job.database.path, copy)
    return replace(job, database=replace(job.database, path=copy))


WRITES = {
    "never-commits": through(Uncommitted),
    "backdates": through(Backdating),
    "deletes-another": through(Astray),
    "writes-elsewhere": writes_elsewhere,
}


def removes_database(database: Path) -> None:
    """Leave no database behind."""
    database.unlink()


def moves_database(database: Path) -> None:
    """Leave a link to where the database is now."""
    database.rename(database.with_suffix(".moved"))
    database.symlink_to(database.with_suffix(".moved"))


def damages_database(database: Path) -> None:
    """Overwrite the table's page; the header stays."""
    with database.open("r+b") as stream:
        stream.seek(2 * 4096)
        stream.write(b"\xff" * 4096)


AFTERWARDS = by_name(removes_database, moves_database, damages_database)


# Another result than what was done. -------------------------------------------------------------


def wrong_checksum(result: Json, _job: object) -> None:
    """Count up the checksum of the last operation, or of the last iteration."""
    if result.get("answers"):
        rows, affected, checksum = result["answers"][-1]
        result["answers"][-1] = rows, affected, (checksum + 1) % 2**32
        result["checksum"] = (result["checksum"] + 1) % 2**32


def wrong_when_measured(result: Json, job: Any) -> None:
    """Be right until it counts."""
    if job.mode == "measure" and not probed(job):
        wrong_checksum(result, job)


def pragma_not_taken(result: Json, _job: object) -> None:
    """Read back another cache size than was asked for."""
    if "effective" in result:
        result["effective"]["pragmas"]["cache_size"] = -2000


def pragmas_not_read(result: Json, _job: object) -> None:
    """Read nothing back."""
    result["effective"] = {"pragmas": {}, "engine": {}}


def no_digest(result: Json, _job: object) -> None:
    """Leave out the proof."""
    result.pop("digest", None)


def no_times(result: Json, job: Any) -> None:
    """Measure nothing."""
    if job.mode == "measure" and not probed(job):
        counts = dict.fromkeys(("operations", "rows", "affected", "checksum"), 0)
        result.update(iterations_ns=[], answers=[], **counts)


LIES = by_name(
    *(wrong_checksum, wrong_when_measured, pragma_not_taken, pragmas_not_read, no_digest, no_times)
)


# Figures that cannot be, and results of something else. ------------------------------------------


def takes(result: Json, ns: str) -> None:
    """Report that time for each iteration."""
    result["iterations_ns"] = [int(ns) for _ in result["iterations_ns"]]


def collects(result: Json, every: str) -> None:
    """Report that each so-manieth iteration takes five times as long."""
    count = len(result["iterations_ns"])
    result["iterations_ns"] = [
        ITERATION_NS * (1 if number % int(every) else 5) for number in range(1, count + 1)
    ]
    result["cpu_ns"] = sum(result["iterations_ns"])


def is_of(result: Json, what: str) -> None:
    """Be the result of something else."""
    identity = result["identity"]
    other: dict[str, Json] = {
        "cell": {"cell": "get/honest"},
        "runner": {"identity": {**identity, "runner": "node"}},
        "driver": {"identity": {**identity, "driver": {"name": "faster", "version": "9.9"}}},
        "sqlite": {"sqlite_version": "9.9.9"},
    }
    result.update(other[what])


FIGURES = {
    **by_name(takes, collects),
    "is": is_of,
    "uses": lambda result, ns: result.update(cpu_ns=int(ns)),
    "uses-share": lambda result, of: result.update(cpu_ns=int(result["cpu_ns"] * float(of))),
    "holds": lambda result, size: result.update(peak_rss_bytes=int(size)),
    "faults": lambda result, many: result.update(page_faults={"minor": int(many), "major": 0}),
}


# Times as functions of the invocation's number; the jitter is ±0.2 %, the same in each run. -------


def jitter(number: int) -> float:
    """A factor near 1, without a pattern that a block done again could fall out of step with."""
    import random

    return 1 + 0.002 * random.Random(number).uniform(-1, 1)


TIMES = {
    "steady": lambda number: ITERATION_NS * jitter(number),
    "slow3pct": lambda number: 1.03 * ITERATION_NS * jitter(number),
    "drifting": lambda number: ITERATION_NS * (1 + 0.004 * number) * jitter(number),
}
