"""`selftest` as a whole: what it measures, prints, keeps and returns, and what the next report
says; how it goes on after Ctrl-C.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.cli.calling import Call, check_refusals, ctrl_c
from tests.fakes.instant import Desk

RUNNERS = ("a",)
COMMAND = ("selftest", "--runner", "a", "--case", "get", "--scheme", "process")
COPIES = [f"a-{number}" for number in range(1, 6)]


def noise(label: str, ratio: float = 1.0) -> Callable[[int, int], float]:
    """About 1 % of noise, drawn anew for each invocation, without chance."""

    def pace(_operations: int, number: int) -> float:
        rng = np.random.default_rng([number, *label.encode()])
        return ratio * 10_000 * float(np.exp(rng.normal(0, 0.01)))

    return pace


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.instant.paces |= {name: noise(name) for name in COPIES}
    return desk


@pytest.fixture
def kept(desk: Desk) -> Path:
    """The file in which the last self-test is kept."""
    return desk.clone.root / "toolchain/cache/memory/self-test.json"


def test_the_whole_of_a_self_test_whether_cut_off_or_not(
    desk: Desk, at_desk: Call, kept: Path
) -> None:
    desk.instant.before = ctrl_c("a-2", 25)
    cut = at_desk(*COMMAND, "--blocks", "60", "--seed", "1")
    assert (cut.code, cut.out) == (130, "")
    assert "go on with: ./just run --resume " in cut.err
    assert not kept.exists()
    folder = desk.clone.latest().path.resolve()
    done = at_desk("run", "--resume", str(folder))
    assert done.code == 0, done.err
    plain = re.sub(r"\d+\.\d+", "N", done.out)
    plain = re.sub(r"a-\d", "COPY", plain)
    assert plain.splitlines() == [
        "60 blocks of 5 equal copies of a, one after the other: get.",
        (
            "False alarms: 0 of 6 reports of 10 blocks find a difference between copies, "
            "N% [N%, N%]; promised are 5% at most."
        ),
        "All blocks together: COPY over COPY, the furthest pair: N [N, N].",
        "Coverage: N% of the 95 % intervals hold 1.",
        "Detection: 3% added to the times of a copy are found in 6 of 6 reports, N% [N%, N%].",
        "passed",
    ]
    plan = desk.clone.latest().plan()
    assert [each.name for each in plan.runners] == COPIES
    assert (plan.kind, plan.canary, plan.subjects) == ("selftest", None, ["a"])
    lines = json.loads(kept.read_text("utf-8"))["lines"]
    assert lines == desk.clone.plain(done.out).splitlines()[:-1]
    page = (folder / "report.html").read_text("utf-8")
    assert "Self-test: equal copies of a" in page
    assert lines[1] in page
    # a copy keeps its label, and each block has an order of its own
    measured = [each.runner for each in desk.instant.measured][-300:]
    blocks = [tuple(measured[at : at + 5]) for at in range(0, 300, 5)]
    assert all(sorted(block) == COPIES for block in blocks)
    assert len({*blocks}) > 20


def test_a_copy_that_is_favoured_all_along_fails_it(desk: Desk, at_desk: Call) -> None:
    desk.instant.paces["a-3"] = noise("a-3", 1.03)
    done = at_desk(*COMMAND, "--blocks", "60")
    assert done.code == 1
    assert "6 of 6 reports of 10 blocks find a difference between copies" in done.out
    assert "a-3 slower than" in done.out
    assert done.out.endswith("FAILED: verdicts on this machine need care\n")
    desk.run(runners=["a"], blocks=1)
    report = at_desk("report", "--format", "text")
    assert " UTC: FAILED. 60 blocks of 5 equal copies of a" in " ".join(report.out.split())


def test_json_is_what_is_kept(desk: Desk, at_desk: Call, kept: Path) -> None:
    done = at_desk(*COMMAND, "--blocks", "50", "--json", "--quiet")
    assert json.loads(done.out) == json.loads(desk.clone.plain(kept.read_text("utf-8")))
    assert done.err == ""


def test_too_few_blocks_give_no_rate_and_no_result(desk: Desk, at_desk: Call, kept: Path) -> None:
    done = at_desk(*COMMAND, "--blocks", "20")
    assert (done.code, done.out) == (6, "")
    assert done.err.endswith(
        "20 blocks are too few for a rate: 50 are needed; give more --time-budget or --blocks\n"
    )
    assert not kept.exists()
    desk.run(runners=["a"], blocks=1)
    report = at_desk("report", "--format", "text")
    assert "No self-test on this machine yet" in report.out


def test_a_wrong_answer_is_no_result(desk: Desk, at_desk: Call, kept: Path) -> None:
    desk.instant.lies["a-4"] = lambda number: {"checksum": 6} if number == 9 else {}
    done = at_desk(*COMMAND, "--blocks", "50")
    assert done.code == 5
    assert "get/a-4: wrong: " in done.err
    assert not kept.exists()


def test_what_does_not_exist_is_told(desk: Desk, at_desk: Call) -> None:
    check_refusals("selftest", partial(at_desk, "selftest"))
    assert desk.instant.measured == []
