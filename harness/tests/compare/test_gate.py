"""Which cases a gate alarms for, clears or leaves open, at each of its planned looks."""

import os
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlitmus.analysis import RunData, analyse, load
from sqlitmus.catalog import definitions
from sqlitmus.compare import comparison
from sqlitmus.compare.comparison import Gate, unmeasured
from sqlitmus.compare.comparison import gate as judged
from sqlitmus.results.report import Report
from sqlitmus.run import session
from sqlitmus.run.measure.blocks import Ended
from sqlitmus.run.processes.progress import Progress
from sqlitmus.stats.estimate import trimmed_means
from sqlitmus.stats.verdict import beyond_p, pocock
from sqlitmus.store.folder import RunDirectory
from sqlitmus.vocabulary import paths
from tests.analysis.runs import Times, case, change, checks, drop, make, noisy, plan, samples
from tests.fakes.clone import Clone, measured_order
from tests.fakes.instant import Desk, Pace, even
from tests.refusals import refused
from tests.worded import headline, notices

SHARE = 0.05
ALARM, CLEAR, OPEN = (Gate(["a"], [], []), Gate([], ["a"], []), Gate([], [], ["a"]))


def planned(cases: int = 1, blocks: int = 30) -> dict[str, Any]:
    return plan(
        ["base", "new"],
        kind="compare",
        correction="holm",
        looks=3,
        gate=SHARE,
        blocks=blocks,
        cases=[case("abcdefghij"[n]) for n in range(cases)],
    )


def run(time: Times, cases: int = 1, blocks: int = 30) -> RunData:
    of = planned(cases, blocks)
    return make(of, lines=samples(of, time))


def gate(found: RunData, share: float, looks: int) -> Gate:
    """What the run comes to, had its plan this gate and so many looks."""
    plan = found.plan.model_copy(update={"gate": share, "looks": looks})
    return judged(replace(found, plan=plan))


def slower(ratio: float, spread: float = 0.01) -> RunData:
    return run(noisy({"new": ratio}, spread=spread))


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
    lines = samples(of, noisy({"new": 1.2}), complete=False)

    def after(blocks: int) -> Gate:
        some = [x for x in lines if x.get("block", 0) < blocks]
        return gate(make(of, lines=some), SHARE, 3)

    assert after(0) == OPEN
    assert after(9) == OPEN  # fewer than ten never give a verdict
    assert after(10) == ALARM
    assert after(20) == ALARM


@pytest.mark.parametrize("canary", ["base", None])
def test_few_blocks_may_clear_but_never_alarm(canary: str | None) -> None:
    of = {**planned(blocks=9), "canary": canary}
    assert gate(make(of, lines=samples(of, noisy({"new": 3.0}))), SHARE, 1) == OPEN
    assert gate(make(of, lines=samples(of, noisy({"new": 0.5}))), SHARE, 1) == CLEAR


def test_a_control_that_differs_from_itself_takes_no_alarm_away() -> None:
    assert gate(run(noisy({"new": 1.2, "canary": 1.3})), SHARE, 1) == ALARM


def test_a_case_whose_canary_could_not_be_tested_is_judged_by_its_blocks() -> None:
    of = planned()
    lines = drop(samples(of, noisy({"new": 1.2})), label="canary")
    assert gate(make(of, lines=lines), SHARE, 1) == ALARM


def test_a_run_without_a_canary_is_judged_by_its_blocks_alone() -> None:
    of = {**planned(), "canary": None}
    found = make(of, lines=samples(of, noisy({"new": 1.2})))
    assert gate(found, SHARE, 1) == ALARM


def test_many_cases_are_corrected_together() -> None:
    def first(cases: int) -> Gate:
        time = noisy({"new": 1.0565}, spread=0.015)
        even = noisy({}, spread=0.015)
        return gate(run(lambda c, label, b: (even if c else time)(c, label, b), cases), SHARE, 1)

    assert first(1).alarmed == ["a"]
    assert (first(10).alarmed, first(10).open) == ([], ["a"])


