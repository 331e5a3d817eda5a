"""A runner that speaks the barrier and opens no database: `shared.py [ACT@PROCESS] --job FILE`.

Worker w of all starts iteration i, counted from 0 with the warm-up, at 1000 i + 10 w µs and takes
200 + w µs, so that a test can say what comes out. ACT is what befalls process PROCESS.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

JOB = json.loads(Path(sys.argv[-1]).read_bytes())
MEASURE = JOB["measure"]
SHARE, WORKERS = MEASURE["share"], MEASURE.get("workers", 1)
FIRST, OF = SHARE.get("first", 0), SHARE.get("of", 1)
WARMUP, ITERATIONS = MEASURE.get("warmup_iterations", 0), MEASURE.get("iterations", 1)
_act, _, _whose = sys.argv[1].partition("@")
ACT = _act if _whose == str(FIRST // WORKERS) else ""

PARENT = """
import os, pathlib, signal, sys
take, taken = (pathlib.Path(f"{sys.argv[1]}.{name}") for name in ("take", "taken"))
parent = os.getpid()
if os.fork():
    pathlib.Path(sys.argv[1] + ".held").touch()
    while not take.exists():
        os.sched_yield()
    os._exit(0)
while os.getppid() == parent:
    os.sched_yield()
taken.touch()
signal.pause()
"""  # ends while its child lives on, once a file tells it to


def main() -> None:
    """One job."""
    print("pinned to", *sorted(os.sched_getaffinity(0)), file=sys.stderr, flush=True)
    if ACT == "unsupported":
        answer(status="unsupported", reason="no such shape")
        sys.exit(0)
    if ACT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"]
        )
        Path(JOB["output"]).with_suffix(".pids").write_text(f"{os.getpid()} {child.pid}", "utf-8")
        wait()
    for iteration in range(WARMUP + ITERATIONS):
        iterate(iteration)
    if ACT == "endless":
        say("ready\n")
        wait()
    if ACT == "lingering":
        os.close(1)
        wait()
    if ACT != "speechless":
        answer()
    if ACT == "late crash":
        sys.exit(4)


def iterate(number: int) -> None:
    """Stand at the barrier until released, with accidents in iteration 1."""
    if ACT == "silent" and number == 1:
        print("waits for a lock", file=sys.stderr, flush=True)
        wait()
    if ACT == "chatter":
        say("a line\nrea", "dy\nanother\n")
    else:
        say("ready\nready\n" if ACT == "eager" and number == 1 else "ready\n")
    assert sys.stdin.readline(), "end of stdin"
    if trace := os.environ.get("SQLITMUS_TRACE"):
        with Path(trace).open("ab") as file:
            file.write(f"{os.environ['SQLITMUS_NAME']} ".encode())
    if ACT == "where":
        with Path(JOB["output"]).with_suffix(".where").open("a") as file:
            file.write(",".join(map(str, sorted(os.sched_getaffinity(0)))) + "\n")
    if (ACT == "spins" and number == 1) or (ACT == "compiles" and number in (1, 3)):
        threading.Thread(target=work, daemon=True).start()
    if number == 1:
        befall()


def befall() -> None:
    """What ends a process at once, or what it leaves behind."""
    if ACT == "crash":
        sys.exit("out of luck")
    if ACT == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    trace = os.environ.get("SQLITMUS_TRACE", "")
    if ACT == "hands on":
        subprocess.Popen([sys.executable, "-I", "-S", "-c", PARENT, trace])
        until(Path(trace + ".held"))
    if ACT == "takes":
        Path(trace + ".take").touch()
        until(Path(trace + ".taken"))
    if ACT == "meets":  # another one that does so, too
        name = int(os.environ["SQLITMUS_NAME"])
        Path(f"{trace}.{name}").touch()
        until(Path(f"{trace}.{1 - name}"))
    if ACT == "quit":
        answer()
        sys.exit(0)
    if ACT == "failed":
        answer(status="failed", error={"message": "database is locked", "sqlite_code": 5})
        sys.exit(1)


def work() -> None:
    """In a thread of its own: without end, or as a compiler until no turn came for a while."""
    trace, turns, since = Path(os.environ["SQLITMUS_TRACE"]), 0, 0.0
    while time.thread_time() - since < 0.5 or ACT == "spins":
        since = since if turns == (turns := trace.stat().st_size) else time.thread_time()
    with trace.open("ab") as file:
        file.write(b"rested ")


def until(file: Path) -> None:
    """Wait for what another process tells by `file`."""
    while not file.exists():
        os.sched_yield()


def say(*pieces: str) -> None:
    """Each piece at once."""
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()


def wait() -> NoReturn:
    """Until a signal ends this process."""
    while True:
        signal.pause()


def answer(**other: Any) -> None:
    """Write the result, with `other` in it."""
    total = MEASURE["operations_per_iteration"]
    numbers = range(FIRST, FIRST + WORKERS)
    counts = [total * (w + 1) // OF - total * w // OF for w in numbers]
    program = {"name": "fake", "version": "1"}
    result = {
        "contract": 2,
        "cell": JOB["cell"],
        "status": "ok",
        "identity": {
            "runner": "fake",
            "runtime": program,
            "driver": program,
            "architecture": "none",
        },
        "effective": {"pragmas": {"cache_size": 1 if ACT == "unlike" else 2}},
        "operations": sum(counts) * (WARMUP + ITERATIONS),
        "rows": sum(counts) * (WARMUP + ITERATIONS),
        "checksum": 2**32 - 1 - FIRST,
        "answers": [[sum(counts), 0, 1]] * (WARMUP + ITERATIONS),
        "warmup_ns": [200_000 + FIRST] * WARMUP,
        "iterations_ns": [200_000] * ITERATIONS,
        "peak_rss_bytes": 1000,
        "workers": [
            {
                "operations": count * (WARMUP + ITERATIONS),
                "rows": count * (WARMUP + ITERATIONS),
                "checksum": 1,
                "iterations_ns": [(200 + w) * 1000] * ITERATIONS,
                "spans_us": [
                    (1000 * i + 10 * w, 1000 * i + 10 * w + 200 + w)
                    for i in range(WARMUP, WARMUP + ITERATIONS - (ACT == "spanless"))
                ],
            }
            for w, count in zip(numbers, counts, strict=True)
        ],
    }
    Path(JOB["output"]).write_text(json.dumps({**result, **other}), "utf-8")


main()
