"""Where a run ends: at planned looks settled cases do, and the others get their time; a run that is
slower than its pilot ends within its time budget.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, even
from tests.machines.folders import change
from tests.worded import notices

EACH = 3  # invocations of a case in a block: a, b, canary
ALL = 2  # operations of the case `all`, 4 of `get`
LATE = 0.05  # the share of its budget by which a run may be late
MODES = "scenarios/modes.toml"


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.two_of_each()
    return Desk.make(catalogue, monkeypatch)


def clear_and_open(desk: Desk) -> None:
    """`get` takes b three times as long, `all` about as long, with noise."""
    wild = (0.9, 1.2, 1.0, 1.1, 0.8, 1.05, 0.95)
    quick, late = even(1100, "a"), even(3300, "b")
    desk.instant.paces["a"] = quick
    desk.instant.paces["b"] = lambda operations, n: (
        1100 * wild[n % 7] if operations == ALL else late(operations, n)
    )


def noisy(desk: Desk) -> None:
    """Nothing is settled."""
    for name in ("a", "b"):
        desk.instant.paces[name] = lambda _, n: 1100 * (0.9, 1.2, 1.0, 1.1)[n % 4]


def blocks(desk: Desk) -> dict[str, int]:
    """Blocks of each case of the latest run, which its report counts, too."""
    counted = dict(Counter(s.case for s in desk.clone.latest().samples() if s.label == "a"))
    report = desk.clone.analysed()
    assert report.blocks_complete == report.blocks_planned == max(counted.values())
    return counted


def told(desk: Desk, words: str) -> str:
    """What the latest run's report says with these words, "" for nothing."""
    report = desk.clone.analysed()
    return "\n".join(text for text in (*notices(report), *report.method) if words in text)


def test_a_settled_case_ends_and_the_other_gets_its_time(desk: Desk) -> None:
    clear_and_open(desk)
    assert desk.run(mode="looking").exit == 0
    seen = blocks(desk)
    until = seen["all"]
    assert seen == {"get": 15, "all": until}
    assert 30 < until <= 60
    assert until % 2 == 0
    said = f"1 case settled at the planned look after 15 blocks; the others get {until - 15} more\n"
    assert said in desk.said()
    assert told(desk, "planned look after") == (
        "1 case had an answer to every comparison at the planned look after 15 blocks and ended "
        f"there; the time saved went to the others, which have {until}."
    )
    assert told(desk, "Earlier looks spend 10 % of the error")
    assert not told(desk, "Pocock")
    cases = desk.clone.analysed().cases
    assert {case.id: case.comparisons.blocks for case in cases} == {"get": [15], "all": [until]}
    run = desk.clone.latest()
    assert run.complete()

    # as if it had been interrupted after its look
    invocations = 15 * 2 * EACH + 10 * EACH
    for table in ("value", "iteration"):
        change(run.path, f"DELETE FROM {table} WHERE sample > {invocations}")
    change(run.path, f"DELETE FROM sample WHERE id > {invocations}")
    change(run.path, "DELETE FROM block WHERE block >= 15")
    change(run.path, "UPDATE run SET complete = 0")
    desk.instant.paces["a"] = desk.instant.paces["b"] = even(1100, "later")
    desk.resume(run.path)
    assert blocks(desk) == seen, "a resumed run keeps to what the look decided"
    assert len(run.looks()) == 1


def test_a_run_without_a_settled_case_goes_on_as_planned(desk: Desk) -> None:
    noisy(desk)
    desk.run(mode="looking")
    assert blocks(desk) == {"get": 30, "all": 30}
    assert [look.settled for look in desk.clone.latest().looks()] == [[]]


def test_a_run_whose_cases_are_all_settled_ends(desk: Desk) -> None:
    desk.instant.paces = {"a": even(1100, "a"), "b": even(3300, "b")}
    desk.run(mode="looking")
    assert blocks(desk) == {"get": 15, "all": 15}
    assert desk.clone.latest().complete()


@pytest.mark.parametrize("options", [{"mode": "quick"}, {"mode": "looking", "blocks": 12}])
def test_no_look_without_blocks_for_a_verdict(desk: Desk, options: dict[str, object]) -> None:
    clear_and_open(desk)
    desk.run(**options)
    assert desk.clone.latest().looks() == []
    assert desk.clone.latest().plan().looks == 1


# a run that is slower than its pilot --------------------------------------------------------------


def slowed(desk: Desk, by_s: Callable[[int], float]) -> None:
    """Let the so-manieth invocation that is measured take so many seconds more than its figures
    say, as on a machine that others have begun to use."""
    numbers: list[int] = []

    def late(_name: str, _number: int) -> None:
        numbers.append(len(numbers) + 1)
        desk.instant.now_ns += round(1e9 * by_s(numbers[-1]))

    desk.instant.before = late


def after_the_pilot(desk: Desk, slower_s: float) -> None:
    slowed(desk, lambda number: slower_s if number > 40 else 0.0)


def lasted(desk: Desk) -> list[float]:
    """Seconds of each block of the latest run."""
    return [block.seconds for block in desk.clone.latest().blocks()]


