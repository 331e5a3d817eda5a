"""Which cases a gate alarms for, clears or leaves open, at each of its planned looks."""

import os
import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.catalog import definitions
from sqlitmus.compare import comparison
from sqlitmus.compare.comparison import Gate, unmeasured
from sqlitmus.compare.comparison import gate as judged
from sqlitmus.run import session
from sqlitmus.run.measure.blocks import Ended
from sqlitmus.run.processes.progress import Progress
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.verdict import beyond_p, pocock
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary import paths
from tests.analysis import runs
from tests.fakes.clone import Clone, measured_order
from tests.fakes.instant import Desk, Pace, even
from tests.refusals import refused
from tests.worded import headline, notices

SHARE = 0.05
ALARM, CLEAR, OPEN = (Gate(["a"], [], []), Gate([], ["a"], []), Gate([], [], ["a"]))


def planned(cases: int = 1, blocks: int = 30) -> dict[str, Any]:
    return runs.plan(
        ["base", "new"],
        kind="compare",
        correction="holm",
        looks=3,
        gate=SHARE,
        blocks=blocks,
        cases=[runs.case("abcdefghij"[n]) for n in range(cases)],
    )


def run(time: runs.Times, cases: int = 1, blocks: int = 30) -> runs.RunData:
    of = planned(cases, blocks)
    return runs.make(of, time=time)


def gate(found: runs.RunData, share: float, looks: int) -> Gate:
    """What the run comes to, had its plan this gate and so many looks."""
    plan = found.plan.model_copy(update={"gate": share, "looks": looks})
    return judged(replace(found, plan=plan))


def slower(ratio: float, spread: float = 0.01) -> runs.RunData:
    return run(runs.noisy({"new": ratio}, spread=spread))


@pytest.mark.parametrize("looks", [1, 3])
@pytest.mark.parametrize(
    ("ratio", "spread", "expected"),
    [
        (1.20, 0.01, ALARM),
        (1.00, 0.01, CLEAR),
        (0.50, 0.01, CLEAR),
        (1.03, 0.002, CLEAR),  # slower, and resolved, but within the gate
        (1.05, 0.01, OPEN),
        (1.00, 0.15, OPEN),
    ],
)
def test_alarmed_cleared_or_open(ratio: float, spread: float, expected: Gate, looks: int) -> None:
    assert gate(slower(ratio, spread), SHARE, looks) == expected


def test_the_gate_is_where_it_was_set() -> None:
    found = slower(1.2)
    assert gate(found, 0.15, 1) == ALARM
    assert gate(found, 0.30, 1) == CLEAR


def test_several_looks_ask_for_more_at_each() -> None:
    found = slower(1.0565, spread=0.015)
    times = found.samples.time
    logs = trimmed_means(np.log(times[0, 1:2] / times[0, 0:1]))
    (p,) = beyond_p(logs, -np.inf, np.log1p(SHARE)).tolist()
    assert pocock(3) < p < 0.05  # where one look would alarm
    assert gate(found, SHARE, 1) == ALARM
    assert gate(found, SHARE, 3) == OPEN


def test_a_run_under_way_is_judged_by_the_blocks_there_are() -> None:
    of = planned()
    lines = runs.samples(of, runs.noisy({"new": 1.2}), complete=False)

    def after(blocks: int) -> Gate:
        some = [x for x in lines if x.get("block", 0) < blocks]
        return gate(runs.make(of, lines=some), SHARE, 3)

    assert after(0) == OPEN
    assert after(9) == OPEN  # fewer than ten never give a verdict
    assert after(10) == ALARM
    assert after(20) == ALARM


@pytest.mark.parametrize("canary", ["base", None])
def test_few_blocks_may_clear_but_never_alarm(canary: str | None) -> None:
    of = {**planned(blocks=9), "canary": canary}
    assert gate(runs.make(of, time=runs.noisy({"new": 3.0})), SHARE, 1) == OPEN
    assert gate(runs.make(of, time=runs.noisy({"new": 0.5})), SHARE, 1) == CLEAR


@pytest.mark.parametrize("control", ["differs", "could not be tested", "none"])
def test_no_control_takes_an_alarm_away(control: str) -> None:
    of = {**planned(), "canary": None if control == "none" else "base"}
    lines = runs.samples(
        of, runs.noisy({"new": 1.2, "canary": 1.3 if control == "differs" else 1.0})
    )
    lines = runs.drop(lines, label="canary") if control == "could not be tested" else lines
    assert gate(runs.make(of, lines=lines), SHARE, 1) == ALARM


