"""A pilot finds the counts, they stand in the plan, and what it learned is remembered."""

import os
import signal
import time
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus.catalog.cases import Counts
from sqlitmus.machine import system
from sqlitmus.run.plan import pilot
from sqlitmus.run.plan.counts import Pace, case_seconds
from sqlitmus.run.verify import answers, context
from sqlitmus.store.folder import RunDirectory
from tests.cli.calling import Call
from tests.cli.test_interrupt import let_go, under_way
from tests.fakes.clone import RUNNER, Clone
from tests.fakes.instant import Desk, alternate, even

RUN = ("run", "--size", "s", "--seed", "3", "--mode", "piloted")
PILOT = 3 + 2  # processes of the reference, and of the other


def counts(run: RunDirectory) -> dict[str, Counts]:
    """Those of the run's only case."""
    (found,) = run.plan().counts.values()
    return found


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_ctrl_c_in_the_pilot_leaves_nothing(clone: Clone) -> None:
    clone.runner("a")
    clone.runner("waits", "waits=1")
    process = under_way(clone, *RUN)
    process.send_signal(signal.SIGINT)
    let_go(clone)
    done = clone.finish(process)
    assert (done.code, done.out, done.err) == (130, "", "interrupted; nothing was measured yet\n")
    assert list((clone.root / "results").iterdir()) == []
    assert list((clone.root / "toolchain/cache/work").iterdir()) == []
    assert clone.alive() == []


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("a", "b"):
        catalogue.runner(name)
    return Desk.make(catalogue, monkeypatch)


def test_counts_land_in_the_plan(desk: Desk) -> None:
    desk.instant.paces |= {"a": even(5_000, "a"), "b": even(200_000, "b")}
    assert desk.run(mode="piloted", blocks=1).exit == 0
    first = counts(desk.clone.latest())
    # a lap of 10 ms is 256 operations of 32 µs; so it is of b, which is 40 times slower than a
    assert {name: found.operations for name, found in first.items()} == {"a": 32, "b": 32}
    assert {name: found.iterations for name, found in first.items()} == {"a": 64, "b": 64}
    assert {name: found.steadiness for name, found in first.items()} == {"a": "flat", "b": "flat"}
    assert (first["a"].deviation is None, first["b"].deviation is None) == (False, True)
    assert len(desk.instant.measured) == PILOT + 2


def shop(desk: Desk) -> None:
    """A preset of two cases, of which `a` takes 250 times as long as `b`."""
    suites, one = "scenarios/suites.toml", '{ scenario = "get" }'
    desk.clone.replace(suites, f"cases = [{one}]", f'cases = [{one}, {{ scenario = "all" }}]')
    preset = 'title = "a shop"\nsummary = "-"\ncalls = { get = 900, all = 100 }'
    desk.clone.write("scenarios/presets.toml", f"[operations]\n[shop]\n{preset}")
    desk.instant.paces |= {"a": even(1_230_000, "a"), "b": even(5_000, "b")}


LOOK = """first look, one process each, nothing settled: for a shop, per 1,000 requests
  b       5 ms      1×
  a   1,200 ms    250×
"""


def test_the_first_look_is_at_what_the_first_preset_calls(desk: Desk) -> None:
    shop(desk)
    assert desk.run(mode="piloted", blocks=1).exit == 0
    assert LOOK in desk.said()


def test_a_first_look_keeps_no_run_and_what_it_measured_is_not_measured_again(
    desk: Desk, at_desk: Call
) -> None:
    shop(desk)
    look = ("run", "--size", "s", "--mode", "piloted", "--first-look")
    done = at_desk(*look)
    assert (done.code, done.out, done.err) == (0, "", LOOK)
    assert not (desk.clone.root / "results").exists()
    tried = len(desk.instant.measured)
    desk.run(mode="piloted", blocks=1)
    assert (tried, len(desk.instant.measured) - tried) == (2 * PILOT, 4)


