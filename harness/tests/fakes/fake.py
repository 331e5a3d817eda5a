"""A runner that misbehaves on purpose: `--behaviour=NAME` says how, the oracle gives the answers.

Stdlib only. `--state=FILE` counts the measured invocations; several runners may share one. Each
process leaves its id in the folder `--pids=FOLDER`, so that a test can see that none is left.
"""

# pyright: basic

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import job as oracle_job  # pyright: ignore[reportMissingImports]
import main as oracle  # pyright: ignore[reportMissingImports]
import values  # pyright: ignore[reportMissingImports]

ITERATION_NS = 1_000_000
Json = dict[str, Any]


def main() -> int:
    """Behave as asked; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--behaviour", default="honest")
    parser.add_argument("--name", default="fake")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--pids", type=Path)
    parser.add_argument("--job", type=Path)
    parser.add_argument("command", nargs="?")
    asked = parser.parse_args()
    oracle.IDENTITY["runner"] = asked.name
    behaviour, _, argument = asked.behaviour.partition("=")
    if asked.command == "describe" and behaviour != "describe-hangs":
        return describe(behaviour)
    if asked.pids:
        asked.pids.mkdir(exist_ok=True)
        (asked.pids / str(os.getpid())).touch()
    if behaviour == "family":
        with family(*argument.split(",")):
            return perform("honest", "", asked.job, asked.state)
    if behaviour in ("describe-hangs", "hangs-with"):
        hang_with(*filter(None, argument.split(",")))
    return perform(behaviour, argument, asked.job, asked.state)


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
    number = count(state) if state and job.mode == "measure" else 0
    if behaviour in REFUSALS:
        return REFUSALS[behaviour](job)
    if behaviour in AT_BARRIER and job.measure.share and job.measure.share.first:
        return AT_BARRIER[behaviour](job)
    if behaviour in SABOTAGE:
        SABOTAGE[behaviour]()
    if behaviour == "waits" and job.mode == "measure" and number == int(argument):
        wait_for_the_test(state)
    if behaviour == "fails-after" and job.mode == "measure" and number > int(argument):
        print(f"gave up at measured invocation {number}", file=sys.stderr)
        return 7
    result, code = oracle.run(job)
    if behaviour == "leaves":
        leave(argument)
    if behaviour in TIMES and job.mode == "measure":
        time = round(TIMES[behaviour](number))
        result["iterations_ns"] = [time] * job.measure.iterations
    if behaviour == "paced" and job.mode == "measure":
        pace(result, job, float(argument) * jitter(number))
    if behaviour in LIES:
        LIES[behaviour](result, job)
    oracle.write(result, Path(job.output))
    return 1 if behaviour == "wrong-exit-code" else code


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


# Without a result. ------------------------------------------------------------------------------


def crash(_job: object) -> int:
    """End with an exit code that the contract does not know."""
    print("segfault in the driver, says the fake", file=sys.stderr)
    return 3


def killed(_job: object) -> int:
    """Die of a signal."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def hang(_job: object) -> int:
    """Never end, ignore SIGTERM, and start a child that does the same."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", CHILD, str(pids_folder())])
    while True:
        signal.pause()


def leave(kind: str) -> None:
    """Start a process that lives on: in this `group`, in a `session` of its own, or as a `daemon`
    with an `empty` environment or this one's; returns when it runs."""
    kind, _, environment = kind.partition("-")
    before = set(pids_folder().iterdir())
    subprocess.Popen(
        [sys.executable, "-c", DAEMON + CHILD if kind == "daemon" else CHILD, str(pids_folder())],
        start_new_session=kind != "group",
        env={} if environment == "empty" else None,
    )
    while set(pids_folder().iterdir()) == before:
        time.sleep(0.005)


@contextmanager
def family(*kinds: str) -> Generator[None]:
    """Such processes live as long as the block, which does not end while a file `hang` exists."""
    before = set(pids_folder().iterdir())
    for kind in kinds:
        leave(kind)
    try:
        yield
    finally:
        while (pids_folder() / "hang").exists():
            time.sleep(0.01)
        for file in set(pids_folder().glob("[0-9]*")) - before:
            os.kill(int(file.name), signal.SIGKILL)


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
(pathlib.Path(sys.argv[1]) / str(os.getpid())).touch()
while True:
    signal.pause()