def test_many_cases_are_corrected_together() -> None:
    def first(cases: int) -> Gate:
        time = runs.noisy({"new": 1.0565}, spread=0.015)
        even = runs.noisy({}, spread=0.015)
        return gate(run(lambda c, label, b: (even if c else time)(c, label, b), cases), SHARE, 1)

    assert first(1).alarmed == ["a"]
    assert (first(10).alarmed, first(10).open) == ([], ["a"])


@pytest.mark.parametrize("outcome", ["wrong", "failed", "unsupported"])
@pytest.mark.parametrize("sides", [["base"], ["new"], ["base", "new"]])
def test_a_case_that_is_not_ok_has_no_answer(outcome: str, sides: list[str]) -> None:
    of = planned(2)
    verify = runs.checks(of)
    for name in sides:
        verify = runs.change(verify, {"outcome": outcome, "reason": "r\nr"}, runner=name, case="a")
    found = runs.make(of, verify=verify, time=runs.noisy({"new": 1.2}))
    without = {"a": f"{' and '.join(sides)}: {outcome}: r r"}
    assert gate(found, SHARE, 1) == Gate(["b"], [], [], without)
    assert unmeasured(found) == without


def test_a_case_that_is_measured_for_one_side_only_has_no_answer() -> None:
    of = {**planned(), "cells": {"a": ["base"]}}
    lines = runs.drop(runs.samples(of, runs.noisy()), label="new")
    found = gate(runs.make(of, lines=lines), SHARE, 3)
    assert found.unmeasured == {"a": "new: missing: not selected for this run"}


def test_a_build_that_still_warms_up_is_not_cleared() -> None:
    of = planned()
    lines = runs.change(
        runs.samples(of, runs.noisy()),
        lambda x: {"drift": (0.9 if x["runner"] == "new" else 1.0) + (0.01, -0.01)[x["block"] % 2]},
    )
    told = "new: still warming up: its second half took 10.0 % less time than its first"
    assert gate(runs.make(of, lines=lines), SHARE, 3) == Gate([], [], [], {"a": told})


def test_each_case_with_a_time_has_its_ratio() -> None:
    (ratio,) = gate(slower(1.2), SHARE, 1).ratios.values()
    assert ratio == runs.contrast(runs.analyse(slower(1.2)), "new", "base").ratio


def test_a_plan_without_a_gate_has_none_to_judge() -> None:
    found = slower(1.2)
    without = replace(found, plan=found.plan.model_copy(update={"gate": None}))
    with pytest.raises(ValueError, match=r"^run-1 has no gate$"):
        judged(without)


@settings(max_examples=15)
@given(
    st.lists(st.floats(0.8, 1.3), min_size=1, max_size=3),
    st.floats(0.001, 0.2),
    st.integers(1, 5),
    st.floats(0.001, 0.5),
)
def test_each_case_is_in_one_list(
    ratios: list[float], spread: float, looks: int, share: float
) -> None:
    def time(number: int, label: str, block: int) -> float:
        return runs.noisy({"new": ratios[number]}, spread=spread)(number, label, block)

    found = gate(run(time, len(ratios), 12), share, looks)
    assert sorted(found.alarmed + found.cleared + found.open) == list("abcdefghij"[: len(ratios)])
    strict = gate(run(time, len(ratios), 12), share, looks + 1)
    assert set(strict.alarmed) <= set(found.alarmed)
    assert set(strict.cleared) <= set(found.cleared)


# the verdicts of a run that might have ended early ------------------------------------------------


def between_the_levels() -> runs.RunData:
    """A difference whose p is above Pocock's level of three looks and below 5 %."""
    for step in range(100):
        found = slower(1 + step / 5000)
        p = runs.analyse(found).cases[0].comparisons.p[0]
        if p is not None and pocock(3) < p < 0.05:
            return found
    raise AssertionError("no such difference")


def with_looks(found: runs.RunData, looks: int) -> runs.RunData:
    return replace(found, plan=found.plan.model_copy(update={"looks": looks, "gate": SHARE}))


def test_each_of_several_looks_gives_verdicts_at_pococks_level() -> None:
    found = between_the_levels()
    once, often = (runs.analyse(with_looks(found, looks)).cases[0] for looks in (1, 3))
    assert once.comparisons.verdict[0] == "slower"
    assert often.comparisons.verdict[0] == "equivalent"
    assert once.comparisons.ratio == often.comparisons.ratio
    assert once.comparisons.low == often.comparisons.low