@pytest.mark.parametrize("outcome", ["wrong", "failed", "unsupported"])
@pytest.mark.parametrize("runner", ["base", "new"])
def test_a_case_that_is_not_ok_has_no_answer(outcome: str, runner: str) -> None:
    of = planned(2)
    verify = change(checks(of), {"outcome": outcome, "reason": "r\nr"}, runner=runner, case="a")
    lines = samples(of, noisy({"new": 1.2}))
    found = make(of, verify=verify, lines=lines)
    without = {"a": f"{runner}: {outcome}: r r"}
    assert gate(found, SHARE, 1) == Gate(["b"], [], [], without)
    assert unmeasured(found) == without


def test_a_case_that_neither_side_can_do_names_both() -> None:
    of = planned()
    verify = change(checks(of), {"outcome": "unsupported", "reason": "r"})
    found = gate(make(of, verify=verify, lines=samples(of, noisy())[:1]), SHARE, 3)
    assert found == Gate([], [], [], {"a": "base and new: unsupported: r"})


def test_a_case_that_is_measured_for_one_side_only_has_no_answer() -> None:
    of = {**planned(), "cells": {"a": ["base"]}}
    lines = drop(samples(of, noisy()), label="new")
    found = gate(make(of, lines=lines), SHARE, 3)
    assert found.unmeasured == {"a": "new: missing: not selected for this run"}


def test_a_build_that_still_warms_up_is_not_cleared() -> None:
    of = planned()
    lines = samples(of, noisy())
    for line in lines:
        if "block" in line:
            level = 0.9 if line.get("runner") == "new" else 1.0
            line["drift"] = level + (0.01, -0.01)[line["block"] % 2]
    judged_run = gate(make(of, lines=lines), SHARE, 3)
    told = "new: still warming up: its second half took 10.0 % less time than its first"
    assert judged_run == Gate([], [], [], {"a": told})


def test_each_case_with_a_time_has_its_ratio() -> None:
    (ratio,) = gate(slower(1.2), SHARE, 1).ratios.values()
    compared = analyse(slower(1.2)).cases[0].comparisons.of("new", "base")
    assert compared is not None
    assert ratio == compared.ratio


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
        return noisy({"new": ratios[number]}, spread=spread)(number, label, block)

    found = gate(run(time, len(ratios), 12), share, looks)
    assert sorted(found.alarmed + found.cleared + found.open) == list("abcdefghij"[: len(ratios)])
    strict = gate(run(time, len(ratios), 12), share, looks + 1)
    assert set(strict.alarmed) <= set(found.alarmed)
    assert set(strict.cleared) <= set(found.cleared)


# the verdicts of a run that might have ended early ------------------------------------------------


def between_the_levels() -> RunData:
    """A difference whose p is above Pocock's level of three looks and below 5 %."""
    for step in range(100):
        found = slower(1 + step / 5000)
        p = analyse(found).cases[0].comparisons.p[0]
        if p is not None and pocock(3) < p < 0.05:
            return found
    raise AssertionError("no such difference")


def with_looks(found: RunData, looks: int) -> RunData:
    return replace(found, plan=found.plan.model_copy(update={"looks": looks, "gate": SHARE}))


def test_each_of_several_looks_gives_verdicts_at_pococks_level() -> None:
    found = between_the_levels()
    once, often = (analyse(with_looks(found, looks)).cases[0] for looks in (1, 3))
    assert once.comparisons.verdict[0] == "slower"
    assert often.comparisons.verdict[0] == "equivalent"
    assert once.comparisons.ratio == often.comparisons.ratio
    assert once.comparisons.low == often.comparisons.low


def test_the_report_says_at_which_level() -> None:
    (once,), (often,) = (
        [text for text in analyse(with_looks(slower(1.2), looks)).method if "Verdicts: " in text]
        for looks in (1, 3)
    )
    assert "Pocock" not in once
    assert "each verdict is given at Pocock's level, 2.2 % in place of 5 %" in often


