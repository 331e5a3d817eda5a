"""Noise grades in words, and what they do to verdicts and headlines."""

from math import log

import numpy as np
import pytest

from sqlitmus.analysis import analyse
from sqlitmus.analysis.pairs import Question, compare_canary, group_guards, noise, summarised
from sqlitmus.render.document import sentences
from sqlitmus.results.report import Report
from sqlitmus.stats.estimate import TrimmedMeans
from sqlitmus.stats.noise import grade
from tests.analysis.runs import Times, case, drop, make, noisy, plan, samples
from tests.worded import headline


def blocks(mean: float = 0.0, error: float = 0.001, count: int = 30) -> tuple[float, float, int]:
    """The canary of one case: log ratio and its error."""
    return mean, error, count


def words(*cases: tuple[float, float, int]) -> tuple[str | None, str, str]:
    mean, error, count = zip(*cases, strict=True)
    freedom = np.array(count) - 1
    canary = TrimmedMeans(np.array(mean), np.array(error), freedom, np.array(count))
    graded = summarised(grade(canary), 4 * np.array(error))
    return graded.grade, *sentences.noise(graded)


def with_canary(
    ratios: dict[str, float], *, canary: float = 0.002, bias: float = 1.0, own: float = 0.002
) -> Times:
    """Runners with little noise of their own beside a canary with some of its own."""
    quiet, loud = noisy(ratios, spread=own), noisy(ratios, spread=canary)

    def time(number: int, label: str, block: int) -> float:
        if label == "canary":
            return bias * loud(number, label, block)
        return quiet(number, label, block)

    return time


def reported(time: Times, **changes: object) -> Report:
    planned = plan(["node", "bun"], **{"blocks": 30, **changes})
    return analyse(make(planned, lines=samples(planned, time)))


def verdict(report: Report, number: int = 0) -> str | None:
    found = report.cases[number].comparisons.of("bun", "node")
    return found and found.verdict


def test_a_quiet_run_is_an_a() -> None:
    assert words(blocks(), blocks()) == (
        "A",
        "Noise grade A: A in 2 of 2 cases; differences of about 1 % can be believed.",
        "Every verdict stands as it is.",
    )


def test_a_run_with_some_noise_is_a_b() -> None:
    assert words(blocks(error=0.006), blocks()) == (
        "B",
        "Noise grade B: A in 1, B in 1 of 2 cases; differences of a few percent can be believed.",
        "Every verdict stands as it is.",
    )


def test_a_loud_run_is_a_c_and_says_what_it_finds() -> None:
    letter, summary, consequence = words(blocks(error=0.02), blocks(error=0.1))
    assert letter == "C"
    assert summary == "Noise grade C: C in 2 of 2 cases; small differences are not found."
    assert consequence == (
        "In the 2 cases of grade C half of the comparisons find a difference of 8.3 % to 49.2 % "
        "in four of five runs."
    )


def test_one_figure_is_no_span() -> None:
    assert "a difference of 8.3 % in" in words(blocks(error=0.02))[2]


def test_a_case_whose_canary_differs_says_what_a_verdict_must_clear() -> None:
    assert words(blocks(mean=0.05), blocks())[2].endswith(
        "In 1 case the canary differs from itself: a verdict there needs the whole interval beyond "
        "that difference (5.4 %)."
    )


def test_what_could_not_be_graded_is_counted() -> None:
    letter, summary, consequence = words(blocks(count=9), blocks(error=np.nan), blocks(error=0.02))
    assert (letter, summary.startswith("Noise grade C: C in 3 of 3 cases; ")) == ("C", True)
    assert consequence.endswith(
        "In 2 cases the canary could not be tested: intervals and verdicts rest on the blocks "
        "alone."
    )