"""


def pids_folder() -> Path:
    """The folder given with --pids."""
    given = [a for a in sys.argv if a.startswith("--pids=")]
    return Path(given[0].removeprefix("--pids="))


def bad_json(job: Any) -> int:
    """Write something that is no JSON."""
    Path(job.output).write_text('{"contract": 1, "cell": ', "utf-8")
    return 0


def foreign_json(job: Any) -> int:
    """Write JSON of another shape."""
    Path(job.output).write_text('{"contract": 1, "rows": "many"}', "utf-8")
    return 0


def silent(_job: object) -> int:
    """Succeed without a result."""
    return 0


def stderr_only(_job: object) -> int:
    """Succeed with a message and without a result."""
    print("all went well", file=sys.stderr)
    return 0


def unsupported(job: Any) -> int:
    """Say that there is no such feature."""
    head = {"contract": 1, "cell": job.cell, "identity": oracle.IDENTITY}
    result = {**head, "status": "unsupported", "reason": "fakes have no such thing"}
    oracle.write(result, Path(job.output))
    return 0


def failed(job: Any) -> int:
    """Report a failure as the contract wants it."""
    head = {"contract": 1, "cell": job.cell, "identity": oracle.IDENTITY}
    error = {"message": "database disk image is malformed", "sqlite_code": 11, "sql": "SELECT 1"}
    oracle.write({**head, "status": "failed", "error": error}, Path(job.output))
    return 1


def crash_when_released(job: Any) -> int:
    """Stand at the barrier until released, then end."""
    print("ready", flush=True)
    sys.stdin.readline()
    return crash(job)


# What befalls each process of several but the first.
AT_BARRIER = {"crashes-at-barrier": crash_when_released, "hangs-before-barrier": hang}

REFUSALS = {
    "crash": crash,
    "killed": killed,
    "hang": hang,
    "bad-json": bad_json,
    "foreign-json": foreign_json,
    "silent": silent,
    "stderr-only": stderr_only,
    "unsupported": unsupported,
    "failed": failed,
}


# Another answer than the oracle's, made where a careless runner would make it. ------------------


def skips_column() -> None:
    """Never look at the last column."""
    honest = values.Tally.result
    values.Tally.result = lambda tally, columns, rows: honest(
        tally, columns[:-1], [tuple(row)[:-1] for row in rows]
    )


def one_row_less() -> None:
    """Stop before the last row."""
    honest = values.Tally.result
    values.Tally.result = lambda tally, columns, rows: honest(tally, columns, rows[:-1])


def rounds_53_bit() -> None:
    """Carry integers as doubles."""
    honest = values.Tally.result
    values.Tally.result = lambda tally, columns, rows: honest(
        tally,
        columns,
        [tuple(int(float(v)) if isinstance(v, int) else v for v in row) for row in rows],
    )


SABOTAGE = {
    "skips-column": skips_column,
    "one-row-less": one_row_less,
    "rounds-53-bit": rounds_53_bit,
}


# Another result than what was done. -------------------------------------------------------------


def wrong_checksum(result: Json, _job: object) -> None:
    """Flip a bit of the checksum."""
    result["checksum"] ^= 1


def wrong_when_measured(result: Json, job: Any) -> None:
    """Flip a bit only when it counts."""
    if job.mode == "measure":
        result["checksum"] ^= 1


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


def no_times(result: Json, _job: object) -> None:
    """Measure nothing."""
    result["iterations_ns"] = []


LIES = {
    "wrong-checksum": wrong_checksum,
    "wrong-when-measured": wrong_when_measured,
    "pragma-not-taken": pragma_not_taken,
    "pragmas-not-read": pragmas_not_read,
    "no-digest": no_digest,
    "no-times": no_times,
}


# Times as functions of the invocation's number; the jitter is ±0.2 %, without chance. -----------


def jitter(number: int) -> float:
    """A factor near 1."""
    return 1 + 0.002 * ((number * 7 % 11) / 5 - 1)


def pace(result: Json, job: Any, ns: float) -> None:
    """Let each operation take `ns`, in warm-up as later."""
    time = round(ns * job.measure.operations_per_iteration)
    count = max(job.measure.warmup_iterations, -(-job.measure.warmup_ns // time))
    # every other one is longer by the step of a fine clock
    result["warmup_ns"] = [time + n % 2 for n in range(count)]
    result["iterations_ns"] = [time + n % 2 for n in range(job.measure.iterations)]


TIMES = {
    "steady": lambda number: ITERATION_NS * jitter(number),
    "slow3pct": lambda number: 1.03 * ITERATION_NS * jitter(number),
    "drifting": lambda number: ITERATION_NS * (1 + 0.004 * number) * jitter(number),
}


if __name__ == "__main__":
    sys.exit(main())