def test_a_run_that_was_settled_early_says_so_with_its_level() -> None:
    of = planned()
    lines = [x for x in samples(of, noisy({"new": 1.2})) if x.get("block", 0) < 10]
    (told,) = (text for text in notices(analyse(make(of, lines=lines))) if "settled" in text)
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


def report(done: Ended) -> Report:
    assert done.directory is not None
    return analyse(load(done.directory))


def runs(desk: Desk) -> list[str]:
    folder = desk.clone.root / "results"
    return sorted(desk.clone.plain(f.name) for f in folder.iterdir() if f.name != "latest")


def confirmation(desk: Desk) -> RunDirectory:
    (folder,) = (desk.clone.root / "results").glob("*-x-confirm")
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
    assert (done.exit, done.findings, runs(desk), blocks(desk)) == (0, [], ["STAMP-x"], 30)
    found = report(done)
    assert (found.kind, found.reference, found.correction) == ("compare", "base", "holm")
    assert found.title == "new against base"
    (verdict,) = found.cases[0].comparisons.verdict
    assert verdict == "materially slower"
    plan = desk.clone.latest().plan()
    assert (plan.subjects, plan.canary) == (["base", "new"], "base")


def test_a_clear_case_ends_at_the_first_look_and_its_run_is_no_damaged_one(desk: Desk) -> None:
    done = compare(desk, 0.05)
    assert (done.exit, done.findings) == (0, ["gate 5 %: no case is slower by more"])
    assert (runs(desk), blocks(desk)) == (["STAMP-x"], 10)
    assert "settled at the planned look after 10 blocks\n" in desk.said()
    assert desk.clone.latest().complete()
    found = report(done)
    assert found.blocks_complete == 10
    assert not [text for text in notices(found) if "complete" in text]


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


def test_strict_passes_what_is_clear(desk: Desk) -> None:
    assert compare(desk, 0.05, strict=True).exit == 0


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
    assert (runs(desk), blocks(desk)) == (["STAMP-x", "STAMP-x-confirm"], 10)
    assert "gate 5 %: get slower by more; measuring again to confirm\n" in desk.said()
    first = desk.clone.latest().path
    assert (done.directory, desk.clone.plain(first.name)) == (first, "STAMP-x")
    assert headline(report(done))[:2] == [
        f"G{line[1:]}.",
        f"Second run: {second.path.name}.",
    ]
    assert headline(analyse(load(first))) == headline(report(done))
    plan = second.plan()
    assert (plan.seed != 3, plan.confirms, plan.gate) == (True, first.name, 0.05)


def test_an_alarm_that_is_not_confirmed_is_none(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.2, until=10)
    done = compare(desk, 0.05)
    assert done.exit == 0
    line, end = done.findings
    assert end == f"second run: {confirmation(desk).path}"
    assert rounded(line) == (
        "gate 5 %: slower by more in the first run, not in the second: get (+20 % [low, high], "
        "then +0 % [low, high])"
    )
    assert runs(desk) == ["STAMP-x", "STAMP-x-confirm"]


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 6)])
def test_a_second_run_that_is_too_noisy_confirms_nothing_and_says_so(
    desk: Desk, strict: bool, code: int
) -> None:
    wild = (0.7, 1.9, 1.0, 1.5, 1.1)
    quick = slow(1.2)
    desk.instant.paces["new"] = lambda o, n: quick(o, n) if n <= 10 else 1100 * wild[n % 5]
    done = compare(desk, 0.05, strict=strict)
    assert done.exit == code
    assert plain(done.findings[0]) == (
        "gate 5 %: slower by more in the first run, too noisy to confirm in the second: get"
    )


