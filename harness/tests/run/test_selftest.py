"""The self-test: what is recorded, judged and kept, without waiting for real processes."""

import json
import os
import re
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sqlitmus.analysis import analyse, load
from sqlitmus.catalog import definitions
from sqlitmus.run import selftest
from sqlitmus.run.progress import Progress
from sqlitmus.run.selftest import BLOCKS, LABELS, SPARE, Recording
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, SqlitmusError, UsageError
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk, jitter

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


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.runner("a")
    catalogue.write("scenarios/many.toml", MANY)
    made = Desk.make(catalogue, monkeypatch)
    made.instant.paces["a"] = noise
    clock = SimpleNamespace(monotonic=lambda: made.instant.now_ns / 1e9)
    monkeypatch.setattr(selftest, "time", clock)
    return made


def noise(_operations: int, number: int) -> float:
    """About 1 % of noise, drawn anew for each invocation, without chance."""
    return 10_000 * float(np.exp(np.random.default_rng(number).normal(0, 0.01)))


def record(desk: Desk, budget_s: float = 14.0, **changes: Any) -> Recording:
    given: dict[str, Any] = {"runner": "a", "case_id": "many", "seed": 1, "wait": False}
    return selftest.record(
        definitions.load(),
        paths.tools(),
        Progress(desk.stderr),
        budget_s=budget_s,
        **{**given, **changes},
    )


def equal(ratio: float = 1.0, blocks: int = 60, spread: float = 0.01) -> Recording:
    """Equal processes, one of them different by `ratio`, and one slower by 3 %."""
    draws = np.exp(np.random.default_rng(5).normal(0, spread, (blocks, SLOTS)))
    draws[:, 1] *= ratio
    draws[:, -1] *= 1.03
    return Recording((1e6 * draws[:, :-1]).tolist(), (1e6 * draws[:, -1]).tolist())


# record -----------------------------------------------------------------------------------------


def test_blocks_are_equal_processes_in_random_order_with_a_slower_one(desk: Desk) -> None:
    found = record(desk)
    assert len(found.equal) == len(found.slower) >= BLOCKS
    assert {len(block) for block in found.equal} == {LABELS + SPARE}
    work = [m.operations for m in desk.instant.measured]
    assert sorted(set(work)) == [100, 103]
    blocks = [work[at : at + SLOTS] for at in range(0, len(work), SLOTS)]
    assert {block.count(103) for block in blocks} == {1}
    assert len({block.index(103) for block in blocks}) > 3
    # times are those of an iteration, and those of 103 operations are longer
    ratio = np.median(found.slower) / np.median(found.equal)
    assert ratio == pytest.approx(1.03, abs=0.01)


def test_as_many_blocks_as_fit_into_the_budget(desk: Desk) -> None:
    found = record(desk, 30.0)
    spent = desk.instant.now_ns / 1e9
    assert 28 < spent < 31
    assert len(desk.instant.measured) == SLOTS * len(found.equal)


def test_the_order_is_the_seeds(desk: Desk) -> None:
    def order(seed: int) -> list[int]:
        desk.instant.measured.clear()
        record(desk, seed=seed)
        return [m.operations for m in desk.instant.measured][: SLOTS * BLOCKS]

    assert order(1) == order(1) != order(2)


