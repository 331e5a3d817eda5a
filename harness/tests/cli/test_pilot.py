"""A pilot finds the counts, they stand in the plan, and what it learned is remembered."""

import os
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.calling import Call, ctrl_c
from tests.cli.test_interrupt import cut_off
from tests.fakes.clone import RUNNER, Clone
from tests.fakes.instant import Desk, alternate, even

RUNNERS = ("a", "b")
RUN = ("run", "--size", "s", "--seed", "3", "--mode", "piloted")
PILOT = 3 + 2  # processes of the reference, and of the other
MODES, FAKES = "scenarios/modes.toml", "runners/fakes/runner.toml"


def piloted(desk: Desk, exit_: int = 0, **options: Any) -> Any:
    """The plan of a run with a pilot, of a block where no budget is given."""
    length: dict[str, Any] = {} if "time_budget_s" in options else {"blocks": 1}
    label = f"run-{len(desk.instant.measured)}"
    assert desk.run(mode="piloted", label=label, **{**length, **options}).exit == exit_
    return desk.clone.latest().plan()


def counts(plan: Any, *names: str) -> dict[str, list[Any]]:
    """These of each runner in the run's only case."""
    (cells,) = plan.counts.values()
    return {runner: [getattr(of, name) for name in names] for runner, of in cells.items()}


