"""Runners that misbehave, driven by the real harness: outcome, evidence, exit code."""

import json
import re
import shutil
from textwrap import dedent

from syrupy.assertion import SnapshotAssertion

from tests.fakes.clone import SCENARIOS, Clone, Done, long_enough, measured_order, planned_order

BROKEN = [
    *("bad-json", "crash", "failed", "foreign-json", "killed", "no-digest", "panic"),
    *("pragma-not-taken", "pragmas-not-read", "silent", "stderr-only", "wrong-exit-code"),
]
LIES = ("one-row-less", "rounds-53-bit", "skips-column", "wrong-checksum")
VERIFY = ("verify", "--size", "s")
NO_JSON = "Invalid JSON: expected value at line 1 column 1"
EVIDENCE = "jobs, results and logs of what went wrong: CLONE/toolchain/cache/evidence\n"


def test_runners_that_break_are_failed_each_with_its_reason(
    clone: Clone, snapshot: SnapshotAssertion
) -> None:
    for behaviour in BROKEN:
        clone.runner(behaviour, behaviour)
    clone.runner("old", "unread")
    clone.runner("honest")
    done = clone.sqlitmus(*VERIFY)
    assert done.out == snapshot
    assert (done.code, done.err) == (4, EVIDENCE)


def test_runners_broken_on_purpose_answer_wrong(clone: Clone, snapshot: SnapshotAssertion) -> None:
    for behaviour in LIES:
        clone.runner(behaviour, behaviour)
    done = clone.sqlitmus(*VERIFY, "--case", "all")
    assert re.sub(r"\b\d{6,}\b", "SUM", done.out) == snapshot
    assert (done.code, done.err) == (5, EVIDENCE)


ABSENT = """
    [[runner]]
    name = "absent"
    title = "Absent"
    runtime = "None"
    driver = "none"
    tool = "absent"
    command = ["{absent}"]
"""


def test_honest_runners_verify_and_missing_ones_are_told(
    clone: Clone, snapshot: SnapshotAssertion
) -> None:
    clone.runner("a")
    clone.runner("b", "unsupported")
    clone.runner("crashes", "describe-crashes")
    clone.runner("lacks", "describe-lacks-sqlite")
    clone.runner("prints", "describe-prints-rubbish")
    clone.write("runners/other/runner.toml", dedent(ABSENT))
    done = clone.sqlitmus(*VERIFY, "--suite", "full")
    failed, misfit = "missing: `describe` failed:", "its answer does not fit the contract:"
    assert sorted(done.err.splitlines()) == [
        "absent: missing: not for sale",
        f"crashes: {failed} exit code 3: no such driver",
        f"lacks: {failed} {misfit} sqlite: Field required",
        f"prints: {failed} {misfit} (whole answer): {NO_JSON}",
    ]
    assert done.code == 0
    assert done.out == snapshot


def test_a_runner_of_the_core_takes_part_and_is_asked_no_more(clone: Clone) -> None:
    clone.core()
    done = clone.sqlitmus("run", "--suite", "full", "-r", "core", "--size", "s", "--blocks", "2")
    assert done.code == 0, done.err
    run = clone.latest()
    reason = "it needs more levels of the contract than the runner has: workers"
    measured = ("get", "all", "insert", "noop")
    assert {record.case: (record.outcome, record.reason) for record in run.verified()} == {
        **dict.fromkeys(measured, ("ok", None)),
        "get@profile=shipped,workers=2": ("unsupported", reason),
    }
    assert {sample.case for sample in run.samples()} == {*measured}


def test_a_run_that_measured_nothing_is_no_success(clone: Clone) -> None:
    clone.runner("b", "unsupported")
    done = clone.sqlitmus("run", "--size", "s", "--blocks", "2")
    assert done.code == 4
    assert clone.outcomes() == {"b": "unsupported"}
    assert "nothing was measured: b (unsupported: fakes have no such thing)\n" in done.err


