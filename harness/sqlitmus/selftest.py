"""The tool tested on this machine: false alarms between equals, detection of a real slowdown."""

import datetime
import json
import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlitmus import lock, paths
from sqlitmus.bench import Bench, opened
from sqlitmus.cases import make_case, parse_case
from sqlitmus.catalog import Catalog
from sqlitmus.errors import NotFit, UsageError
from sqlitmus.names import unknown
from sqlitmus.pilot import plan_counts
from sqlitmus.plan import Case
from sqlitmus.progress import Progress, clock
from sqlitmus.verification import expected, verify_cells
from sqlitmus.verify import Expected

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
    """As many blocks of one runner's equal processes as fit, in random order with a slower one.

    Raises NotFit when something goes wrong or too few blocks fit.
    """
    if runner not in catalog.runners:
        raise UsageError(unknown("runner", runner, catalog.runners))
    name, axes = parse_case(case_id, catalog)
    mode = catalog.modes["quick"]
    case = make_case(name, axes, catalog, mode)
    if case.metric == "cold":
        raise UsageError(f"{case_id} is a cold case; the self-test needs a steady one")
    cells = {case.id: [runner]}
    with (
        lock.hold("selftest", wait=wait, progress=progress),
        opened(catalog, tools, progress, cells, size="m", timeout_s=60.0, fresh=False) as bench,
    ):
        answers = verify_cells(bench, [case], cells)
        fit = answers.fit(cells)
        if runner not in fit[case.id]:
            found = answers.records[case.id, runner]
            raise NotFit(f"{case.id}/{runner}: {found.outcome}: {found.reason}")
        counts = plan_counts(bench, [case], fit, answers, mode, runner, {})[case.id][runner]
        planned = counts.of(case)
        slower = planned.model_copy(update={"operations": round(planned.operations * SLOWER)})
        if slower.operations == planned.operations:
            raise UsageError(f"{case_id} has too few operations to repeat 3 % of them")
        want = {c.operations: expected(bench, c, answers) for c in (planned, slower)}
        bench.memory.save()
        blocks: list[tuple[list[float], float]] = []
        rng = random.Random(seed)
        begin = time.monotonic()
        while True:
            spent = time.monotonic() - begin
            if blocks and spent + spent / len(blocks) > budget_s:
                break
            if bench.stop.requested:
                raise NotFit("interrupted; nothing is kept of an unfinished self-test")
            progress.step(
                f"block {len(blocks) + 1}  {clock(budget_s - spent)} left  {case.id}  {runner}",
                milestone=len(blocks) % 20 == 0,
            )
            slots = [planned] * (LABELS + SPARE) + [slower]
            rng.shuffle(slots)
            times = [(slot, _time(bench, slot, runner, want[slot.operations])) for slot in slots]
            equal = [value for slot, value in times if slot is planned]
            blocks.append((equal, next(value for slot, value in times if slot is slower)))
    if len(blocks) < BLOCKS:
        raise NotFit(
            f"only {len(blocks)} blocks fitted, {BLOCKS} are needed; give more --time-budget"
        )
    return Recording([equal for equal, _ in blocks], [slow for _, slow in blocks])


def _time(bench: Bench, case: Case, runner: str, want: Expected | None) -> float:
    attempt = bench.workbench.attempt(case, bench.installed[runner], "measure", want)
    result = attempt.invocation.result
    if attempt.outcome != "ok" or result is None:
        raise NotFit(f"{case.id}/{runner}: {attempt.outcome}: {attempt.reason}")
    return statistics.median(result.iterations_ns)


def judge(recording: Recording, runner: str, case_id: str) -> dict[str, Any]:
    """Rates of the recording, as sentences and as numbers; `passed` is what the limit says."""
    import numpy as np

    from sqlitmus.stats.relabel import selftest

    logs = np.log(np.array(recording.equal))
    found = selftest(logs, BLOCKS, LABELS - 1, slow=np.log(np.array(recording.slower)))
    assert found.slow_runner is not None
    passed = found.false_alarms.value <= LIMIT
    alarms, sequential = found.false_alarms, found.sequential
    text = f"""
{len(recording.equal)} blocks of {LABELS + SPARE} equal processes: {runner}, {case_id}.
False alarms: in {alarms.value:.1%} of experiments with {BLOCKS} blocks and {LABELS - 1} comparisons
 some equal pair was called different (5 % aimed at, at most {LIMIT:.0%} allowed).
Coverage: {found.coverage.value:.1%} of the 95 % intervals held the true ratio.
Detection: a runner that really repeats 3 % of its work was found in {found.slow_runner.value:.0%}
 of experiments, a computed 3 % in {found.detection.value:.0%}.
One after the other, as hyperfine alone runs them: {sequential.value:.0%} false alarms
 [{sequential.low:.0%}, {sequential.high:.0%}].
"""
    lines = text.strip().replace("\n ", " ").splitlines()
    return {
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "runner": runner,
        "case": case_id,
        "blocks": len(recording.equal),
        "false_alarms": found.false_alarms.value,
        "coverage": found.coverage.value,
        "detection": found.slow_runner.value,
        "computed_detection": found.detection.value,
        "sequential_false_alarms": found.sequential.value,
        "lines": lines,
        "passed": passed,
    }


def kept() -> Path:
    """Where the last result on this machine lies."""
    return paths.cache("memory") / FILE


def save(result: dict[str, Any], recording: Recording, folder: Path) -> Path:
    """Keep the result for later reports, and the recording for whoever doubts it."""
    kept().write_text(json.dumps(result, indent=1, ensure_ascii=False), encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result['created'].replace(':', '')}-selftest.json"
    both = {**result, "equal_ns": recording.equal, "slower_ns": recording.slower}
    file.write_text(json.dumps(both, ensure_ascii=False), encoding="utf-8")
    return file
