"""`selftest` as a whole: what it prints, keeps and returns, and what the next report says."""

import json
import re
from functools import cache
from textwrap import dedent

import numpy as np
import pytest

from sqlitmus.run import selftest
from sqlitmus.stats import relabel
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk
from tests.run.test_selftest import MANY, equal, noise

COMMAND = ("selftest", "--runner", "a", "--case", "many")


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    catalogue.runner("a")
    catalogue.write("scenarios/many.toml", MANY)
    made = Desk.make(catalogue, monkeypatch)
    made.instant.paces["a"] = noise
    return made


@cache
def rates() -> relabel.ErrorRates:
    """What the recording of equal processes gives, which takes a while."""
    recording = equal()
    equals, slow = np.log(np.array(recording.equal)), np.log(np.array(recording.slower))
    return relabel.selftest(equals, selftest.BLOCKS, selftest.LABELS - 1, slow=slow)


def recorded(desk: Desk) -> None:
    """Let the recording and its rates be there at once."""

    def record(*_: object, **__: object) -> selftest.Recording:
        return equal()

    result = rates()

    def relabelled(*_: object, **__: object) -> relabel.ErrorRates:
        return result

    desk.monkeypatch.setattr(selftest, "record", record)
    desk.monkeypatch.setattr(relabel, "selftest", relabelled)


def test_the_whole_of_a_self_test(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(desk)
    done = desk.sqlitmus(capsys, *COMMAND)
    assert re.sub(r"\d+(\.\d+)?%", "RATE", done.out) == dedent("""\
        60 blocks of 6 equal processes: a, many.
        False alarms: in RATE of experiments with 30 blocks and 4 comparisons some equal pair was called different (5 % aimed at, at most RATE allowed).
        Sentences: in RATE of experiments a sentence on all 5 told some apart (at most RATE allowed).
        Coverage: RATE of the 95 % intervals held the true ratio.
        Detection: a runner that really repeats 3 % of its work was found in RATE of experiments, a computed 3 % in RATE.
        RATE of experiments are graded A or B by a canary of their own; in these it is found in RATE; in those graded C, where a verdict must lie beyond the noise, it is found in RATE.
        One after the other, as hyperfine alone runs them: RATE false alarms [RATE, RATE].
        passed
    """)  # noqa: E501
    assert done.code == 0
    (file,) = (desk.clone.root / "results").glob("*-selftest.json")
    assert done.err == "recording: CLONE/results/STAMP-selftest.json\n"
    assert json.loads(file.read_text("utf-8"))["blocks"] == 60


def test_json_says_the_same(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(desk)
    done = desk.sqlitmus(capsys, *COMMAND, "--json", "--out", str(desk.clone.root / "elsewhere"))
    said = json.loads(done.out)
    kept = json.loads(desk.clone.plain(selftest.record_file().read_text("utf-8")))
    assert said == kept
    assert said["passed"] is True
    assert re.fullmatch(r"recording: CLONE/elsewhere/STAMP-selftest\.json\n", done.err)


def test_a_self_test_that_fails_ends_with_1(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(desk)
    monkeypatch.setattr(selftest, "LIMIT", -0.01)
    done = desk.sqlitmus(capsys, *COMMAND)
    assert done.code == 1
    assert done.out.splitlines()[-1] == "FAILED: verdicts of this machine need care"
    desk.run(blocks=1)
    report = desk.sqlitmus(capsys, "report", "--format", "text")
    assert " UTC: FAILED. 60 blocks of 6 equal processes: a, many." in report.out


def test_the_next_runs_report_carries_it(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.run(blocks=1, label="before")
    before = desk.sqlitmus(capsys, "report", "--format", "text")
    assert "No self-test on this machine yet: `./just selftest`." in before.out
    recorded(desk)
    assert desk.sqlitmus(capsys, *COMMAND, "--quiet").err == ""
    desk.run(blocks=1, label="after")
    after = desk.sqlitmus(capsys, "report", "--format", "text")
    assert " UTC: passed. 60 blocks of 6 equal processes: a, many." in after.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runner", "b"], "there is no runner 'b'; expected one of a, python"),
        (["--runner", "a", "--case", "manny"], "there is no scenario 'manny'; did you mean many?"),
        (["--time-budget", "never"], "--time-budget 'never': expected a number above 0 with"),
    ],
    ids=lambda value: value[-1],
)
def test_what_does_not_exist_is_told(
    desk: Desk, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    done = desk.sqlitmus(capsys, "selftest", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"sqlitmus: {message}")
    assert desk.instant.measured == []


def test_too_small_a_budget_ends_with_3(clone: Clone) -> None:
    clone.runner("a")
    clone.write("scenarios/many.toml", MANY)
    done = clone.sqlitmus(*COMMAND, "--time-budget", "0.1s", "--quiet")
    assert (done.code, done.out, done.err) == (
        3,
        "",
        "sqlitmus: only 1 block fitted, 30 are needed; give more --time-budget\n",
    )
    assert not (clone.root / "results").exists()
    assert not (clone.root / "toolchain/cache/memory/selftest.json").exists()
