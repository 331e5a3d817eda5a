"""Each runner's generated loop against the loop written by hand for the same work.

`./just bench-overhead [-r RUNNER]… [--case CASE]… [--sets N]`. Both programs do the same job on the
same data, and both take two seats in each set of turns (docs/method.md, "Turns"), so that what
slows the machine down meets them alike. A set gives one figure: the log ratio of the levels, runner
to twin, mean of both pairs. `ratio` is the 20 %-trimmed mean over the sets with Yuen's 95 %
interval. `twin to itself` is the same of the twin's second seat to its first: it shows the noise,
and 1 should lie within its interval. All answers must agree, iteration by iteration.

`--busy N` starts N programs that never wait for every second set. `busy ÷ idle` is then the level
of all seats beside them over that of the set before: what the harness takes off laps for others is
neither too little nor too much where 1 lies within its interval. `before` is the same of laps of
which nothing was taken off.

An interval is `within` the limit (1.03; 1.05 for operations under 1 µs) when its upper end is,
`above` it when it lies wholly above, and else `not resolved`. Exit 1 when one lies above.
"""

import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import numpy as np
import typer

from benchmarks.plain_programs import job_of
from sqlitmus.catalog import cases, definitions, runners
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine import system
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.run.processes.process import Hyperfine, Invocation, invoke
from sqlitmus.run.processes.relay import Entry, Relay
from sqlitmus.run.processes.turns import Array, Turns, timed
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Result, Share

CASES = {
    "get-pk@transaction=read": ("get-pk in a read transaction", 400),
    "all": ("all of 100 rows", 8),
    "insert-transaction": ("insert, 100 rows per transaction", 4),
    "insert-transaction@binding=named": ("the same, bound by name", 4),
}
LIMIT, LIMIT_BELOW_1_US = 1.03, 1.05
TIMEOUT_S = 120.0
ROUNDS = 12
PILOT = Turns(5, 1, 0, 50)  # whose iterations tell how short one is
SEATS = range(4)  # the runner's are even, its twin's odd


def main(
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    case: Annotated[list[str] | None, typer.Option("--case")] = None,
    sets: Annotated[int, typer.Option(min=5)] = 10,
    lead_in_ms: Annotated[float, typer.Option(min=0)] = 20,
    lap_ms: Annotated[float, typer.Option(min=1)] = 10,
    warmup_ms: Annotated[int, typer.Option(min=1, max=2000)] = 300,  # its lines fit into a pipe
    busy: Annotated[int, typer.Option(min=0, help="Programs beside every second set.")] = 0,
) -> None:
    """Print one line per runner and workload."""
    if reason := unsupported():
        raise SystemExit(f"the two programs cannot take turns here: {reason}")
    catalog, tools = definitions.load(), paths.tools()
    names = runner or [name for name, spec in catalog.runners.items() if spec.handwritten]
    verdicts: list[str] = []
    print(
        f"{'runner':22} {'workload':34} {'by hand':>12} {'ratio':>7}  {'95 % interval':16}"
        f" {'limit':6}{'':14}twin to itself"
    )
    for installed in runners.discover(catalog, names, tools):
        spec = installed.spec
        if installed.missing or not spec.handwritten:  # named, but there is nothing to compare
            print(f"{spec.name:22} {installed.missing or 'nothing written by hand'}")
            continue
        for case_id in case or CASES:
            with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
                pair = Pair.of(catalog, installed, case_id, Path(folder), tools)
                steps = cases.steps_of(catalog.scenarios[pair.case.scenario], pair.case.axes)
                turns = pair.turns(max(warmup_ms, spec.least_warmup_ms(steps)), lead_in_ms, lap_ms)
                played: list[Sequence[tuple[float, float]]] = []
                for number in range(sets):
                    with beside(busy if number % 2 else 0):
                        played.append(pair.together(turns, str(number)))
            levels = np.array(played).transpose(2, 1, 0)  # kept and whole x seats x sets
            verdicts.append(_print(pair, CASES[case_id][0], levels[0]))
            if busy:
                _print_busy(levels, busy)
    sys.exit("above" in verdicts)


