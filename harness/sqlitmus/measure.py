"""All invocations of a plan, one after the other, each saved before the next one starts.

Everything that takes time in here happens between invocations, never beside one.
"""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.bench import Bench
from sqlitmus.errors import Exit, NotFit
from sqlitmus.plan import Cells, Plan
from sqlitmus.progress import Remaining, clock
from sqlitmus.rehearse import Seconds
from sqlitmus.schedule import Slot, schedule
from sqlitmus.store import Iterations, RunDirectory, Sample
from sqlitmus.verification import Answers
from sqlitmus.workbench import Attempt


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended, and where its results are (None when it did not get that far)."""

    exit: Exit
    directory: Path | None


def measure(
    plan: Plan,
    directory: RunDirectory,
    bench: Bench,
    answers: Answers,
    fit: Cells,
    seconds: Seconds,
) -> Ended:
    """All slots that have no sample yet, in the plan's order."""
    bench.workbench.keep_logs(directory.path / "logs")
    cases = {case.id: case for case in plan.cases}
    done: set[int] = set()
    # The order is that of the cells fit at the start: one that fails only now shifts no other.
    ordered = _fit_at_start(plan, directory)
    given_up = {(c, n) for c, names in ordered.items() for n in names if n not in fit.get(c, [])}
    for sample in directory.samples():
        done.add(sample.position)
        if sample.outcome != "ok":
            given_up.add((sample.case, sample.runner))
    slots = schedule(ordered, plan.canary, plan.blocks, plan.seed)
    left = [s for s in slots if s.position not in done and (s.case, s.runner) not in given_up]
    remaining = Remaining(sum(seconds[s.case, s.runner] for s in left))
    spent_s = 0.0
    took: dict[tuple[str, str], list[float]] = {}
    performed = 0
    for number, slot in enumerate(left):
        if bench.stop.requested:
            return _interrupted(bench, directory)
        first_of_block = number == 0 or left[number - 1].block != slot.block
        bench.progress.step(
            f"block {slot.block + 1}/{plan.blocks}  {clock(remaining.after(spent_s))} left  "
            f"{slot.case}  {slot.label}",
            milestone=first_of_block,
        )
        spent_s += seconds[slot.case, slot.runner]
        if (slot.case, slot.runner) in given_up:
            continue
        begin = time.monotonic()
        attempt = bench.workbench.attempt(
            cases[slot.case], bench.installed[slot.runner], "measure", answers.expected[slot.case]
        )
        if bench.stop.requested > 1:
            return _interrupted(bench, directory)
        _save(directory, *to_sample(slot, attempt))
        performed += 1
        if attempt.outcome == "ok":
            took.setdefault((slot.case, slot.runner), []).append(time.monotonic() - begin)
        else:
            given_up.add((slot.case, slot.runner))
            bench.progress.say(f"{slot.case}/{slot.runner}: {attempt.outcome}: {attempt.reason}")
    directory.finish()
    for (case, runner), spans in took.items():
        bench.memory.keep_seconds(bench.key(cases[case], runner), statistics.median(spans))
    bench.memory.save()
    outcomes = {r.outcome for r in answers.records.values()}
    outcomes |= {s.outcome for s in directory.samples() if s.outcome != "ok"}
    bench.progress.say(f"{performed} invocations in {clock(remaining.spent())}")
    if "wrong" in outcomes:
        return Ended(Exit.WRONG_ANSWERS, directory.path)
    return Ended(Exit.CELLS_FAILED if "failed" in outcomes else Exit.DONE, directory.path)


def _fit_at_start(plan: Plan, directory: RunDirectory) -> Cells:
    fit = {(r.case, r.runner) for r in directory.verified() if r.outcome == "ok"}
    return {case: [n for n in names if (case, n) in fit] for case, names in plan.cells.items()}


def _interrupted(bench: Bench, directory: RunDirectory) -> Ended:
    bench.memory.save()
    return Ended(Exit.INTERRUPTED, directory.path)


def _save(directory: RunDirectory, sample: Sample, iterations: Iterations | None) -> None:
    try:
        directory.add_sample(sample, iterations)
    except OSError as error:
        raise NotFit(
            f"{directory.path}: a sample could not be written: {error.strerror}. What was written "
            f"stays readable; free some space and run: ./just run --resume {directory.path}"
        ) from error


def to_sample(slot: Slot, attempt: Attempt) -> tuple[Sample, Iterations | None]:
    """What is kept of an invocation."""
    timing, result = attempt.invocation.timing, attempt.invocation.result
    sample = Sample(
        block=slot.block,
        position=slot.position,
        case=slot.case,
        runner=slot.runner,
        label=slot.label,
        outcome=attempt.outcome,
        reason=attempt.reason,
        log=attempt.log,
    )
    # A wrong or failed invocation has no times: they must never look like a result.
    if attempt.outcome != "ok" or result is None or timing is None:
        return sample, None
    times: dict[str, object] = {
        "wall_ns": timing.wall_ns,
        "user_ns": timing.user_ns,
        "system_ns": timing.system_ns,
        "rss_bytes": result.peak_rss_bytes,
    }
    if not result.iterations_ns:
        return sample.model_copy(update=times), None
    times["steady_ns"] = statistics.median(result.iterations_ns)
    if result.cpu_ns:
        spent = result.cpu_ns.user + result.cpu_ns.system
        times["steady_cpu_ns"] = spent / len(result.iterations_ns)
    kept = Iterations(
        position=slot.position, warmup_ns=result.warmup_ns, iterations_ns=result.iterations_ns
    )
    return sample.model_copy(update=times), kept
