"""Which cases a gate alarms for, clears or leaves open, at each of its planned looks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.compare.comparison import Gate, gate, unmeasured
from tests.analysis import runs
from tests.fakes.instant import Desk, Lie, Pace, even
from tests.refusals import refused
from tests.worded import headline, notices

ALARM, CLEAR, OPEN = (Gate(["a"], [], []), Gate([], ["a"], []), Gate([], [], ["a"]))
CASES = "abcdefghij"


def planned(cases: str = "a", **changes: Any) -> dict[str, Any]:
    usual = {"kind": "compare", "correction": "holm", "looks": 1, "gate": 0.05, "blocks": 30}
    return runs.plan(["base", "new"], cases=[*map(runs.case, cases)], **{**usual, **changes})


def slower(ratio: float, spread: float = 0.01, **plan: Any) -> runs.RunData:
    return runs.make(planned(**plan), time=runs.noisy({"new": ratio}, spread=spread))


@pytest.mark.parametrize(
    ("ratio", "spread", "plan", "expected"),
    [
        (1.20, 0.01, {}, ALARM),
        (1.20, 0.01, {"looks": 3}, ALARM),
        (1.20, 0.01, {"canary": None}, ALARM),
        (1.20, 0.01, {"gate": 0.15}, ALARM),
        (1.20, 0.01, {"gate": 0.30}, CLEAR),
        (1.00, 0.01, {}, CLEAR),
        (1.00, 0.01, {"looks": 3}, CLEAR),
        (0.50, 0.01, {}, CLEAR),
        (1.03, 0.002, {}, CLEAR),  # slower, and resolved, but within the gate
        (1.05, 0.01, {}, OPEN),
        (1.00, 0.15, {}, OPEN),
        # several looks ask for more at each
        (1.0565, 0.015, {}, ALARM),
        (1.0565, 0.015, {"looks": 3}, OPEN),
        # few blocks may clear but never alarm
        (3.00, 0.01, {"blocks": 9}, OPEN),
        (3.00, 0.01, {"blocks": 9, "canary": None}, OPEN),
        (0.50, 0.01, {"blocks": 9}, CLEAR),
        (0.50, 0.01, {"blocks": 9, "canary": None}, CLEAR),
    ],
)
def test_alarmed_cleared_or_open(
    ratio: float, spread: float, plan: dict[str, Any], expected: Gate
) -> None:
    assert gate(slower(ratio, spread, **plan)) == expected


def test_a_run_under_way_is_judged_by_the_blocks_there_are() -> None:
    of = planned(looks=3)
    lines = runs.samples(of, runs.noisy({"new": 1.2}), complete=False)
    for blocks, expected in ((0, OPEN), (9, OPEN), (10, ALARM), (20, ALARM)):
        some = [x for x in lines if x["block"] < blocks]
        assert gate(runs.make(of, lines=some)) == expected


def test_no_control_takes_an_alarm_away() -> None:
    of = planned()
    lines = runs.samples(of, runs.noisy({"new": 1.2, "canary": 1.3}))
    for some in (lines, runs.drop(lines, label="canary")):
        assert gate(runs.make(of, lines=some)) == ALARM


def test_many_cases_are_corrected_together() -> None:
    def time(number: int, label: str, block: int) -> float:
        return runs.noisy({} if number else {"new": 1.0565}, spread=0.015)(number, label, block)

    found = gate(runs.make(planned(CASES), time=time))
    assert (found.alarmed, found.open) == ([], ["a"])  # alone it is an alarm


@pytest.mark.parametrize(
    ("outcome", "sides"),
    [("wrong", ["base"]), ("failed", ["new"]), ("unsupported", ["base", "new"])],
)
def test_a_case_that_is_not_ok_has_no_answer(outcome: str, sides: list[str]) -> None:
    of = planned("ab")
    verify = runs.checks(of)
    for name in sides:
        verify = runs.change(verify, {"outcome": outcome, "reason": "r\nr"}, runner=name, case="a")
    found = runs.make(of, verify=verify, time=runs.noisy({"new": 1.2}))
    without = {"a": f"{' and '.join(sides)}: {outcome}: r r"}
    assert gate(found) == Gate(["b"], [], [], without)
    assert unmeasured(found) == without


def test_a_case_that_one_side_was_not_measured_for_or_still_warms_up_in_has_no_answer() -> None:
    of = planned(cells={"a": ["base"]})
    lone = runs.make(of, lines=runs.drop(runs.samples(of, runs.noisy()), label="new"))
    assert gate(lone).unmeasured == {"a": "new: missing: not selected for this run"}
    lines = runs.change(
        runs.samples(of, runs.noisy()),
        lambda x: {"drift": (0.9 if x["runner"] == "new" else 1.0) + (0.01, -0.01)[x["block"] % 2]},
    )
    told = "new: still warming up: its second half took 10.0 % less time than its first"
    assert gate(runs.make(planned(), lines=lines)) == Gate([], [], [], {"a": told})


def test_each_case_with_a_time_has_its_ratio() -> None:
    found = slower(1.2)
    (ratio,) = gate(found).ratios.values()
    assert ratio == runs.contrast(runs.analyse(found), "new", "base").ratio
    with pytest.raises(ValueError, match=r"^run-1 has no gate$"):
        gate(replace(found, plan=found.plan.model_copy(update={"gate": None})))


@settings(max_examples=15)
@given(
    st.lists(st.floats(0.8, 1.3), min_size=1, max_size=3),
    st.floats(0.001, 0.2),
    st.integers(1, 5),
    st.floats(0.001, 0.5),
)
def test_each_case_is_in_one_list_and_more_looks_are_stricter(
    ratios: list[float], spread: float, looks: int, share: float
) -> None:
    def time(number: int, label: str, block: int) -> float:
        return runs.noisy({"new": ratios[number]}, spread=spread)(number, label, block)

    cases = CASES[: len(ratios)]
    found, strict = (
        gate(runs.make(planned(cases, blocks=12, gate=share, looks=of), time=time))
        for of in (looks, looks + 1)
    )
    assert sorted(found.alarmed + found.cleared + found.open) == list(cases)
    assert set(strict.alarmed) <= set(found.alarmed)
    assert set(strict.cleared) <= set(found.cleared)


def test_verdicts_of_a_run_that_might_have_ended_early_are_at_the_level_of_its_looks() -> None:
    once, often = (
        runs.analyse(slower(1.004, looks=looks)).cases[0].comparisons for looks in (1, 3)
    )
    assert (once.verdict, often.verdict) == (["slower"], ["equivalent"])
    assert (once.ratio, once.low) == (often.ratio, often.low)


# measured, and measured again ---------------------------------------------------------------------

EACH = 3  # invocations of a block: base, new, canary
ALL = 2  # operations of the case `all`; get has 4
RUNNERS = ("base", "new")


def rounded(line: str) -> str:
    """A finding with whole per cents and without the ends of its intervals."""
    bare = re.sub(r" \[[+-]\d+\.\d, [+-]\d+\.\d\]", " [low, high]", line)
    return re.sub(r"[+-]\d+\.\d", lambda number: f"{float(number[0]):+z.0f}", bare)


def compare(desk: Desk, gate: float | None = 0.05, **options: Any) -> Any:
    mode = "gate" if gate else "standard"
    usual = {"mode": mode, "gate": gate, "blocks": 30, "label": "x"}
    return desk.compare("base", "new", **{**usual, **options})


def slow(factor: float, until: int = 10**9) -> Pace:
    """New's pace: slower by `factor` in its first measured invocations, then as base."""
    quick, late = even(1100, "new"), even(1100 * factor, "new")
    return lambda operations, n: (late if n <= until else quick)(operations, n)


