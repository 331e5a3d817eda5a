import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.ranking import canary_summary
from sqlitmus.cli.export import text_of
from sqlitmus.render.document import sentences
from sqlitmus.render.html.page import render
from tests import worded
from tests.analysis import runs
from tests.render.printing import as_markdown, as_text, data_of
from tests.worded import notices

NAMES = ["node", "bun", "deno", "rust-ffi"]


def timed(ratios: dict[str, float], blocks: int = 12, **changes: object) -> runs.RunData:
    return runs.make(runs.plan(NAMES, blocks=blocks, **changes), time=runs.noisy(ratios))


def verified(
    *changes: tuple[str, str, str], cases: Sequence[str] = ("get-pk", "get-index"), **of: Any
) -> runs.RunData:
    """A run in which runners have such an outcome in a case."""
    planned = runs.plan(NAMES, cases=[runs.case(name) for name in cases], **of)
    verify = runs.checks(planned)
    for name, where, outcome in changes:
        verify = runs.change(verify, {"outcome": outcome, "reason": "x"}, runner=name, case=where)
    return runs.make(planned, verify=verify)


MISSING = runs.runner("dotnet", missing="SDK 10 not found; install it", description=None)
RUNS: dict[str, Callable[[], runs.RunData]] = {
    "the fastest, and how far others are behind": partial(
        timed, {"node": 1.3, "deno": 1.6, "canary": 1.3, "rust-ffi": 0.5}
    ),
    "what went wrong comes first": partial(
        verified, ("bun", "get-pk", "wrong"), ("deno", "get-index", "failed"),
        runners=[*runs.plan(NAMES)["runners"], MISSING],
    ),
    "who is left out of a group": partial(
        verified, ("deno", "a", "unsupported"), ("deno", "b", "unsupported"), cases="abc"
    ),
    "too few blocks order nobody": partial(timed, {"node": 3}, blocks=9),
    "controls choose no runtime": partial(timed, {}, cases=[runs.case("scan", group="controls")]),
    "one runner": lambda: runs.make(runs.plan(["node"])),
    "no control": partial(timed, {}, canary=None),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_what_the_headline_and_the_control_say(name: str, snapshot: SnapshotAssertion) -> None:
    report = runs.analyse(RUNS[name]())
    assert (worded.headline(report), worded.canary(report)) == snapshot


@pytest.mark.parametrize(
    ("ratio", "p", "text"),
    [
        (runs.Interval(1.043, 0.971, 1.121), 0.3, "0 of 40 cases; {} 1.04× [0.97, 1.12]."),
        (runs.Interval(0.931, 0.71, 1.14), 0.3, "0 of 40 cases; {} 0.93× [0.71, 1.14]."),
        (runs.Interval(1.3123, None, None), 0.3, "0 of 40 cases; {} 1.31× (no interval)."),
        # an alarm is one before correction, as chance gives them
        (runs.Interval(1.03, 1.02, 1.04), 0.009, "1 of 40 cases; {} 1.03× [1.02, 1.04]."),
    ],
)
def test_the_control_says_in_how_many_cases_it_differs(
    ratio: runs.Interval, p: float, text: str
) -> None:
    usual = runs.Contrast(
        "canary", "node", runs.Interval(1.001, 0.991, 1.011), runs.Verdict.NOT_RESOLVED, p=0.3
    )
    results = [*[usual] * 39, replace(usual, ratio=ratio, p=p, adjusted=0.4)]
    assert sentences.control(canary_summary("node", results)) == (
        f"A/A control: node against itself differs at 1 % in "
        f"{text.format('the ratio furthest from 1 is')}"
    )


TOLD = (
    "The A/A control differs from itself at 1 % in 2 of 2 cases, more than chance explains: the "
    "intervals of this run are too narrow. Measure again on a quieter machine."
)


def with_canary(
    ratios: dict[str, float], *, canary: float = 0.002, bias: float = 1.0, own: float = 0.002
) -> runs.Times:
    """Runners with little noise of their own beside a canary with some of its own."""
    quiet, loud = runs.noisy(ratios, spread=own), runs.noisy(ratios, spread=canary)

    def time(number: int, label: str, block: int) -> float:
        if label == "canary":
            return bias * loud(number, label, block)
        return quiet(number, label, block)

    return time


def reported(time: runs.Times, **changes: object) -> runs.Report:
    return runs.analyse(
        runs.make(runs.plan(["node", "bun"], **{"blocks": 30, **changes}), time=time)
    )


def verdict(report: runs.Report, number: int = 0) -> str | None:
    found = report.cases[number].comparisons.of("bun", "node")
    return found and found.verdict


def formats(report: runs.Report) -> dict[str, str]:
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
    assert worded.headline(report)[0].startswith("Reads (2 cases): bun takes ")


@pytest.mark.parametrize("canary", [0.002, 0.08])
def test_on_equal_noise_and_on_a_noisy_control_nothing_is_told(canary: float) -> None:
    report = reported(with_canary({"bun": 1.03}, canary=canary))
    for name, text in formats(report).items():
        assert "control differs from itself" not in text, name
    assert verdict(report) == "materially slower"


def test_one_case_of_many_is_told_only_if_it_differs_much() -> None:
    cases = [runs.case(f"c{number}") for number in range(12)]

    def told(bias: float) -> bool:
        odd, even = with_canary({}, bias=bias), with_canary({})
        report = reported(lambda c, label, b: (odd if c == 3 else even)(c, label, b), cases=cases)
        return any("in 1 of 12 cases" in text for text in notices(report))

    assert told(1.05)
    assert not told(1.0)


def test_a_control_that_could_not_be_tested_forbids_nothing() -> None:
    planned = runs.plan(["node", "bun"], blocks=30)
    lines = runs.samples(planned, with_canary({"bun": 2.0}))
    for block in range(21):
        lines = runs.drop(lines, label="canary", case="get-pk", block=block)
    report = runs.analyse(runs.make(planned, lines=lines))
    assert [verdict(report, n) for n in (0, 1)] == ["materially slower"] * 2
    assert runs.sure(report.canary).tested == 1


def test_each_case_says_which_difference_it_finds_and_the_run_the_median() -> None:
    loud, quiet = runs.noisy(spread=0.08), runs.noisy(spread=0.002)
    report = reported(lambda c, label, b: (loud if c else quiet)(c, label, b))
    first, second = (runs.sure(case.detectable) for case in report.cases)
    assert 0.001 < first < 0.004
    assert 0.04 < second < 0.16
    assert report.detectable == pytest.approx(((first + second) / 2, first, second))
    (text, _) = sentences.trust(report)
    assert text.startswith("Detectable with 80 % power: ")
    assert " in the median of 2 cases (0." in text
    assert text.endswith(" %).")
    for format_ in formats(report).keys() - {"JSON"}:
        assert text in formats(report)[format_]
    machine = json.loads(text_of([("here", report)], "json"))["machines"][0]
    assert machine["detectable_least"] == pytest.approx(first)
    assert machine["detectable_most"] == pytest.approx(second)
    found = f"finds differences of {100 * second:.1f} % with 80 % power"
    assert found in json.dumps(data_of(render(report)))


def test_a_run_of_one_case_says_one_figure_and_one_without_intervals_none() -> None:
    (text, _) = sentences.trust(reported(runs.noisy(spread=0.01), cases=[runs.case("a")]))
    assert re.fullmatch(r"Detectable with 80 % power: [\d.]+ %\.", text)
    equal = reported(lambda _, __, ___: 1000.0)
    assert equal.detectable is None
    assert [case.detectable for case in equal.cases] == [None, None]
    assert list(sentences.trust(reported(runs.noisy(), canary=None))) == [
        text for text in sentences.trust(reported(runs.noisy())) if "A/A" not in text
    ]