@dataclass(frozen=True, slots=True)
class Pair:
    """A runner and its hand-written twin on one workload."""

    catalog: Catalog
    installed: Installed
    case: PlannedCase
    commands: list[list[str]]
    hyperfine: Hyperfine
    folder: Path

    @classmethod
    def of(
        cls, catalog: Catalog, installed: Installed, case_id: str, folder: Path, tools: paths.Tools
    ) -> Self:
        """Both on a case of CASES; jobs, copies of the database and results go to `folder`."""
        name, axes = cases.parse_case(case_id, catalog)
        case = cases.make_case(name, axes, catalog, catalog.modes["quick"])
        case = case.model_copy(update={"operations": CASES[case_id][1]})
        twin = runners.expand(installed.spec.handwritten, tools)
        hyperfine = Hyperfine(tools.need("hyperfine"), folder)
        return cls(catalog, installed, case, [installed.command, twin], hyperfine, folder)

    def turns(self, warmup_ms: int, lead_in_ms: float, lap_ms: float) -> Turns:
        """Turns that last at least so long, by the shortest iteration of both programs, alone."""
        alone = [
            invoke(self.hyperfine, entry.command, entry.environment, entry.output, entry.log,
                   TIMEOUT_S)
            for entry in (self._entry(seat, PILOT, warmup_ms) for seat in SEATS[:2])
        ]  # fmt: skip
        shortest_ns = min(min(result.iterations_ns) for result in self._results(alone))
        warmup, lead_in, lap = (
            math.ceil(each * 1e6 / shortest_ns) for each in (warmup_ms, lead_in_ms, lap_ms)
        )
        return Turns(warmup, ROUNDS, lead_in, lap)

    def together(self, turns: Turns, seed: str) -> list[tuple[float, float]]:
        """The level of each seat in one set, in ns, and the mean of all its laps with what others
        took from them; `seed` decides who starts and goes when."""
        starts = random.Random(seed).sample(SEATS, len(SEATS))
        entries = [self._entry(seat, turns) for seat in starts]
        played = Relay(self.hyperfine, TIMEOUT_S, system.fastest()).play(entries, seed)
        seats = [played[starts.index(seat)] for seat in SEATS]
        results = self._results(seats)
        whole = [float(timed(result.iterations_ns, turns).mean()) for result in results]
        kept = [seat.laps.steady_ns if seat.laps else math.nan for seat in seats]
        return [*zip(kept, whole, strict=True)]

    def _entry(self, seat: int, turns: Turns, alone_ms: int = 0) -> Entry:
        """Its process in a set of turns, or alone after a warm-up of `alone_ms`."""
        folder = self.folder / str(seat)
        folder.mkdir(exist_ok=True)
        counts = {"iterations": turns.iterations, "warmup_iterations": turns.warmup}
        counted = self.case.model_copy(update={**counts, "warmup_ms": alone_ms})
        job = job_of(self.catalog, counted, self.installed, folder)
        share = None if alone_ms else Share(of=job.measure.workers)
        measure = job.measure.model_copy(update={"share": share})
        file, output = folder / "job.json", Path(job.output)
        file.write_text(job.model_copy(update={"measure": measure}).text(), encoding="utf-8")
        environment = {**self.installed.environment, **self.installed.spec.steady_environment}
        words = [*self.commands[seat % 2], "--job", str(file)]
        return Entry(words, environment, turns, output, folder / "log", self.case.workers == 1)

    def _results(self, invocations: Sequence[Invocation]) -> list[Result]:
        """Their results, by seat; ends the benchmark where one is missing or answers differ."""
        results: list[Result] = []
        for seat, invocation in enumerate(invocations):
            result = invocation.result
            if result is None or result.status != "ok" or not result.answers:
                log = (self.folder / str(seat) / "log").read_text("utf-8", errors="replace")
                told = invocation.problem or (result and result.model_dump_json())
                raise SystemExit(f"{self._program(seat)}: {told}\n{log}")
            results.append(result)
        # A warm-up that lasts so long, alone, has more iterations in one program than in the other.
        for number, told in enumerate(zip(*(each.answers for each in results), strict=False)):
            if len(set(told)) > 1:
                raise SystemExit(f"{self._program(1)}: iteration {number} differs: {told}")
        return results

    def _program(self, seat: int) -> str:
        by_hand = " by hand" if seat % 2 else ""
        return f"{self.installed.spec.name}{by_hand}, {self.case.id}"


def verdict(low: float, high: float, limit: float) -> str:
    """Where the interval of a ratio lies; `not resolved` where there is none (NaN), too."""
    return "within" if high <= limit else "above" if low > limit else "not resolved"


def _print(pair: Pair, title: str, levels: Array) -> str:
    """A line of the table from levels in ns (seats x sets); its verdict."""
    logs = np.log(levels)
    rows = np.array([(logs[0] + logs[2] - logs[1] - logs[3]) / 2, logs[3] - logs[1]])
    estimate = trimmed_means(rows)
    low, high = estimate.interval()
    ratio, twin = np.exp([estimate.mean, low, high]).T
    by_hand = float(np.median(levels[1::2])) / pair.case.operations / pair.case.per_operation
    limit = LIMIT if by_hand >= 1000 else LIMIT_BELOW_1_US
    word = verdict(ratio[1], ratio[2], limit)
    print(
        f"{pair.installed.spec.name:22} {title:34} {by_hand:9.0f} ns {_interval(ratio)}  "
        f"{limit:<6}{word:14}{_interval(twin)}",
        flush=True,
    )
    return word


def _print_busy(levels: Array, count: int) -> None:
    """A line of what the sets beside busy programs took over the others; `levels` are in ns, kept
    and whole x seats x sets, the busy sets every second."""
    logs = np.log(levels).mean(axis=1)  # of all seats, which others meet alike
    pairs = logs.shape[1] // 2
    estimate = trimmed_means(logs[:, 1 : 2 * pairs : 2] - logs[:, 0 : 2 * pairs : 2])
    low, high = estimate.interval()
    kept, whole = np.exp([estimate.mean, low, high]).T
    others = f"beside {count} busy programs" if count > 1 else "beside a busy program"
    print(
        f"{'':22} {others:34} busy ÷ idle {_interval(kept)}  before {_interval(whole)}", flush=True
    )


@contextmanager
def beside(count: int) -> Generator[None]:
    """So many programs that never wait, until the block ends."""
    loop = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(loop) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def _interval(figures: Array) -> str:
    return "{:7.3f}  [{:.3f}, {:.3f}]".format(*figures)


if __name__ == "__main__":
    typer.run(main)
