"""A pass of the self-test: equal processes and a slower one, one after the other or in turns."""

import random
import time
from dataclasses import dataclass
from statistics import fmean

from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.planned import Cells, Counts, PlannedCase
from sqlitmus.run.answers import Answers, oracle_answer
from sqlitmus.run.attempt import Attempt
from sqlitmus.run.context import Context
from sqlitmus.run.judge import OracleAnswer
from sqlitmus.run.options import MARGIN
from sqlitmus.run.pilot import plan_counts
from sqlitmus.run.relay.turns import Turns
from sqlitmus.run.sets import Seating, play_whole
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.terms import Scheme

LABELS = 5  # a reference and four runners to compare with it
SPARE = 1  # one slot more, so that labels can fall in more ways
SLOWER = 1.03
ROUNDING = 0.005  # how far whole operations may lie from that
INTERRUPTED = "interrupted; nothing is kept of an unfinished self-test"


@dataclass(frozen=True, slots=True)
class Part:
    """A process of a pass: what it does, and the answer that is expected of it."""

    case: PlannedCase
    counts: Counts
    answer: OracleAnswer | None


@dataclass(frozen=True, slots=True)
class Work:
    """What a pass of `scheme` consists of: `equal` several times, and `slower`."""

    scheme: Scheme
    runner: str
    equal: Part
    slower: Part


@dataclass(frozen=True, slots=True)
class Pass:
    """Steady ns of an iteration, of each equal process and of the slower one, and all seconds."""

    equal: list[float]
    slower: float
    seconds: float


def prepare(
    context: Context, case: PlannedCase, runner: str, mode: Mode, scheme: Scheme, answers: Answers
) -> Work | None:
    """The verified case with a pilot's counts for `scheme`; raises NotFit when it goes wrong.

    None where its processes cannot take turns, in the scheme in which they would.
    """
    cells: Cells = {case.id: [runner]}
    fit = answers.fit(cells)
    scheming = mode.model_copy(update={"scheme": scheme})
    planned = plan_counts(context, [case], fit, answers, scheming, runner, {}, margin=MARGIN)
    counts = planned[case.id].get(runner)
    if counts is None:
        verified = answers.records[case.id, runner]
        raise NotFit(f"{case.id}/{runner}: {verified.outcome}: {verified.reason}")
    if scheme == "relay" and not counts.rounds:
        return None
    more = round(counts.operations * SLOWER)
    if abs(more / counts.operations - SLOWER) > ROUNDING:
        hint = "; ask for --scheme process" if scheme == "relay" else ""
        within = " in an iteration of a turn" if scheme == "relay" else ""
        raise UsageError(f"{case.id} has too few operations{within} to repeat 3 % of them{hint}")

    def part(counts: Counts) -> Part:
        counted = counts.of(case)
        return Part(counted, counts, oracle_answer(context, counted.answered(), answers))

    slower = counts.model_copy(update={"operations": more})
    return Work(scheme, runner, part(counts), part(slower))


def play(context: Context, work: Work, rng: random.Random, seed: str) -> Pass:
    """One pass in random order; raises NotFit when a process goes wrong or somebody asks to stop.

    `rng` draws who starts when, `seed` fixes the turns.
    """
    parts = [work.equal] * (LABELS + SPARE) + [work.slower]
    rng.shuffle(parts)
    begin = time.monotonic()
    if work.scheme == "relay":
        times = _in_turns(context, work, parts, seed)
    else:
        times = _lone(context, work, parts)
    seconds = time.monotonic() - begin
    equal = [ns for part, ns in zip(parts, times, strict=True) if part is work.equal]
    (slower,) = (ns for part, ns in zip(parts, times, strict=True) if part is work.slower)
    return Pass(equal, slower, seconds)


def _lone(context: Context, work: Work, parts: list[Part]) -> list[float]:
    """The time of each process, one after the other."""
    installed, times = context.installed[work.runner], list[float]()
    for part in parts:
        if context.stop.requested:
            raise NotFit(INTERRUPTED)
        attempt = context.invocations.attempt(part.case, installed, "measure", part.answer)
        _check(work, attempt)
        assert attempt.invocation.result
        times.append(fmean(attempt.invocation.result.iterations_ns))
    return times


def _in_turns(context: Context, work: Work, parts: list[Part], seed: str) -> list[float]:
    """The time of each process of a set, by its turns."""
    installed = context.installed[work.runner]
    seatings = [
        Seating(part.case, installed, f"seat {number}", Turns.of(part.counts), part.answer)
        for number, part in enumerate(parts, start=1)
    ]
    turned = play_whole(context, seatings, seed)
    if turned is None:
        raise NotFit(INTERRUPTED)
    times: list[float] = []
    for each in turned:
        _check(work, each.attempt)
        assert each.steady_ns is not None
        times.append(each.steady_ns)
    return times


def _check(work: Work, attempt: Attempt) -> None:
    if attempt.outcome != "ok" or attempt.invocation.result is None:
        where = f"{work.equal.case.id}/{work.runner}"
        raise NotFit(f"{where}: {attempt.outcome}: {attempt.reason}")
