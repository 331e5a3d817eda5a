"""What a report says first: who is ahead, and how far its intervals are to be trusted."""

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document import sentences
from tests import worded
from tests.analysis import formats, runs

NAMES = ["node", "bun", "deno", "rust-ffi"]


def timed(ratios: dict[str, float], **changes: object) -> runs.Made:
    return {"of": runs.plan(NAMES, **changes), "time": runs.noisy(ratios)}


def verified(
    *outcomes: tuple[str, str, str], cases: str = "get-pk get-index", **of: Any
) -> runs.Made:
    """Runners have such an outcome in a case."""
    checked = [
        ({"runner": name, "case": case}, {"outcome": outcome, "reason": "x"})
        for name, case, outcome in outcomes
    ]
    planned = [runs.case(name) for name in cases.split()]
    return {"of": runs.plan(NAMES, cases=planned, **of), "checked": checked}


def odd(ratio: float) -> runs.Made:
    """In one of twelve cases the control takes so many times as long as its runner."""
    time = runs.noisy(spread=0.002)
    return {
        "of": runs.plan(["node"], blocks=30, correction="holm", cases=[*map(runs.case, IDS)]),
        "time": lambda c, label, b: (
            time(c, label, b) * (ratio if (c, label) == (3, "canary") else 1)
        ),
    }


def controlled(canary: float = 0.002, bias: float = 1.0, **how: Any) -> Any:
    """Bun takes 3 % more time than node, beside a control with noise and a bias of its own."""
    quiet, loud = (runs.noisy({"bun": 1.03}, spread=spread) for spread in (0.002, canary))

    def time(number: int, label: str, block: int) -> float:
        if label == "canary":
            return bias * loud(number, label, block)
        return quiet(number, label, block)

    return {"of": runs.plan(["node", "bun"], blocks=30), "time": time, **how}


IDS = [f"c{number}" for number in range(12)]
MISSING = runs.runner("dotnet", missing="SDK 10 not found; install it", description=None)
RUNS: dict[str, runs.Made] = {
    "the fastest, and how far others are behind": timed(
        {"node": 1.3, "deno": 1.6, "canary": 1.3, "rust-ffi": 0.5}
    ),
    "what went wrong comes first": verified(
        ("bun", "get-pk", "wrong"), ("deno", "get-index", "failed"),
        runners=[*runs.plan(NAMES)["runners"], MISSING],
    ),
    "who is left out of a group": verified(
        ("deno", "a", "unsupported"), ("deno", "b", "unsupported"), cases="a b c"
    ),
    "too few blocks order nobody": timed({"node": 3}, blocks=9),
    "controls choose no runtime": timed({}, cases=[runs.case("scan", group="controls")]),
    "one runner": {"of": runs.plan(["node"])},
    "no control": timed({}, canary=None),
    "one case": {"of": runs.plan(cases=[runs.case("a")])},
    "times that never vary": {"time": runs.steady()},
    # no control takes a verdict away
    "a control that differs": controlled(bias=1.04),
    "a noisy control": controlled(canary=0.08),
    "a control that could be tested in one case": controlled(
        sampled=[
            ({"label": "canary", "case": "get-pk", "block": block}, None) for block in range(21)
        ]
    ),
    "a control that differs in one case": odd(1.0015),
    "a control that differs much in one case": odd(1.05),
    "a control that differs in none": odd(1.0),
    "a control that is faster in one case": odd(0.95),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_what_is_said_first_and_how_far_it_is_to_be_trusted(
    name: str, snapshot: SnapshotAssertion
) -> None:
    report = runs.report(**RUNS[name])
    control = [text for text in worded.notices(report) if "control" in text]
    pairs = [case.comparisons.of("bun", "node") for case in report.cases]
    verdicts = f"bun against node: {[pair and str(pair.verdict) for pair in pairs]}"
    assert [*worded.headline(report), *sentences.trust(report), *control, verdicts] == snapshot


def test_a_control_that_differs_from_itself_is_told_in_every_format() -> None:
    for bias, told in ((1.04, True), (1.0, False)):
        report = runs.report(**controlled(bias=bias))
        for form in formats.TOLD:
            text = formats.line(report, form)
            assert ("The A/A control differs from itself at 1 % in 2 of 2 cases" in text) == told
            assert ("control differs from itself" in text) == told


def test_each_case_says_which_difference_it_finds_and_the_run_the_median() -> None:
    times = [runs.noisy(spread=spread) for spread in (0.002, 0.08)]
    of = runs.plan(["node", "bun"], blocks=30)
    report = runs.report(of, time=lambda c, label, b: times[c](c, label, b))
    first, second = (runs.sure(case.detectable) for case in report.cases)
    assert 0.001 < first < 0.004
    assert 0.04 < second < 0.16
    assert report.detectable == pytest.approx(((first + second) / 2, first, second))
    (text, _) = sentences.trust(report)
    said = r"Detectable with 80 % power: [\d.]+ % in the median of 2 cases \(0\.[^)]* %\)\."
    assert re.fullmatch(said, text)
    assert {form for form in formats.TOLD if text in formats.line(report, form)} == {
        *("html", "markdown", "text"),
    }
    machine = json.loads(formats.written(report, "json"))["machines"][0]
    both = [machine["detectable_least"], machine["detectable_most"]]
    assert both == pytest.approx([first, second])
    found = f"finds differences of {100 * second:.1f} % with 80 % power"
    assert found in formats.written(report, "html")