def test_a_first_look_is_at_the_runners_that_are_set_up(desk: Desk, at_desk: Call) -> None:
    shop(desk)
    later = RUNNER.format(name="later", behaviour="honest", runtime="Fake", arguments="")
    desk.clone.write("runners/later/runner.toml", later.replace('"python"', '"compiled"'))
    done = at_desk("run", "--size", "s", "--mode", "piloted", "--first-look")
    assert (done.code, done.err) == (0, LOOK)


def test_the_reference_is_tried_three_times_the_others_as_often_as_the_mode_says(
    desk: Desk,
) -> None:
    desk.run(mode="piloted", blocks=1)
    assert [m.runner for m in desk.instant.measured[:PILOT]] == ["a"] * 3 + ["b"] * 2
    # with the scenario's operations, and for long enough to see what a warm-up of 4 ms leaves out
    assert {m[1:] for m in desk.instant.measured[:PILOT]} == {(4, 5, 6_000_000)}


@pytest.mark.parametrize(
    ("case", "asked", "window_ms"),
    [("get", "warmup_ms", 600), ("all", "warmup_lists_ms", 600), ("get", "warmup_lists_ms", 6)],
)
def test_a_longer_warm_up_of_a_runner_or_of_its_lists_is_watched(
    case: str, asked: str, window_ms: int, desk: Desk
) -> None:
    desk.clone.replace("runners/fakes/runner.toml", 'name = "b"', f'name = "b"\n{asked} = 400')
    desk.instant.paces |= {name: even(1_250_000, name) for name in "ab"}
    desk.run(mode="piloted", blocks=1, cases=[case])
    windows = {m.warmup_ns // 10**6 for m in desk.instant.measured[:PILOT] if m.runner == "b"}
    assert windows == {window_ms}


def test_a_runner_that_asks_for_a_longer_warm_up_is_watched_beyond_it(desk: Desk) -> None:
    """The plan grants it those 400 ms; what lies beyond them shows whether they were enough."""
    desk.clone.replace("runners/fakes/runner.toml", 'name = "b"', 'name = "b"\nwarmup_ms = 400')
    # an iteration of the fastest is as long, so that a single one is no warm-up
    desk.instant.paces |= dict.fromkeys("ab", lambda _, __: 1_250_000)
    warmup = [20_000_000] * 24 + alternate(5_000_000, 24)
    desk.instant.lies["b"] = lambda _: {"warmup_ns": warmup}
    desk.run(mode="piloted", blocks=1)
    windows = {m.warmup_ns // 10**6 for m in desk.instant.measured[:PILOT] if m.runner == "b"}
    assert windows == {600}
    planned = counts(desk.clone.latest())["b"]
    assert (planned.warmed_ms, planned.steady_from_ms) == (400, 480.0)
    (told,) = [n for n in desk.clone.analysed().notices if n.kind == "not warm"]
    assert list(told.values) == ["b"]


def test_such_a_runner_is_watched_for_as_long_as_the_mode_can_warm_up_though_all_looks_flat(
    desk: Desk,
) -> None:
    desk.clone.replace("scenarios/modes.toml", "warmup_ms = [1, 4]", "warmup_ms = [1, 900]")
    desk.clone.replace("runners/fakes/runner.toml", 'name = "b"', 'name = "b"\nwarmup_ms = 400')
    desk.instant.paces |= {name: even(1_250_000, name) for name in "ab"}
    desk.run(mode="piloted", blocks=1)
    windows = {m.warmup_ns // 10**6 for m in desk.instant.measured[:PILOT] if m.runner == "b"}
    assert windows == {1350}


def slow_at_first(desk: Desk) -> None:
    """Let `b` be slow for 240 ms, of the 900 that the mode may warm up."""
    desk.clone.replace("scenarios/modes.toml", "warmup_ms = [1, 4]", "warmup_ms = [1, 900]")
    warmup = [20_000_000] * 12 + alternate(5_000_000, 12)
    desk.instant.paces["b"] = lambda _, __: 1_250_000
    desk.instant.lies["b"] = lambda _: {"warmup_ns": warmup}


def test_who_does_not_settle_at_once_is_watched_for_longer(desk: Desk) -> None:
    slow_at_first(desk)
    desk.run(mode="piloted", blocks=1)
    windows = [m.warmup_ns // 10**6 for m in desk.instant.measured if m.runner == "b"]
    # 240 ms were slow: the next process is watched for twice that
    assert windows[:2] == [300, 480]
    assert counts(desk.clone.latest())["b"].warmed_ms == 300


def process(counts: Counts) -> tuple[int, int, int, int]:
    """What a process is told to do."""
    return counts.operations, counts.iterations, counts.warmup_iterations, counts.warmup_ms


def test_two_subjects_of_a_comparison_are_told_the_same_and_runners_of_a_suite_their_own(
    desk: Desk,
) -> None:
    slow_at_first(desk)
    desk.run(mode="piloted", blocks=1, label="suite")
    suite = counts(desk.clone.latest())
    assert suite["a"].warmed_ms == pytest.approx(1, rel=0.05)
    assert suite["b"].warmed_ms == 300
    desk.run(mode="piloted", blocks=1, kind="compare", label="compare")
    both = counts(desk.clone.latest())
    assert process(both["a"]) == process(both["b"])
    # as many walks through the pool as whoever needs more of them
    assert both["a"].warmup_iterations == max(each.warmup_iterations for each in suite.values())


def test_asking_the_oracle_is_no_part_of_a_process(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first runner of a case would be foretold to take as long as its oracle."""
    asked: list[None] = []
    real = answers.oracle_answer

    def slow(*given: Any) -> Any:
        asked.append(None)
        return real(*given)

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 1000 * len(asked))
    monkeypatch.setattr(answers, "oracle_answer", slow)
    monkeypatch.setattr(pilot, "time", clock)
    desk.run(mode="piloted", blocks=1)
    assert asked
    assert all(each.seconds < 1000 for each in counts(desk.clone.latest()).values())


def test_what_is_remembered_is_asked_again_only_after_a_change(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pilots(**options: object) -> int:
        before = len(desk.instant.measured)
        assert desk.run(mode="piloted", blocks=2, label=f"r{before}", **options).exit == 0
        return len(desk.instant.measured) - before - 2 * 3

    assert pilots() == PILOT
    assert pilots() == 0
    monkeypatch.setattr(pilot, "pace", lambda: Pace(level_ns=40e6, spread=0.01))
    assert pilots() == PILOT  # the machine has another pace
    assert pilots() == 0
    assert pilots(reference="b") == 3  # b was tried twice, too few for a reference
    assert pilots(size="m") == PILOT
    assert pilots(fresh=True) == PILOT
    desk.clone.replace("runners/fakes/runner.toml", 'title = "b, a fake"', 'title = "b, another"')
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
        if (name, number) == ("b", 3):  # in the second case, after the reference
            left.append(file.read_bytes() if file.exists() else b"")
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = cut_off
    assert at_desk(*run).code == 130
    if killed:
        file.write_bytes(left[0])
    desk.instant.verified.clear()
    before = len(desk.instant.measured)
    assert at_desk(*run).code == 0
    assert {*desk.instant.verified} <= {"python"}  # for the numbers of operations in the plan
    assert len(desk.instant.measured) - before == again + 2 * 2


def test_verify_asks_anew_and_leaves_what_runs_remember(desk: Desk, at_desk: Call) -> None:
    assert at_desk(*RUN, "-q").code == 0
    file = desk.clone.root / "toolchain/cache/memory/cells.json"
    before = file.read_bytes()
    desk.instant.verified.clear()
    assert at_desk("verify", "--size", "s").code == 0
    assert {*desk.instant.verified} == {"a", "b", "python"}
    assert file.read_bytes() == before


def test_a_given_plans_counts_are_taken_and_only_new_cells_are_tried(desk: Desk) -> None:
    desk.instant.paces = {"a": even(1100, "a"), "b": even(2200, "b")}
    desk.run(mode="piloted", blocks=1, label="first")
    first = desk.clone.latest()
    desk.instant.paces = {"a": even(70_000, "a"), "b": even(90_000, "b")}
    before = len(desk.instant.measured)
    desk.run(mode="piloted", blocks=1, counts=first.path, fresh=True, label="second")
    assert len(desk.instant.measured) == before + 2
    assert counts(desk.clone.latest()) == counts(first)
    assert {m.operations for m in desk.instant.measured[-2:]} == {1024}

    desk.clone.runner("new")
    before = len(desk.instant.measured)
    desk.run(mode="piloted", blocks=1, counts=first.path, fresh=True, label="third")
    assert [m.runner for m in desk.instant.measured[before:][:2]] == ["new", "new"]
    assert len(desk.instant.measured) == before + 2 + 3
    third = counts(desk.clone.latest())
    assert {name: third[name] for name in "ab"} == counts(first)
    assert third["new"].operations == 1024  # the work of the others, whatever its own pilot says


def test_a_cell_that_fails_in_the_pilot_is_a_failed_cell_and_stops_no_other(desk: Desk) -> None:
    desk.instant.lies["b"] = lambda number: None if number else {}
    assert desk.run(mode="piloted", blocks=2).exit == 4
    assert desk.clone.outcomes() == {"a": "ok", "b": "failed"}
    found = counts(desk.clone.latest())
    assert {name: planned.operations for name, planned in found.items()} == {"a": 1024}
    assert [s.label for s in desk.clone.samples()].count("b") == 0
    assert desk.instant.count("b") == 1
    assert desk.clone.evidence() == ["get.b.measure.job.json", "get.b.measure.log"]
    (cell,) = (c for c in desk.clone.analysed().cases[0].cells if c.runner == "b")
    assert (cell.outcome, cell.reason) == (
        "failed",
        "in the pilot: ended with exit code 7 and wrote no result",
    )
    assert "get/b: failed in the pilot: ended with exit code 7 and wrote no re" in desk.said()
    # nothing was learned, so it is tried again
    desk.instant.lies.clear()
    assert desk.run(mode="piloted", blocks=2, label="again").exit == 0
    assert counts(desk.clone.latest())["b"].operations == 1024


def test_a_run_whose_cell_failed_in_the_pilot_ends_the_same_after_a_break(desk: Desk) -> None:
    desk.instant.lies["b"] = lambda number: None if number else {}

    def interrupt(_name: str, number: int) -> None:
        if number == 5:
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt
    assert desk.run(mode="piloted", blocks=4).exit == 130
    desk.instant.lies.clear()
    assert desk.resume(desk.clone.latest().path).exit == 4
    assert desk.instant.count("b") == 1


def test_a_reference_that_fails_in_the_pilot_is_none(desk: Desk) -> None:
    desk.instant.lies["a"] = lambda number: None if number else {}
    assert desk.run(mode="piloted", blocks=2).exit == 4
    plan = desk.clone.latest().plan()
    assert (plan.reference, plan.canary) == ("b", "b")


def test_a_budget_is_filled_with_whole_blocks(desk: Desk) -> None:
    desk.run(mode="piloted", time_budget_s=6.0)
    plan = desk.clone.latest().plan()
    seconds = sum(case_seconds(plan.counts, plan.cells, plan.twice()).values())
    # verification and pilot have their part of it
    assert 0.6 * 6.0 / seconds < plan.blocks <= 6.0 / seconds
    assert plan.blocks > 10
    # what was predicted is what it took, within the jitter; digests are taken in the first block
    cold_ns = desk.clone.values("cold")
    spent = sum(cold_ns[s.position] for s in desk.clone.samples() if s.block) / 1e9
    assert spent == pytest.approx((plan.blocks - 1) * seconds, rel=0.05)


def test_a_budget_for_most_of_a_verdict_begins_what_it_has_time_for(desk: Desk) -> None:
    desk.run(mode="piloted", blocks=1)
    plan = desk.clone.latest().plan()
    seconds = sum(case_seconds(plan.counts, plan.cells, {}).values())
    desk.run(mode="piloted", time_budget_s=8 * seconds)
    assert desk.clone.latest().plan().foreseen == 10
    assert "10 are the fewest that give a word, and as many are begun as there is" in desk.said()


def test_a_budget_leaves_out_what_a_suite_has_to_spare_but_nothing_that_was_asked_for(
    desk: Desk,
) -> None:
    suites, cases = "scenarios/suites.toml", 'cases = [{ scenario = "get" }]'
    desk.clone.replace(suites, cases, f'{cases}\nspare = [{{ scenario = "all" }}]')
    assert desk.run(mode="piloted", blocks=2).exit == 0
    plan = desk.clone.latest().plan()
    assert (list(plan.cells), plan.left_out) == (["get", "all"], [])
    # ten blocks of both would take twelve times both
    budget_s = 15 * case_seconds(plan.counts, plan.cells, plan.twice())["get"]
    assert desk.run(mode="piloted", time_budget_s=budget_s).exit == 0
    plan = desk.clone.latest().plan()
    assert [*plan.cells] == [*plan.counts] == ["get"]
    assert (plan.left_out, plan.blocks >= 10) == (["all"], True)
    assert "no room for 10 blocks of all cases: without all\n" in desk.said()
    desk.run(mode="piloted", time_budget_s=budget_s, cases=["get", "all"])
    assert list(desk.clone.latest().plan().cells) == ["get", "all"]


def test_a_budget_too_small_for_a_block_gives_one(desk: Desk) -> None:
    desk.run(mode="piloted", time_budget_s=0.001)
    plan = desk.clone.latest().plan()
    assert (plan.blocks, plan.canary) == (1, None)


def test_what_the_run_will_tell_is_said_before_it_starts(desk: Desk) -> None:
    desk.run(mode="piloted", blocks=12)
    lines = desk.said().splitlines()
    assert lines[0] == ("2 cells in 1 case, 12 blocks of about TIME: done in about TIME")
    assert lines[1].startswith("smallest detectable difference at 80 % power: median about 0.")
    assert lines[1].endswith("% (if 0 of 1 differ as in the pilot)")
    desk.run(blocks=12, label="unpiloted", fresh=True)
    assert desk.said().splitlines()[1] == (
        "the smallest detectable difference is unknown until it has run"
    )


def test_sessions_are_those_of_the_mode_where_blocks_divide(desk: Desk) -> None:
    text = (desk.clone.root / "scenarios/modes.toml").read_text("utf-8")
    long = (
        text.split("[piloted]")[1]
        .split("[gate]")[0]
        .replace("blocks = 2", "blocks = 2\nsessions = 3")
    )
    desk.clone.write("scenarios/modes.toml", f"{text}\n[long]{long}")

    def planned(**options: object) -> tuple[int, int]:
        label = "-".join(map(str, options.values())) or "own"
        assert desk.run(mode="long", label=label, **options).exit == 0
        plan = desk.clone.latest().plan()
        return plan.blocks, plan.sessions

    assert planned() == (6, 3)
    assert planned(blocks=9) == (9, 3)
    assert planned(blocks=10) == (10, 1)


def test_processes_that_do_not_fit_into_memory_together_take_no_turns(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "free_memory", lambda: 2**20)
    for name in ("a", "b"):
        desk.instant.lies[name] = lambda _: {"peak_rss_bytes": 400 * 2**20}
    assert desk.run(mode="piloted", blocks=1, scheme="relay").exit == 0
    assert {found.rounds for found in counts(desk.clone.latest()).values()} == {0}
    assert (
        "the processes of get are measured one after the other: alive at once they need 1,200 MB, "
        "and 1 MB are free"
    ) in desk.said()


def test_where_processes_cannot_be_alive_together_the_run_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (context, pilot):
        monkeypatch.setattr(module, "unsupported", lambda: "a system without them")
    assert desk.run(mode="piloted", blocks=1, scheme="relay").exit == 0
    assert {found.rounds for found in counts(desk.clone.latest()).values()} == {0}
    assert (
        "processes are measured one after the other, no turns: a system without them"
    ) in desk.said()
