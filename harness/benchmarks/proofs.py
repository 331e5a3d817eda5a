"""What proving answers costs a quick run: `./just bench-proofs`.

Performs each steady cell of a kept quick run with that run's counts, in turn without a digest after
the measured iterations and with one, and asks each runner whether it answers from the database.
Prints the processor time of the digests, which a busy machine changes little, and its share of what
the processes of all blocks take; the canary and cells that are measured whole are left out of that.
"""

import time

from sqlitmus.catalog import definitions
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.run.context import Context, opened
from sqlitmus.run.judge import Verified
from sqlitmus.run.prober import prove_fresh
from sqlitmus.run.progress import Progress
from sqlitmus.run.sampling import witnesses
from sqlitmus.run.schedule import Slot
from sqlitmus.run.store import RunDirectory
from sqlitmus.vocabulary import paths

KEPT = paths.ROOT / "reports/example/runs/report"
TIMES = 2


def main() -> None:
    """Print a line per case, and the sums."""
    catalog, plan = definitions.load(), RunDirectory(KEPT).plan()
    session = opened(
        catalog, paths.tools(), Progress(quiet=True), plan.cells, size="m", timeout_s=60, fresh=True
    )
    digests = plain = 0.0
    with session as context:
        cells = context.present(plan.cells)
        for case in plan.cases:
            names = [n for n in cells[case.id] if witnesses(Slot(0, 0, 0, case.id, n, n), 0, case)]
            spent = {name: _cpu_s(context, plan.counted(case, name), name) for name in names}
            costs = {name: with_digest - without for name, (without, with_digest) in spent.items()}
            digests += sum(costs.values())
            plain += sum(without for without, _ in spent.values())
            each = ", ".join(f"{name} {1000 * cost:.0f}" for name, cost in costs.items())
            print(f"{case.id}: milliseconds of a digest: {each or 'none'}", flush=True)
        records = {
            (case.id, name): Verified(case=case.id, runner=name, outcome="ok")
            for case in plan.cases
            for name in cells[case.id]
        }
        begin = time.monotonic()
        prove_fresh(context, plan.cases, records)
        questions_s = time.monotonic() - begin
    blocks = plan.blocks * plain
    print(f"digests: {digests:.1f} s beside {blocks:.0f} s of processes, {digests / blocks:.1%}")
    print(
        f"whether runners answer from the database: {questions_s:.1f} s for each new build of them"
    )


def _cpu_s(context: Context, case: PlannedCase, name: str) -> tuple[float, float]:
    """Processor seconds of a process without a digest and of one with it: the least of each."""
    least = [float("inf")] * 2
    for _ in range(TIMES):
        for digest in (False, True):
            attempt = context.invocations.attempt(
                case, context.installed[name], "measure", None, digest=digest
            )
            timing = attempt.invocation.timing
            assert attempt.outcome == "ok", attempt.reason
            assert timing
            least[digest] = min(least[digest], (timing.user_ns + timing.system_ns) / 1e9)
    return least[0], least[1]


if __name__ == "__main__":
    main()
