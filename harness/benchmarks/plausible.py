"""How near honest cells come to the bounds beyond which figures are called impossible.

`./just bench-plausible [--suite NAME] [-r RUNNER]…` measures each cell of the suite once, in one
process, as planned, as in a pilot and, if it never waits, as in turns, and prints for each bound of
`run/verify/bounds.py` the cells that come nearest, as a share of the bound: 1 is the bound itself.
Load the machine meanwhile to see what load does to them; `--repeat` measures each so often.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from sqlitmus.catalog import definitions
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.choose import choose
from sqlitmus.machine.system import limits
from sqlitmus.run.measure import blocks
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.processes.turns import Turns
from sqlitmus.run.verify import bounds
from sqlitmus.run.verify.context import Context, opened
from sqlitmus.run.verify.invocations import Attempt
from sqlitmus.vocabulary import paths

SHOWN = 3
LOOKS = {"as planned": (50, 3), "as in a pilot": (300, 12)}  # ms of warm-up, iterations
TURNS = Turns(warmup=50, rounds=4, lead_in=2, lap=8)


def main(
    suite: str = "quick",
    runner: Annotated[list[str] | None, typer.Option("-r", "--runner")] = None,
    size: str = "m",
    repeat: int = 1,
) -> None:
    """Print a line per bound and cell; exit 1 if a cell is beyond one."""
    catalog, tools, ours = definitions.load(), paths.tools(), limits()
    cases, cells = choose(catalog, suite, catalog.modes["quick"], [], runner or [], [], None)
    nearest: dict[str, list[tuple[float, str, str]]] = {}
    count = 0
    progress = Progress()
    with opened(catalog, tools, progress, cells, size=size, timeout_s=120, fresh=False) as context:
        for case in cases:
            for name in context.present({case.id: cells[case.id]})[case.id]:
                for look, attempt_it in _looks(context, case, name) * repeat:
                    progress.step(f"{case.id}  {name}")
                    attempt = attempt_it()
                    timing, result = attempt.invocation.timing, attempt.invocation.result
                    if timing is None or result is None or result.status != "ok":
                        continue
                    count += 1
                    spec = catalog.scenarios[case.scenario]
                    how = bounds.Arrangement.of(case, spec, catalog.runners[name])
                    for bound in bounds.held(timing, result, how, ours):
                        share = (
                            bound.value / bound.most if bound.most > 0 else float(bound.value > 0)
                        )
                        line = f"{case.id}/{name}, {look}", bound.problem
                        nearest.setdefault(bound.bound, []).append((share, *line))
    print(f"{count} processes on {ours.cores} processors")
    worst = 0.0
    for name, cells_near in nearest.items():
        cells_near.sort(reverse=True)
        worst = max(worst, cells_near[0][0])
        print(f"\n{name}")
        for share, cell, problem in cells_near[:SHOWN]:
            print(f"  {share:6.3f}  {cell}: {problem}")
    raise typer.Exit(1 if worst > 1 else 0)


def _looks(
    context: Context, case: PlannedCase, name: str
) -> list[tuple[str, Callable[[], Attempt]]]:
    """The ways to measure a cell once, by what they are like."""
    runner, steady = context.installed[name], case.metric == "steady" and not case.fixed
    ways: list[tuple[str, Callable[[], Attempt]]] = []
    for look, (warmup_ms, iterations) in LOOKS.items():
        counts = {"warmup_ms": warmup_ms, "iterations": iterations}
        trial = case.model_copy(update=counts) if steady else case
        ways.append((look, partial(context.invocations.attempt, trial, runner, "measure", None)))
    spec = context.catalog.scenarios[case.scenario]
    how = bounds.Arrangement.of(case, spec, runner.spec)
    if steady and context.relay and how.never_waits:
        counts = {"warmup_ms": 0, "warmup_iterations": TURNS.warmup, "iterations": TURNS.iterations}
        seating = blocks.Seating(case.model_copy(update=counts), runner, name, TURNS, None)
        play = partial(
            blocks.play, context.invocations, context.relay, [seating], "", lambda: False
        )
        ways.append(("as in turns", lambda: play()[0]))
    return ways


if __name__ == "__main__":
    typer.run(main)
