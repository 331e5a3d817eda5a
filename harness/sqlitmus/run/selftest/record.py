"""Records both schemes of measuring in one sitting: blocks of a pass of each, in random order."""

import random
import time
from collections.abc import Iterator
from itertools import count

from sqlitmus.catalog.cases import make_case, parse_case
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.machine import lock
from sqlitmus.run.context import Context, opened
from sqlitmus.run.progress import Progress, clock
from sqlitmus.run.selftest.keep import Recording
from sqlitmus.run.selftest.passes import INTERRUPTED, Pass, Work, play, prepare
from sqlitmus.run.verify import verify_cells
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.suggest import unknown
from sqlitmus.vocabulary.terms import Scheme

BLOCKS = 30


def record(
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    *,
    runner: str,
    case_id: str,
    budget_s: float,
    seed: int,
    wait: bool,
    scheme: Scheme | None = None,
) -> dict[Scheme, Recording]:
    """Measure as many blocks as fit, in each scheme that the case and the system allow.

    `scheme` asks for one of them. Raises NotFit when a cell goes wrong or too few blocks fit.
    """
    if runner not in catalog.runners:
        raise UsageError(unknown("runner", runner, catalog.runners))
    mode = catalog.modes["quick"]
    case = make_case(*parse_case(case_id, catalog), catalog, mode)
    if case.metric == "cold":
        raise UsageError(f"{case_id} is a cold case; the self-test needs a steady one")
    cells = {case.id: [runner]}
    with (
        lock.hold("selftest", wait=wait, say=progress.insist) as handle,
        opened(
            *(catalog, tools, progress, cells),
            size="m",
            timeout_s=60.0,
            fresh=False,
            held=(handle,),
        ) as context,
    ):
        answers = verify_cells(context, [case], cells)
        schemes: list[Scheme] = [scheme] if scheme else ["process", "relay"]
        prepared = [prepare(context, case, runner, mode, name, answers) for name in schemes]
        context.memory.save()
        works = [work for work in prepared if work]
        if not works:
            raise UsageError(
                f"processes of {case_id} cannot take turns on this machine; ask for "
                "--scheme process"
            )
        blocks = list(_blocks(context, works, budget_s, seed))
    if len(blocks) < BLOCKS:
        raise NotFit(
            f"only {counted(len(blocks), 'block')} fitted, {BLOCKS} are needed; give more "
            "--time-budget"
        )
    return {
        work.scheme: Recording(
            [block[work.scheme].equal for block in blocks],
            [block[work.scheme].slower for block in blocks],
            [block[work.scheme].seconds for block in blocks],
        )
        for work in works
    }


def _blocks(
    context: Context, works: list[Work], budget_s: float, seed: int
) -> Iterator[dict[Scheme, Pass]]:
    """Blocks while another one fits, each with a pass of every scheme."""
    rng = random.Random(seed)
    begin = time.monotonic()
    for number in count():
        spent = time.monotonic() - begin
        if number and spent + spent / number > budget_s:
            return
        if context.stop.requested:
            raise NotFit(INTERRUPTED)
        context.progress.step(
            f"block {number + 1}  {clock(budget_s - spent)} left  {works[0].equal.case.id}  "
            f"{works[0].runner}",
            milestone=number % 20 == 0,
        )
        yield {
            work.scheme: play(context, work, rng, f"{seed}/{number}")
            for work in rng.sample(works, len(works))
        }