def test_only_cases_with_an_alarm_are_measured_again(desk: Desk) -> None:
    with_two_cases(desk)
    desk.instant.paces["new"] = lambda operations, n: even(
        1320 if operations == 2 else 1100, "new"
    )(operations, n)
    done = compare(desk, 0.05, filters=["runner:base", "runner:new"])
    assert done.exit == 1
    assert [case.id for case in report(done).cases] == ["get", "all"]
    assert list(confirmation(desk).plan().cells) == ["all"]
    assert plain(done.findings[0]) == "gate 5 %: slower by more in both runs: all"
    assert done.findings[1] == "gate 5 %: 1 of 2 cases not slower by more"


def test_a_slowdown_within_the_gate_passes(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.2)
    done = compare(desk, 0.3)
    assert (done.exit, done.findings) == (0, ["gate 30 %: no case is slower by more"])


def test_too_few_blocks_decide_nothing(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.5)
    done = compare(desk, 0.05, blocks=2)
    assert done.exit == 0
    assert list(map(plain, done.findings)) == [
        "gate 5 %: too few blocks to tell, 10 are needed: get"
    ]


def unsupported(number: int) -> dict[str, Any]:
    """The answer of a runner that lacks what is asked."""
    del number
    return {"status": "unsupported", "reason": "no such thing"}


@pytest.mark.parametrize("gate", [None, 0.05])
@pytest.mark.parametrize("sides", [["new"], ["base"], ["base", "new"]])
def test_what_was_never_measured_does_not_pass(
    desk: Desk, gate: float | None, sides: list[str]
) -> None:
    for name in sides:
        desk.instant.lies[name] = unsupported
    done = compare(desk, gate)
    assert (done.exit, desk.instant.measured) == (4, [])
    why = f"get ({' and '.join(sides)}: unsupported: no such thing)"
    lead = "gate 5 %: no answer" if gate else "no case was compared"
    assert done.findings == [f"{lead}: {why}"]
    assert "no case can be compared; nothing is measured\n" in desk.said()
    cells = {cell.runner: cell.outcome for cell in report(done).cases[0].cells}
    assert {name for name, outcome in cells.items() if outcome == "unsupported"} == set(sides)


def test_a_case_that_one_side_lacks_is_named_beside_those_that_pass(desk: Desk) -> None:
    with_two_cases(desk)
    calls: list[int] = []

    def second(number: int) -> dict[str, Any]:
        calls.append(number)
        return unsupported(number) if len(calls) == 2 else {}

    desk.instant.lies["new"] = second
    done = compare(desk, 0.05)
    assert done.exit == 4
    assert done.findings == [
        "gate 5 %: no answer: all (new: unsupported: no such thing)",
        "gate 5 %: 1 of 2 cases not slower by more",
    ]
    assert blocks(desk) == 10 * 5 // EACH  # all is measured for the base and its canary


@pytest.mark.parametrize("number", [0, 1, 5])
def test_wrong_answers_of_the_new_subject_end_with_5(desk: Desk, number: int) -> None:
    desk.instant.lies["new"] = lambda n: {"checksum": 6} if n >= number else {}
    for gate in (None, 0.05):
        desk.instant.measured.clear()
        done = compare(desk, gate, label=f"gate-{gate}", fresh=True)
        assert done.exit == 5
        (_, new) = report(done).cases[0].cells
        assert new.outcome == "wrong"
        assert new.time is None


def test_a_new_subject_that_fails_ends_with_4(desk: Desk) -> None:
    desk.instant.lies["new"] = lambda n: None if n == 12 else {}
    assert compare(desk).exit == 4


def test_a_failure_in_the_second_run_is_told_by_the_exit_code(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.2)
    desk.instant.lies["new"] = lambda n: {"checksum": 6} if n == 15 else {}
    done = compare(desk, 0.05)
    assert done.exit == 5
    assert done.findings[0] == (
        "gate 5 %: no answer in the second run: get (new: wrong: wrong in 1 invocation of 5, first "
        "in block 5: iteration 0 (operations 0 to 3): checksum 21; the oracle has 20)"
    )


