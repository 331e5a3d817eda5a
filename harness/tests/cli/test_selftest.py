"""`selftest` as a whole: what it prints, keeps and returns, and what the next report says."""

import json
import re
from functools import cache
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from sqlitmus.run import selftest
from sqlitmus.run.selftest import LABELS, Recording
from sqlitmus.stats import relabel
from sqlitmus.store.folder import selftest_file
from sqlitmus.vocabulary.verdicts import Scheme
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
    return relabel.selftest(equals, selftest.BLOCKS, LABELS - 1, slow=slow)


def recorded(desk: Desk) -> None:
    """Let the recordings and their rates be there at once."""

    def recording(*_: object, scheme: Scheme | None, **__: object) -> dict[Scheme, Recording]:
        both: dict[Scheme, Recording] = {"process": equal(), "relay": equal(spread=0.005)}
        return {scheme: both[scheme]} if scheme else both

    result = rates()

    def relabelled(*_: object, **__: object) -> relabel.ErrorRates:
        return result

    desk.monkeypatch.setattr(selftest, "record", recording)
    desk.monkeypatch.setattr(relabel, "selftest", relabelled)


def test_the_whole_of_a_self_test(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(desk)
    done = desk.sqlitmus(capsys, *COMMAND)
    assert re.sub(r"\d+(\.\d+)?%", "RATE", done.out) == dedent("""\
        One after the other: 60 blocks of 6 equal processes and a slower one, TIME each: a, many.
        False alarms: in RATE of experiments with 30 blocks and 4 comparisons some equal pair was called different (5 % aimed at, at most RATE allowed).
        Sentences: in RATE of experiments a sentence on all 5 told some apart (at most RATE allowed).
        Coverage: RATE of the 95 % intervals held the true ratio.
        Detection: a runner that really repeats 3 % of its work was found in RATE of experiments, a computed 3 % in RATE.
        All of one label, then all of the next, as hyperfine alone runs them: RATE false alarms [RATE, RATE].
        In turns: 60 blocks of 6 equal processes and a slower one, TIME each: a, many.
        False alarms: in RATE of experiments with 30 blocks and 4 comparisons some equal pair was called different (5 % aimed at, at most RATE allowed).
        Sentences: in RATE of experiments a sentence on all 5 told some apart (at most RATE allowed).
        Coverage: RATE of the 95 % intervals held the true ratio.
        Detection: a runner that really repeats 3 % of its work was found in RATE of experiments, a computed 3 % in RATE.
        Better for this case on this machine: processes in turns; one after the other they take 4.00 times [4.00, 4.00] as long for the same precision.
        passed
    """)  # noqa: E501
    assert done.code == 0
    (file,) = (desk.clone.root / "results").glob("*-selftest.json")
    assert done.err == "recordings: CLONE/results/STAMP-selftest.json\n"
    kept = json.loads(file.read_text("utf-8"))
    assert [kept["schemes"][name]["blocks"] for name in ("process", "relay")] == [60, 60]


def test_json_says_the_same(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(desk)
    done = desk.sqlitmus(capsys, *COMMAND, "--json", "--out", str(desk.clone.root / "elsewhere"))
    said = json.loads(done.out)
    kept = json.loads(desk.clone.plain(selftest_file().read_text("utf-8")))
    assert said == kept
    assert said["passed"] is True
    assert re.fullmatch(r"recordings: CLONE/elsewhere/STAMP-selftest\.json\n", done.err)


@pytest.mark.parametrize(
    ("failing", "words"),
    [
        (("process", "relay"), "FAILED one after the other and in turns: "),
        (("process",), "FAILED one after the other: "),
        (("relay",), "FAILED in turns: "),
    ],
)
def test_a_self_test_that_fails_ends_with_1(
    desk: Desk,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    failing: tuple[Scheme, ...],
    words: str,
) -> None:
    recorded(desk)
    judge_scheme = selftest.judge_scheme

    def judged(name: Scheme, *given: Any) -> dict[str, Any]:
        return judge_scheme(name, *given) | {"passed": name not in failing}

    monkeypatch.setattr(selftest, "judge_scheme", judged)
    done = desk.sqlitmus(capsys, *COMMAND)
    assert done.code == 1
    last = done.out.splitlines()[-1]
    assert last == f"{words}verdicts of such runs on this machine need care"
    desk.run(blocks=1)
    report = desk.sqlitmus(capsys, "report", "--format", "text")
    outcome = "FAILED" if "process" in failing else "passed"
    assert f" UTC: {outcome}. One after the other: 60 blocks of 6 equal" in report.out


@pytest.mark.parametrize("scheme", ["process", "relay"])
def test_one_scheme_alone(desk: Desk, capsys: pytest.CaptureFixture[str], scheme: str) -> None:
    recorded(desk)
    done = desk.sqlitmus(capsys, *COMMAND, "--scheme", scheme, "--json")
    result = json.loads(done.out)
    assert list(result["schemes"]) == [scheme]
    assert result["lines"] == result["schemes"][scheme]["lines"]


def test_the_next_runs_report_carries_it(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.run(blocks=1, label="before")
    before = desk.sqlitmus(capsys, "report", "--format", "text")
    assert "No self-test on this machine yet: `./just selftest`." in before.out
    recorded(desk)
    assert desk.sqlitmus(capsys, *COMMAND, "--quiet").err == ""
    desk.run(blocks=1, label="after")
    after = " ".join(desk.sqlitmus(capsys, "report", "--format", "text").out.split())
    assert " UTC: passed. One after the other: 60 blocks of 6 equal processes" in after
    assert " In turns: 60 blocks" not in after
    assert " Better for this case on this machine: processes in turns;" in after


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runner", "b"], "there is no runner 'b'; expected one of a, python"),
        (["--runner", "a", "--case", "manny"], "there is no scenario 'manny'; did you mean many?"),
        (["--scheme", "rely"], "there is no scheme 'rely'; did you mean relay?"),
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
