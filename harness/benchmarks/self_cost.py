"""What sqlitmus itself costs: fixtures, invocations, proofs of writes, memory, reports.

`./just bench-self [N]` runs N invocations of one quick cell as a session would (job, hyperfine,
result, synced sample) and prints the milliseconds beyond the runner's life, for reading cases and
for a writing one, the part of it that a look at the fixtures takes, and the harness's resident
memory before and after. For the default case of each writing scenario, N / 10 invocations show what
proving its writes costs: at each invocation, and where the file is like none before, so that it is
opened. Then it analyses the largest kept run and renders synthetic reports of 600 and 2,000 cells.
"""

import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import load
from sqlitmus.catalog import cases, definitions, fixture
from sqlitmus.render import markdown
from sqlitmus.render.document.build import build
from sqlitmus.render.html import page as html
from sqlitmus.results.report import Report
from sqlitmus.run.measure.agenda import Slot
from sqlitmus.run.measure.blocks import record_of
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.verify.context import Context, opened
from sqlitmus.run.verify.proof import Files, Held
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Readback
from tests.fakes.small import PLAN
from tests.render import synthetic

KEPT = Path(__file__).parents[2] / "reports" / "example" / "runs" / "claims"

CASES = ("startup-noop", "startup-first-row", "insert-transaction")
RUNNERS = ("rust-ffi", "bun", "node", "python")


class TimedFiles(Files):
    """Files that note the milliseconds of each look, and whether it opened the file."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[tuple[float, bool]] = []

    def held(
        self,
        file: Path,
        queries: Sequence[Readback],
        origin: Path | None = None,
        checks: Mapping[str, str] | None = None,
    ) -> Held:
        """See Files."""
        begin, opened = time.perf_counter_ns(), self.opened
        try:
            return super().held(file, queries, origin, checks)
        finally:
            spent = (time.perf_counter_ns() - begin) / 1e6
            self.looks.append((spent, self.opened > opened))


def main(count: int, size: str = "m", reports: Sequence[int] = (60, 200)) -> None:
    """Print one line per case; fixtures have that size, and synthetic reports so many cases."""
    known, tools = definitions.load(), paths.tools()
    there = {name for name, spec in known.runners.items() if spec.tool in tools.paths}
    runner = next(name for name in RUNNERS if name in there)
    cells = {case: [runner] for case in CASES}
    _time_fixtures(known, size)
    quiet = Progress(quiet=True)
    session = opened(known, tools, quiet, cells, size=size, timeout_s=60, fresh=False)
    with session as context, tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
        directory = RunDirectory.create(Path(folder) / "run", PLAN, {}, [])
        numbers = itertools.count()
        before = _resident_mb()
        for case_id in CASES:
            name, axes = cases.parse_case(case_id, known)
            case = cases.make_case(name, axes, known, known.modes["quick"])
            want = (
                context.invocations.ask_oracle(case.answered(), context.oracle)
                if case.sql
                else None
            )
            own: list[float] = []
            for _ in range(count):
                begin = time.perf_counter_ns()
                attempt = context.invocations.attempt(
                    case, context.installed[runner], "measure", want
                )
                number = next(numbers)
                slot = Slot(number, number, 0, PLAN.cases[0].id, PLAN.names[0], PLAN.names[0])
                directory.add([record_of(slot, attempt)])
                spent = time.perf_counter_ns() - begin
                assert attempt.invocation.timing is not None, attempt.reason
                own.append((spent - attempt.invocation.timing.wall_ns) / 1e6)
            own.sort()
            print(
                f"{case_id:20} {runner:8} {count} invocations: "
                f"median {statistics.median(own):.2f} ms, "
                f"90 % below {own[count * 9 // 10]:.2f} ms beyond the runner's life"
            )
        begin = time.perf_counter_ns()
        for _ in range(count):
            context.invocations.fixtures.harm()
        look_ms = (time.perf_counter_ns() - begin) / count / 1e6
        print(f"a look at their fixtures, after each invocation: {look_ms:.3f} ms")
        _time_proofs(context, known, runner, max(count // 10, 1))
        print(f"resident memory {before:.0f} MB at the start, {_resident_mb():.0f} MB at the end")
    _time_reports(reports)


def _time_proofs(context: Context, known: definitions.Catalog, runner: str, count: int) -> None:
    """Print a line per writing scenario."""
    for name, spec in known.scenarios.items():
        if not spec.writes or spec.memory:
            continue
        planned = cases.make_case(*cases.parse_case(name, known), known, known.modes["quick"])
        case = planned.model_copy(
            update={"warmup_ms": 0}
        )  # so the oracle knows how much is written
        files = context.invocations.files = TimedFiles()
        answer = context.invocations.ask_oracle(case.answered(), context.oracle)
        files.looks.clear()
        for _ in range(count):
            attempt = context.invocations.attempt(
                case, context.installed[runner], "measure", answer
            )
            assert attempt.held is not None, attempt.reason
        spent = [ms for ms, _ in files.looks]
        dear = [ms for ms, opened in files.looks if opened]
        print(
            f"proof of {name:20} {runner:8} {len(spent)} invocations: "
            f"median {statistics.median(spent):.2f} ms, mean {statistics.mean(spent):.2f} ms; "
            f"{len(dear)} files opened"
            + (f", median {statistics.median(dear):.1f} ms" if dear else "")
        )


def _time_fixtures(known: definitions.Catalog, size: str) -> None:
    """Print how long each fixture takes to build."""
    for name, definition in known.fixtures.items():
        with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
            begin = time.perf_counter()
            path = fixture.ensure(name, definition, size, "wal", Path(folder))
            spent = time.perf_counter() - begin
            held_mb = path.stat().st_size / 2**20
            print(f"fixture {name:12} size {size}: {spent:.2f} s, {held_mb:.1f} MB")


def _time_reports(sizes: Sequence[int]) -> None:
    """Print the CPU seconds of an analysis, and of rendering pages of so many cases."""
    print(f"analysis of {KEPT.name}: {_cpu_s(lambda: analyse(load(KEPT))):.2f} s of CPU")
    renderers: dict[str, Callable[[Report], str]] = {
        "html": html.render,
        "md": lambda report: markdown.render(build(report)),
    }
    for number in sizes:
        report = synthetic.build(cases=number, blocks=30)
        cells = sum(len(case.cells) for case in report.cases)
        for kind, render in renderers.items():
            spent = _cpu_s(lambda render=render, report=report: render(report))
            print(f"report of {cells} cells as {kind}: {spent:.2f} s of CPU")


def _cpu_s(act: Callable[[], object]) -> float:
    begin = os.times().user
    act()
    return os.times().user - begin


def _resident_mb() -> float:
    return psutil.Process().memory_info().rss / 2**20


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