def test_a_run_that_was_settled_early_says_so_with_its_level() -> None:
    of = planned()
    lines = [x for x in runs.samples(of, runs.noisy({"new": 1.2})) if x.get("block", 0) < 10]
    (told,) = (
        text for text in notices(runs.analyse(runs.make(of, lines=lines))) if "settled" in text
    )
    assert told == (
        "The run was settled at the planned look after 10 of 30 blocks; its verdicts are given at "
        "2.2 %, the level for each of 3 looks."
    )


EACH = 3  # invocations of a block: base, new, canary
ALL = 2  # operations of the case `all`


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("base", "new"):
        catalogue.runner(name)
    return Desk.make(catalogue, monkeypatch)


def plain(line: str) -> str:
    """A finding without the changes that it shows."""
    return re.sub(r" \([+-].*?\)", "", line)


def rounded(line: str) -> str:
    """A finding with whole per cents and without the ends of its intervals: the order of a second
    run, and so its digits, vary."""
    bare = re.sub(r" \[[+-]\d+\.\d, [+-]\d+\.\d\]", " [low, high]", line)
    return re.sub(r"[+-]\d+\.\d", lambda number: f"{float(number[0]):+z.0f}", bare)


def compare(desk: Desk, gate: float | None = None, **options: Any) -> Ended:
    asked = session.Options(
        mode="gate" if gate else "standard",
        kind="compare",
        correction="holm",
        blocks=30,
        size="s",
        seed=3,
        label="x",
    )
    asked, progress = replace(asked, gate=gate, **options), Progress(desk.stderr)
    return comparison.measure(["base", "new"], asked, definitions.load(), paths.tools(), progress)


def slow(factor: float, until: int = 10**9) -> Pace:
    """New's pace: slower by `factor` in its first measured invocations, then as base."""
    quick, late = even(1100, "new"), even(1100 * factor, "new")
    return lambda operations, n: (late if n <= until else quick)(operations, n)


def report(done: Ended) -> runs.Report:
    return runs.analyse(runs.load(runs.sure(done.directory)))


def stems(desk: Desk) -> list[str]:
    folder = desk.clone.root / "results"
    return sorted(desk.clone.plain(f.name) for f in folder.iterdir() if f.name != "latest")


Lie = Callable[[int], dict[str, Any] | None]


def unsupported(_number: int) -> dict[str, Any]:
    """The answer of a runner that lacks what is asked."""
    return {"status": "unsupported", "reason": "no such thing"}


def second_unsupported() -> Lie:
    """Of a runner that lacks the second thing that it is asked."""
    calls = count(1)
    return lambda number: unsupported(number) if next(calls) == 2 else {}


def wrong_from(first: int, last: int = 10**9) -> Lie:
    """Answers of the invocations from `first` on are wrong."""
    return lambda number: {"checksum": 6} if first <= number <= last else {}


def crashing_in_all(desk: Desk, number: int) -> dict[str, Any] | None:
    return None if number and desk.instant.measured[-1].operations == ALL else {}


def wild(*paces: float, after: int) -> Pace:
    """New is a fifth slower, then noisy."""
    quick = slow(1.2)
    return lambda o, n: quick(o, n) if n <= after else 1100 * paces[n % len(paces)]


def of_operations(operations: int, number: int) -> float:
    """New is slower in the case `all`."""
    return even(1320 if operations == ALL else 1100, "new")(operations, number)


@dataclass
class Case:
    """How new behaves, with which options the two are compared, and how that ends."""

    exit: int
    pace: Pace | None = None
    lies: Mapping[str, Lie] = field(default_factory=dict[str, Lie])
    gate: float | None = 0.05
    all_too: bool = False  # also the case `all`
    options: dict[str, Any] = field(default_factory=dict[str, Any])