def wild(*paces: float, after: int = 0) -> Pace:
    """New is a fifth slower, then noisy."""
    quick = slow(1.2)
    return lambda o, n: quick(o, n) if n <= after else 1100 * paces[n % len(paces)]


def of_operations(operations: int, number: int) -> float:
    """New is slower in the case `all`."""
    return even(1320 if operations == ALL else 1100, "new")(operations, number)


def unsupported(_number: int) -> dict[str, Any]:
    """The answer of a runner that lacks what is asked."""
    return {"status": "unsupported", "reason": "no such thing"}


def wrong_from(first: int, last: int = 10**9) -> Lie:
    """Answers of the invocations from `first` on are wrong."""
    return lambda number: {"checksum": 6} if first <= number <= last else {}


def crashing_in_all(desk: Desk, number: int) -> dict[str, Any] | None:
    return None if number and desk.instant.measured[-1].operations == ALL else {}


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
OF_FIVE = wild(0.9, 1.2, 1.0, 1.1, 1.05)
ENDINGS = {
    "without a gate all blocks are measured": Case(0, slow(1.1), gate=None),
    "a clear case ends at the first look": Case(0),
    "an open case goes on to the last block": Case(0, OF_FIVE),
    "an open case goes on to the last block, strict": Case(6, OF_FIVE, options={"strict": True}),
    "a confirmed alarm fails the gate": Case(1, slow(1.2)),
    "an alarm that is not confirmed is none": Case(0, slow(1.2, until=10)),
    "a second run that is too noisy confirms nothing": Case(0, NOISY),
    "strict does not let it pass": Case(6, NOISY, options={"strict": True}),
    "only cases with an alarm are measured again": Case(1, of_operations, all_too=True),
    "too few blocks decide nothing": Case(0, slow(1.5), options={"blocks": 2}),
    **{
        f"{' and '.join(sides)} cannot, gate {gate}": Case(
            4, lies=dict.fromkeys(sides, unsupported), gate=gate
        )
        for sides in (["new"], ["base", "new"])
        for gate in (None, 0.05)
    },
    **{
        f"wrong from invocation {first} on, gate {gate}": Case(
            5, lies={"new": wrong_from(first)}, gate=gate
        )
        for first, gate in ((0, None), (0, 0.05), (5, None), (5, 0.05))
    },
    "new fails": Case(4, lies={"new": lambda n: None if n == 12 else {}}, gate=None),
    "a failure in the second run": Case(5, slow(1.2), {"new": wrong_from(15, 15)}),
    "a failed cell hides no slowdown": Case(1, slow(1.2), all_too=True),
}


