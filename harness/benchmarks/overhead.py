"""Each runner's generated loop against the loop written by hand for the same work.

`./just bench-overhead [-r RUNNER]… [--rounds N]`. Both programs do the same job on one file, in
fresh processes that take turns in random order; a round gives one ratio. A process stands for its
fastest iteration of many short ones: what disturbs a loop only adds, and the loops' own cost is
asked for, not what a user would see. The figure is the 20 %-trimmed mean of the rounds' log-ratios
with Yuen's 95 % interval. Checksums must agree. Exit 1 when an interval lies wholly above the limit
(1.03; 1.05 for operations under 1 µs).
"""

import json
import math
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.asked import job_of
from sqlitmus.catalog import cases, definitions, runners
from sqlitmus.run.hyperfine import Hyperfine, Invocation, invoke
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.vocabulary import paths

CASES = {
    "get-pk@transaction=read": ("get-pk in a read transaction", 400),
    "all": ("all of 100 rows", 8),
    "insert-transaction": ("insert, 100 rows per transaction", 4),
}
LIMIT, LIMIT_BELOW_1_US = 1.03, 1.05
TIMEOUT_S = 120.0


def main(
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    case: Annotated[list[str] | None, typer.Option("--case")] = None,
    rounds: Annotated[int, typer.Option(min=3)] = 20,
    warmup_ms: int = 300,
    iterations: int = 200,
) -> None:
    """Print one line per runner and workload."""
    known, tools = definitions.load(), paths.tools()
    names = runner or [name for name, spec in known.runners.items() if spec.handwritten]
    above = False
    print(f"{'runner':22} {'workload':34} {'by hand':>12} {'ratio':>7}  95 % interval   limit")
    for installed in runners.discover(known, names, tools):
        spec = installed.spec
        if installed.missing or not spec.handwritten:  # named, but there is nothing to compare
            print(f"{spec.name:22} {installed.missing or 'nothing written by hand'}")
            continue
        for case_id in case or CASES:
            title, operations = CASES[case_id]
            with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
                pair = _Pair(known, installed, case_id, operations, Path(folder), tools)
                ratios, by_hand_ns = pair.compare(
                    rounds, max(warmup_ms, spec.warmup_ms), iterations
                )
            estimate = trimmed_means(np.log(np.array([ratios])))
            low, high = estimate.interval()
            limit = LIMIT if by_hand_ns >= 1000 else LIMIT_BELOW_1_US
            above = above or math.exp(low[0]) > limit
            print(
                f"{spec.name:22} {title:34} {by_hand_ns:9.0f} ns "
                f"{math.exp(estimate.mean[0]):7.3f}  "
                f"[{math.exp(low[0]):.3f}, {math.exp(high[0]):.3f}]  {limit}",
                flush=True,
            )
    sys.exit(1 if above else 0)


class _Pair:
    """The runner and its hand-written twin on one workload."""

    def __init__(
        self,
        known: definitions.Catalog,
        installed: runners.Installed,
        case_id: str,
        operations: int,
        folder: Path,
        tools: paths.Tools,
    ) -> None:
        self._known = known
        self._installed = installed
        self._folder = folder
        self._commands = [
            installed.command,
            runners.expand(installed.spec.handwritten, tools),
        ]
        self._executor = Hyperfine(tools.need("hyperfine"), folder)
        name, axes = cases.parse_case(case_id, known)
        case = cases.make_case(name, axes, known, known.modes["quick"])
        self._case = case.model_copy(update={"operations": operations})

    def compare(self, rounds: int, warmup_ms: int, iterations: int) -> tuple[list[float], float]:
        """Ratios runner / by hand, one per round, and the latter's nanoseconds per unit of work."""
        timings: list[tuple[float, float]] = []
        rng = random.Random(1)
        for _ in range(rounds):
            order = [0, 1] if rng.random() < 0.5 else [1, 0]
            got = {which: self._once(which, warmup_ms, iterations) for which in order}
            timings.append((got[0], got[1]))
        units = self._case.operations * self._case.per_operation
        by_hand = statistics.median(hand for _, hand in timings) / units
        return [runner / hand for runner, hand in timings], by_hand

    def _once(self, which: int, warmup_ms: int, iterations: int) -> float:
        case = self._case.model_copy(
            update={"warmup_ms": warmup_ms, "warmup_iterations": 5, "iterations": iterations}
        )
        job = job_of(self._known, case, self._installed, self._folder)
        file = self._folder / "job.json"
        file.write_text(job.text(), encoding="utf-8")
        done = invoke(
            self._executor,
            [*self._commands[which], "--job", str(file)],
            {**self._installed.environment, **self._installed.spec.steady_environment},
            Path(job.output),
            self._folder / "log",
            TIMEOUT_S,
        )
        return self._checked(done)

    def _checked(self, done: Invocation) -> float:
        if done.result is None or done.result.status != "ok":
            log = (self._folder / "log").read_text(encoding="utf-8", errors="replace")
            told = done.problem or json.dumps(done.result and done.result.model_dump())
            raise SystemExit(f"{self._installed.spec.name}: {told}\n{log}")
        answer = (done.result.rows, done.result.affected, done.result.checksum)
        first = getattr(self, "_answer", answer)
        if answer != first:
            raise SystemExit(f"{self._installed.spec.name}: answers differ: {answer} and {first}")
        self._answer = answer
        return min(done.result.iterations_ns)


if __name__ == "__main__":
    typer.run(main)
