import json
import re
from dataclasses import replace
from functools import cache

import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.ranking import canary_summary
from sqlitmus.analysis.ranking import headline as headline_of
from sqlitmus.cli.export import text_of
from sqlitmus.render.document import sentences
from sqlitmus.render.html.page import render
from sqlitmus.results.ranking import Contrast
from sqlitmus.results.report import Case, Group, Interval, Report, Runner, Standing
from sqlitmus.vocabulary.verdicts import Verdict
from tests import worded
from tests.analysis.runs import (
    Times,
    case,
    change,
    checks,
    drop,
    make,
    noisy,
    plan,
    runner,
    samples,
)
from tests.render.printing import as_markdown, as_text, data_of
from tests.worded import notices

NAMES = ["node", "bun", "deno", "rust-ffi"]


def headline(run: RunData) -> list[str]:
    return worded.headline(analyse(run))


def timed(ratios: dict[str, float], *, spread: float = 0.01, blocks: int = 12) -> Report:
    planned = plan(NAMES, blocks=blocks)
    return analyse(make(planned, lines=samples(planned, noisy(ratios, spread=spread))))


def test_the_fastest_is_named_with_how_far_the_others_are_behind() -> None:
    text = worded.headline(timed({"node": 1.3, "deno": 1.6, "canary": 1.3, "rust-ffi": 0.5}))[0]
    assert text == (
        "Reads (2 cases): bun is fastest. bun takes 0.767× [0.760, 0.774] and "
        "deno 1.23× [1.21, 1.25] as long as node."
    )


def test_what_went_wrong_comes_first() -> None:
    gone = runner("dotnet", missing="SDK 10 not found; install it", description=None)
    planned = plan(NAMES, runners=[*plan(NAMES)["runners"], gone])
    verify = checks(planned)
    verify = change(verify, {"outcome": "wrong", "reason": "x"}, runner="bun", case="get-pk")
    verify = change(verify, {"outcome": "failed", "reason": "y"}, runner="deno", case="get-index")
    assert headline(make(planned, verify=verify))[:3] == [
        "bun gave wrong answers in 1 of 2 cases (get-pk): no times are given for these.",
        "deno failed in 1 of 2 cases (get-index): no times are given for these.",
        "dotnet is missing: SDK 10 not found; install it.",
    ]


def test_who_is_left_out_of_a_group_is_named() -> None:
    planned = plan(NAMES, cases=[case("a"), case("b"), case("c")])
    verify = checks(planned)
    for name in ("a", "b"):
        verify = change(verify, {"outcome": "unsupported"}, runner="deno", case=name)
    text = headline(make(planned, verify=verify))[0]
    assert text.endswith(" deno is left out: it has no time to compare for a and b.")


def test_too_few_blocks_order_nobody() -> None:
    report = timed({"node": 3}, blocks=9)
    assert worded.headline(report)[0].startswith(
        "With 9 complete blocks this run gives no verdicts"
    )
    assert not any("fastest" in text for text in worded.headline(report))
    assert "could not be tested" in worded.canary(report)


def test_controls_choose_no_runtime() -> None:
    planned = plan(NAMES, cases=[case("scan-full", group="controls")])
    only = "Only controls were measured; they choose no runtime."
    assert headline(make(planned)) == [only]


def test_a_run_of_one_runner_orders_nobody() -> None:
    assert headline(make(plan(["node"]))) == [
        "No two runners can be compared in what was measured."
    ]


def against_itself(verdict: Verdict, value: float = 1.001) -> Contrast:
    interval, p = Interval(value, value - 0.01, value + 0.01), 0.009 if verdict.different else 0.3
    return Contrast("canary", "node", interval, verdict, 12, p=p)


def test_the_control_says_in_how_many_cases_it_differs() -> None:
    results = [against_itself(Verdict.NOT_RESOLVED)] * 39 + [against_itself(Verdict.SLOWER, 1.03)]
    assert sentences.control(canary_summary("node", results)) == (
        "A/A control: node against itself differs at 1 % in 1 of 40 cases; the ratio furthest from "
        "1 is 1.03× [1.02, 1.04]."
    )


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Interval(1.043, 0.971, 1.121), "1.04× [0.97, 1.12]"),
        (Interval(0.931, 0.71, 1.14), "0.93× [0.71, 1.14]"),
        (Interval(1.3123, None, None), "1.31× (no interval)"),
    ],
)
def test_the_headline_writes_a_ratio_as_the_tables_do(ratio: Interval, text: str) -> None:
    comparison = Contrast("canary", "node", ratio, Verdict.NOT_RESOLVED, 12)
    told = sentences.control(canary_summary("node", [comparison]))
    assert told.endswith(f"the ratio furthest from 1 is {text}.")


