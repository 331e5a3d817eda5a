"""Tests the method on this machine: false alarms between equals, detection of a real slowdown."""

import datetime
import json
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlitmus.catalog.cases import make_case, parse_case
from sqlitmus.catalog.definitions import Catalog, Mode
from sqlitmus.catalog.plan import Case
from sqlitmus.machine import lock
from sqlitmus.run.context import Context, opened
from sqlitmus.run.judge import OracleAnswer
from sqlitmus.run.options import MARGIN
from sqlitmus.run.pilot import plan_counts
from sqlitmus.run.progress import Progress, clock
from sqlitmus.run.verify import oracle_answer, verify_cells
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.suggest import unknown

if TYPE_CHECKING:
    from sqlitmus.stats.relabel import Graded

LABELS = 5  # a reference and four runners to compare with it
SPARE = 1  # one slot more, so that labels can fall in more ways
BLOCKS = 30
SLOWER = 1.03
LIMIT = 0.07
FILE = "selftest.json"


@dataclass(frozen=True, slots=True)
class Recording:
    """Steady ns of an iteration: of equal processes (blocks x slots), and of a slower one."""

    equal: list[list[float]]
    slower: list[float]


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
) -> Recording:
    """Measure as many blocks of equal processes as fit, in random order with a slower one.

    Raises NotFit when a cell goes wrong or too few blocks fit.
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
        work = _work(context, case, runner, mode)
        blocks = list(_blocks(context, work, budget_s, seed))
    if len(blocks) < BLOCKS:
        raise NotFit(
            f"only {counted(len(blocks), 'block')} fitted, {BLOCKS} are needed; give more "
            "--time-budget"
        )
    return Recording([equal for equal, _ in blocks], [slow for _, slow in blocks])


@dataclass(frozen=True, slots=True)
class _Work:
    """The equal case, the slower one, and the expected answers of both."""

    runner: str
    equal: Case
    slower: Case
    answers: dict[int, OracleAnswer | None]  # by number of operations


def _work(context: Context, case: Case, runner: str, mode: Mode) -> _Work:
    """The verified case with a pilot's counts; raises NotFit when it goes wrong."""
    cells = {case.id: [runner]}
    answers = verify_cells(context, [case], cells)
    fit = answers.fit(cells)
    counts = plan_counts(context, [case], fit, answers, mode, runner, {}, margin=MARGIN)
    planned = counts[case.id].get(runner)
    if planned is None:
        verified = answers.records[case.id, runner]
        raise NotFit(f"{case.id}/{runner}: {verified.outcome}: {verified.reason}")
    equal = planned.of(case)
    slower = equal.model_copy(update={"operations": round(equal.operations * SLOWER)})
    if slower.operations == equal.operations:
        raise UsageError(f"{case.id} has too few operations to repeat 3 % of them")
    by_operations = {c.operations: oracle_answer(context, c, answers) for c in (equal, slower)}
    context.memory.save()
    return _Work(runner, equal, slower, by_operations)


def _blocks(
    context: Context, work: _Work, budget_s: float, seed: int
) -> Iterator[tuple[list[float], float]]:
    """Blocks while another one fits: times of the equal processes, and that of the slower one."""
    rng = random.Random(seed)
    begin = time.monotonic()
    for number in count():
        spent = time.monotonic() - begin
        if number and spent + spent / number > budget_s:
            return
        if context.stop.requested:
            raise NotFit("interrupted; nothing is kept of an unfinished self-test")
        context.progress.step(
            f"block {number + 1}  {clock(budget_s - spent)} left  {work.equal.id}  {work.runner}",
            milestone=number % 20 == 0,
        )
        slots = [work.equal] * (LABELS + SPARE) + [work.slower]
        rng.shuffle(slots)
        times = [(slot, _time(context, work, slot)) for slot in slots]
        equal = [value for slot, value in times if slot is work.equal]
        yield equal, next(value for slot, value in times if slot is work.slower)


