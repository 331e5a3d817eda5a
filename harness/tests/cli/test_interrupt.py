"""Ctrl-C, kills, resumes: nothing measured is lost or measured twice, no process is left."""

# pyright: reportPrivateUsage=false

import os
import re
import signal
import subprocess
import sys

import pytest

from sqlitmus.cli import options
from sqlitmus.run.processes import progress
from sqlitmus.store.file import Block
from sqlitmus.store.folder import RunDirectory
from tests.fakes.clone import Clone, Done, measured_order, planned_order, until
from tests.fakes.instant import Desk

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")

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


def resume(clone: Clone, *arguments: str) -> Done:
    """Go on with the newest run."""
    return clone.sqlitmus("run", "--resume", str(clone.latest().path), *arguments)


def with_runners(clone: Clone) -> Clone:
    """Three runners, of which one waits at its second measurement."""
    clone.runner("a")
    clone.runner("waits", "waits=2")
    clone.runner("z")
    return clone


def test_ctrl_c_finishes_the_invocation_and_resume_goes_on_in_the_same_order(clone: Clone) -> None:
    process = under_way(with_runners(clone), *RUN)
    process.send_signal(signal.SIGINT)
    let_go(clone)
    done = clone.finish(process)
    assert done.code == 130
    run = clone.latest()
    where = f"CLONE/results/{clone.plain(run.path.name)}"
    assert done.err.splitlines()[-1] == f"interrupted; go on with: ./just run --resume {where}"
    assert done.out == ""
    assert clone.alive() == []
    # The invocation under way was the waiting one, and it counts.
    before = measured_order(run)
    assert before[-1][2] == "waits"
    assert not run.complete()
    assert len(before) < len(planned_order(run))

    assert resume(clone).code == 0
    assert measured_order(run) == planned_order(run)
    assert run.complete()

    again = resume(clone)
    assert (again.code, again.err) == (
        2,
        (
            f"sqlitmus: {where} is complete; `./just report {where}` renders it again, and --again "
            "adds a sitting to it\n"
        ),
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_lanes_of_verification_end_with_the_harness(clone: Clone, number: int) -> None:
    for name in "abcd":
        clone.runner(name, "hang")
    process = clone.start("run", "--suite", "full", "--size", "s")
    several = 2 * min(len(os.sched_getaffinity(0)), 2)  # each starts a child
    until(lambda: len(clone.alive()) >= several, "the runners did not start")
    process.send_signal(number)
    assert clone.finish(process).code in (130, -number)
    until(lambda: not clone.alive(), "something lives on")


def test_a_second_ctrl_c_kills_the_invocation(clone: Clone) -> None:
    process = under_way(with_runners(clone), *RUN, "--quiet")

    def killed() -> bool:
        process.send_signal(signal.SIGINT)
        return not clone.alive()

    until(killed, "two Ctrl-C did not end the invocation")
    done = clone.finish(process)
    assert done.code == 130
    # Even without progress, the way to go on is told.
    assert re.fullmatch(r"interrupted; go on with: ./just run --resume \S+\n", done.err)
    assert clone.alive() == []
    run = clone.latest()
    lost = planned_order(run)[len(measured_order(run))]
    assert lost[2] == "waits"
    clone.state("waits").with_suffix(".gate").unlink()
    assert resume(clone).code == 0
    assert measured_order(run) == planned_order(run)


def test_samples_outlive_a_killed_harness_and_a_torn_line_is_repaired(clone: Clone) -> None:
    process = under_way(with_runners(clone), *RUN)
    process.kill()
    clone.finish(process)
    if sys.platform != "linux":  # where nothing else ends it
        let_go(clone)
    until(lambda: not clone.alive(), "the orphaned fake did not end")
    clone.state("waits").with_suffix(".gate").unlink()
    run = clone.latest()
    before = measured_order(run)
    assert before == planned_order(run)[: len(before)]
    assert before
    assert resume(clone).code == 0
    assert measured_order(run) == planned_order(run)


def test_resume_is_refused_after_a_change_and_forced_without_shifting_the_order(
    clone: Clone,
) -> None:
    process = under_way(with_runners(clone), *RUN)
    process.send_signal(signal.SIGINT)
    let_go(clone)
    assert clone.finish(process).code == 130
    run = clone.latest()
    before = measured_order(run)
    refused = (
        f"sqlitmus: CLONE/results/{clone.plain(run.path.name)} cannot be resumed: %s changed since "
        "it started. Start a new run, or add --force (the report will say so).\n"
    )

    clone.replace("fixtures/tiny.toml", "seed = 1", "seed = 2")
    done = resume(clone)
    assert (done.code, done.err) == (2, refused % "fixture tiny")

    clone.replace("fixtures/tiny.toml", "seed = 2", "seed = 1")
    honest, broken = (f'behaviour={b}", "--name=z"' for b in ("honest", "crash"))
    clone.replace("runners/fakes/runner.toml", honest, broken)
    done = resume(clone)
    assert (done.code, done.err) == (2, refused % "a runner or the machine")
    assert measured_order(run) == before

    assert resume(clone, "--force").code == 4
    assert run.plan().forced
    after = measured_order(run)
    assert after[: len(before)] == before
    still = [slot for slot in planned_order(run)[len(before) :] if slot[2] != "z"]
    assert after[len(before) :] == still


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_ends_what_the_harness_does_by_itself(
    catalogue: Clone, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """It comes twice while nothing but the harness itself is at work."""
    catalogue.runner("a")
    desk = Desk.make(catalogue, monkeypatch)
    add = RunDirectory.add_block

    def work_for_long(run: RunDirectory, block: Block) -> None:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        add(run, block)

    monkeypatch.setattr(RunDirectory, "add_block", work_for_long)
    with progress.all_like_ctrl_c():
        ended = desk.run(blocks=2)
    assert ended.exit == 130
    assert ended.directory is not None
    run = RunDirectory(ended.directory)
    # No process of the block is lost, and the footer is missing.
    assert measured_order(run) == planned_order(run)[: len(measured_order(run))] != []
    assert run.blocks() == []
    assert not run.complete()


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with progress.Stop().listening():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.SIGHUP not in progress.heard()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.SIGHUP in progress.heard()


def test_ctrl_c_while_the_report_is_made_says_how_to_make_it(
    catalogue: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue.runner("a")
    desk = Desk.make(catalogue, monkeypatch)

    def make(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(options, "save_reports", make)
    done = desk.sqlitmus(capsys, "run", "--size", "s", "-q")
    assert done.code == 130
    run = catalogue.latest()
    assert run.complete()
    assert done.err == (
        "interrupted; all is measured, and this renders it: ./just report "
        f"CLONE/results/{catalogue.plain(run.path.name)}\n"
    )
