"""A set of turns with real processes under hyperfine: who iterates when, where, and accidents."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest

from sqlitmus.machine import process_tree
from sqlitmus.run.processes import relay
from sqlitmus.run.processes.barrier import ProcessGroup
from sqlitmus.run.processes.process import Hyperfine
from sqlitmus.run.processes.relay import Abandoned, Binding, Entry, Relay, bound
from sqlitmus.run.processes.turns import Turns, order
from tests.fakes.clone import long_enough, running

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no processes together")

FAKE = Path(__file__).parents[2] / "fakes" / "shared.py"
TURNS = Turns(warmup=2, rounds=3, lead_in=1, lap=2)
Play = Callable[..., list[Any]]


@pytest.fixture
def play(tmp_path: Path, hyperfine_program: str) -> Play:
    """Plays a set of fakes here, see `played`."""
    return partial(played, tmp_path, hyperfine_program)


def played(
    folder: Path,
    hyperfine: str,
    *acts: str,
    turns: Sequence[Turns] | None = None,
    timeout_s: float = 60,
    stopped: Callable[[], bool] = lambda: False,
    processor: int | None = None,
    **entry: Any,
) -> list[Any]:
    """A set of fakes, one per act ("" behaves); each writes its iterations into `folder`/trace."""
    entries: list[Entry] = []
    for number, (act, given) in enumerate(zip(acts, turns or [TURNS] * len(acts), strict=True)):
        job, output = folder / f"{number}.job.json", folder / f"{number}.json"
        measure = {
            "operations_per_iteration": 10,
            "warmup_iterations": given.warmup,
            "iterations": given.iterations,
            "share": {"of": 1},
        }
        job.write_text(json.dumps({"cell": "a/b", "output": str(output), "measure": measure}))
        command = [sys.executable, "-I", "-S", str(FAKE), f"{act}@0", "--job", str(job)]
        environment = {
            "PATH": os.environ["PATH"],
            "SQLITMUS_TRACE": str(folder / "trace"),
            "SQLITMUS_NAME": str(number),
        }
        log = folder / f"{number}.log"
        entries.append(Entry(command, environment, given, output, log, **entry))
    return Relay(Hyperfine(hyperfine, folder), timeout_s, processor).play(entries, "seed", stopped)


def problems(invocations: list[Any]) -> list[str | None]:
    return [one.problem for one in invocations]


def processors() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def test_all_warm_up_and_then_they_take_turns_each_of_its_own_length(
    tmp_path: Path, play: Play
) -> None:
    longer = Turns(warmup=1, rounds=3, lead_in=2, lap=4)
    each = [TURNS, TURNS, longer]
    told = play("", "", "", turns=each)
    assert problems(told) == [None] * 3
    assert [len(one.result.iterations_ns) for one in told] == [of.iterations for of in each]
    assert [one.laps.steady_ns for one in told] == pytest.approx([200_000.0] * 3)
    # nobody looked at what others took
    assert {(one.laps.lost, one.laps.left_out) for one in told} == {(None, None)}
    rounds = order(3, TURNS.rounds, "seed")
    turns = [seat for seats in rounds for seat in seats for _ in range(each[seat].per_turn)]
    trace = [int(name) for name in (tmp_path / "trace").read_text("utf-8").split()]
    assert sorted(trace[:5]) == [0, 0, 1, 1, 2]  # the warm-up
    assert trace[5:] == turns


def test_as_many_warm_up_at_once_as_there_are_processors(
    tmp_path: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay.system, "allowed", lambda: [0, 1])
    told = play("meets", "meets")
    assert problems(told) == [None] * 2
    for file in tmp_path.glob("trace.*"):
        file.unlink()
    monkeypatch.setattr(relay.system, "allowed", lambda: [0])
    first, _ = play("meets", "meets", timeout_s=0.5)
    assert "not ready for iteration 3 of 11 within" in str(first.problem)


def test_turns_are_taken_on_one_processor_after_a_warm_up_on_all(
    tmp_path: Path, play: Play
) -> None:
    here = processors()
    told = play("where", "where", processor=here[-1])
    assert problems(told) == [None] * 2
    for number in range(2):
        places = (tmp_path / f"{number}.where").read_text("utf-8").split()
        everywhere, one = ",".join(map(str, here)), str(here[-1])
        assert places == [everywhere] * TURNS.warmup + [one] * TURNS.iterations


@pytest.mark.parametrize(
    ("taken", "level", "counted"),
    [
        (20_000, 190_000, [True] * 3),  # 400 µs are a lap of two iterations
        ([0, 90_000, 40_000], 190_000, [True, False, True]),
        ([0, 320_000, 300_000], 125_000, [True, False, True]),  # half of them count in any case
    ],
)
def test_what_others_took_from_its_thread_is_no_time_of_a_seat(
    play: Play,
    monkeypatch: pytest.MonkeyPatch,
    taken: int | list[int],
    level: int,
    counted: list[bool],
) -> None:
    lost = [taken] * TURNS.rounds if isinstance(taken, int) else taken
    waited = iter([ns for each in lost for ns in (0, each)])
    monkeypatch.setattr(process_tree, "waited_ns", lambda _: next(waited))
    (seat,) = play("", processor=processors()[-1])
    laps = seat.laps
    assert (laps.lost_ns, laps.counted) == (lost, counted)
    assert laps.steady_ns == pytest.approx(level)
    taken_ns = sum(ns for ns, counts in zip(lost, counted, strict=True) if counts)
    assert laps.lost == pytest.approx(taken_ns / (400_000 * sum(counted)))
    assert laps.left_out == pytest.approx(1 - sum(counted) / TURNS.rounds)
    # lead-ins are no part of what is timed, and neither is what was left out
    assert laps.iterations_ns == [200_000] * TURNS.lap * sum(counted)


def test_without_a_warm_up_nobody_knows_the_thread_that_iterates(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = ({0: ns * 10**9} for ns in count(1))
    monkeypatch.setattr(relay.Seat, "_threads", lambda _: next(used))
    for warmup, known in ((2, True), (0, False)):
        turns = [Turns(warmup=warmup, rounds=1, lead_in=1, lap=2)]
        (seat,) = play("", turns=turns, processor=processors()[-1])
        assert [turn.cpu_ns is not None for turn in seat.timing.turns] == [known]


def test_stamps_say_nothing_where_the_clock_was_set_and_set_back(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        relay.system.ClockWatch, "set_by_ns", partial(next, iter([0, 9, *[0] * 99]))
    )
    played = play("")
    assert [seat.timing.turns for seat in played] == [()]


@pytest.mark.parametrize(
    ("patient", "expected"),
    [(True, ["start", "start", "ready", "ready"]), (False, ["start", "ready", "start", "ready"])],
)
def test_who_does_not_wait_for_others_opens_its_file_before_they_start(
    play: Play, monkeypatch: pytest.MonkeyPatch, patient: bool, expected: list[str]
) -> None:
    seen: list[str] = []

    def record(name: str, word: str) -> None:
        act: Callable[..., object] = getattr(ProcessGroup, name)
        monkeypatch.setattr(ProcessGroup, name, lambda *of: seen.append(word) or act(*of))

    record("start", "start")
    record("wait_until_ready", "ready")
    told = play("", "", patient=patient)
    assert problems(told) == [None] * 2
    assert seen[:4] == expected


def test_the_timing_is_hyperfines_and_who_waits_is_idle(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SHORTEST_NS", 0)
    # a wait of many iterations, since what a process used may be known a moment late
    long = Turns(warmup=2, rounds=3, lead_in=1, lap=1000)
    for one in play("", "", turns=[long, long]):
        assert one.timing.exit_code == 0
        assert one.idle < 0.5


def test_nobody_has_a_turn_while_another_compiles(
    tmp_path: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SETTLING_S", 60.0)
    monkeypatch.setattr(relay, "WORKING", 0.0)
    monkeypatch.setattr(relay, "WINDOW_S", 0.2)  # in which a compiler gets a turn on a busy machine
    told = play("", "compiles", "")
    assert problems(told) == [None] * 3
    trace = (tmp_path / "trace").read_text("utf-8").split()
    first, again = (number for number, name in enumerate(trace) if name == "rested")
    assert first == 3 * TURNS.warmup
    assert trace[again - 1] == "1"


def test_a_set_does_not_wait_without_end_for_one_that_never_rests(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SETTLING_S", 0.1)
    monkeypatch.setattr(relay, "SHORTEST_NS", 0)
    told = play("", "spins", "")
    assert problems(told) == [None] * 3
    assert told[0].idle < told[1].idle


def test_the_pause_of_one_that_waits_for_nobody_is_not_of_its_time(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SETTLES_S", 0.6)
    begin = time.monotonic_ns()
    (told,) = play("", turns=[Turns(2, 1, 0, 9)])
    lasted_ns = time.monotonic_ns() - begin
    assert told.timing.wall_ns < lasted_ns - 600_000_000
    assert told.idle is not None


@pytest.mark.parametrize("never_waits", [True, False])
def test_what_others_took_is_looked_at_while_it_stands_before_its_last_iteration(
    play: Play, monkeypatch: pytest.MonkeyPatch, never_waits: bool
) -> None:
    released: list[int] = []
    honest = ProcessGroup.release

    def release(group: ProcessGroup, iterations: int = 1) -> float:
        released.append(iterations)
        return honest(group, iterations)

    monkeypatch.setattr(ProcessGroup, "release", release)
    (told,) = play("", never_waits=never_waits)
    lost, turn = told.timing.lost_ns, TURNS.per_turn
    assert released == [TURNS.warmup, turn, turn, turn - 1, 1]
    assert (lost is not None) == never_waits
    assert (lost or 0) >= 0


def test_an_accident_costs_its_own_cell_only(play: Play) -> None:
    accidents = {
        "crash": "ended with exit code 1 and wrote no result",
        "signal": r"was killed by SIGSEGV \(exit code 139\) and wrote no result",
        # once ahead of its lines, it is found out whenever it next has said too much
        "eager": r"process 0 of 1: says `ready` once more (before|after) iteration \d+.*",
        "quit": "process 0 of 1: ended with exit code 0 before iteration 3 of 11",
        "speechless": "ended with exit code 0 and wrote no result",
        "late crash": "ended with exit code 4, which does not go with status ok",
    }
    first, *others, last = play("", *accidents, "")
    for problem, one in zip(accidents.values(), others, strict=True):
        assert re.fullmatch(problem, one.problem or "")
        assert one.laps is None
    assert problems([first, last]) == [None] * 2
    assert [one.laps.steady_ns for one in (first, last)] == pytest.approx([200_000.0] * 2)


def test_what_is_handed_on_in_anothers_turn_is_not_the_others(play: Play) -> None:
    with process_tree.none_outlive():
        told = play("", "hands on", "takes")
    assert [bool(one.left) for one in told] == [False, True, False]


def test_a_hanging_one_is_ended_with_what_it_started(tmp_path: Path, play: Play) -> None:
    def attempt(timeout_s: float) -> list[Any] | None:
        told = play("", "stubborn", timeout_s=timeout_s)
        return None if told[0].problem else told

    _, second = long_enough(attempt, 1.0)
    assert re.fullmatch(
        r"process 0 of 1: not ready for iteration 1 of 11 within [0-9.]+ s; all are killed",
        second.problem or "",
    )
    left = (tmp_path / "1.pids").read_text("utf-8").split()
    assert len(left) == 2
    assert not [pid for pid in left if running(int(pid))]


def test_a_set_is_abandoned_between_two_turns(tmp_path: Path, play: Play) -> None:
    trace, two_turns = tmp_path / "trace", 2 * TURNS.warmup + 2 * TURNS.per_turn
    trace.touch()
    with pytest.raises(Abandoned, match="asked to stop"):
        play("", "", stopped=lambda: len(trace.read_text("utf-8").split()) >= two_turns)
    assert len(trace.read_text("utf-8").split()) == two_turns


def test_a_set_in_which_the_machine_stood_by_does_not_count(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = iter([10.0, 3610.0])
    monkeypatch.setattr(relay.system, "standby_s", lambda: next(slept))
    with pytest.raises(Abandoned, match="the machine stood by"):
        play("", "")


def test_more_iterations_than_a_pipe_holds_lines_block_nobody(play: Play) -> None:
    many = Turns(warmup=30_000, rounds=1, lead_in=1, lap=1)
    assert problems(play("", turns=[many])) == [None]


WAITING = """
import sys
for iteration in range(4):
    print("ready", flush=True)
    sys.stdin.readline()
    if iteration == 1:
        open(sys.argv[1]).read()