def test_an_alarm_is_one_before_correction_as_chance_gives_them() -> None:
    corrected = replace(against_itself(Verdict.NOT_RESOLVED), p=0.008, adjusted=0.4)
    assert canary_summary("node", [corrected]).alarms == 1


@pytest.mark.parametrize(("alarms", "warned"), [(0, False), (1, False), (2, False), (3, True)])
def test_more_alarms_than_chance_gives_are_a_warning(alarms: int, warned: bool) -> None:
    slower, same = against_itself(Verdict.SLOWER), against_itself(Verdict.EQUIVALENT)
    results = [slower] * alarms + [same] * (40 - alarms)
    assert canary_summary("node", results).many == warned


def test_without_a_canary_nothing_is_said_of_it() -> None:
    report = analyse(make(plan(canary=None)))
    assert worded.canary(report) == ""
    assert not any("A/A" in text for text in worded.headline(report))


@cache
def a_case() -> list[Case]:
    return analyse(make()).cases[:1]


def order(verdicts: dict[tuple[str, str], tuple[Verdict, float]], names: list[str]) -> Group:
    """What is said of a group of `names` with these verdicts and ratios, each 1 % about its own."""
    table = {
        **verdicts,
        **{(b, a): (v.opposite, 1 / r) for (a, b), (v, r) in verdicts.items()},
    }
    standings = [
        Standing(a, b, "reads", contrast, 3, 0, 0, 0, 3, 0)
        for (a, b), (verdict, r) in table.items()
        for contrast in (Contrast(a, b, Interval(r, r * 0.99, r * 1.01), verdict),)
    ]
    runners = [Runner(name, name, name, name, "runner") for name in names]
    (said,) = headline_of(runners, a_case(), standings, 12, names[0], 0.02)
    assert isinstance(said, Group)
    return said


SLOWER, OPEN = (Verdict.SLOWER, 1.3), (Verdict.NOT_RESOLVED, 1.001)
A_THIRD = "1.30× [1.29, 1.31]"
SAME, NEAR = (Verdict.EQUIVALENT, 1.001), (Verdict.SLOWER, 1.008)


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        (
            {("b", "a"): SLOWER, ("c", "a"): SLOWER, ("c", "b"): OPEN},
            f"a is fastest. b takes {A_THIRD} and c {A_THIRD} as long as a",
        ),
        (
            {("b", "a"): NEAR, ("c", "a"): SLOWER, ("c", "b"): SLOWER},
            f"a is fastest. c takes {A_THIRD} as long as a. b is within 2 % of a",
        ),
        (
            {("b", "a"): SLOWER, ("a", "c"): OPEN, ("b", "c"): OPEN},
            f"a and c are tied. b takes {A_THIRD} as long as a",
        ),
        (
            {("b", "a"): SLOWER, ("c", "a"): OPEN, ("c", "b"): SLOWER},
            (
                f"a is fastest. b takes {A_THIRD} as long as a. "
                "c is slower than a, by how much is not resolved"
            ),
        ),
        (
            {("b", "a"): SAME, ("c", "a"): SAME, ("c", "b"): SAME},
            "a, b and c are equivalent (within 2 %)",
        ),
        (
            {("b", "a"): SAME, ("c", "a"): SAME, ("c", "b"): OPEN},
            "a, b and c are tied. b and c are within 2 % of a",
        ),
        (
            {("b", "a"): SLOWER, ("c", "b"): SLOWER, ("a", "c"): SLOWER},
            f"no runner is fastest. c takes 0.769× [0.762, 0.777] and b {A_THIRD} as long as a",
        ),
    ],
)
def test_what_is_said_of_three(
    verdicts: dict[tuple[str, str], tuple[Verdict, float]], text: str
) -> None:
    said = sentences.statement(order(verdicts, ["a", "b", "c"]))
    assert said == f"Reads (3 cases): {text}."


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
    assert worded.headline(report)[0].startswith("Reads (2 cases): bun takes ")


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
    (text, _) = sentences.trust(reported(noisy(spread=0.01), cases=[case("a")]))
    assert re.fullmatch(r"Detectable with 80 % power: [\d.]+ %\.", text)
    equal = reported(lambda _, __, ___: 1000.0)
    assert equal.detectable is None
    assert [case.detectable for case in equal.cases] == [None, None]
    assert list(sentences.trust(reported(noisy(), canary=None))) == [
        text for text in sentences.trust(reported(noisy())) if "A/A" not in text
    ]
