"""The self-test: equal processes and a slower one in either scheme, and what they say of the
method.
"""

import datetime
import json
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sqlitmus.catalog.cases import Cells, Counts, PlannedCase, make_case, parse_case
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Mode
from sqlitmus.machine import lock
from sqlitmus.run.measure.blocks import Seating, play_whole
from sqlitmus.run.plan.options import Options
from sqlitmus.run.plan.pilot import plan_counts
from sqlitmus.run.processes.progress import Progress, clock
from sqlitmus.run.processes.turns import Turns
from sqlitmus.run.verify.answers import Answers, oracle_answer, verify_cells
from sqlitmus.run.verify.context import Context, opened
from sqlitmus.run.verify.invocations import Attempt
from sqlitmus.run.verify.judge import OracleAnswer
from sqlitmus.store.folder import selftest_file
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import counted, unknown
from sqlitmus.vocabulary.verdicts import Scheme

if TYPE_CHECKING:
    from sqlitmus.stats.relabel import Gain


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
    planned = plan_counts(
        context, [case], fit, answers, scheming, runner, {}, margin=Options().margin
    )
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


# What a self-test keeps: its recordings, and its result for the reports that follow.


@dataclass(frozen=True, slots=True)
class Recording:
    """A scheme's steady ns of an iteration: of equal processes (blocks x slots), and of a slower
    one (blocks); and the seconds that each block's pass took."""

    equal: list[list[float]]
    slower: list[float]
    seconds: list[float]


def save(result: dict[str, Any], recordings: dict[Scheme, Recording], folder: Path) -> Path:
    """Save the result for later reports, and the recordings for inspection."""
    selftest_file().write_bytes(json.dumps(result, indent=1, ensure_ascii=False).encode())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result['created'].replace(':', '')}-selftest.json"
    recorded = {
        name: {"equal_ns": each.equal, "slower_ns": each.slower, "seconds": each.seconds}
        for name, each in recordings.items()
    }
    file.write_bytes(json.dumps({**result, "recorded": recorded}, ensure_ascii=False).encode())
    return file


# Records both schemes of measuring in one sitting: blocks of a pass of each, in random order.


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


# The rates of the recordings, as sentences and as numbers, and which scheme is better.


LIMIT = 0.07
TITLES: dict[Scheme, str] = {"process": "one after the other", "relay": "in turns"}


def judge(recordings: dict[Scheme, Recording], runner: str, case_id: str) -> dict[str, Any]:
    """The rates of each scheme, and of two schemes the better; `passed` says if the limit holds."""
    of = {name: judge_scheme(name, each, runner, case_id) for name, each in recordings.items()}
    gain = _gain(recordings)
    better = sentence(gain) if len(recordings) > 1 else None
    lines = [line for rates in of.values() for line in rates["lines"]]
    return {
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "runner": runner,
        "case": case_id,
        "schemes": of,
        "gain": gain and asdict(gain),
        "better": better,
        "lines": [*lines, *filter(None, [better])],
        "passed": all(rates["passed"] for rates in of.values()),
    }


def judge_scheme(name: Scheme, recording: Recording, runner: str, case_id: str) -> dict[str, Any]:
    """The rates of one scheme; the order of recording says something of lone processes only."""
    import numpy as np

    from sqlitmus.stats.relabel import false_sentences, selftest

    logs = np.log(np.array(recording.equal))
    rates = selftest(logs, BLOCKS, LABELS - 1, slow=np.log(np.array(recording.slower)))
    assert rates.slow_runner is not None
    sentences = false_sentences(logs, BLOCKS, LABELS)
    passed = max(rates.false_alarms.value, sentences.value) <= LIMIT
    alarms, sequential = rates.false_alarms, rates.sequential
    seconds = float(np.mean(recording.seconds))
    title = TITLES[name].capitalize()
    lines = (
        f"""
{title}: {len(recording.equal)} blocks of {LABELS + SPARE} equal processes and a slower one,
 {seconds:.2f} s each: {runner}, {case_id}.
False alarms: in {alarms.value:.1%} of experiments with {BLOCKS} blocks and {LABELS - 1} comparisons
 some equal pair was called different (5 % aimed at, at most {LIMIT:.0%} allowed).
Sentences: in {sentences.value:.1%} of experiments a sentence on all {LABELS} told some apart (at
 most {LIMIT:.0%} allowed).
Coverage: {rates.coverage.value:.1%} of the 95 % intervals held the true ratio.
Detection: a runner that really repeats 3 % of its work was found in {rates.slow_runner.value:.0%}
 of experiments, a computed 3 % in {rates.detection.value:.0%}.
""".strip()
        .replace("\n ", " ")
        .splitlines()
    )
    result = {
        "blocks": len(recording.equal),
        "seconds": seconds,
        "false_alarms": alarms.value,
        "false_sentences": sentences.value,
        "coverage": rates.coverage.value,
        "detection": rates.slow_runner.value,
        "computed_detection": rates.detection.value,
        "lines": lines,
        "passed": passed,
    }
    if name == "process":
        result["sequential_false_alarms"] = sequential.value
        lines.append(
            "All of one label, then all of the next, as hyperfine alone runs them: "
            f"{sequential.value:.0%} false alarms [{sequential.low:.0%}, {sequential.high:.0%}]."
        )
    return result


def sentence(gain: "Gain | None") -> str:
    """Which scheme needs less time for the same precision; `gain` is that of turns."""
    which = "Which scheme is better for this case on this machine"
    if gain is None:
        return f"{which} cannot be told: some times do not vary."
    if not gain.resolved:
        return (
            f"{which} is not resolved: for the same precision, processes one after the other take "
            f"{_times(gain.value, gain.low, gain.high)} as long as those in turns."
        )
    if gain.value > 1:
        first, second, times = "in turns", "one after the other", (gain.value, gain.low, gain.high)
    else:
        first, second = "one after the other", "in turns"
        times = (1 / gain.value, 1 / gain.high, 1 / gain.low)
    return (
        f"Better for this case on this machine: processes {first}; {second} they take "
        f"{_times(*times)} as long for the same precision."
    )


def _times(value: float, low: float, high: float) -> str:
    return f"{value:.2f} times [{low:.2f}, {high:.2f}]"


def _gain(recordings: dict[Scheme, Recording]) -> "Gain | None":
    import numpy as np

    from sqlitmus.stats.relabel import Passes, gain

    if len(recordings) < 2:
        return None
    lone, turns = (
        Passes(np.log(np.array(each.equal)), np.array(each.seconds))
        for each in (recordings["process"], recordings["relay"])
    )
    return gain(lone, turns)
