import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.headline import canary_summary
from sqlitmus.analysis.headline import headline as headline_of
from sqlitmus.render.document import sentences
from sqlitmus.results.headline import Leads
from sqlitmus.results.report import Comparison, Interval, Report, Runner, Standing
from sqlitmus.vocabulary.verdicts import Verdict
from tests import worded
from tests.analysis.runs import case, change, checks, make, noisy, plan, runner, samples

NAMES = ["node", "bun", "deno", "rust-ffi"]


def headline(run: RunData) -> list[str]:
    return worded.headline(analyse(run))


def timed(ratios: dict[str, float], *, spread: float = 0.01, blocks: int = 12) -> Report:
    planned = plan(NAMES, blocks=blocks)
    return analyse(make(planned, lines=samples(planned, noisy(ratios, spread=spread))))


def test_the_fastest_is_named_with_how_far_the_others_are_behind() -> None:
    text = worded.headline(timed({"node": 1.3, "deno": 1.6, "canary": 1.3, "rust-ffi": 0.5}))[0]
    assert text.startswith("Reads (2 cases): bun is fastest; against bun, node takes 1.3")
    assert "and deno takes 1.6" in text
    assert text.endswith("deno takes 1.61× [1.59, 1.62] as long.")
    assert "rust-ffi" not in text


def test_ties_are_named_as_ties() -> None:
    text = worded.headline(timed({"deno": 1.6}, spread=0.05))[0]
    assert "no single fastest, " in text
    assert "are not told apart" in text
    assert "deno takes" in text
    assert " is fastest" not in text


def test_a_slow_leader_of_the_plan_does_not_win_by_being_first() -> None:
    assert "deno is fastest" in worded.headline(timed({"node": 2, "bun": 2, "canary": 2}))[0]


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
    assert text.endswith("Left out: deno (2 cases not ok).")


def test_too_few_blocks_order_nobody() -> None:
    report = timed({"node": 3}, blocks=9)
    assert worded.headline(report)[0].startswith("With 9 complete blocks this run says who works")
    assert not any("fastest" in text for text in worded.headline(report))
    assert "could not be tested" in worded.canary(report)


def test_controls_choose_no_runtime() -> None:
    planned = plan(NAMES, cases=[case("scan-full", group="controls")])
    only = "Only controls were measured; they choose no runtime."
    assert headline(make(planned)) == [only]


def test_a_run_of_one_runner_orders_nobody() -> None:
    assert not any("fastest" in text for text in headline(make(plan(["node"]))))


def against_itself(verdict: Verdict, value: float = 1.001) -> Comparison:
    return Comparison("canary", "node", Interval(value, value - 0.01, value + 0.01), verdict, 12)


def test_the_canary_says_how_many_alarms_it_gave_and_chance_would() -> None:
    results = [against_itself(Verdict.NOT_RESOLVED)] * 39 + [against_itself(Verdict.SLOWER, 1.03)]
    assert sentences.canary(canary_summary("node", results)) == (
        "Canary: node against itself differs in 1 of 40 cases (chance alone gives about 2.0); "
        "the ratio furthest from 1 is 1.03× [1.02, 1.04]."
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
    comparison = Comparison("canary", "node", ratio, Verdict.NOT_RESOLVED, 12)
    told = sentences.canary(canary_summary("node", [comparison]))
    assert told.endswith(f"the ratio furthest from 1 is {text}.")


@pytest.mark.parametrize(("alarms", "warned"), [(0, False), (3, False), (6, False), (7, True)])
def test_more_alarms_than_chance_gives_are_a_warning(alarms: int, warned: bool) -> None:
    slower, same = against_itself(Verdict.SLOWER), against_itself(Verdict.EQUIVALENT)
    results = [slower] * alarms + [same] * (40 - alarms)
    assert canary_summary("node", results).many == warned
    assert ("do not trust" in sentences.canary(canary_summary("node", results))) == warned


def test_without_a_canary_nothing_is_said_of_it() -> None:
    report = analyse(make(plan(canary=None)))
    assert worded.canary(report) == ""
    assert not any("Canary" in text for text in worded.headline(report))


def test_who_beats_the_leader_leads_although_means_are_not_transitive() -> None:
    # a and b seem equally far ahead of base, and b a little more; face to face a is faster
    values = {("a", "base"): 0.81, ("b", "base"): 0.80, ("a", "b"): 0.95}
    values |= {(j, i): 1 / value for (i, j), value in values.items()}
    standings = [
        Standing(i, j, "reads", Interval(v, v - 0.01, v + 0.01), 3, 0, 0, 0, 3, 0)
        for (i, j), v in values.items()
    ]
    runners = [Runner(name, name, name, name, "runner") for name in ("base", "a", "b")]
    cases = analyse(make()).cases[:1]
    (order,) = headline_of(runners, cases, standings, 12, {})
    assert isinstance(order, Leads)
    assert (order.leader, order.ties) == ("a", [])