def test_bad_cells_keep_their_evidence_and_the_others_go_on(clone: Clone) -> None:
    clone.runner("crashes", "crash")
    clone.runner("fails-later", "fails-after=1")
    clone.runner("honest")
    clone.runner("idle", "no-times")
    clone.runner("lies-later", "wrong-when-measured")
    clone.runner("lies", "wrong-checksum")
    options = ("--size", "s", "--seed", "5", "--blocks", "3", "--reference", "honest")
    done = clone.sqlitmus("run", *options)
    assert done.code == 5
    assert clone.outcomes() == {
        "crashes": "failed",
        "fails-later": "failed",
        "honest": "ok",
        "idle": "failed",
        "lies": "wrong",
        "lies-later": "wrong",
    }
    # One good sample, then the failure; nothing is tried a second time.
    measured = [(s.label, s.block, s.outcome) for s in clone.samples() if s.label != "idle"]
    assert sorted(measured) == [
        *(("canary", block, "ok") for block in range(3)),
        ("fails-later", 0, "ok"),
        ("fails-later", 1, "failed"),
        *(("honest", block, "ok") for block in range(3)),
        ("lies-later", 0, "wrong"),
    ]
    assert "get/idle: failed: its result has 0 timed iterations; 3 were asked for" in done.err
    right = {sample.position for sample in clone.samples() if sample.outcome == "ok"}
    assert clone.values("steady").keys() == right
    assert clone.evidence() == [
        "get.crashes.verify.job.json",
        "get.crashes.verify.log",
        "get.fails-later.measure.job.json",
        "get.fails-later.measure.log",
        "get.idle.measure.job.json",
        "get.idle.measure.log",
        "get.idle.measure.result.json",
        "get.lies-later.measure.job.json",
        "get.lies-later.measure.log",
        "get.lies-later.measure.result.json",
        "get.lies.verify.job.json",
        "get.lies.verify.log",
        "get.lies.verify.result.json",
    ]
    logs = clone.latest().path / "logs"
    assert "segfault in the driver" in (logs / "get.crashes.verify.log").read_text()
    assert "gave up at measured invocation 2" in (logs / "get.fails-later.measure.log").read_text()
    job = json.loads((logs / "get.lies.verify.job.json").read_text())
    assert (job["cell"], job["mode"]) == ("get/lies", "verify")


def test_progress_of_a_run_without_a_terminal(clone: Clone, snapshot: SnapshotAssertion) -> None:
    clone.runner("a")
    clone.runner("b", "fails-after=0")
    done = clone.sqlitmus("run", "--size", "s", "--seed", "5", "--blocks", "2", "-f", "get")
    assert done.err == snapshot
    assert (done.code, clone.outcomes()) == (4, {"a": "ok", "b": "failed"})
    run = clone.latest()
    assert measured_order(run) == [slot for slot in planned_order(run) if slot[0] != 5]


def test_a_runner_that_hangs_is_killed_with_its_children(clone: Clone) -> None:
    clone.runner("hangs", "hang")
    clone.runner("honest")

    def attempt(timeout_s: float) -> tuple[float, Done] | None:
        shutil.rmtree(clone.root / "pids", ignore_errors=True)
        done = clone.sqlitmus(*VERIFY, "--timeout", f"{timeout_s:g}")
        return (timeout_s, done) if "ok           get/honest" in done.out else None

    timeout_s, done = long_enough(attempt, 1)
    assert (done.code, done.out) == (
        4,
        f"failed       get/hangs: no end within {timeout_s:g} s; killed\nok           get/honest\n",
    )
    assert len(clone.pids()) == 4  # a child of the one that hangs, and two of the honest one
    assert clone.alive() == []


def test_a_runner_that_leaks_is_ended_at_its_limit_and_the_others_go_on(clone: Clone) -> None:
    watched = SCENARIOS.replace("operations = 4\n", "operations = 4\nmemory_limit_mib = 200\n", 1)
    clone.write("scenarios/tiny.toml", watched)
    clone.runner("honest")
    clone.runner("leaks", "leaks")
    done = clone.sqlitmus("run", "--size", "s", "--blocks", "2", "--seed", "4")
    assert done.code == 4
    cells = [(s.runner, s.outcome, s.reason) for s in clone.samples() if s.runner != "canary"]
    reason = "its memory grew beyond 200 MiB, so it was ended before the machine had none left"
    assert ("leaks", "failed", reason) in cells
    assert [outcome for name, outcome, _ in cells if name == "honest"] == ["ok"] * 4