def test_a_run_whose_canaries_differ_too_often_is_told() -> None:
    odd = blocks(mean=0.0035)  # p of about 0.0015: too much for one in twenty, by itself not
    letter, summary, _ = words(*[odd] * 3, *[blocks()] * 17)
    assert letter == "C"
    assert summary.endswith(
        " The canary differs from itself in 3 of 20 cases at 1 %, more than chance explains: this "
        "run's intervals are too narrow."
    )
    letter, summary, _ = words(odd, *[blocks()] * 19)
    assert (letter, "differs" in summary) == ("A", False)


def test_a_run_without_a_canary_says_that_its_noise_is_not_known() -> None:
    found = reported(noisy(), canary=None).noise
    assert found.grade is None
    assert sentences.noise(found) == (
        "No canary ran, so the noise of this run is not known.",
        "Intervals and verdicts rest on the blocks alone.",
    )


def test_each_case_carries_the_grade_of_its_comparisons() -> None:
    loud, quiet = noisy(spread=0.08), noisy(spread=0.002)
    report = reported(lambda c, label, b: (loud if c else quiet)(c, label, b))
    assert [case.grade for case in report.cases] == ["A", "C"]
    assert report.noise.grade == "C"
    assert [case.grade for case in reported(quiet, canary=None).cases] == [None, None]


def test_a_noisy_canary_takes_no_verdict_from_quiet_runners() -> None:
    small = {"bun": 1.03}
    assert verdict(reported(with_canary(small, canary=0.08))) == "materially slower"
    assert verdict(reported(with_canary({}, own=0.005, canary=0.08))) == "equivalent"


def test_a_canary_that_differs_from_itself_withholds_what_is_no_larger() -> None:
    assert verdict(reported(with_canary({"bun": 1.03}, bias=1.04))) == "not resolved"
    assert verdict(reported(with_canary({}, own=0.005, bias=1.04))) == "not resolved"
    assert verdict(reported(with_canary({"bun": 2.0}, bias=1.04))) == "materially slower"
    assert verdict(reported(with_canary({"bun": 0.5}, bias=1.04))) == "materially faster"


def test_a_case_whose_canary_was_not_tested_rests_on_its_blocks() -> None:
    planned = plan(["node", "bun"], blocks=30)
    lines = samples(planned, with_canary({"bun": 2.0}))
    for block in range(21):
        lines = drop(lines, label="canary", case="get-pk", block=block)
    report = analyse(make(planned, lines=lines))
    assert [verdict(report, n) for n in (0, 1)] == ["materially slower"] * 2
    assert report.noise.untested == 1


LEADS = "Reads (2 cases): bun takes "
TIES = "Reads (2 cases): bun is not told apart from node."


def test_the_headline_calls_no_winner_within_the_noise_of_its_group() -> None:
    ratios = {"bun": 0.97}
    assert headline(reported(with_canary(ratios)))[0].startswith(LEADS)
    # the canary differs from itself by as much
    assert headline(reported(with_canary(ratios, bias=1.04)))[0].startswith(TIES)
    assert headline(reported(with_canary({"bun": 0.5}, bias=1.04)))[0].startswith(LEADS)


def test_a_group_is_guarded_by_its_own_canary() -> None:
    cases = [case("a"), case("b"), case("c", group="writes")]
    planned = plan(["node", "bun"], blocks=30, cases=cases)
    quiet, loud = with_canary({}), with_canary({}, bias=1.1)
    lines = samples(planned, lambda c, label, b: (loud if c == 2 else quiet)(c, label, b))
    run = make(planned, lines=lines)
    twin = compare_canary(run.samples.time, [0, 0, 0], Question(0.02, "none"))
    guards = group_guards(twin, [c.group for c in run.plan.cases])
    assert guards["reads"] == 0
    assert guards["writes"] > log(1.1)
    assert guards["writes"] == pytest.approx(noise(twin).guard[2])
    nothing = drop(lines, label="canary", case="c")
    run = make(planned, lines=nothing)
    twin = compare_canary(run.samples.time, [0, 0, 0], Question(0.02, "none"))
    assert group_guards(twin, ["reads", "reads", "writes"]) == {"reads": 0.0, "writes": 0.0}