"""


def test_iterations_that_were_released_at_once_are_waited_for_one_by_one(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with ProcessGroup(4, 60) as group:
        command = [sys.executable, "-I", "-S", "-c", WAITING, str(gate)]
        group.start(command, {"PATH": os.environ["PATH"]}, tmp_path / "log")
        group.wait_until_ready()
        group.release(3)
        group.wait_until_ready(2)  # the first is done, and the second one waits for this test
        assert [child.owed for child in group.children] == [2]
        gate.write_text("")
        group.wait_until_ready(-1)  # all of them
        assert [child.owed for child in group.children] == [0]
        group.release()
        group.wait_until_ended()


class Thread(NamedTuple):
    """The id of a thread that lives, and what lets it start another one, which tells its id."""

    id: int
    starts_another: Callable[[], int]


@pytest.fixture
def thread() -> Iterator[Thread]:
    """One whose bindings, as those of all of this process's threads, are undone afterwards."""
    here = os.sched_getaffinity(0)
    ids, may_start, may_end = SimpleQueue[int](), threading.Event(), threading.Event()

    def be_another() -> None:
        ids.put(threading.get_native_id())
        may_end.wait()

    def live() -> None:
        ids.put(threading.get_native_id())
        may_start.wait()
        other = threading.Thread(target=be_another)
        other.start()
        other.join()

    first = threading.Thread(target=live)
    first.start()
    yield Thread(ids.get(), lambda: may_start.set() or ids.get())
    may_end.set()
    may_start.set()
    first.join()
    for each in process_tree.siblings(threading.get_native_id()):
        with suppress(OSError):  # it has ended
            os.sched_setaffinity(each, here)


