"""What proving answers costs a quick run: `./just bench-proofs`.

Measures each steady cell of a kept quick run with that run's counts, in turn with a digest after
the measured iterations and without; then asks each runner whether it answers from the database.
Prints what that takes, and the share of the processes of all blocks of that run, the canary's and
those that are measured whole left out.
"""

import statistics
import time
from dataclasses import replace

from sqlitmus.catalog import definitions
from sqlitmus.catalog.plan import Case
from sqlitmus.run.blocks import witnesses
from sqlitmus.run.context import Context, opened
from sqlitmus.run.judge import OracleAnswer
from sqlitmus.run.memory import Memory
from sqlitmus.run.prober import prove_fresh
from sqlitmus.run.progress import Progress
from sqlitmus.run.schedule import Slot
from sqlitmus.run.store import RunDirectory
from sqlitmus.run.verify import oracle_answer, verify_cells
from sqlitmus.vocabulary import paths

KEPT = paths.ROOT / "reports/example/runs/report"
TIMES = 3


def main() -> None:
    """Print a line per case, and the sums."""
    catalog, plan = definitions.load(), RunDirectory(KEPT).plan()
    session = opened(
        catalog, paths.tools(), Progress(quiet=True), plan.cells, size="m", timeout_s=60, fresh=True
    )
    digests = plain = 0.0
    with session as context:
        cells = context.present(plan.cells)
        answers = verify_cells(context, plan.cases, cells)
        for case in plan.cases:
            names = [n for n in cells[case.id] if witnesses(Slot(0, 0, case.id, n, n), 0, case)]
            walls = {
                name: _walls_s(context, counted, name, oracle_answer(context, counted, answers))
                for name in names
                for counted in [plan.counted(case, name)]
            }
            costs = {name: with_digest - without for name, (without, with_digest) in walls.items()}
            digests += sum(costs.values())
            plain += sum(without for without, _ in walls.values())
            told = ", ".join(f"{name} {1000 * cost:.0f}" for name, cost in costs.items())
            print(f"{case.id}: milliseconds of a digest: {told or 'none'}", flush=True)
        begin = time.monotonic()
        anew = replace(context, memory=Memory(fresh=True))
        prove_fresh(anew, plan.cases, dict(answers.records))
        asked = time.monotonic() - begin
    blocks = plan.blocks * plain
    print(f"digests: {digests:.1f} s beside {blocks:.0f} s of processes, {digests / blocks:.1%}")
    print(f"whether runners answer from the database: {asked:.1f} s, once for each build of them")


def _walls_s(
    context: Context, case: Case, name: str, answer: OracleAnswer | None
) -> tuple[float, float]:
    """Seconds of a process without a digest and of one with it: medians, measured in turn."""
    runner = context.installed[name]
    walls: tuple[list[int], list[int]] = ([], [])
    for _ in range(TIMES):
        for digest in (False, True):
            attempt = context.invocations.attempt(case, runner, "measure", answer, digest=digest)
            timing = attempt.invocation.timing
            assert attempt.outcome == "ok", attempt.reason
            assert timing
            walls[digest].append(timing.wall_ns)
    without, with_digest = (statistics.median(series) / 1e9 for series in walls)
    return without, with_digest


if __name__ == "__main__":
    main()