def ended(desk: Desk, done: Any, *, noisy: bool) -> Iterator[str]:
    """What the comparison came to. The order of a second run, and so its digits, vary."""
    again = len(results(desk)) > 1
    for line in done.findings:
        told = desk.clone.plain(line).partition("; see ")[0]
        yield told.partition(" (")[0] if noisy else rounded(told) if again else told
    yield from re.findall(r".*(?:nothing is measured|settled|again to confirm).*", desk.said())
    for path in results(desk):
        run = runs.analyse(runs.load(path))
        yield f"{desk.clone.plain(path.name)}: {run.title}, {run.blocks_complete} blocks"
        for case in run.cases:
            cells = [f"{c.runner} {c.outcome}{', timed' * bool(c.time)}" for c in case.cells]
            said = "" if noisy else f"; {case.comparisons.verdict[0]}"
            yield f"{case.id}: {'; '.join(cells)}{said}"
        yield from (text for text in notices(run) if "blocks" in text)
    yield f"{len(desk.clone.samples())} invocations at first"


@pytest.mark.parametrize("name", ENDINGS)
def test_what_a_comparison_comes_to(name: str, desk: Desk, snapshot: SnapshotAssertion) -> None:
    of = ENDINGS[name]
    if of.all_too:
        desk.clone.two_of_each()
    if of.pace:
        desk.instant.paces["new"] = of.pace
    desk.instant.lies.update(of.lies)
    if name == "a failed cell hides no slowdown":
        desk.instant.lies["new"] = partial(crashing_in_all, desk)
    done = compare(desk, of.gate, **of.options)
    assert done.exit == of.exit
    told = [f"G{line[1:]}." for line in done.findings if line.startswith("gate")]
    assert headline(desk.clone.analysed())[: len(told)] == told
    assert list(ended(desk, done, noisy=of.pace is NOISY)) == snapshot


def results(desk: Desk) -> list[Path]:
    folder = desk.clone.root / "results"
    return sorted(file for file in folder.iterdir() if file.name != "latest")


def blocks(desk: Desk) -> int:
    """Blocks of the latest run."""
    return len(desk.clone.samples()) // EACH


def test_a_gate_that_runs_late_is_given_at_the_level_of_the_looks_it_took(desk: Desk) -> None:
    desk.instant.paces["new"] = wild(0.9, 1.2, 1.0, 1.1, 0.8)

    def late(_name: str, _number: int) -> None:
        desk.instant.now_ns += 450_000_000

    desk.instant.before = late
    done = compare(desk, blocks=None, time_budget_s=28.0)
    plan = desk.clone.latest().plan()
    assert (done.exit, plan.foreseen, plan.looks) == (0, 30, 2)
    assert 10 < plan.blocks == blocks(desk) < 20
    assert any("any of 2 planned looks" in text for text in desk.clone.analysed().method)


# interrupted, and gone on with --------------------------------------------------------------------


@pytest.mark.parametrize(("at", "stopped", "resumed"), [(5, 0, 0), (35, 1, 1), (35, 1, 0)])
def test_a_gate_that_was_interrupted_ends_as_it_would_have(
    desk: Desk, at: int, stopped: int, resumed: int
) -> None:
    desk.instant.paces["new"] = slow(1.2)
    desk.interrupt_at(at)
    broken = compare(desk)
    assert (broken.exit, broken.directory) == (130, results(desk)[stopped])
    done = desk.resume_comparison(results(desk)[resumed])
    first, second = results(desk)
    assert (done.exit, done.directory) == (1, first)
    line, end = done.findings
    assert line.startswith("gate 5 %: slower by more in both runs: get (+")
    assert end == f"second run: {second}"
    assert headline(runs.analyse(runs.load(first)))[:2] == [
        f"G{line[1:]}.",
        f"Second run: {second.name}.",
    ]
    plan = runs.load(second).plan
    assert (plan.seed != 3, plan.confirms, plan.gate) == (True, first.name, 0.05)
    for path in (first, second):
        assert runs.analyse(runs.load(path)).blocks_complete == 10
        with refused("is complete"):
            desk.resume_comparison(path)


def test_a_resumed_gate_is_not_judged_at_a_look_that_it_had_passed(desk: Desk) -> None:
    at_the_gate, quick = even(1100 * 1.05, "base"), even(900, "base")
    desk.instant.paces["base"] = even(1100, "base")
    desk.instant.paces["new"] = lambda o, n: (at_the_gate if n <= 10 else quick)(o, n)
    desk.interrupt_at(19 * EACH)
    broken = compare(desk)
    assert blocks(desk) == 19
    done = desk.resume_comparison(broken.directory)
    assert (done.exit, done.findings) == (0, ["gate 5 %: no case is slower by more"])
    # blocks 11 to 19 were not planned to decide at the look after 10
    assert blocks(desk) == 20
    assert "settled at the planned look after 20 blocks\n" in desk.said()