def test_a_failed_cell_hides_no_confirmed_slowdown_and_is_told(desk: Desk) -> None:
    with_two_cases(desk)
    desk.instant.paces["new"] = slow(1.2)

    def crash(number: int) -> dict[str, Any] | None:
        return None if number and desk.instant.measured[-1].operations == ALL else {}

    desk.instant.lies["new"] = crash
    done = compare(desk, 0.05)
    assert done.exit == 1
    assert [plain(line).partition(": failed")[0] for line in done.findings[:2]] == [
        "gate 5 %: slower by more in both runs: get",
        "gate 5 %: no answer: all (new",
    ]
    assert done.findings[1] + "." in [line[0].lower() + line[1:] for line in headline(report(done))]


@pytest.mark.parametrize("at", [5, 35])
def test_an_interrupt_in_either_run_ends_with_130_and_tells_which(desk: Desk, at: int) -> None:
    desk.instant.paces["new"] = slow(1.2)

    def interrupt(_name: str, _number: int) -> None:
        if len(desk.instant.measured) == at:
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt
    done = compare(desk, 0.05)
    assert done.exit == 130
    assert done.directory is not None
    assert desk.clone.plain(done.directory.name) == ("STAMP-x" if at == 5 else "STAMP-x-confirm")


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


@pytest.mark.parametrize("at", [5, 35])
def test_a_gate_that_was_interrupted_ends_as_it_would_have(desk: Desk, at: int) -> None:
    desk.instant.paces["new"] = slow(1.2)
    interrupt_at(desk, at)
    broken = compare(desk, 0.05)
    assert broken.directory is not None
    done = resume(desk, broken.directory)
    assert (done.exit, done.directory) == (1, desk.clone.latest().path)
    assert (runs(desk), blocks(desk)) == (["STAMP-x", "STAMP-x-confirm"], 10)
    assert len(measured_order(confirmation(desk))) == 10 * EACH
    assert list(map(plain, done.findings)) == [
        "gate 5 %: slower by more in both runs: get",
        f"second run: {confirmation(desk).path}",
    ]
    for run in (desk.clone.latest(), confirmation(desk)):
        with refused("is complete"):
            resume(desk, run.path)


def test_a_first_run_resumed_goes_on_with_its_confirmation(desk: Desk) -> None:
    desk.instant.paces["new"] = slow(1.2)
    interrupt_at(desk, 35)
    assert compare(desk, 0.05).exit == 130
    assert resume(desk, desk.clone.latest().path).exit == 1
    assert runs(desk) == ["STAMP-x", "STAMP-x-confirm"]
    assert len(measured_order(confirmation(desk))) == 10 * EACH


def test_a_resumed_gate_is_not_judged_at_a_look_that_it_had_passed(desk: Desk) -> None:
    at_the_gate, quick = even(1100 * 1.05, "base"), even(900, "base")
    desk.instant.paces["base"] = even(1100, "base")
    desk.instant.paces["new"] = lambda o, n: (at_the_gate if n <= 10 else quick)(o, n)
    interrupt_at(desk, 19 * EACH)
    broken = compare(desk, 0.05)
    assert broken.directory is not None
    assert blocks(desk) == 19
    done = resume(desk, broken.directory)
    assert (done.exit, done.findings) == (0, ["gate 5 %: no case is slower by more"])
    # blocks 11 to 19 were not planned to decide at the look after 10
    assert blocks(desk) == 20
    assert "settled at the planned look after 20 blocks\n" in desk.said()


def test_a_subject_against_itself_is_refused(desk: Desk) -> None:
    options, progress = session.Options(size="s"), Progress(desk.stderr)
    with refused(r"^new is named twice; a comparison needs different"):
        comparison.measure(["new", "new"], options, definitions.load(), paths.tools(), progress)
    assert desk.instant.verified == []