def _time(context: Context, work: _Work, case: Case) -> float:
    runner, answer = work.runner, work.answers[case.operations]
    attempt = context.invocations.attempt(case, context.installed[runner], "measure", answer)
    result = attempt.invocation.result
    if attempt.outcome != "ok" or result is None:
        raise NotFit(f"{case.id}/{runner}: {attempt.outcome}: {attempt.reason}")
    return statistics.median(result.iterations_ns)


def judge(recording: Recording, runner: str, case_id: str) -> dict[str, Any]:
    """The rates of the recording, as sentences and as numbers; `passed` says if the limit holds."""
    import numpy as np

    from sqlitmus.stats.equals import false_sentences
    from sqlitmus.stats.relabel import selftest

    logs = np.log(np.array(recording.equal))
    rates = selftest(logs, BLOCKS, LABELS - 1, slow=np.log(np.array(recording.slower)))
    assert rates.slow_runner is not None
    sentences = false_sentences(logs, BLOCKS, LABELS)
    passed = max(rates.false_alarms.value, sentences.value) <= LIMIT
    alarms, sequential = rates.false_alarms, rates.sequential
    assert rates.graded is not None
    text = f"""
{len(recording.equal)} blocks of {LABELS + SPARE} equal processes: {runner}, {case_id}.
False alarms: in {alarms.value:.1%} of experiments with {BLOCKS} blocks and {LABELS - 1} comparisons
 some equal pair was called different (5 % aimed at, at most {LIMIT:.0%} allowed).
Sentences: in {sentences.value:.1%} of experiments a sentence on all {LABELS} told some apart (at
 most {LIMIT:.0%} allowed).
Coverage: {rates.coverage.value:.1%} of the 95 % intervals held the true ratio.
Detection: a runner that really repeats 3 % of its work was found in {rates.slow_runner.value:.0%}
 of experiments, a computed 3 % in {rates.detection.value:.0%}.
{_graded(rates.graded)}
One after the other, as hyperfine alone runs them: {sequential.value:.0%} false alarms
 [{sequential.low:.0%}, {sequential.high:.0%}].
"""
    lines = text.strip().replace("\n ", " ").splitlines()
    return {
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "runner": runner,
        "case": case_id,
        "blocks": len(recording.equal),
        "false_alarms": rates.false_alarms.value,
        "false_sentences": sentences.value,
        "coverage": rates.coverage.value,
        "detection": rates.slow_runner.value,
        "computed_detection": rates.detection.value,
        "graded_a_or_b": rates.graded.share,
        "graded_detection": rates.graded.detection and rates.graded.detection.value,
        "noisy_detection": rates.graded.noisy and rates.graded.noisy.value,
        "sequential_false_alarms": rates.sequential.value,
        "lines": lines,
        "passed": passed,
    }


def _graded(graded: "Graded") -> str:
    """How often the 3 % are detected, by the grade that an experiment's own canary gives it."""
    good, noisy = (
        None if rate is None else f"found in {rate.value:.0%}"
        for rate in (graded.detection, graded.noisy)
    )
    parts = [f"{graded.share:.0%} of experiments are graded A or B by a canary of their own"]
    if good:
        parts.append(f"in these it is {good}")
    if noisy:
        parts.append(f"in those graded C, where a verdict must lie beyond the noise, it is {noisy}")
    return "; ".join(parts) + "."


def record_file() -> Path:
    """The file of this machine's last result."""
    return paths.cache("memory") / FILE


def save(result: dict[str, Any], recording: Recording, folder: Path) -> Path:
    """Save the result for later reports, and the recording for inspection."""
    record_file().write_bytes(json.dumps(result, indent=1, ensure_ascii=False).encode())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result['created'].replace(':', '')}-selftest.json"
    both = {**result, "equal_ns": recording.equal, "slower_ns": recording.slower}
    file.write_bytes(json.dumps(both, ensure_ascii=False).encode())
    return file
