"""Runs of a machine put together: each cell keeps its figures, and what differs is told."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.machines.survey import differences, join
from sqlitmus.render.document import sentences
from sqlitmus.results.report import Case
from sqlitmus.store.file import Block
from tests.analysis.runs import Json, case, change, checks, make, noisy, plan, runner, samples

NAMES = ("node", "bun", "rust-ffi")
FIRST = [case("get-pk"), case("get-index", metric="cold")]
SECOND = [case("all@rows=10", operations=10), case("insert", group="writes", per_operation=3)]


def part(number: int, cases: list[Json], seed: int, **changes: Any) -> RunData:
    of = plan(NAMES, run=f"run-{number}", cases=cases, **changes)
    time = noisy({"bun": 0.8})
    lines = samples(of, lambda c, label, block: time(c + seed, label, block))
    return make(of, lines=lines, machine={"cpu": "CPU", "load at start": f"{number}.0"})


def figures(found: Case) -> Json:
    """All that stands in a case, without what is corrected over the whole run."""
    whole = asdict(replace(found, detectable=None))
    for corrected in ("verdict", "adjusted", "needs_blocks"):
        del whole["comparisons"][corrected]
    if whole["canary"]:
        for corrected in ("verdict", "adjusted", "needs_blocks"):
            del whole["canary"][corrected]
    for cell in whole["cells"]:
        del cell["overhead_verdict"]
        for measure in cell["figures"].values():
            del measure["verdict"]
    return whole


@pytest.mark.parametrize(
    ("one", "other", "sessions"), [(12, 12, 1), (12, 17, 1), (15, 11, 1), (36, 30, 3)]
)
def test_each_cell_has_the_figures_of_its_own_run(one: int, other: int, sessions: int) -> None:
    runs = [
        part(1, FIRST, 1, blocks=one, sessions=sessions),
        part(2, SECOND, 5, blocks=other, sessions=sessions),
    ]
    joined = analyse(join(runs))
    alone = [found for run in runs for found in analyse(run).cases]
    assert [c.id for c in joined.cases] == [c["id"] for c in FIRST + SECOND]
    for ours, theirs in zip(joined.cases, alone, strict=True):
        assert figures(ours) == figures(theirs)
        assert ours.comparisons.ratio[0] is not None
        assert len(ours.cells[0].samples) == len(theirs.cells[0].samples)


def test_one_run_passes_through() -> None:
    run = make()
    assert join([run]) is run


def test_failures_stay_where_they_happened() -> None:
    first = part(1, FIRST, 1)
    of = plan(NAMES, run="run-2", cases=SECOND, blocks=15)
    bad = {"outcome": "failed", "reason": "exit code 1"}
    lines = change(samples(of, noisy()), bad, case="insert", runner="bun", label="bun", block=14)
    second = make(of, lines=lines)
    report = analyse(join([first, second]))
    outcomes = {(c.id, cell.runner): cell for c in report.cases for cell in c.cells}
    assert {place for place, cell in outcomes.items() if cell.outcome != "ok"} == {
        ("insert", "bun")
    }
    reason = outcomes["insert", "bun"].reason
    assert reason is not None
    assert reason.endswith("first in block 15: exit code 1")


def test_runners_are_matched_by_name() -> None:
    of = plan(("node", "rust-ffi", "deno"), run="run-2", cases=SECOND)
    other = make(of, lines=samples(of, noisy({"deno": 2.0})))
    joined = join([part(1, FIRST, 1), other])
    assert [r.name for r in joined.plan.runners] == ["node", "bun", "rust-ffi", "deno"]
    report = analyse(joined)
    cells = {(c.id, cell.runner): cell.outcome for c in report.cases for cell in c.cells}
    assert cells["insert", "bun"] == "missing"
    assert cells["get-pk", "deno"] == "missing"
    found = report.cases[3].comparisons.of("deno", "node")
    assert found is not None
    assert found.ratio.value == pytest.approx(2.0, rel=0.02)


def test_facts_that_differ_are_shown_with_their_runs() -> None:
    runs = [part(1, FIRST, 1), part(2, SECOND, 5, blocks=15, scheme="relay")]
    joined = join(runs)
    assert joined.machine == {"cpu": "CPU", "load at start": "1.0: run-1; 2.0: run-2"}
    assert list(map(sentences.notice, differences(runs))) == [
        "Numbers of blocks differ between the runs of this machine. 12: run-1; 15: run-2.",
        "Schemes differ between the runs of this machine. process: run-1; relay: run-2.",
    ]


def test_a_runner_that_is_not_the_same_everywhere_is_told() -> None:
    runners = [runner(name) for name in NAMES]
    runners[1] = runner("bun", missing="missing: bun not found", description=None)
    of = plan(NAMES, run="run-2", cases=SECOND, runners=runners, floor=None)
    other = make(of, verify=checks(of), lines=samples(of, noisy()))
    (said,) = differences([make(plan(NAMES, cases=FIRST)), other])[:1]
    assert sentences.notice(said) == (
        "bun differs between the runs of this machine. bun 1.0, bun-sqlite 2.0, SQLite 3.51.0: "
        "run-1; missing: bun not found: run-2."
    )


def test_blocks_come_one_run_after_the_other() -> None:
    look = {"monotonic_ns": 1}
    seen = {"before": look, "after": look}
    blocks = [Block.model_validate({**seen, "block": number}) for number in range(2)]
    runs = [replace(part(n, cases, n), blocks=blocks) for n, cases in ((1, FIRST), (2, SECOND))]
    assert [block.block for block in join(runs).blocks] == [0, 1, 12, 13]
