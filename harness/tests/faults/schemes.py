"""Faults of speed and of use, each planted in turns and alone."""

from tests.faults.answers import ARRAYS
from tests.faults.fault import Fault
from tests.faults.memory import (
    COUNTS_UNTIL_CHANGED,
    GET_FROM_ROWS,
    IN_A_TRANSACTION,
    KEPT,
    ROWS_UNTIL_CHANGED,
    WITHIN,
    around_iterations,
)
from tests.faults.planted import Change, in_both
from tests.faults.times import CLOCK, DOTNET_QUARTER, DOTNET_THIRD, HYPERFINES, THIRD

READ, WRITE = "get-pk", "insert-autocommit"
RUST_WORKERS = "runners/rust/src/workers.rs"
DOTNET_ELAPSED = "Clock.Nanoseconds(laps.Max(lap => lap.End) - laps.Min(lap => lap.Start))"
CLOCKS = {"at half": "5 / 10", "at 0.3": "3 / 10", "at a tenth": "1 / 10"}


def clocks(share: str) -> dict[str, Change]:
    """Iterations that take a share of their time, by runner."""
    return {
        "node": (
            "runners/javascript/meeting.js",
            CLOCK,
            f"finish: (start, end) => Math.round((end - start) * {share}),",
        ),
        "rust": (
            RUST_WORKERS,
            "(end, start)| end - start)",
            f"(end, start)| (end - start) * {share})",
        ),
        "dotnet": (
            "runners/dotnet/src/Iterations.cs",
            DOTNET_ELAPSED,
            f"{DOTNET_ELAPSED} * {share}",
        ),
    }


LOOP = "else during(only, () => loop(from, to, counts, records));\n    const end = meeting.now();"
BEST_OF_THREE = (
    "runners/javascript/iterations.js",
    LOOP,
    (
        "let best = Infinity;\n"
        "    for (let pass = 0; pass < (measuring ? 3 : 1); pass++) {\n"
        "      const begun = meeting.now();\n"
        "      Object.assign(counts, { checksum: 0, rows: 0, affected: 0 });\n"
        "      loop(from, to, counts, records);\n"
        "      best = Math.min(best, meeting.now() - begun);\n"
        "    }\n"
        "    const end = start + best;"
    ),
)
QUARTERS = {
    "node": (
        "runners/javascript/iterations.js",
        "outcome.cpu_ns += after.cpu_ns - before.cpu_ns;",
        "outcome.cpu_ns += Math.round((after.cpu_ns - before.cpu_ns) / 4);",
    ),
    "rust": (
        RUST_WORKERS,
        "cpu_ns: usage.map(|usage| usage.cpu_ns),",
        "cpu_ns: usage.map(|usage| usage.cpu_ns / 4),",
    ),
    "dotnet": DOTNET_QUARTER,
}
# A second thread that burns CPU time from the middle of the measured iterations on.
SPINS = (
    "runners/javascript/iterations.js",
    "    const commit = begin();\n",
    (
        "    if (measuring && outcome.iterations_ns.length === iterations >> 1 && !warming)\n"
        "      new (process.getBuiltinModule('worker_threads').Worker)(\n"
        "        'for (;;);', { eval: true }).unref();\n"
        "    const commit = begin();\n"
    ),
)
NO_CHECKPOINTS = around_iterations(
    'db.exec("PRAGMA wal_autocheckpoint=0");', 'db.exec("PRAGMA wal_autocheckpoint=1000");'
)
GROWS = "makes no checkpoints"
AMID = "another process changed rows within an iteration"
OTHERS_CLOCK = "its times are not those of its clock"

FAULTS: list[Fault] = [
    *(
        fault
        for name, share in CLOCKS.items()
        for runner, change in clocks(share).items()
        for fault in in_both(
            f"a clock {name} in {runner}",
            READ,
            change,
            message=OTHERS_CLOCK,
            runner=runner,
        )
    ),
    *in_both("the best of three passes", READ, BEST_OF_THREE, message=AMID, fate="wrong"),
    *(
        fault
        for runner, change in QUARTERS.items()
        for case in (READ, WRITE)
        for fault in in_both(
            f"a quarter of the CPU time of {case} in {runner}",
            case,
            change,
            message="of CPU time; its thread used ",
            runner=runner,
            figure="cpu",
        )
    ),
    *in_both("a third of memory in node", READ, THIRD, message=HYPERFINES, figure="memory"),
    *in_both(
        "a third of memory in .NET",
        READ,
        DOTNET_THIRD,
        message=HYPERFINES,
        runner="dotnet",
        figure="memory",
    ),
    *in_both(
        "a thread that spins from the half on",
        READ,
        SPINS,
        message="did not rest: it used the processor for ",
        fate="apart",
    ),
    *in_both("a log without checkpoints", WRITE, *NO_CHECKPOINTS, message=GROWS),
    *in_both(
        "a statement kept for adhoc",
        f"{READ}@transaction=read,statement=adhoc",
        *KEPT,
        message="not compiled at each execution",
        fate="wrong",
    ),
    *in_both("arrays for objects", "all", *ARRAYS, message="the row is an array"),
    *in_both("a read transaction held", READ, *IN_A_TRANSACTION, message=WITHIN, fate="wrong"),
    *in_both(
        "rows kept until data_version changes",
        READ,
        *ROWS_UNTIL_CHANGED,
        GET_FROM_ROWS,
        message=WITHIN,
        fate="wrong",
    ),
    *in_both(
        "iterations kept so",
        READ,
        *COUNTS_UNTIL_CHANGED,
        message=WITHIN,
        fate="wrong",
    ),
]
