"""The self-test: what is recorded, judged and kept, without waiting for real processes."""

import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import pytest

from sqlitmus.analysis import analyse, load
from sqlitmus.catalog import definitions
from sqlitmus.machine import system
from sqlitmus.run import selftest
from sqlitmus.run.measure import blocks as sets
from sqlitmus.run.measure.blocks import Seating, Turned
from sqlitmus.run.plan import pilot
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.processes.relay import Abandoned, Relay
from sqlitmus.run.selftest import BLOCKS, LABELS, SPARE, Recording
from sqlitmus.run.verify import context
from sqlitmus.run.verify.invocations import Invocations
from sqlitmus.stats.relabel import Gain
from sqlitmus.store.folder import selftest_file
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, SqlitmusError, UsageError
from sqlitmus.vocabulary.verdicts import Scheme
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, Measured, jitter

MANY = """
[many]
title = "Many"
question = "How long do many rows take?"
group = "reads"
bound_by = "driver"
unit = "read"
fixture = "tiny"
operations = 100
axes.profile = ["normalised"]

[[many.steps]]
operation = "get"
sql = "SELECT id, big, word FROM tiny WHERE id = ?"
columns = { id = "integer", big = "integer", word = "text" }
parameters = [{ type = "integer", generator = "integer", min = 1, max = "size" }]
pool = 8
"""
SLOTS = LABELS + SPARE + 1
T = TypeVar("T")


ITERATIONS: dict[Scheme, int] = {"process": 3, "relay": 16}


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.runner("a")
    catalogue.write("scenarios/many.toml", MANY)
    made = Desk.make(catalogue, monkeypatch)
    made.instant.paces["a"] = noise
    clock = SimpleNamespace(monotonic=lambda: made.instant.now_ns / 1e9)
    monkeypatch.setattr(selftest, "time", clock)
    monkeypatch.setattr(selftest, "time", clock)
    monkeypatch.setattr(sets, "play", one_by_one)
    return made


def one_by_one(
    invocations: Invocations,
    _relay: Relay,
    seatings: Sequence[Seating],
    _seed: str,
    stopped: Callable[[], bool],
) -> list[Turned]:
    """Stands for a set of turns: each seat is answered at once, by itself."""
    turned: list[Turned] = []
    for seat in seatings:
        if stopped():
            raise Abandoned("asked to stop")
        attempt = invocations.attempt(
            seat.case, seat.runner, "measure", seat.answer, digest=seat.digest
        )
        result = attempt.invocation.result
        right = attempt.outcome == "ok" and result is not None
        steady_ns = float(np.mean(result.iterations_ns)) if right and result else None
        rounds = seat.turns.rounds
        turned.append(Turned(attempt, steady_ns, [0] * rounds, [True] * rounds, None))
    return turned


def noise(_operations: int, number: int) -> float:
    """About 1 % of noise, drawn anew for each invocation, without chance."""
    return 10_000 * float(np.exp(np.random.default_rng(number).normal(0, 0.01)))


def recorded(desk: Desk, budget_s: float = 30.0, **changes: Any) -> dict[Scheme, Recording]:
    given: dict[str, Any] = {"runner": "a", "case_id": "many", "seed": 1, "wait": False}
    return selftest.record(
        definitions.load(),
        paths.tools(),
        Progress(desk.stderr),
        budget_s=budget_s,
        **{**given, **changes},
    )


