"""Where a run ends: at planned looks settled cases do, and the others get their time; a run that is
slower than its pilot ends within its time budget.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sqlitmus.run.measure.blocks import LATE
from sqlitmus.store.folder import RunDirectory
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, even
from tests.machines.folders import change
from tests.worded import notices

EACH = 3  # invocations of a case in a block: a, b, canary
ALL = 2  # operations of the case `all`, 4 of `get`


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


def blocks(desk: Desk) -> dict[str, int]:
    """Blocks of each case of the latest run."""
    seen = Counter({sample.case: 0 for sample in desk.clone.latest().samples()})
    seen.update(s.case for s in desk.clone.latest().samples() if s.label == "a")
    return dict(seen)


def test_a_settled_case_ends_and_the_other_gets_its_time(desk: Desk) -> None:
    clear_and_open(desk)
    assert desk.run(mode="looking").exit == 0
    seen = blocks(desk)
    assert seen["get"] == 15
    assert 30 < seen["all"] <= 60
    assert seen["all"] % 2 == 0
    more = seen["all"] - 15
    said = f"1 case settled at the planned look after 15 blocks; the others get {more} more\n"
    assert said in desk.said()
    assert desk.clone.latest().complete()


def test_the_report_tells_and_misses_nothing(desk: Desk) -> None:
    clear_and_open(desk)
    desk.run(mode="looking")
    until = blocks(desk)["all"]
    made = desk.clone.analysed()
    assert (made.blocks_complete, made.blocks_planned) == (until, until)
    (told,) = (text for text in notices(made) if "planned look" in text)
    assert told == (
        "1 case had an answer to every comparison at the planned look after 15 blocks and ended "
        f"there; the time saved went to the others, which have {until}."
    )
    (how,) = (text for text in made.method if "Earlier looks spend 10 % of the error" in text)
    assert "Pocock" not in how
    counts = {case.id: case.comparisons.blocks for case in made.cases}
    assert counts == {"get": [15], "all": [until]}


def test_a_run_without_a_settled_case_goes_on_as_planned(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.instant.paces[name] = lambda _, n: 1100 * (0.9, 1.2, 1.0, 1.1)[n % 4]
    desk.run(mode="looking")
    assert blocks(desk) == {"get": 30, "all": 30}
    assert [look.settled for look in desk.clone.latest().looks()] == [[]]


def test_a_run_whose_cases_are_all_settled_ends(desk: Desk) -> None:
    for name, ns in (("a", 1100), ("b", 3300)):
        desk.instant.paces[name] = even(ns, name)
    desk.run(mode="looking")
    assert blocks(desk) == {"get": 15, "all": 15}
    assert desk.clone.analysed().blocks_complete == 15
    assert desk.clone.latest().complete()


@pytest.mark.parametrize("options", [{"mode": "quick"}, {"mode": "looking", "blocks": 12}])
def test_no_look_without_blocks_for_a_verdict(desk: Desk, options: dict[str, object]) -> None:
    clear_and_open(desk)
    desk.run(**options)
    assert desk.clone.latest().looks() == []
    assert desk.clone.latest().plan().looks == 1


def test_a_resumed_run_keeps_to_what_the_look_decided(desk: Desk) -> None:
    clear_and_open(desk)
    desk.run(mode="looking", label="x")
    whole = desk.clone.latest()
    expected = blocks(desk)
    cut(whole, 15 * 2 * EACH + 10 * EACH)
    desk.instant.paces["a"] = desk.instant.paces["b"] = even(1100, "later")
    desk.resume(whole.path)
    assert blocks(desk) == expected
    assert len(whole.looks()) == 1


def cut(run: RunDirectory, invocations: int) -> None:
    """Let the run have been interrupted after so many invocations, after its look."""
    for table in ("value", "iteration"):
        change(run.path, f"DELETE FROM {table} WHERE sample > {invocations}")
    change(run.path, f"DELETE FROM sample WHERE id > {invocations}")
    change(run.path, "DELETE FROM block WHERE block >= 15")
    change(run.path, "UPDATE run SET complete = 0")


# a run that is slower than its pilot --------------------------------------------------------------


def slowed(desk: Desk, by_s: Callable[[int], float]) -> None:
    """Let the so-manieth invocation that is measured take so many seconds more than its figures
    say, as on a machine that others have begun to use."""
    numbers: list[int] = []

    def late(_name: str, _number: int) -> None:
        numbers.append(len(numbers) + 1)
        desk.instant.now_ns += round(1e9 * by_s(numbers[-1]))

    desk.instant.before = late


def lasted(run: RunDirectory) -> list[float]:
    return [block.seconds for block in run.blocks()]


def granted(run: RunDirectory) -> tuple[float, int]:
    """Seconds that blocks may take, and how many there are however long they take."""
    budget = run.plan().budget
    assert budget is not None
    return budget.seconds, budget.least


def test_a_run_that_is_slower_than_its_pilot_keeps_its_budget_and_says_so(desk: Desk) -> None:
    slowed(desk, lambda number: 0.05 if number > 40 else 0.0)
    assert desk.run(mode="piloted", time_budget_s=12.0).exit == 0
    run = desk.clone.latest()
    plan, spent = run.plan(), lasted(run)
    assert plan.foreseen is not None
    assert 10 <= plan.blocks < plan.foreseen
    assert run.complete()
    # as many as fit: another one like them would not have
    most = (1 + LATE) * granted(run)[0]
    assert sum(spent) <= most < sum(spent) + sum(spent) / len(spent)
    assert blocks(desk) == {"get": plan.blocks, "all": plan.blocks}
    made = desk.clone.analysed()
    assert (made.blocks_complete, made.blocks_planned) == (plan.blocks, plan.blocks)
    (words,) = (text for text in notices(made) if "pilot foretold" in text)
    assert words == (
        f"{plan.foreseen} blocks were planned and {plan.blocks} measured: they took longer than "
        "the pilot foretold, and the next one would have ended beyond the time budget. No figure "
        "decided where the run ended, so its intervals hold."
    )
    assert f"\n{plan.blocks} of {plan.foreseen} blocks: they took longer than" in desk.said()


@pytest.mark.parametrize(("slower_s", "reached"), [(0.2, True), (0.3, False)])
def test_the_tenth_block_may_end_up_to_a_quarter_beyond_the_budget(
    desk: Desk, slower_s: float, *, reached: bool
) -> None:
    slowed(desk, lambda number: slower_s if number > 40 else 0.0)
    desk.run(mode="piloted", time_budget_s=12.0)
    run = desk.clone.latest()
    share = sum(lasted(run)) / granted(run)[0]
    assert (len(lasted(run)) == 10) is reached
    assert 1 + LATE < share <= 1.25 if reached else share <= 1 + LATE


def test_a_run_that_keeps_its_pace_has_all_its_blocks(desk: Desk) -> None:
    assert desk.run(mode="piloted", time_budget_s=12.0).exit == 0
    run = desk.clone.latest()
    assert (run.plan().foreseen, len(lasted(run))) == (None, run.plan().blocks)
    assert "pilot foretold" not in desk.said() + "".join(notices(desk.clone.analysed()))


def test_what_will_not_give_a_verdict_is_said_while_it_runs(desk: Desk) -> None:
    slowed(desk, lambda number: 0.3 if number > 40 else 0.0)
    desk.run(mode="piloted", time_budget_s=12.0)
    run = desk.clone.latest()
    assert 3 < run.plan().blocks < 10 < (run.plan().foreseen or 0)
    told = desk.said()
    assert told.count("blocks take longer than the pilot foretold: the time budget has room") == 1
    assert "fewer than 10 give figures but no verdicts\n" in told
    assert "complete blocks: fewer than 10 never give a verdict" in "".join(
        notices(desk.clone.analysed())
    )


@pytest.mark.parametrize("number", [54, 58])
def test_a_resumed_run_counts_the_blocks_that_were_finished(desk: Desk, number: int) -> None:
    desk.run(mode="piloted", time_budget_s=12.0, label="piloted")

    def interrupted(each: int) -> float:
        if each == number:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.05

    slowed(desk, interrupted)
    # the pilot is remembered, so all invocations are of blocks: 54 end one, 58 lie within one
    assert desk.run(mode="piloted", time_budget_s=12.0, label="cut").exit == 130
    run = desk.clone.latest()
    assert len(lasted(run)) == 9
    slowed(desk, lambda _number: 0.05)
    assert desk.resume(run.path).exit == 0
    spent, budget_s = lasted(run), granted(run)[0]
    assert budget_s / max(spent) < len(spent) < (run.plan().foreseen or 0)
    assert sum(spent) <= (1 + LATE) * budget_s


def test_the_fewest_blocks_that_a_mode_promises_are_measured(desk: Desk) -> None:
    desk.clone.replace("scenarios/modes.toml", "pilot = 2", "pilot = 2\nbudget_s = 9")
    slowed(desk, lambda _number: 5.0)
    desk.run(mode="piloted")
    run = desk.clone.latest()
    assert granted(run)[1] == run.plan().blocks == len(lasted(run)) == 10


@pytest.mark.parametrize(("late_s", "looks"), [(0.8, 1), (0.5, 2)])
def test_the_error_is_spent_at_looks_that_there_was_time_for(
    desk: Desk, late_s: float, looks: int
) -> None:
    for name in ("a", "b"):
        desk.instant.paces[name] = lambda _, n: 1100 * (0.9, 1.2, 1.0, 1.1)[n % 4]
    slowed(desk, lambda _number: late_s)
    desk.run(mode="looking", time_budget_s=60.0)
    plan = desk.clone.latest().plan()
    assert plan.foreseen is not None
    assert (plan.looks, plan.blocks >= plan.foreseen // 2) == (looks, looks == 2)
    told = [text for text in desk.clone.analysed().method if "Earlier looks spend" in text]
    assert bool(told) == (looks == 2)
    assert desk.clone.analysed().blocks_complete == plan.blocks


def test_a_run_in_sessions_ends_with_a_whole_one(desk: Desk) -> None:
    desk.clone.replace(
        "scenarios/modes.toml",
        "blocks = 30\nlooks = 2",
        "blocks = 10\nsessions = 4",
    )
    slowed(desk, lambda _number: 0.35)
    desk.run(mode="looking", time_budget_s=80.0)
    plan = desk.clone.latest().plan()
    assert (plan.blocks, plan.sessions, plan.foreseen) == (33, 3, 44)
    assert desk.clone.analysed().blocks_complete == 33


def test_another_sitting_of_a_late_run_is_as_long_as_its_first(desk: Desk) -> None:
    slowed(desk, lambda number: 0.05 if number > 40 else 0.0)
    desk.run(mode="piloted", time_budget_s=12.0)
    run = desk.clone.latest()
    first = run.plan().blocks
    again: dict[str, Any] = {"again": True}
    assert desk.resume(run.path, **again).exit == 0
    plan = run.plan()
    assert (plan.blocks, plan.sittings, plan.budget) == (2 * first, 2, None)
    assert desk.clone.analysed().blocks_complete == 2 * first