NOISY = wild(0.7, 1.9, 1.0, 1.5, 1.1, after=10)
CASES = {
    "an alarm that is not confirmed is none": Case(0, slow(1.2, until=10)),
    "a second run that is too noisy confirms nothing": Case(0, NOISY),
    "strict does not let it pass": Case(6, NOISY, options={"strict": True}),
    "only cases with an alarm are measured again": Case(1, of_operations, all_too=True),
    "too few blocks decide nothing": Case(0, slow(1.5), options={"blocks": 2}),
    **{
        f"{' and '.join(sides)} cannot, gate {gate}": Case(
            4, lies=dict.fromkeys(sides, unsupported), gate=gate
        )
        for sides in (["new"], ["base"], ["base", "new"])
        for gate in (None, 0.05)
    },
    "one side lacks a case": Case(4, lies={"new": second_unsupported()}, all_too=True),
    **{
        f"wrong from invocation {first} on, gate {gate}": Case(
            5, lies={"new": wrong_from(first)}, gate=gate
        )
        for first in (0, 1, 5)
        for gate in (None, 0.05)
    },
    "new fails": Case(4, lies={"new": lambda n: None if n == 12 else {}}, gate=None),
    "a failure in the second run": Case(5, slow(1.2), {"new": wrong_from(15, 15)}),
    "a failed cell hides no slowdown": Case(1, slow(1.2), all_too=True),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_comparison_comes_to(name: str, desk: Desk, snapshot: SnapshotAssertion) -> None:
    of = CASES[name]
    if of.all_too:
        with_two_cases(desk)
    if of.pace:
        desk.instant.paces["new"] = of.pace
    desk.instant.lies.update(of.lies)
    if name == "a failed cell hides no slowdown":
        desk.instant.lies["new"] = partial(crashing_in_all, desk)
    done = compare(desk, of.gate, **of.options)
    assert done.exit == of.exit
    judged_run = report(done)
    shown = plain if of.pace is NOISY else rounded
    # the log of a failure lies elsewhere each time
    findings = [desk.clone.plain(shown(line)).partition("; see ")[0] for line in done.findings]
    outcomes = {
        case.id: {cell.runner: (cell.outcome, bool(cell.time)) for cell in case.cells}
        for case in judged_run.cases
    }
    again = [list(RunDirectory.open(path).plan().cells) for path in confirmations(desk)]
    told = [text for text in headline(judged_run) if text[1:-1] in str(done.findings)]
    measured = "nothing is measured" not in desk.said()
    assert (findings, outcomes, stems(desk), blocks(desk), again, len(told), measured) == snapshot


def confirmations(desk: Desk) -> list[Path]:
    return sorted((desk.clone.root / "results").glob("*-x-confirm"))


def confirmation(desk: Desk) -> RunDirectory:
    (folder,) = confirmations(desk)
    return RunDirectory.open(folder)


def with_two_cases(desk: Desk) -> None:
    """Operations tell the two apart: 4 of get, 2 of all."""
    old, new = (
        f"cases = [{{ scenario = {text} }}]" for text in ('"get"', '"get" }, { scenario = "all"')
    )
    desk.clone.replace("scenarios/suites.toml", old, new)


def blocks(desk: Desk) -> int:
    """Blocks of the latest run."""
    return len(measured_order(desk.clone.latest())) // EACH


def test_without_a_gate_all_blocks_are_measured_and_a_report_tells(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.1)
    done = compare(desk)
    assert (done.exit, done.findings, stems(desk), blocks(desk)) == (0, [], ["STAMP-x"], 30)
    found = report(done)
    assert (found.kind, found.reference, found.correction) == ("compare", "base", "holm")
    assert found.title == "new against base"
    (verdict,) = found.cases[0].comparisons.verdict
    assert verdict == "materially slower"
    plan = desk.clone.latest().plan()
    assert (plan.subjects, plan.canary) == (["base", "new"], "base")


@pytest.mark.parametrize("strict", [False, True])
def test_a_clear_case_ends_at_the_first_look_and_its_run_is_no_damaged_one(
    desk: Desk, *, strict: bool
) -> None:
    done = compare(desk, 0.05, strict=strict)
    assert (done.exit, done.findings) == (0, ["gate 5 %: no case is slower by more"])
    assert (stems(desk), blocks(desk)) == (["STAMP-x"], 10)
    assert "settled at the planned look after 10 blocks\n" in desk.said()
    assert desk.clone.latest().complete()
    judged_run = report(done)
    assert judged_run.blocks_complete == 10
    assert not [text for text in notices(judged_run) if "complete" in text]


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 6)])
def test_an_open_case_goes_on_to_the_last_block_and_strict_does_not_let_it_pass(
    desk: Desk, strict: bool, code: int
) -> None:
    wild = (0.9, 1.2, 1.0, 1.1, 1.05)
    desk.instant.paces["new"] = lambda _, n: 1100 * wild[n % 5]
    done = compare(desk, 0.05, strict=strict)
    assert (done.exit, blocks(desk)) == (code, 30)
    assert done.findings == ["gate 5 %: too noisy to tell: get (+5.0 % [+1.9, +8.1])"]
    assert headline(report(done))[0] == ("Gate 5 %: too noisy to tell: get (+5.0 % [+1.9, +8.1]).")
    assert desk.clone.latest().plan().strict == strict