def test_too_small_a_budget_is_told(desk: Desk) -> None:
    with pytest.raises(NotFit, match=r"^only \d+ blocks fitted, 30 are needed; give more --time-b"):
        record(desk, 5.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runner": "b"}, "there is no runner 'b'; expected one of a, python"),
        ({"case_id": "manny"}, "there is no scenario 'manny'; did you mean many?"),
        ({"case_id": "many@shape=x"}, "there is no axis of many 'shape'; expected one of profile"),
        ({"case_id": "noop"}, "noop is a cold case; the self-test needs a steady one"),
        ({"case_id": "get"}, "get has too few operations to repeat 3 % of them"),
    ],
)
def test_what_cannot_be_tested_is_told(desk: Desk, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as told:
        record(desk, **changes)
    assert str(told.value) == message
    assert desk.instant.measured == []


@pytest.mark.parametrize(
    ("lie", "at", "message"),
    [
        ({"checksum": 6}, 0, "many/a: wrong: checksum: 6; the oracle has 5"),
        ({"checksum": 6}, 9, "many/a: wrong: checksum: 6; the oracle has 5"),
        (None, 9, "many/a: failed: ended with exit code 7 and wrote no result"),
    ],
)
def test_a_runner_that_goes_wrong_ends_it(
    desk: Desk, lie: dict[str, Any] | None, at: int, message: str
) -> None:
    desk.instant.lies["a"] = lambda number: lie if number == at else {}
    with pytest.raises(NotFit, match=f"^{re.escape(message)}"):
        record(desk)


def test_a_missing_runner_is_told(desk: Desk) -> None:
    desk.clone.runner("odd", "describe-crashes")
    with pytest.raises(SqlitmusError) as told:
        record(desk, runner="odd")
    assert told.value.exit == 3
    assert "odd" in str(told.value) or "no runner is present" in str(told.value)


def test_ctrl_c_keeps_nothing(desk: Desk) -> None:
    def interrupt(_name: str, number: int) -> None:
        if number == 20:
            os.kill(os.getpid(), signal.SIGINT)

    desk.instant.before = interrupt
    with pytest.raises(NotFit, match=r"^interrupted; nothing is kept of an unfinished self-test$"):
        record(desk)
    assert not selftest.record_file().exists()
    assert list((desk.clone.root / "toolchain/cache/work").iterdir()) == []


# judge ------------------------------------------------------------------------------------------


def test_equal_processes_pass_and_the_slower_one_is_found() -> None:
    found = selftest.judge(equal(), "a", "many")
    assert found["passed"]
    assert 0 <= found["false_alarms"] <= 0.07
    assert found["coverage"] > 0.9
    assert found["detection"] > 0.9
    assert (found["runner"], found["case"], found["blocks"]) == ("a", "many", 60)
    assert found["lines"][0] == "60 blocks of 6 equal processes: a, many."
    assert found["graded_a_or_b"] > 0.97
    assert found["graded_detection"] > 0.9
    (graded,) = (line for line in found["lines"] if "graded A or B" in line)
    assert graded.startswith(
        f"{found['graded_a_or_b']:.0%} of experiments are graded A or B by a canary of their own; "
        f"in these it is found in {found['graded_detection']:.0%}; in those graded C, "
    )
    (alarms,) = (line for line in found["lines"] if line.startswith("False alarms: "))
    assert f"in {found['false_alarms']:.1%} of experiments with 30 blocks and 4 comp" in alarms


def test_too_much_noise_hides_a_slowdown_and_says_so() -> None:
    found = selftest.judge(equal(spread=0.2), "a", "many")
    assert found["passed"]
    assert found["detection"] < 0.3
    (line,) = (text for text in found["lines"] if text.startswith("Detection: "))
    assert f"was found in {found['detection']:.0%} of experiments" in line
    assert (
        "0% of experiments are graded A or B by a canary of their own; in those graded C, where a "
        "verdict must lie beyond the noise, it is found in 0%."
    ) in found["lines"]


def test_more_false_alarms_than_the_limit_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = equal()
    judged = selftest.judge(recording, "a", "many")
    rate = max(judged["false_alarms"], judged["false_sentences"])
    monkeypatch.setattr(selftest, "LIMIT", rate)
    assert selftest.judge(recording, "a", "many")["passed"]
    monkeypatch.setattr(selftest, "LIMIT", rate - 1e-9)
    assert not selftest.judge(recording, "a", "many")["passed"]


# save, and the reports that follow --------------------------------------------------------------


def test_the_result_is_kept_with_its_recording(desk: Desk, tmp_path: Path) -> None:
    recording = record(desk)
    result = selftest.judge(recording, "a", "many")
    file = selftest.save(result, recording, tmp_path / "recordings")
    assert json.loads(selftest.record_file().read_text("utf-8")) == result
    both = json.loads(file.read_text("utf-8"))
    assert both.pop("equal_ns") == recording.equal
    assert both.pop("slower_ns") == recording.slower
    assert both == result


def test_later_reports_carry_it_and_earlier_ones_do_not(desk: Desk, tmp_path: Path) -> None:
    desk.run(blocks=1, label="before")
    before = desk.clone.latest()
    recording = equal()
    result = selftest.judge(recording, "a", "many")
    selftest.save(result, recording, tmp_path)
    desk.run(blocks=1, label="after")
    shown = analyse(load(desk.clone.latest().path)).selftest
    assert shown is not None
    assert (shown.created, shown.lines, shown.passed) == (result["created"], result["lines"], True)
    assert analyse(load(before.path)).selftest is None
    # a later self-test does not rewrite what a run was judged by
    selftest.save({**result, "passed": False}, recording, tmp_path)
    kept = analyse(load(desk.clone.latest().path)).selftest
    assert kept is not None
    assert kept.passed


def test_jitter_is_small() -> None:
    values = [jitter(seed, n) for seed in ("a", "b", "base") for n in range(200)]
    assert 0.996 <= min(values) < max(values) <= 1.004
