"""Each block is recorded with the machine around it; nothing is done twice or lost."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from sqlitmus.machine import conditions, system
from sqlitmus.run.measure import blocks
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, Instant, even, one_by_one
from tests.machines.folders import ask
from tests.worded import notices

EACH = 3  # invocations of a block: a, b, canary
RUNNERS = ("a", "b")


def recorded(desk: Desk) -> tuple[list[int], list[int]]:
    """The blocks and the positions of samples of the newest run."""
    run = desk.clone.latest()
    return [b.block for b in run.blocks()], [s.position for s in run.samples()]


def first_record(desk: Desk) -> dict[str, Any]:
    path = desk.clone.latest().path
    return json.loads(ask(path, "SELECT record FROM block ORDER BY block")[0][0])


def cell(desk: Desk, name: str) -> Any:
    (found,) = (c for c in desk.clone.analysed().cases[0].cells if c.runner == name)
    return found


def compared(desk: Desk) -> Any:
    return desk.clone.analysed().cases[0].comparisons.of("b", "a")


def test_every_block_is_recorded_with_the_machine_around_it(desk: Desk) -> None:
    # a machine that is slow in one block is told, and decides nothing
    desk.probe(lambda: len(desk.instant.measured) == 4 * EACH)
    assert desk.run(blocks=6).exit == 0
    assert recorded(desk) == (list(range(6)), list(range(6 * EACH)))
    first = first_record(desk)
    assert list(first) == ["block", "before", "after", "idle", "authors"]
    assert first["before"]["probe_ns"] == first["after"]["probe_ns"] == 30_000_000
    assert first["after"]["monotonic_ns"] >= first["before"]["monotonic_ns"]
    probes = [block.probe_ns for block in desk.clone.analysed().blocks]
    assert probes == [150_000_000 if n in (3, 4) else 30_000_000 for n in range(6)]


@pytest.mark.parametrize("number", range(2 * EACH + 1, 3 * EACH + 1))
def test_a_run_cut_anywhere_in_a_block_goes_on_where_it_was(desk: Desk, number: int) -> None:
    desk.interrupt_at(number)
    ended = desk.run(blocks=4)
    run = desk.clone.latest()
    assert (ended.exit, ended.directory) == (130, run.path)
    assert len(run.samples()) == number
    assert desk.resume(run.path).exit == 0
    assert recorded(desk) == (list(range(4)), list(range(4 * EACH)))
    assert run.complete()
    assert desk.clone.analysed().blocks_complete == 4


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError("not on this system")


def test_a_machine_that_tells_nothing_of_itself_is_measured_all_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent: Callable[..., None] = lambda *_: None  # noqa: E731
    for name in ("pressure_us", "cpu_ticks", "context_switches", "throttle_count", "frequency_khz"):
        monkeypatch.setattr(system, name, silent)
    monkeypatch.setattr(os, "getloadavg", refuse)
    monkeypatch.setattr(psutil, "sensors_battery", refuse)
    monkeypatch.setattr(blocks, "conditions", conditions)
    assert desk.run(blocks=2).exit == 0
    assert sorted(first_record(desk)["before"]) == ["monotonic_ns", "probe_ns"]
    (first, _) = desk.clone.analysed().blocks
    assert (first.probe_ns, first.steal, first.cpu_pressure) == (30_000_000, None, None)
    assert (first.io_pressure, first.load, first.throttled) == (None, None, None)


def test_counts_of_the_plan_reach_every_invocation(desk: Desk) -> None:
    desk.instant.paces = {"a": even(1100, "a"), "b": even(30_000, "b")}
    assert desk.run(mode="piloted", blocks=2).exit == 0
    (counts,) = desk.clone.latest().plan().counts.values()
    # a lap of 10 ms is 2,048 operations of both, although b is nearly 30 times slower
    assert {each.operations * 8 for each in counts.values()} == {2048}
    assert {each.iterations for each in counts.values()} == {8 * 8}
    for found in desk.instant.measured[-2 * EACH :]:
        want = counts[found.runner]
        assert found[1:] == (want.operations, want.iterations, want.warmup_ms * 10**6)
    for name, per_unit in (("a", 1100), ("b", 30_000)):
        assert cell(desk, name).time.value == pytest.approx(per_unit, rel=0.005)


LONG = "iterations and phases add up to 3,000,000 s"


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ([4400, 0, 4400], "result has an iteration of 0 ns: its clock stood still"),
        ([1] * 3, "iterations take 1 ns on average, and no clock here measures less than "),
        ([10**15] * 3, f"{LONG}, but its process lived 0.0498 s: "),
    ],
)
def test_a_clock_that_stands_still_or_jumps_beyond_its_process_fails_the_cell(
    desk: Desk, times: list[int], reason: str
) -> None:
    desk.instant.lies["b"] = lambda n: {"iterations_ns": times} if n == 3 else {}
    assert desk.run(blocks=4).exit == 4
    found = cell(desk, "b")
    assert found.outcome == "failed"
    assert found.reason.startswith(f"failed in 1 invocation of 3, first in block 3: its {reason}")


def test_a_clock_that_jumps_in_single_blocks_decides_nothing(desk: Desk) -> None:
    jumps = {3: 400, 5: 10**7}
    desk.instant.lies["b"] = lambda n: {"iterations_ns": [jumps[n]] * 3} if n in jumps else {}
    assert desk.run(blocks=12).exit == 0
    assert compared(desk).ratio.value == pytest.approx(1, abs=0.01)
    assert compared(desk).verdict in ("equivalent", "not resolved")
    # it is not hidden
    assert cell(desk, "b").samples[2:5:2] == [100, 10**7 / 4]


def test_an_iteration_that_takes_longer_counts_in_full(desk: Desk) -> None:
    iterations = [4400, 44_000, 4400]
    desk.instant.lies["b"] = lambda _: {"iterations_ns": iterations}
    assert desk.run(blocks=2).exit == 0
    assert cell(desk, "b").samples == [4400, 4400]


def test_times_that_never_vary_give_figures_and_no_verdict(desk: Desk) -> None:
    desk.instant.paces = {"a": lambda _, __: 1000, "b": lambda _, __: 1500}
    desk.run(blocks=12)
    report, found = desk.clone.analysed(), compared(desk)
    assert (found.ratio.value, found.verdict) == (pytest.approx(1.5, rel=1e-4), "not testable")
    assert report.detectable is None
    (notice,) = (text for text in notices(report) if "had the same ratio" in text)
    assert notice.startswith("1 comparison had the same ratio in most blocks, so no interval can")


def test_the_first_process_of_each_cell_gives_a_digest_and_no_figures_of_the_process(
    desk: Desk,
) -> None:
    desk.run(mode="quick", blocks=3)
    samples, cold_ns = desk.clone.samples(), desk.clone.values("cold")
    witnesses = [(s.block, s.label) for s in samples if s.position not in cold_ns]
    assert sorted(witnesses) == [(0, "a"), (0, "b")]
    assert sorted(desk.instant.digested) == ["a", "b"]
    assert desk.clone.values("peak_rss").keys() == cold_ns.keys()
    for figure in ("cpu", "steady"):
        assert desk.clone.values(figure).keys() == {s.position for s in samples}


def test_a_digest_that_is_not_the_oracles_is_wrong(desk: Desk) -> None:
    desk.instant.lies["b"] = lambda number: {"digest": "cd" * 32} if number == 1 else {}
    desk.run(mode="quick", blocks=2)
    found = [s for s in desk.clone.samples() if s.runner == "b"]
    assert [(s.block, s.outcome, s.reason) for s in found] == [
        (0, "wrong", "digest: cdcdcdcdcdcd…; the oracle has abababababab…")
    ]


@pytest.fixture
def rehearsing(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.runner("a")
    catalogue.replace("scenarios/modes.toml", "pilot = 2", "pilot = 1\nscheme = 'relay'")
    return Desk.make(catalogue, monkeypatch)


def sets(rehearsing: Desk, *cases: str) -> list[Sequence[Any]]:
    """The seats of each set of a run, of which the first is rehearsed."""
    sittings: list[Sequence[Any]] = []

    def seated(*given: Any) -> Any:
        sittings.append(given[2])
        return one_by_one(*given)

    rehearsing.monkeypatch.setattr(blocks, "play", seated)
    rehearsing.run(mode="piloted", cases=[*(cases or ["get"])], blocks=1)
    return sittings


def test_an_only_runner_sits_there_twice_and_whichever_process_goes_wrong_it_is_the_runner(
    rehearsing: Desk,
) -> None:
    """Alone it would keep its caches, and its lead-in would come out too short."""
    rehearsing.instant.lies["a"] = lambda number: {"checksum": 6} if number == 3 else {}
    seats = sets(rehearsing)[0]
    assert [(seat.runner.spec.name, seat.label) for seat in seats] == [("a", "a"), ("a", "a again")]
    assert seats[0].turns == seats[1].turns
    # after one process by itself
    reason = "iteration 0 (operations 0 to 1023): checksum 5121; the oracle has 5120"
    assert f"get/a: wrong in the pilot: {reason}\n" in rehearsing.said()


def test_a_set_has_the_collections_that_the_mode_asks_for(rehearsing: Desk) -> None:
    """A process gives a digest in the rehearsal, because some tell of collections only then."""
    rehearsing.clone.runner("b")
    rehearsing.clone.replace("scenarios/modes.toml", "pilot = 1", "pilot = 1\ncollections = 6")
    rehearsing.instant.lies["a"] = lambda number: {"collections": 1} if number == 2 else {}
    first, then = sets(rehearsing)
    assert [(seat.label, seat.digest) for seat in first] == [("a", True), ("b", True)]
    assert first[0].turns.rounds == 4
    assert then[0].turns.rounds == 6 * first[0].turns.rounds


def test_what_writes_is_rehearsed_only_where_nothing_else_tells_of_noise(rehearsing: Desk) -> None:
    rehearsing.clone.runner("b")
    assert [each[0].case.id for each in sets(rehearsing, "get", "insert")].count("insert") == 1
    assert [each[0].case.id for each in sets(rehearsing, "insert")] == ["insert", "insert"]


def asked(desk: Desk, interrupted: Callable[[int], bool] = lambda _number: False) -> list[str]:
    """What each process is asked to measure from here on, but for the names of its files; Ctrl-C
    comes before those that are `interrupted`."""
    texts: list[str] = []

    def note(command: list[str], *given: Any) -> Any:
        job = json.loads(Path(command[-1]).read_bytes())
        if job["mode"] == "measure":
            texts.append(json.dumps({**job, "output": "", "database": ""}))
            if interrupted(len(texts)):
                os.kill(os.getpid(), signal.SIGINT)
        return Instant.execute(desk.instant, command, *given)

    desk.monkeypatch.setattr(desk.instant, "execute", note)
    return texts


def test_a_resumed_run_goes_on_with_the_same_work(rehearsing: Desk) -> None:
    """The same counts, warm-ups of each block, operations to begin with, and parameters."""
    rehearsing.clone.runner("b")
    rehearsing.clone.replace("scenarios/modes.toml", "pilot = 1", "pilot = 1\nstagger_ms = 70")
    options: dict[str, Any] = {"mode": "piloted", "cases": ["get", "insert"], "blocks": 9}
    whole = asked(rehearsing)
    assert rehearsing.run(**options).exit == 0
    assert len({text for text in whole if '"get/b"' in text}) > 8  # lengths of warm-ups
    before = asked(rehearsing, lambda number: number == 30)
    assert rehearsing.run(**options, label="cut").exit == 130
    after = asked(rehearsing)
    assert rehearsing.resume(rehearsing.clone.latest().path).exit == 0
    assert (len(before), len(after)) == (30, 24)
    assert before + after == whole[-54:]  # after the pilot's, which is remembered


def silent(desk: Desk, *numbers: int) -> list[int]:
    """Let the oracle crash when it is asked for the so-manieth time; how often it was asked."""
    questions: list[int] = []

    def lie(_number: int) -> dict[str, Any] | None:
        questions.append(len(questions) + 1)
        return None if questions[-1] in numbers else {}

    desk.instant.lies["python"] = lie
    return questions


REASON = "the oracle cannot answer it: ended with exit code 7 and wrote no result"


@pytest.mark.parametrize(("mode", "questions"), [("quick", 2), ("piloted", 3)])
def test_it_is_asked_once_and_its_cells_fail(desk: Desk, mode: str, questions: int) -> None:
    # A walk of 8,192 operations is too long to be verified: with a pilot it is asked again, for
    # those that were planned: get, all, get.
    desk.clone.replace("scenarios/tiny.toml", "pool = 8", "pool = 8192")
    asked = silent(desk, 1 if mode == "quick" else 3)
    assert desk.run(cases=["get", "all"], mode=mode, blocks=2).exit == 4
    run = desk.clone.latest()
    of_cases = [("get", "failed"), ("all", "ok")]
    cells = [(case, name, outcome) for case, outcome in of_cases for name in "ab"]
    assert [(r.case, r.runner, r.outcome) for r in run.verified()] == cells
    assert {s.case for s in run.samples()} == {"all"}
    reasons = {(r.reason, r.log) for r in run.verified() if r.case == "get"}
    assert reasons == {(REASON, "logs/get.python.verify.log")}
    assert (run.path / "logs/get.python.verify.log").read_text() == "gave up, says the fake\n"
    assert "the oracle cannot answer get: ended with exit code 7" in desk.said()
    assert len(asked) == questions


def test_runners_that_agree_against_the_oracle_are_told_everywhere(desk: Desk) -> None:
    fake = 'title = "b, a fake"\nruntime = "{}"'
    desk.clone.replace("runners/fakes/runner.toml", fake.format("Fake"), fake.format("Other"))
    for name in ("a", "b"):
        desk.instant.lies[name] = lambda _number: {"checksum": 6, "digest": "cd" * 32}
    assert desk.run(cases=["get"]).exit == 5
    words = "both runners agree with each other against the oracle: suspect the oracle"
    assert f"get: {words}" in desk.said()
    for record in desk.clone.latest().verified():
        assert (record.outcome, record.against_oracle) == ("wrong", True)
        assert (record.reason or "").startswith("operation 0: checksum 6; the oracle has 5; both")
    assert "In 1 case all runners that answered agree" in "".join(notices(desk.clone.analysed()))


def test_a_run_goes_on_without_a_case_that_is_not_answered_any_more(desk: Desk) -> None:
    desk.interrupt_at(2 * EACH + 1)
    assert desk.run(cases=["get", "all"]).exit == 130
    (desk.clone.root / "toolchain/cache/memory/cells.json").unlink()
    silent(desk, 1)
    run = desk.clone.latest()
    assert desk.resume(run.path).exit == 4
    assert len([s for s in run.samples() if s.case == "all"]) == 6
    assert all(sample.outcome == "ok" for sample in run.samples())


@pytest.mark.parametrize("lie", [{"checksum": 6}, None], ids=["wrong", "failed"])
def test_what_went_wrong_is_verified_again_and_what_went_well_is_not(
    desk: Desk, lie: dict[str, Any] | None
) -> None:
    desk.instant.lies["a"] = lambda number: {} if number else lie
    for verified in (["a", "b"], ["a"], []):
        desk.instant.verified.clear()
        desk.run(cases=["get"], blocks=1)
        assert [name for name in desk.instant.verified if name != "python"] == verified
        if verified == ["a", "b"]:
            desk.instant.lies.clear()