def test_a_gate_that_runs_late_is_given_at_the_level_of_the_looks_it_took(desk: Desk) -> None:
    wild = (0.9, 1.2, 1.0, 1.1, 0.8)
    desk.instant.paces["new"] = lambda _, n: 1100 * wild[n % 5]

    def late(_name: str, _number: int) -> None:
        desk.instant.now_ns += 450_000_000

    desk.instant.before = late
    done = compare(desk, 0.05, blocks=None, time_budget_s=28.0)
    plan = desk.clone.latest().plan()
    assert (done.exit, plan.foreseen, plan.looks) == (0, 30, 2)
    assert 10 < plan.blocks == blocks(desk) < 20
    assert any("any of 2 planned looks" in text for text in report(done).method)


def test_a_confirmed_alarm_fails_the_gate(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.2)
    done = compare(desk, 0.05)
    assert done.exit == 1
    second = confirmation(desk)
    line, end = done.findings
    assert end == f"second run: {second.path}"
    assert rounded(line) == (
        "gate 5 %: slower by more in both runs: get (+20 % [low, high], then +20 % [low, high])"
    )
    assert (stems(desk), blocks(desk)) == (["STAMP-x", "STAMP-x-confirm"], 10)
    assert "gate 5 %: get slower by more; measuring again to confirm\n" in desk.said()
    first = desk.clone.latest().path
    assert (done.directory, desk.clone.plain(first.name)) == (first, "STAMP-x")
    assert headline(report(done))[:2] == [
        f"G{line[1:]}.",
        f"Second run: {second.path.name}.",
    ]
    assert headline(runs.analyse(runs.load(first))) == headline(report(done))
    plan = second.plan()
    assert (plan.seed != 3, plan.confirms, plan.gate) == (True, first.name, 0.05)


# interrupted, and gone on with --------------------------------------------------------------------


def resume(desk: Desk, path: Path) -> Ended:
    told = Progress(desk.stderr)
    return comparison.resume(
        path, session.Options(), definitions.load(), paths.tools(), told, force=False
    )


def interrupt_at(desk: Desk, number: int) -> None:
    """Ctrl-C in that invocation of all."""

    def interrupt(_name: str, _number: int) -> None:
        if len(desk.instant.measured) == number:
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt


@pytest.mark.parametrize(
    ("at", "stopped", "resumed"),
    [(5, "STAMP-x", "STAMP-x"), (35, "STAMP-x-confirm", "STAMP-x-confirm"),
     (35, "STAMP-x-confirm", "STAMP-x")],
)  # fmt: skip
def test_a_gate_that_was_interrupted_ends_as_it_would_have(
    desk: Desk, at: int, stopped: str, resumed: str
) -> None:
    desk.instant.paces["new"] = slow(1.2)
    interrupt_at(desk, at)
    broken = compare(desk, 0.05)
    folder = runs.sure(broken.directory)
    assert (broken.exit, desk.clone.plain(folder.name)) == (130, stopped)
    done = resume(desk, folder if stopped == resumed else desk.clone.latest().path)
    assert (done.exit, done.directory) == (1, desk.clone.latest().path)
    assert (stems(desk), blocks(desk)) == (["STAMP-x", "STAMP-x-confirm"], 10)
    assert len(measured_order(confirmation(desk))) == 10 * EACH
    assert list(map(plain, done.findings)) == [
        "gate 5 %: slower by more in both runs: get",
        f"second run: {confirmation(desk).path}",
    ]
    for run in (desk.clone.latest(), confirmation(desk)):
        with refused("is complete"):
            resume(desk, run.path)


def test_a_resumed_gate_is_not_judged_at_a_look_that_it_had_passed(desk: Desk) -> None:
    at_the_gate, quick = even(1100 * 1.05, "base"), even(900, "base")
    desk.instant.paces["base"] = even(1100, "base")
    desk.instant.paces["new"] = lambda o, n: (at_the_gate if n <= 10 else quick)(o, n)
    interrupt_at(desk, 19 * EACH)
    broken = compare(desk, 0.05)
    assert blocks(desk) == 19
    done = resume(desk, runs.sure(broken.directory))
    assert (done.exit, done.findings) == (0, ["gate 5 %: no case is slower by more"])
    # blocks 11 to 19 were not planned to decide at the look after 10
    assert blocks(desk) == 20
    assert "settled at the planned look after 20 blocks\n" in desk.said()


def test_a_subject_against_itself_is_refused(desk: Desk) -> None:
    options, progress = session.Options(size="s"), Progress(desk.stderr)
    with refused(r"^new is named twice; a comparison needs different"):
        comparison.measure(["new", "new"], options, definitions.load(), paths.tools(), progress)
    assert desk.instant.verified == []