def budgeted(desk: Desk, exit_: int = 0, **options: Any) -> tuple[Any, float]:
    """The plan of a run with a pilot and a time budget, and the seconds that blocks may take."""
    asked = {"mode": "piloted", "time_budget_s": 12.0, **options}
    assert desk.run(**asked).exit == exit_
    plan = desk.clone.latest().plan()
    assert plan.budget is not None
    return plan, plan.budget.seconds


def test_a_run_that_is_slower_than_its_pilot_keeps_its_budget_and_says_so(desk: Desk) -> None:
    after_the_pilot(desk, 0.05)
    plan, budget_s = budgeted(desk)
    spent = lasted(desk)
    assert 10 <= plan.blocks < plan.foreseen
    run = desk.clone.latest()
    assert run.complete()
    # as many as fit: another one like them would not have
    most = (1 + LATE) * budget_s
    assert sum(spent) <= most < sum(spent) + sum(spent) / len(spent)
    assert blocks(desk) == {"get": plan.blocks, "all": plan.blocks}
    assert told(desk, "pilot foretold") == (
        f"{plan.foreseen} blocks were planned and {plan.blocks} measured: they took longer than "
        "the pilot foretold, and the next one would have ended beyond the time budget. No figure "
        "decided where the run ended, so its intervals hold."
    )
    assert f"\n{plan.blocks} of {plan.foreseen} blocks: they took longer than" in desk.said()
    # another sitting is as long as the first
    assert desk.resume(run.path, again=True).exit == 0
    both = run.plan()
    assert (both.blocks, both.sittings, both.budget) == (2 * plan.blocks, 2, None)
    assert blocks(desk) == {"get": both.blocks, "all": both.blocks}


def test_the_tenth_block_may_end_up_to_a_quarter_beyond_the_budget(desk: Desk) -> None:
    after_the_pilot(desk, 0.2)
    _, budget_s = budgeted(desk)
    assert len(lasted(desk)) == 10
    assert 1 + LATE < sum(lasted(desk)) / budget_s <= 1.25


def test_what_will_not_give_a_verdict_is_said_while_it_runs(desk: Desk) -> None:
    after_the_pilot(desk, 0.3)
    plan, budget_s = budgeted(desk)
    assert 3 < plan.blocks == len(lasted(desk)) < 10 < plan.foreseen
    assert sum(lasted(desk)) <= (1 + LATE) * budget_s
    said = desk.said()
    assert said.count("blocks take longer than the pilot foretold: the time budget has room") == 1
    assert "fewer than 10 give figures but no verdicts\n" in said
    assert told(desk, "complete blocks: fewer than 10 never give a verdict")


def test_a_run_that_keeps_its_pace_has_all_its_blocks(desk: Desk) -> None:
    plan, _ = budgeted(desk)
    assert (plan.foreseen, len(lasted(desk))) == (None, plan.blocks)
    assert "pilot foretold" not in desk.said()
    assert not told(desk, "pilot foretold")


@pytest.mark.parametrize("number", [54, 58])
def test_a_resumed_run_counts_the_blocks_that_were_finished(desk: Desk, number: int) -> None:
    budgeted(desk, label="piloted")

    def interrupted(each: int) -> float:
        if each == number:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.05

    slowed(desk, interrupted)
    # the pilot is remembered, so all invocations are of blocks: 54 end one, 58 lie within one
    _, budget_s = budgeted(desk, 130, label="cut")
    assert len(lasted(desk)) == 9
    slowed(desk, lambda _number: 0.05)
    run = desk.clone.latest()
    assert desk.resume(run.path).exit == 0
    spent = lasted(desk)
    assert budget_s / max(spent) < len(spent) < (run.plan().foreseen or 0)
    assert sum(spent) <= (1 + LATE) * budget_s


def test_the_fewest_blocks_that_a_mode_promises_are_measured(desk: Desk) -> None:
    desk.clone.replace(MODES, "pilot = 2", "pilot = 2\nbudget_s = 9")
    slowed(desk, lambda _number: 5.0)
    plan, _ = budgeted(desk, time_budget_s=None)
    assert plan.budget.least == plan.blocks == len(lasted(desk)) == 10


@pytest.mark.parametrize(("late_s", "looks"), [(0.8, 1), (0.5, 2)])
def test_the_error_is_spent_at_looks_that_there_was_time_for(
    desk: Desk, late_s: float, looks: int
) -> None:
    noisy(desk)
    slowed(desk, lambda _number: late_s)
    plan, _ = budgeted(desk, mode="looking", time_budget_s=60.0)
    assert (plan.looks, plan.blocks >= plan.foreseen // 2) == (looks, looks == 2)
    assert bool(told(desk, "Earlier looks spend")) == (looks == 2)
    assert blocks(desk) == {"get": plan.blocks, "all": plan.blocks}


def test_a_run_in_sessions_ends_with_a_whole_one(desk: Desk) -> None:
    desk.clone.replace(MODES, "blocks = 30\nlooks = 2", "blocks = 10\nsessions = 4")
    slowed(desk, lambda _number: 0.35)
    plan, _ = budgeted(desk, mode="looking", time_budget_s=80.0)
    assert (plan.blocks, plan.sessions, plan.foreseen) == (33, 3, 44)
    assert blocks(desk) == {"get": 33, "all": 33}
