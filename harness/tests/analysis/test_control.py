"""Which differences a run finds, and an A/A control that differs from itself."""

import json

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.cli.export import text_of
from sqlitmus.render.document import sentences
from sqlitmus.render.html.page import render
from sqlitmus.results.report import Report
from tests.analysis.runs import Times, case, drop, make, noisy, plan, samples
from tests.render.printing import as_markdown, as_text
from tests.worded import headline, notices

TOLD = (
    "The A/A control differs from itself at 1 % in 2 of 2 cases, more than chance explains: the "
    "intervals of this run are too narrow. Measure again on a quieter machine."
)


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


def formats(report: Report) -> dict[str, str]:
    """The report in each format, on one line."""
    told = json.loads(text_of([("here", report)], "json"))["machines"][0]["notices"]
    texts = {
        "page": render(report),
        "Markdown": as_markdown(report),
        "terminal": as_text(report),
        "JSON": " ".join(told),
    }
    return {name: " ".join(text.split()) for name, text in texts.items()}


def test_a_control_that_differs_from_itself_is_told_in_every_format() -> None:
    report = reported(with_canary({"bun": 1.03}, bias=1.04))
    assert TOLD in notices(report)
    for name, text in formats(report).items():
        assert TOLD in text, name
    assert list(sentences.trust(report))[1].startswith(
        "A/A control: node against itself differs at 1 % in 2 of 2 cases; the ratio furthest"
    )
    # it takes no verdict away
    assert verdict(report) == "materially slower"
    assert headline(report)[0].startswith("Reads (2 cases): bun takes ")


@pytest.mark.parametrize("canary", [0.002, 0.08])
def test_on_equal_noise_and_on_a_noisy_control_nothing_is_told(canary: float) -> None:
    report = reported(with_canary({"bun": 1.03}, canary=canary))
    for name, text in formats(report).items():
        assert "control differs from itself" not in text, name
    assert verdict(report) == "materially slower"


def test_one_case_of_many_is_told_only_if_it_differs_much() -> None:
    cases = [case(f"c{number}") for number in range(12)]

    def told(bias: float) -> bool:
        odd, even = with_canary({}, bias=bias), with_canary({})
        report = reported(lambda c, label, b: (odd if c == 3 else even)(c, label, b), cases=cases)
        return any("in 1 of 12 cases" in text for text in notices(report))

    assert told(1.05)
    assert not told(1.0)


def test_a_control_that_could_not_be_tested_forbids_nothing() -> None:
    planned = plan(["node", "bun"], blocks=30)
    lines = samples(planned, with_canary({"bun": 2.0}))
    for block in range(21):
        lines = drop(lines, label="canary", case="get-pk", block=block)
    report = analyse(make(planned, lines=lines))
    assert [verdict(report, n) for n in (0, 1)] == ["materially slower"] * 2
    assert report.canary is not None
    assert report.canary.tested == 1


def test_each_case_says_which_difference_it_finds_and_the_run_the_median() -> None:
    loud, quiet = noisy(spread=0.08), noisy(spread=0.002)
    report = reported(lambda c, label, b: (loud if c else quiet)(c, label, b))
    first, second = (case.detectable for case in report.cases)
    assert first is not None
    assert second is not None
    assert 0.001 < first < 0.004
    assert 0.04 < second < 0.16
    assert report.detectable == pytest.approx(((first + second) / 2, first, second))
    (text, _) = sentences.trust(report)
    assert text.startswith("This run finds differences of ")
    assert " in the median of 2 cases, from 0." in text
    assert text.endswith(" %, with 80 % power.")
    for format_ in formats(report).keys() - {"JSON"}:
        assert text in formats(report)[format_]
    machine = json.loads(text_of([("here", report)], "json"))["machines"][0]
    assert machine["detectable_least"] == pytest.approx(first)
    assert machine["detectable_most"] == pytest.approx(second)
    assert f"finds differences of {100 * second:.1f} % with 80 % power" in render(report)


def test_a_run_of_one_case_says_one_figure_and_one_without_intervals_none() -> None:
    (text, _) = sentences.trust(reported(noisy(spread=0.01), cases=[case("a")]))
    assert text.endswith(" % with 80 % power.")
    assert "median" not in text
    equal = reported(lambda _, __, ___: 1000.0)
    assert equal.detectable is None
    assert [case.detectable for case in equal.cases] == [None, None]
    assert list(sentences.trust(reported(noisy(), canary=None))) == [
        text for text in sentences.trust(reported(noisy())) if "A/A" not in text
    ]