def windows(desk: Desk) -> list[int]:
    """For how many ms the processes of `b` were watched while they warm up."""
    pilot = desk.instant.measured[:PILOT]
    return [m.warmup_ns // 10**6 for m in pilot if m.runner == "b"]


def seconds(plan: Any, case: str = "get") -> float:
    """Predicted ones of a case in a block."""
    cells = plan.counts[case]
    twice = plan.twice().get(case)
    return sum(of.seconds for of in cells.values()) + (cells[twice].seconds if twice else 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_ctrl_c_in_the_pilot_leaves_nothing(clone: Clone) -> None:
    clone.runner("a")
    clone.runner("waits", "waits=1")
    done = cut_off(clone, *RUN)
    assert (done.out, done.err) == ("", "interrupted; nothing was measured yet\n")
    assert list((clone.root / "results").iterdir()) == []
    assert list((clone.root / "toolchain/cache/work").iterdir()) == []


def test_counts_land_in_the_plan(desk: Desk) -> None:
    desk.instant.paces |= {"a": even(5_000, "a"), "b": even(200_000, "b")}
    plan = piloted(desk)
    # a lap of 10 ms is 256 operations of 32 µs; so it is of b, which is 40 times slower than a
    expected = [32, 64, "flat"]
    assert counts(plan, "operations", "iterations", "steadiness") == {"a": expected, "b": expected}
    deviation = counts(plan, "deviation")
    assert (deviation["a"] == [None], deviation["b"] == [None]) == (False, True)
    # the reference is tried three times, the others as often as the mode says: with the scenario's
    # operations, and for long enough to see what a warm-up of 4 ms leaves out
    tried = [("a", 4, 5, 6_000_000)] * 3 + [("b", 4, 5, 6_000_000)] * 2
    assert desk.instant.measured[:PILOT] == tried
    assert len(desk.instant.measured) == PILOT + 2


LOOK = """first look, one process each, nothing settled: for a shop, per 1,000 requests
  b       5 ms      1×
  a   1,200 ms    250×
"""


def test_a_first_look_is_at_what_the_first_preset_calls(desk: Desk, at_desk: Call) -> None:
    suites, one = "scenarios/suites.toml", '{ scenario = "get" }'
    desk.clone.replace(suites, f"cases = [{one}]", f'cases = [{one}, {{ scenario = "all" }}]')
    preset = 'title = "a shop"\nsummary = "-"\ncalls = { get = 900, all = 100 }'
    desk.clone.write("scenarios/presets.toml", f"[operations]\n[shop]\n{preset}")
    later = RUNNER.format(name="later", behaviour="honest", runtime="Fake", arguments="")
    desk.clone.write("runners/later/runner.toml", later.replace('"python"', '"compiled"'))
    desk.instant.paces |= {"a": even(1_230_000, "a"), "b": even(5_000, "b")}
    done = at_desk("run", "--size", "s", "--mode", "piloted", "--first-look")
    assert (done.code, done.out, done.err) == (0, "", LOOK)
    assert not (desk.clone.root / "results").exists()
    assert len(desk.instant.measured) == 2 * PILOT
    piloted(desk)
    assert len(desk.instant.measured) == 2 * PILOT + 4, "what it measured is not measured again"
    piloted(desk, fresh=True)
    assert LOOK in desk.said()


@pytest.mark.parametrize(
    ("case", "asked", "most_ms", "window_ms"),
    [
        ("get", "warmup_ms", 4, 600),
        ("all", "warmup_lists_ms", 4, 600),
        ("get", "warmup_lists_ms", 4, 6),
        ("get", "warmup_ms", 900, 1350),  # as long as the mode can warm up, though all looks flat
    ],
)
def test_a_longer_warm_up_of_a_runner_or_of_its_lists_is_watched(
    case: str, asked: str, most_ms: int, window_ms: int, desk: Desk
) -> None:
    desk.clone.replace(MODES, "warmup_ms = [1, 4]", f"warmup_ms = [1, {most_ms}]")
    desk.clone.replace(FAKES, 'name = "b"', f'name = "b"\n{asked} = 400')
    desk.instant.paces |= {name: even(1_250_000, name) for name in "ab"}
    piloted(desk, cases=[case])
    assert {*windows(desk)} == {window_ms}


def test_a_runner_that_asks_for_a_longer_warm_up_is_watched_beyond_it(desk: Desk) -> None:
    """The plan grants it those 400 ms; what lies beyond them shows whether they were enough."""
    desk.clone.replace(FAKES, 'name = "b"', 'name = "b"\nwarmup_ms = 400')
    # an iteration of the fastest is as long, so that a single one is no warm-up
    desk.instant.paces |= dict.fromkeys("ab", lambda _, __: 1_250_000)
    warmup = [20_000_000] * 24 + alternate(5_000_000, 24)
    desk.instant.lies["b"] = lambda _: {"warmup_ns": warmup}
    plan = piloted(desk)
    assert {*windows(desk)} == {600}
    assert counts(plan, "warmed_ms", "steady_from_ms")["b"] == [400, 480.0]
    (told,) = [n for n in desk.clone.analysed().notices if n.kind == "not warm"]
    assert list(told.values) == ["b"]


def test_who_does_not_settle_at_once_is_watched_and_warmed_up_for_longer(desk: Desk) -> None:
    # b is slow for 240 ms, of the 900 that the mode may warm up
    desk.clone.replace(MODES, "warmup_ms = [1, 4]", "warmup_ms = [1, 900]")
    warmup = [20_000_000] * 12 + alternate(5_000_000, 12)
    desk.instant.paces["b"] = lambda _, __: 1_250_000
    desk.instant.lies["b"] = lambda _: {"warmup_ns": warmup}
    suite = piloted(desk)
    # the next process is watched for twice that
    assert windows(desk) == [300, 480]
    warmed = counts(suite, "warmed_ms")
    assert warmed == {"a": [pytest.approx(1, rel=0.05)], "b": [300]}
    process = ("operations", "iterations", "warmup_iterations", "warmup_ms")
    both = counts(piloted(desk, kind="compare"), *process)
    assert both["a"] == both["b"]
    # as many walks through the pool as whoever needs more of them
    assert both["a"][2] == max(needed for (needed,) in counts(suite, process[2]).values())


def test_asking_the_oracle_is_no_part_of_a_process(desk: Desk) -> None:
    """The first runner of a case would be foretold to take as long as its oracle."""

    def slow(_number: int) -> dict[str, Any]:
        desk.instant.now_ns += 10**12
        return {}

    desk.instant.lies["python"] = slow
    plan = piloted(desk)
    assert desk.instant.now_ns > 10**12
    assert seconds(plan) < 1000


def test_what_is_remembered_is_asked_again_only_after_a_change(desk: Desk) -> None:
    def pilots(**options: Any) -> int:
        before = len(desk.instant.measured)
        piloted(desk, **options)
        return len(desk.instant.measured) - before - 2

    assert pilots() == PILOT
    assert pilots() == 0
    desk.pace(40_000_000)
    assert pilots() == PILOT  # the machine has another pace
    assert pilots() == 0
    assert pilots(reference="b") == 3  # b was tried twice, too few for a reference
    assert pilots(size="m") == PILOT
    assert pilots(fresh=True) == PILOT
    desk.clone.replace(FAKES, 'title = "b, a fake"', 'title = "b, another"')
    assert pilots() == PILOT  # both come from that folder


@pytest.mark.parametrize(("killed", "again"), [(False, 2), (True, PILOT)])
def test_what_was_found_out_before_a_run_is_cut_off_is_not_asked_again(
    desk: Desk, at_desk: Call, *, killed: bool, again: int
) -> None:
    """A kill costs what is known of the case under way, two Ctrl-C the process alone."""
    run = (*RUN, "--case", "get", "--case", "all", "--blocks", "1", "-q")
    file = desk.clone.root / "toolchain/cache/memory/cells.json"
    left: list[bytes] = []

    def cut_off(name: str, number: int) -> None:
        left.append(file.read_bytes() if file.exists() else b"")
        ctrl_c("b", 3, times=2)(name, number)  # in the second case, after the reference

    desk.instant.before = cut_off
    assert at_desk(*run).code == 130
    if killed:
        file.write_bytes(left[-1])
    desk.instant.verified.clear()
    before = len(desk.instant.measured)
    assert at_desk(*run).code == 0
    assert {*desk.instant.verified} <= {"python"}  # for the numbers of operations in the plan
    assert len(desk.instant.measured) - before == again + 2 * 2
    # verify asks anew, and leaves what runs remember
    remembered = file.read_bytes()
    desk.instant.verified.clear()
    assert at_desk("verify", "--size", "s").code == 0
    assert {*desk.instant.verified} == {"a", "b", "python"}
    assert file.read_bytes() == remembered


def test_a_given_plans_counts_are_taken_and_only_new_cells_are_tried(desk: Desk) -> None:
    desk.instant.paces = {"a": even(1100, "a"), "b": even(2200, "b")}
    first = piloted(desk).counts["get"]
    given: dict[str, Any] = {"counts": desk.clone.latest().path, "fresh": True}
    desk.instant.paces = {"a": even(70_000, "a"), "b": even(90_000, "b")}
    before = len(desk.instant.measured)
    assert piloted(desk, **given).counts["get"] == first
    assert [m.operations for m in desk.instant.measured[before:]] == [1024] * 2

    desk.clone.runner("new")
    before = len(desk.instant.measured)
    third = piloted(desk, **given).counts["get"]
    assert [m.runner for m in desk.instant.measured[before:][:2]] == ["new", "new"]
    assert len(desk.instant.measured) == before + 2 + 3
    assert {name: third[name] for name in "ab"} == first
    assert third["new"].operations == 1024  # the work of the others, whatever its own pilot says


def broken(number: int) -> dict[str, Any] | None:
    """A runner that answers, and fails when it is measured."""
    return None if number else {}


def test_a_cell_that_fails_in_the_pilot_is_a_failed_cell_and_stops_no_other(desk: Desk) -> None:
    desk.instant.lies["b"] = broken

    desk.instant.before = ctrl_c("a", 5)
    plan = piloted(desk, 130, blocks=4)
    desk.instant.before = lambda _name, _number: None
    desk.instant.lies.clear()
    assert desk.resume(desk.clone.latest().path).exit == 4, "it is failed after a break, too"
    assert desk.clone.outcomes() == {"a": "ok", "b": "failed"}
    assert counts(plan, "operations") == {"a": [1024]}
    assert [s.label for s in desk.clone.samples()].count("b") == 0
    assert desk.instant.count("b") == 1
    assert desk.clone.evidence() == ["get.b.measure.job.json", "get.b.measure.log"]
    reason = "ended with exit code 7 and wrote no result"
    (cell,) = (c for c in desk.clone.analysed().cases[0].cells if c.runner == "b")
    assert (cell.outcome, cell.reason) == ("failed", f"in the pilot: {reason}")
    assert f"get/b: failed in the pilot: {reason[:-4]}" in desk.said()
    # nothing was learned, so it is tried again
    assert counts(piloted(desk), "operations")["b"] == [1024]


def test_a_reference_that_fails_in_the_pilot_is_none(desk: Desk) -> None:
    desk.instant.lies["a"] = broken
    plan = piloted(desk, 4, blocks=2)
    assert (plan.reference, plan.canary) == ("b", "b")


def test_a_budget_is_filled_with_whole_blocks(desk: Desk) -> None:
    plan = piloted(desk, time_budget_s=6.0)
    # verification and pilot have their part of it
    assert 0.6 * 6.0 / seconds(plan) < plan.blocks <= 6.0 / seconds(plan)
    assert plan.blocks > 10
    # what was predicted is what it took, within the jitter; digests are taken in the first block
    cold_ns = desk.clone.values("cold")
    spent = sum(cold_ns[s.position] for s in desk.clone.samples() if s.block) / 1e9
    assert spent == pytest.approx((plan.blocks - 1) * seconds(plan), rel=0.05)


def test_a_budget_begins_what_it_has_time_for_and_at_least_a_block(desk: Desk) -> None:
    plan = piloted(desk, time_budget_s=0.001)
    assert (plan.blocks, plan.canary) == (1, None)
    assert piloted(desk, time_budget_s=8 * seconds(plan)).foreseen == 10
    assert "10 are the fewest that give a word, and as many are begun as there is" in desk.said()


def test_a_budget_leaves_out_what_a_suite_has_to_spare_and_nobody_asked_for(desk: Desk) -> None:
    suites, cases = "scenarios/suites.toml", 'cases = [{ scenario = "get" }]'
    desk.clone.replace(suites, cases, f'{cases}\nspare = [{{ scenario = "all" }}]')
    plan = piloted(desk, blocks=2)
    assert (list(plan.cells), plan.left_out) == (["get", "all"], [])
    # ten blocks of both would take twelve times both
    budget_s = 15 * seconds(plan)
    plan = piloted(desk, time_budget_s=budget_s)
    assert [*plan.cells] == [*plan.counts] == ["get"]
    assert (plan.left_out, plan.blocks >= 10) == (["all"], True)
    assert "no room for 10 blocks of all cases: without all\n" in desk.said()
    plan = piloted(desk, time_budget_s=budget_s, cases=["get", "all"])
    assert list(plan.cells) == ["get", "all"]


def test_what_the_run_will_tell_is_said_before_it_starts(desk: Desk) -> None:
    piloted(desk, blocks=12)
    lines = desk.said().splitlines()
    assert lines[0] == "2 cells in 1 case, 12 blocks of about TIME: done in about TIME"
    assert lines[1].startswith("smallest detectable difference at 80 % power: median about 0.")
    assert lines[1].endswith("% (if 0 of 1 differ as in the pilot)")


def test_sessions_are_those_of_the_mode_where_blocks_divide(desk: Desk) -> None:
    piloted_mode = "pilot = 2\niterations = [3, 20]"
    desk.clone.replace(MODES, piloted_mode, f"sessions = 3\n{piloted_mode}")
    planned = [piloted(desk, blocks=blocks) for blocks in (None, 9, 10)]
    assert [(plan.blocks, plan.sessions) for plan in planned] == [(6, 3), (9, 3), (10, 1)]


@pytest.mark.parametrize(
    ("together", "told"),
    [
        (
            True,
            "of get are measured one after the other: alive at once they need 1,200 MB, and 1 MB",
        ),
        (False, "are measured one after the other, no turns: several processes at once need"),
    ],
)
def test_processes_that_cannot_be_alive_together_take_no_turns(
    desk: Desk, *, together: bool, told: str
) -> None:
    for runner in RUNNERS:
        desk.instant.lies[runner] = lambda _: {"peak_rss_bytes": 400 * 2**20}
    memory = SimpleNamespace(available=2**20, total=2**34)
    desk.monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    if not together:
        desk.monkeypatch.delattr(os, "pidfd_open", raising=False)
    plan = piloted(desk, scheme="relay")
    assert counts(plan, "rounds") == {"a": [0], "b": [0]}
    assert f"processes {told}" in desk.said()