def batched(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Runs of `size` items each."""
    return [items[at : at + size] for at in range(0, len(items), size)]


def by_pass(measured: Sequence[Measured]) -> list[tuple[Scheme, list[int]]]:
    """The scheme of each pass, and the operations of its processes in order."""
    schemes: dict[int, Scheme] = {number: scheme for scheme, number in ITERATIONS.items()}
    return [
        (schemes[each[0].iterations], [m.operations for m in each])
        for each in batched(measured, SLOTS)
        if len({m.iterations for m in each}) == 1
    ]


def equal(
    ratio: float = 1.0, blocks: int = 60, spread: float = 0.01, seconds: float = 2.0
) -> Recording:
    """Equal processes, one of them different by `ratio`, and one slower by 3 %."""
    draws = np.exp(np.random.default_rng(5).normal(0, spread, (blocks, SLOTS)))
    draws[:, 1] *= ratio
    draws[:, -1] *= 1.03
    times = 1e6 * draws
    return Recording(times[:, :-1].tolist(), times[:, -1].tolist(), [seconds] * blocks)


# record -----------------------------------------------------------------------------------------


def test_a_block_has_a_pass_of_each_scheme_in_random_order(desk: Desk) -> None:
    both = recorded(desk)
    assert list(both) == ["process", "relay"]
    blocks = batched(by_pass(desk.instant.measured), 2)
    assert {len(recording.equal) for recording in both.values()} == {len(blocks)}
    firsts = [first for (first, _), (second, _) in blocks if {first, second} == {*both}]
    assert len(firsts) == len(blocks) >= BLOCKS
    assert len(blocks) // 5 < firsts.count("relay") < len(blocks) * 4 // 5


@pytest.mark.parametrize("scheme", ITERATIONS)
def test_a_pass_is_equal_processes_in_random_order_with_a_slower_one(
    desk: Desk, scheme: Scheme
) -> None:
    recording = recorded(desk)[scheme]
    assert len(recording.equal) == len(recording.slower) == len(recording.seconds) >= BLOCKS
    assert {len(block) for block in recording.equal} == {LABELS + SPARE}
    work = [each for which, each in by_pass(desk.instant.measured) if which == scheme]
    assert {(each.count(100), each.count(103)) for each in work} == {(LABELS + SPARE, 1)}
    assert len({each.index(103) for each in work}) > 3
    # times are those of an iteration, and those of 103 operations are longer
    ratio = np.median(recording.slower) / np.median(recording.equal)
    assert ratio == pytest.approx(1.03, abs=0.01)
    # seconds are those of all processes of the pass: each starts in 50 ms
    assert 0.35 < min(recording.seconds) <= max(recording.seconds) < 0.6


@pytest.mark.parametrize("scheme", ITERATIONS)
def test_a_scheme_can_be_asked_for(desk: Desk, scheme: Scheme) -> None:
    assert list(recorded(desk, scheme=scheme)) == [scheme]
    assert {which for which, _ in by_pass(desk.instant.measured)} == {scheme}


def no_turns_on_this_system(desk: Desk) -> None:
    for module in (context, pilot):
        desk.monkeypatch.setattr(module, "unsupported", lambda: "it has no pidfd_open")


def rated(desk: Desk) -> None:
    desk.clone.write("scenarios/many.toml", MANY.replace("axes.", "rate = 1e9\naxes."))


def too_little_memory(desk: Desk) -> None:
    quick = 'without a pilot"\nblocks = 2\npilot = '
    desk.clone.replace("scenarios/modes.toml", f"{quick}0", f"{quick}1")
    desk.monkeypatch.setattr(system, "free_memory", lambda: 2**20)


@pytest.mark.parametrize(
    ("hinder", "iterations"),
    [(no_turns_on_this_system, 3), (rated, 3), (too_little_memory, 64)],  # the last has a pilot
)
def test_without_turns_only_lone_processes_are_measured(
    desk: Desk, hinder: Callable[[Desk], None], iterations: int
) -> None:
    hinder(desk)
    assert list(recorded(desk)) == ["process"]
    assert {m.iterations for m in desk.instant.measured[-SLOTS:]} == {iterations}
    with pytest.raises(UsageError) as told:
        recorded(desk, scheme="relay")
    assert str(told.value) == (
        "processes of many cannot take turns on this machine; ask for --scheme process"
    )


def test_each_process_of_a_set_has_a_seat_of_its_own(desk: Desk) -> None:
    sittings: list[tuple[Sequence[Seating], str]] = []

    def seated(*given: Any) -> list[Turned]:
        sittings.append((given[2], given[3]))
        return one_by_one(*given)

    desk.monkeypatch.setattr(sets, "play", seated)
    recorded(desk, scheme="relay")
    assert {len({seat.label for seat in seats}) for seats, _ in sittings} == {SLOTS}
    assert {seat.turns.rounds for seats, _ in sittings for seat in seats} == {8}
    assert len({seed for _, seed in sittings}) == len(sittings)


def test_a_set_in_which_the_machine_stood_by_is_played_again(desk: Desk) -> None:
    played: list[str] = []

    def stood_by(*given: Any) -> list[Turned]:
        played.append(given[3])
        if len(played) == 3:
            raise Abandoned("the machine stood by during it")
        return one_by_one(*given)

    desk.monkeypatch.setattr(sets, "play", stood_by)
    both = recorded(desk)
    assert played[2] == played[3] == "1/2"
    assert len(both["relay"].equal) == len(played) - 1
    assert "many: the machine stood by during it; the set is played again" in desk.said()


def test_a_machine_that_stands_by_in_every_set_is_told(desk: Desk) -> None:
    def stood_by(*_: object) -> list[Turned]:
        raise Abandoned("the machine stood by during it")

    desk.monkeypatch.setattr(sets, "play", stood_by)
    with pytest.raises(NotFit, match=r"^many: each of 5 sets was given up; start again later$"):
        recorded(desk)


def test_as_many_blocks_as_fit_into_the_budget(desk: Desk) -> None:
    both = recorded(desk, 40.0)
    spent = desk.instant.now_ns / 1e9
    assert 38 < spent < 41
    assert len(desk.instant.measured) == 2 * SLOTS * len(both["relay"].equal)


def test_the_order_is_the_seeds(desk: Desk) -> None:
    def order(seed: int) -> list[tuple[Scheme, list[int]]]:
        desk.instant.measured.clear()
        recorded(desk, seed=seed)
        return by_pass(desk.instant.measured)[: 2 * BLOCKS]

    assert order(1) == order(1) != order(2)


def test_too_small_a_budget_is_told(desk: Desk) -> None:
    with pytest.raises(NotFit, match=r"^only \d+ blocks fitted, 30 are needed; give more --time-b"):
        recorded(desk, 5.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runner": "b"}, "there is no runner 'b'; expected one of a, python"),
        ({"case_id": "manny"}, "there is no scenario 'manny'; did you mean many?"),
        ({"case_id": "many@shape=x"}, "there is no axis of many 'shape'; expected one of profile"),
        ({"case_id": "noop"}, "noop is a cold case; the self-test needs a steady one"),
        ({"case_id": "get"}, "get has too few operations to repeat 3 % of them"),
        (
            {"case_id": "get", "scheme": "relay"},
            (
                "get has too few operations in an iteration of a turn to repeat 3 % of them; ask "
                "for --scheme process"
            ),
        ),
    ],
)
def test_what_cannot_be_tested_is_told(desk: Desk, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as told:
        recorded(desk, **changes)
    assert str(told.value) == message
    assert desk.instant.measured == []


@pytest.mark.parametrize("operations", [10, 20, 50])
def test_what_would_not_be_3_percent_is_not_called_so(desk: Desk, operations: int) -> None:
    fewer = MANY.replace("operations = 100", f"operations = {operations}")
    desk.clone.write("scenarios/many.toml", fewer)
    with pytest.raises(UsageError, match=r"^many has too few operations to repeat 3 % of them$"):
        recorded(desk)


@pytest.mark.parametrize("scheme", ITERATIONS)
@pytest.mark.parametrize(
    ("lie", "at", "message"),
    [
        ({"checksum": 6}, 0, "many/a: wrong: operation 0: checksum 6; the oracle has 5"),
        ({"checksum": 6}, 9, "many/a: wrong: iteration 0 (operations 0 to 102): checksum 516; "),
        (None, 9, "many/a: failed: ended with exit code 7 and wrote no result"),
    ],
)
def test_a_runner_that_goes_wrong_ends_it(
    desk: Desk, lie: dict[str, Any] | None, at: int, message: str, scheme: Scheme
) -> None:
    desk.instant.lies["a"] = lambda number: lie if number == at else {}
    with pytest.raises(NotFit, match=f"^{re.escape(message)}"):
        recorded(desk, scheme=scheme)


def test_a_missing_runner_is_told(desk: Desk) -> None:
    desk.clone.runner("odd", "describe-crashes")
    with pytest.raises(SqlitmusError) as told:
        recorded(desk, runner="odd")
    assert told.value.exit == 3
    assert "odd" in str(told.value) or "no runner is present" in str(told.value)


@pytest.mark.parametrize("scheme", ITERATIONS)
@pytest.mark.parametrize("at", [1, 20])
def test_ctrl_c_keeps_nothing(desk: Desk, scheme: Scheme, at: int) -> None:
    def interrupt(_name: str, number: int) -> None:
        if number == at:
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt
    with pytest.raises(NotFit, match=r"^interrupted; nothing is kept of an unfinished self-test$"):
        recorded(desk, scheme=scheme)
    assert len(desk.instant.measured) == at  # the process under way was the last
    assert not selftest_file().exists()
    assert list((desk.clone.root / "toolchain/cache/work").iterdir()) == []


@pytest.mark.skipif(unsupported() is not None, reason="no processes together")
def test_real_processes_are_recorded_in_both_schemes(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.runner("a")
    clone.write("scenarios/many.toml", MANY)
    for name in ("SQLITMUS_TOOLCHAIN", "SQLITMUS_PATHS", "SQLITMUS_LOCK"):
        monkeypatch.setenv(name, clone.environment()[name])
    monkeypatch.setattr(paths, "OWN_RUNNERS", clone.root / "runners")
    monkeypatch.setattr(selftest, "BLOCKS", 1)
    folders = (clone.root / name for name in ("scenarios", "fixtures", "runners"))
    both = selftest.record(
        definitions.read(*folders),
        paths.tools(),
        Progress(StringIO()),
        runner="a",
        case_id="many",
        budget_s=0.1,
        seed=1,
        wait=False,
    )
    assert list(both) == ["process", "relay"]
    for recording in both.values():
        (times,), (slower,), (seconds,) = recording.equal, recording.slower, recording.seconds
        assert len(times) == LABELS + SPARE
        assert min(*times, slower, seconds) > 0


# judge ------------------------------------------------------------------------------------------


def judged(recording: Recording, scheme: Scheme = "process") -> dict[str, Any]:
    return selftest.judge_scheme(scheme, recording, "a", "many")


def test_equal_processes_pass_and_the_slower_one_is_found() -> None:
    rates = judged(equal())
    assert rates["passed"]
    assert 0 <= rates["false_alarms"] <= 0.07
    assert rates["coverage"] > 0.9
    assert rates["detection"] > 0.9
    assert (rates["blocks"], rates["seconds"]) == (60, 2.0)
    assert rates["lines"][0] == (
        "One after the other: 60 blocks of 6 equal processes and a slower one, 2.00 s each: a, "
        "many."
    )
    (alarms,) = (line for line in rates["lines"] if line.startswith("False alarms: "))
    assert f"in {rates['false_alarms']:.1%} of experiments with 30 blocks and 4 comp" in alarms


def test_too_much_noise_hides_a_slowdown_and_says_so() -> None:
    rates = judged(equal(spread=0.2))
    assert rates["passed"]
    assert rates["detection"] < 0.3
    (line,) = (text for text in rates["lines"] if text.startswith("Detection: "))
    assert f"was found in {rates['detection']:.0%} of experiments" in line


def test_more_false_alarms_than_the_limit_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = equal()
    rates = judged(recording)
    rate = max(rates["false_alarms"], rates["false_sentences"])
    monkeypatch.setattr(selftest, "LIMIT", rate)
    assert judged(recording)["passed"]
    monkeypatch.setattr(selftest, "LIMIT", rate - 1e-9)
    assert not judged(recording)["passed"]


def test_hyperfine_alone_is_compared_with_lone_processes_only() -> None:
    alone = "All of one label, then all of the next, as hyperfine alone runs them: "
    lone, turns = (judged(equal(), scheme) for scheme in ITERATIONS)
    assert lone["lines"][-1].startswith(alone)
    assert "sequential_false_alarms" in lone
    assert turns["lines"][0].startswith("In turns: 60 blocks of 6 equal processes")
    assert not any(alone in line for line in turns["lines"])
    assert "sequential_false_alarms" not in turns


def test_both_schemes_must_pass_and_their_lines_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of: dict[Scheme, dict[str, Any]] = {
        "process": {"lines": ["lone"], "passed": True},
        "relay": {"lines": ["turns"], "passed": False},
    }

    def rates(name: Scheme, *_: object) -> dict[str, Any]:
        return of[name]

    monkeypatch.setattr(selftest, "judge_scheme", rates)
    both = selftest.judge({"process": equal(), "relay": equal(spread=0.02)}, "a", "many")
    assert (both["runner"], both["case"], both["passed"]) == ("a", "many", False)
    assert both["schemes"] == of
    assert both["lines"] == ["lone", "turns", both["better"]]
    single = selftest.judge({"process": equal()}, "a", "many")
    assert (single["passed"], single["lines"]) == (True, ["lone"])
    assert single["better"] is single["gain"] is None


def test_turns_are_better_where_they_halve_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def rates(*_: object) -> dict[str, Any]:
        return {"lines": [], "passed": True}

    monkeypatch.setattr(selftest, "judge_scheme", rates)
    turns = equal(spread=0.005, seconds=3.0)
    both = selftest.judge({"process": equal(), "relay": turns}, "a", "many")
    # a quarter of the variance, in one and a half of the time
    assert both["gain"]["value"] == pytest.approx(4 / 1.5)
    assert both["better"].startswith("Better for this case on this machine: processes in turns;")


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        (
            Gain(2, 1.25, 2.5),
            (
                "Better for this case on this machine: processes in turns; one after the other "
                "they take 2.00 times [1.25, 2.50] as long for the same precision."
            ),
        ),
        (
            Gain(0.5, 0.4, 0.8),
            (
                "Better for this case on this machine: processes one after the other; in turns "
                "they take 2.00 times [1.25, 2.50] as long for the same precision."
            ),
        ),
        (
            Gain(1.5, 1.0, 2),
            (
                "Which scheme is better for this case on this machine is not resolved: for the "
                "same precision, processes one after the other take 1.50 times [1.00, 2.00] as "
                "long as those in turns."
            ),
        ),
        (
            None,
            (
                "Which scheme is better for this case on this machine cannot be told: some times "
                "do not vary."
            ),
        ),
    ],
)
def test_which_scheme_is_better(gain: Gain | None, sentence: str) -> None:
    assert selftest.sentence(gain) == sentence


# keep, and the reports that follow --------------------------------------------------------------


def test_the_result_is_kept_with_its_recordings(desk: Desk, tmp_path: Path) -> None:
    recordings = recorded(desk)
    result = selftest.judge(recordings, "a", "many")
    file = selftest.save(result, recordings, tmp_path / "recordings")
    assert json.loads(selftest_file().read_text("utf-8")) == result
    everything = json.loads(file.read_text("utf-8"))
    assert everything.pop("recorded") == {
        name: {"equal_ns": one.equal, "slower_ns": one.slower, "seconds": one.seconds}
        for name, one in recordings.items()
    }
    assert everything == result


def test_later_reports_carry_it_and_earlier_ones_do_not(desk: Desk, tmp_path: Path) -> None:
    desk.run(blocks=1, label="before")
    before = desk.clone.latest()
    recordings: dict[Scheme, Recording] = {"process": equal(), "relay": equal(spread=0.005)}
    result = selftest.judge(recordings, "a", "many")
    selftest.save(result, recordings, tmp_path)
    desk.run(blocks=1, label="after")
    shown = analyse(load(desk.clone.latest().path)).selftest
    assert shown is not None
    lines = [*result["schemes"]["process"]["lines"], result["better"]]
    assert (shown.created, shown.lines, shown.passed) == (result["created"], lines, True)
    assert analyse(load(before.path)).selftest is None
    # a later self-test does not rewrite what a run was judged by
    result["schemes"]["process"]["passed"] = False
    selftest.save(result, recordings, tmp_path)
    kept = analyse(load(desk.clone.latest().path)).selftest
    assert kept is not None
    assert kept.passed


def test_jitter_is_small() -> None:
    values = [jitter(seed, n) for seed in ("a", "b", "base") for n in range(200)]
    assert 0.996 <= min(values) < max(values) <= 1.004
