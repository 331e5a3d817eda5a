"""Results, what is made of them, and counts, of which a test says only what it is about."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlitmus.catalog.cases import Counts
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine.process_tree import Writes
from sqlitmus.machine.system import Limits
from sqlitmus.run.processes.process import Invocation, Timing, Turn
from sqlitmus.run.verify import judge
from sqlitmus.run.verify.bounds import Arrangement
from sqlitmus.run.verify.judge import Evidence, OracleAnswer, PreparedJob, Requirements
from sqlitmus.run.verify.proof import Failing, Files, Held
from sqlitmus.vocabulary.contract import Description, Proof, Result, Sequence
from tests.analysis.runs import bucket
from tests.known import KNOWN

NOTHING: Mapping[str, Any] = {}
RESULT: dict[str, Any] = {
    "contract": 2,
    "cell": "a/b",
    "status": "ok",
    "identity": {
        "runner": "x",
        "runtime": {"name": "x", "version": "1"},
        "driver": {"name": "x", "version": "1"},
        "architecture": "x86_64",
    },
}
PYTHON = Installed(KNOWN.runners["python"], [], {}, None, None, "")
SECOND = Timing(10**9, 800 * 10**6, 100 * 10**6, 0, 100 * 2**20)
LIMITS = Limits(cores=4, memory=8 * 2**30, tick_ns=1)
ALONE = Arrangement(workers=1, processes=1, resets=False, planned=False)
MEASURED = Requirements("measure", 1, 3, inspect=True, pragmas=[], engine={})


def result(**changes: Any) -> Result:
    return Result.model_validate({**RESULT, **changes})


def ended(**changes: Any) -> Invocation:
    """A process with such a result."""
    return Invocation(None, result(**changes), None)


def timing(
    writes: tuple[int, ...] | None = None, turns: Iterable[tuple[Any, ...]] = (), **changes: Any
) -> Timing:
    """That of a process which lived for a second and used 0.9 s and 100 MiB."""
    taken = [Turn(*turn) for turn in turns]
    return replace(SECOND, writes=writes and Writes(*writes), turns=taken, **changes)


def histogram(*seconds: float) -> dict[str, Any]:
    """The histogram of these latencies."""
    return {"buckets": [(bucket(round(1e9 * each)), 1) for each in seconds]}


def held(
    rows: int, checksum: int, digest: str = "d", failing: Mapping[str, tuple[int, str]] = NOTHING
) -> Held:
    """The content of a database, in which checks find so many rows, first that one."""
    proof = Proof(rows=rows, checksum=checksum)
    return Held(proof, digest, failing={name: Failing(*found) for name, found in failing.items()})


def verdict(
    given: Result,
    answer: OracleAnswer | None = None,
    required: Requirements = MEASURED,
    *,
    content: Held | None = None,
    description: Mapping[str, Any] = NOTHING,
    timing: Timing | None = None,
    limits: Mapping[str, Any] = NOTHING,
    how: Mapping[str, Any] = NOTHING,
    shows_values: bool = False,
) -> str:
    """The outcome of a result, and of the `content` that its process left; its reason, if any."""
    here = Path()
    done = dict(how)
    if "sequence" in done:
        done["sequence"] = Sequence.model_validate(done["sequence"])
    of, machine = replace(ALONE, **done), replace(LIMITS, **limits)
    job = PreparedJob("a/b", here, here, required, of, None, None, [], frozenset(), "")
    runner = PYTHON
    if description:
        runner = replace(runner, description=Description.model_validate(description))
    run = Invocation(timing, given, None)
    evidence = Evidence(runner, job, run, answer, here, Files(), machine)
    evidence = replace(evidence, shows_values=shows_values)
    vars(evidence)["held"] = content  # as if the file had been read
    outcome, reason = judge.judge(evidence)
    return f"{outcome}: {reason}" if reason else outcome


def planned(
    deviation: float | None = 0.01,
    operation_ns: float | None = None,
    seconds: float = 1.0,
    **more: Any,
) -> Counts:
    """The counts of a cell."""
    given = {"operations": 1, "iterations": 5, "warmup_iterations": 0, "warmup_ms": 0, **more}
    seen = {"seconds": seconds, "deviation": deviation, "operation_ns": operation_ns}
    return Counts.model_validate({**given, **seen})