def test_the_thread_that_iterated_has_its_processor_to_itself(thread: Thread) -> None:
    here = os.sched_getaffinity(0)
    last = max(here)
    elsewhere = (here - {last}) or here
    me = threading.get_native_id()
    held = bound({me: 5, thread.id: 1}, {me: 6, thread.id: 90}, last)
    assert held
    assert os.sched_getaffinity(thread.id) == {last}
    assert os.sched_getaffinity(me) == elsewhere
    before = process_tree.waited_ns(thread.id)
    started = thread.starts_another()
    assert 0 <= before <= process_tree.waited_ns(thread.id)
    assert os.sched_getaffinity(started) == {last}  # inherited
    held.keep_others_off()
    assert os.sched_getaffinity(started) == elsewhere
    assert os.sched_getaffinity(thread.id) == {last}


def test_of_one_processor_nobody_is_kept_off(thread: Thread) -> None:
    one = min(os.sched_getaffinity(0))
    for each in (thread.id, 0):
        os.sched_setaffinity(each, {one})
    Binding(thread.id, one)
    assert [os.sched_getaffinity(each) for each in (thread.id, 0)] == [{one}] * 2


GONE = 2**22 + 1  # more than Linux ever gives


def test_nobody_is_bound_where_it_is_not_known_who_iterates(thread: Thread) -> None:
    for before, after in (({}, {}), ({thread.id: 7}, {thread.id: 7}), ({}, {GONE: 9})):
        assert bound(before, after, min(os.sched_getaffinity(0))) is None
    assert process_tree.waited_ns(GONE) == 0
    with pytest.raises(OSError, match=r"."):
        Binding(GONE, 0)
