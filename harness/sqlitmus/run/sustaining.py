"""Climbs the ladder of rates with each runner, block by block; every probe is a fresh process."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlitmus.catalog.cases import make_case
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.ladder import AT_ONCE, Ladder, climbing, rung_name
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.run.answers import Answers, oracle_answer
from sqlitmus.run.context import Context, alone
from sqlitmus.run.preparation import Unanswered
from sqlitmus.run.progress import Progress
from sqlitmus.run.verify import verify_cells
from sqlitmus.stats.search import Search
from sqlitmus.vocabulary import histogram, paths
from sqlitmus.vocabulary.contract.description import Description
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.terms import CellOutcome

LATE_NS = 500_000  # a start that much later than planned is the machine's fault


@dataclass(frozen=True, slots=True)
class Probe:
    """What one process showed, in ns: 99 % of its operations took at most `p99`, counted from their
    planned starts; 99 % of those that it waited for began at most `late` after them."""

    p99: float
    late: float

    def holds(self, limit_ns: float) -> bool | None:
        """Whether it kept to the limit; None where the machine was late, which tells nothing."""
        return None if self.late > LATE_NS else self.p99 <= limit_ns


@dataclass(slots=True)
class Climbed:
    """A runner's blocks: the highest rung that held in each, -1 for none, None where the machine
    was late; CPU ns of an operation that is not planned; and how late each probe was. `void` of
    these told nothing, and `reason` says why it has no rate."""

    runner: str
    outcome: CellOutcome = "ok"
    reason: str = ""
    rungs: list[int | None] = field(default_factory=list[int | None])
    cpu_ns: list[float] = field(default_factory=list[float])
    late_ns: list[float] = field(default_factory=list[float])
    void: int = 0
    description: Description | None = None


def probe_of(result: Result) -> Probe:
    """The probe of a process's workers and its writer together."""
    latencies = histogram.merged(w.latencies.buckets for w in result.workers if w.latencies)
    pacing = histogram.merged(w.pacing.buckets for w in result.workers if w.pacing)
    p99 = histogram.quantile(latencies, 0.99)
    return Probe(float("inf") if p99 is None else p99, histogram.quantile(pacing, 0.99) or 0.0)


def climb(
    ladder: Ladder,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    names: Sequence[str],
    *,
    limit_ns: float,
    blocks: int,
    seed: int,
    wait: bool = False,
) -> list[Climbed]:
    """What each of `names` sustains in so many blocks. Raises NotFit if asked to stop."""
    whole = climbing(ladder, catalog)
    first = [_case(whole, rung_name(0)), _case(whole, AT_ONCE)]
    cells = {case.id: list(names) for case in first}
    with alone("sustain", whole, tools, progress, cells, wait=wait) as context:
        answers = verify_cells(context, first, context.present(cells))
        context.memory.save()
        climbers = [_beginning(context, answers, first, name) for name in names]
        rng = random.Random(seed)
        guess = dict.fromkeys(names, len(ladder.rates) // 2)
        for block in range(blocks):
            fit = [each for each in climbers if each.outcome == "ok"]
            for each in rng.sample(fit, len(fit)):
                progress.step(f"block {block + 1}/{blocks}  {each.runner}")
                _block(context, answers, ladder, each, guess, limit_ns)
    return climbers


def _beginning(
    context: Context, answers: Answers, first: Sequence[PlannedCase], name: str
) -> Climbed:
    if why := context.installed[name].missing:
        return Climbed(name, "missing", why)
    records = [answers.records.get((case.id, name)) for case in first]
    bad = next((r for r in records if r and r.outcome != "ok"), None)
    if context.stop.requested or any(record is None for record in records):
        raise NotFit("interrupted before anything was measured; start it again")
    if bad:
        return Climbed(name, bad.outcome, bad.reason or "")
    return Climbed(name, description=context.installed[name].description)


def _block(
    context: Context,
    answers: Answers,
    ladder: Ladder,
    climber: Climbed,
    guess: dict[str, int],
    limit_ns: float,
) -> None:
    """One climb, and one process that does its operations at once."""
    search = Search.begin(len(ladder.rates), guess[climber.runner])
    while (rung := search.next) is not None:
        result = _process(context, answers, rung_name(rung), climber)
        if result is None:
            return
        probe = probe_of(result)
        holds = probe.holds(limit_ns)
        climber.late_ns.append(probe.late)
        climber.void += holds is None
        search = search.saw(rung, holds=holds)
    climber.rungs.append(search.found)
    guess[climber.runner] = guess[climber.runner] if search.found is None else search.found
    result = _process(context, answers, AT_ONCE, climber)
    if result and result.cpu_ns:
        climber.cpu_ns.append(result.cpu_ns / ladder.at_once)


def _process(context: Context, answers: Answers, scenario: str, climber: Climbed) -> Result | None:
    """One process's result; None for one that went wrong, which ends the runner's climb."""
    if context.stop.requested:
        raise NotFit("interrupted; what was measured so far decides nothing, start it again")
    case = _case(context.catalog, scenario)
    try:
        answer = oracle_answer(context, case, answers)
    except Unanswered as silence:
        climber.outcome, climber.reason = "failed", silence.reason or "the oracle has no answer"
        return None
    runner = context.installed[climber.runner]
    attempt = context.invocations.attempt(case, runner, "measure", answer)
    if attempt.outcome != "ok":
        climber.outcome, climber.reason = attempt.outcome, f"{scenario}: {attempt.reason}"
        return None
    return attempt.invocation.result


def _case(catalog: Catalog, scenario: str) -> PlannedCase:
    axes = {axis: values[0] for axis, values in catalog.scenarios[scenario].axes.items()}
    return make_case(scenario, axes, catalog, catalog.modes["quick"])


def rates(climber: Climbed, ladder: Ladder) -> Iterator[float]:
    """The rate that each block sustained; 0 for one in which not even the lowest held."""
    for rung in climber.rungs:
        if rung is not None:
            yield ladder.rates[rung] if rung >= 0 else 0.0
