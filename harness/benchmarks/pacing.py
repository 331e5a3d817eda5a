"""How late an open loop starts its operations: each runner alone, processes in turns.

`./just bench-pacing [-r RUNNER]… [--rounds N]`. One reader performs an operation of
`writer-and-readers` at each planned time, 1,000 a second; "beside" adds the claim's second reader
and its writer, which makes three threads. A process's figure is the 99th percentile of how late
those operations started for which it waited, as the claims page shows it. "the machine" is a bare
loop of this process that sleeps and spins for the same times: how late the system itself is.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.asked import job_of
from sqlitmus.catalog import cases, definitions, runners
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.hyperfine import Hyperfine, invoke
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.job import Job
from sqlitmus.vocabulary.detail import detail

CASES = {"alone": "writer-and-readers@workers=1", "beside": "writer-and-readers"}
TIMEOUT_S = 60.0
OPERATIONS, GAP_NS, SPIN_NS = 1000, 1_000_000, 200_000


def main(
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    rounds: Annotated[int, typer.Option(min=1)] = 10,
) -> None:
    """Print one line per runner and case."""
    known, tools = definitions.load(), paths.tools()
    names = runner or [n for n, one in known.runners.items() if one.role in ("runner", "floor")]
    found = [one for one in runners.discover(known, names, tools) if not one.missing]
    late: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
        hyperfine = Hyperfine(tools.need("hyperfine"), Path(folder))
        for _ in range(rounds):
            late.setdefault(("the machine", "alone"), []).append(_bare_ns() / 1e6)
            for installed, what in _turns(found):
                seen = _pacing_ns(known, installed, what, hyperfine, Path(folder))
                late.setdefault((installed.spec.name, what), []).append(seen / 1e6)
    print(f"99th percentile of {rounds} processes each, ms: median, three quarters, worst")
    for (name, what), values in sorted(late.items()):
        median, most = np.percentile(values, [50, 75])
        print(f"{name:20} {what:7} {median:6.3f} {most:6.3f} {max(values):6.3f}")


def _bare_ns() -> float:
    seen: list[int] = []
    due = time.perf_counter_ns()
    for _ in range(OPERATIONS):
        due += GAP_NS
        left = due - SPIN_NS - time.perf_counter_ns()
        if left > 0:
            time.sleep(left / 1e9)
        while (now := time.perf_counter_ns()) < due:
            pass
        seen.append(now - due)
    return float(np.percentile(seen, 99))


def _turns(found: list[Installed]) -> Iterator[tuple[Installed, str]]:
    for what in CASES:
        for installed in found:
            yield installed, what


def _pacing_ns(
    known: definitions.Catalog, installed: Installed, what: str, hyperfine: Hyperfine, scratch: Path
) -> float:
    job, file = _job(known, installed, what, scratch), scratch / "job.json"
    file.write_text(job.text(), encoding="utf-8")
    line = [*installed.command, "--job", str(file)]
    done = invoke(
        hyperfine, line, installed.environment, Path(job.output), scratch / "log", TIMEOUT_S
    )
    if done.result is None or done.result.status != "ok":
        raise SystemExit(f"{job.cell}: {done.problem or done.result}")
    late = detail(0, 0, done.result, None).pacing_p99_ns
    if late is None:
        raise SystemExit(f"{job.cell}: waited for no operation")
    return late


def _job(known: definitions.Catalog, installed: Installed, what: str, scratch: Path) -> Job:
    name, axes = cases.parse_case(CASES[what], known)
    case = cases.make_case(name, axes, known, known.modes["quick"])
    job = job_of(known, case, installed, scratch)
    return job.model_copy(update={"writer": None}) if what == "alone" else job


if __name__ == "__main__":
    typer.run(main)
