"""Ctrl-C, kills, resumes: nothing measured is lost or measured twice, no process is left."""

import os
import signal
import subprocess
import sys

import pytest

from sqlitmus.cli import options
from sqlitmus.run.processes import progress
from sqlitmus.store.folder import RunDirectory
from tests.cli.calling import Call
from tests.fakes.clone import Clone, Done, measured_order, planned_order, until
from tests.fakes.instant import Desk

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")

RUNNERS = ("a",)
RUN = ("run", "--size", "s", "--seed", "11", "--blocks", "2")


def under_way(clone: Clone, *arguments: str) -> subprocess.Popen[str]:
    """A command whose fake `waits` stands in the middle of an invocation."""
    process = clone.start(*arguments)
    waiting = clone.state("waits").with_suffix(".waiting")
    until(lambda: waiting.exists() or process.poll() is not None, "the fake did not get to wait")
    assert process.poll() is None, clone.finish(process)
    return process


def let_go(clone: Clone) -> None:
    """Let the waiting fake go on."""
    with clone.state("waits").with_suffix(".gate").open("wb"):
        pass


def cut_off(clone: Clone, *arguments: str) -> Done:
    """A command that Ctrl-C ends after the invocation of the fake `waits`."""
    process = under_way(clone, *arguments)
    process.send_signal(signal.SIGINT)
    let_go(clone)
    done = clone.finish(process)
    assert done.code == 130
    assert clone.alive() == []
    return done


def resume(clone: Clone, *arguments: str) -> Done:
    """Go on with the newest run."""
    return clone.sqlitmus("run", "--resume", str(clone.latest().path), *arguments)


def where(clone: Clone) -> str:
    """The newest run, as messages name it."""
    return f"CLONE/results/{clone.plain(clone.latest().path.name)}"


@pytest.fixture
def waiting(clone: Clone) -> Clone:
    """Three runners, of which one waits at its second measurement."""
    clone.runner("a")
    clone.runner("waits", "waits=2")
    clone.runner("z")
    return clone


def check_order(clone: Clone, *, whole: bool) -> list[tuple[int, str, str]]:
    """What was measured: as planned, all of it or the beginning."""
    measured, planned = measured_order(clone.latest()), planned_order(clone.latest())
    assert measured == planned[: len(measured)] != []
    assert (measured == planned) == clone.latest().complete() == whole
    return measured


def test_ctrl_c_finishes_the_invocation_and_resume_goes_on_if_nothing_changed(
    waiting: Clone,
) -> None:
    done = cut_off(waiting, *RUN)
    told = f"interrupted; go on with: ./just run --resume {where(waiting)}"
    assert (done.out, done.err.splitlines()[-1]) == ("", told)
    before = check_order(waiting, whole=False)
    assert before[-1][2] == "waits"  # the invocation under way, and it counts

    fixture, fakes = "fixtures/tiny.toml", "runners/fakes/runner.toml"
    honest, broken = (f'behaviour={b}", "--name=z"' for b in ("honest", "crash"))
    changes = [
        (fixture, "seed = 1", "seed = 2", "fixture tiny"),
        (fakes, honest, broken, "a runner or the machine"),
    ]
    for file, old, new, what in changes:
        waiting.replace(file, old, new)
        refused = (
            f"sqlitmus: {where(waiting)} cannot be resumed: {what} changed since it started. Start "
            "a new run, or add --force (the report will say so).\n"
        )
        assert resume(waiting) == Done(2, "", refused)
        waiting.replace(file, new, old)
    assert check_order(waiting, whole=False) == before

    assert resume(waiting).code == 0
    check_order(waiting, whole=True)
    complete = (
        f"sqlitmus: {where(waiting)} is complete; `./just report {where(waiting)}` renders it "
        "again, and --again adds a sitting to it\n"
    )
    assert resume(waiting) == Done(2, "", complete)


def test_a_resume_that_is_forced_does_not_shift_the_order(waiting: Clone) -> None:
    cut_off(waiting, *RUN)
    before = check_order(waiting, whole=False)
    honest, broken = (f'behaviour={b}", "--name=z"' for b in ("honest", "crash"))
    waiting.replace("runners/fakes/runner.toml", honest, broken)
    assert resume(waiting, "--force").code == 4
    run = waiting.latest()
    assert run.plan().forced
    rest = [slot for slot in planned_order(run)[len(before) :] if slot[2] != "z"]
    assert measured_order(run) == [*before, *rest]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(("cells", "lanes"), [("--suite=full", 2), ("--case=get", 1)])
def test_runners_under_verification_end_with_the_harness(
    clone: Clone, cells: str, lanes: int, number: int
) -> None:
    for name in "abcd":
        clone.runner(name, "hang")
    process = clone.start("run", cells, "--size", "s")
    several = 2 * min(len(os.sched_getaffinity(0)), lanes)  # each starts a child
    until(lambda: len(clone.alive()) >= several, "the runners did not start")
    process.send_signal(number)
    assert clone.finish(process).code in (130, -number)
    until(lambda: not clone.alive(), "something lives on")


def test_a_second_ctrl_c_kills_the_invocation(waiting: Clone) -> None:
    process = under_way(waiting, *RUN, "--quiet")

    def killed() -> bool:
        process.send_signal(signal.SIGINT)
        return not waiting.alive()

    until(killed, "two Ctrl-C did not end the invocation")
    done = waiting.finish(process)
    # Even without progress, the way to go on is told.
    told = f"interrupted; go on with: ./just run --resume {where(waiting)}\n"
    assert (done.code, done.err) == (130, told)
    assert waiting.alive() == []
    lost = planned_order(waiting.latest())[len(check_order(waiting, whole=False))]
    assert lost[2] == "waits"
    waiting.state("waits").with_suffix(".gate").unlink()
    assert resume(waiting).code == 0
    check_order(waiting, whole=True)


def test_samples_outlive_a_killed_harness_and_a_torn_line_is_repaired(waiting: Clone) -> None:
    process = under_way(waiting, *RUN)
    process.kill()
    waiting.finish(process)
    if sys.platform != "linux":  # where nothing else ends it
        let_go(waiting)
    until(lambda: not waiting.alive(), "the orphaned fake did not end")
    waiting.state("waits").with_suffix(".gate").unlink()
    check_order(waiting, whole=False)
    assert resume(waiting).code == 0
    check_order(waiting, whole=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_ends_what_the_harness_does_by_itself(desk: Desk, number: int) -> None:
    """It comes twice while nothing but the harness itself is at work."""

    def work_for_long(*_: object) -> None:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)

    desk.monkeypatch.setattr(RunDirectory, "add_block", work_for_long)
    with progress.all_like_ctrl_c():
        assert desk.run(blocks=2).exit == 130
    # No process of the block is lost, and the footer is missing.
    check_order(desk.clone, whole=False)
    assert desk.clone.latest().blocks() == []


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with progress.Stop().listening():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.SIGHUP not in progress.heard()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.SIGHUP in progress.heard()


def test_ctrl_c_while_the_report_is_made_says_how_to_make_it(desk: Desk, at_desk: Call) -> None:
    def make(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    desk.monkeypatch.setattr(options, "save_reports", make)
    done = at_desk("run", "--size", "s", "-q")
    told = "interrupted; all is measured, and this renders it: ./just report"
    assert (done.code, done.err) == (130, f"{told} {where(desk.clone)}\n")
    check_order(desk.clone, whole=True)
