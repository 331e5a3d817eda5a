"""The page decides by other calls as Python does."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from sqlitmus.catalog.presets import OWN, Preset
from sqlitmus.render.document.decision import choice_sentences
from sqlitmus.render.html import embed
from sqlitmus.results.recommendation import Again, Weighed, Weighing
from sqlitmus.stats.estimate import normal, student_t
from tests.analysis.test_choices import NAMES, Run, equal, of_variants, preset
from tests.render.printing import run
from tests.render.synthetic import Verdict

pytestmark = pytest.mark.usefixtures("node")
AGAIN = Again("./just run --suite quick", 12.5)
MODULES = "format student weights"
CALLED = ["read", "list", "put", "bulk", "start"]  # as the presets name them


def levels(runners: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return equal(runners) * np.exp(
        rng.normal(0, 0.1, (1, runners)) + rng.normal(0, 0.1, equal(runners).shape)
    )


def page(run_: Run, weighed: Weighed, weighing: Weighing) -> dict[str, Any]:
    """The part of the page's data that the modules read."""
    index = {name: place for place, name in enumerate(run_.names)}
    weighed = replace(weighed, again=AGAIN)
    return {
        "margin": 0.02,
        "runners": [[name] for name in run_.names],
        "verdicts": {v.letter: [str(v), v.symbol, v.style, v.opposite.letter] for v in Verdict},
        "weighing": embed.packed(weighed, weighing, index),
    }


def theirs(data: Any, asked: list[dict[str, float]], *chosen: str) -> list[dict[str, Any]]:
    code = (
        "given[1].map((calls) => { const [data, of] = [given[0], given[0].weighing];"
        " const made = decide(of, callsOf(of, calls), data, [], given[2]);"
        " return {lines: sentences(of, made, data, given[2]), front: made.front,"
        " rows: made.others.map((r) => [made.names[r], bounded(made.over.get(r).row)]),"
        " spent: [...made.front, ...made.others].map((r) => [made.names[r], made.spent[r].time,"
        " Object.fromEntries([...made.spent[r].parts].map(([o, p]) => [of.operations[o][0], p]))]"
        ")}; })"
    )
    return cast("list[dict[str, Any]]", run(MODULES, code, [data, asked, chosen]))


def own(asked: dict[str, float]) -> Preset:
    calls = {case: number for case, number in asked.items() if number}
    return Preset(title="your calls", summary="", calls=calls, names=NAMES)


CASES = {
    "two runners": Run(levels(2, 1), 10),
    "nine runners": Run(levels(9, 2), 10, noise=0.03),
    "noise": Run(levels(9, 3), 30, noise=0.05, tails=0.1),
    "equivalent": Run(equal(3), 12, noise=0.002),
    "unlike times": Run(levels(4, 9) * np.geomspace(1, 3000, 7)[::-1, None], 15, noise=0.1),
    "sessions": Run(levels(4, 5), 126, noise=0.04, sessions=9),
    "few blocks": Run(levels(3, 6), 9),
    "an old engine": Run(levels(3, 7), 12, sqlite={"r1": "3.35.5"}),
    "a variant": of_variants(),
}


@pytest.mark.parametrize("name", CASES)
def test_the_page_decides_by_other_calls_as_python_does(name: str) -> None:
    of, rng = CASES[name], np.random.default_rng(7)
    asked = [dict(p.calls) for p in preset().values()]
    asked += [
        {case: float(n) for case, n in zip(CALLED, rng.integers(0, 1000, 5), strict=True)}
        for _ in range(20)
    ]
    asked += [{case: 1.0} for case in CALLED]
    ours, weighing = of.decided({str(n): own(calls) for n, calls in enumerate(asked)})
    found = theirs(page(of, ours, weighing), asked)
    for choice, made in zip(ours.choices, found, strict=True):
        assert made["lines"] == choice_sentences(choice, replace(ours, again=AGAIN))
        for (runner, row), other in zip(made["rows"], choice.ranking.contrasts, strict=True):
            ends = (other.ratio.value, other.ratio.low, other.ratio.high)
            assert runner == other.runner
            assert row == pytest.approx(ends, rel=1e-6)
        costs = {cost.runner: cost for cost in choice.costs}
        for runner, time, parts in made["spent"]:
            cost = costs[runner]
            assert cost.time
            assert time == pytest.approx(cost.time.value, rel=1e-6)
            assert parts == pytest.approx(cost.parts, rel=1e-6)


@pytest.mark.parametrize("warming", [(), ("list",)])
def test_a_runner_that_did_not_complete_a_case_is_left_out_alike(warming: tuple[str, ...]) -> None:
    of = Run(levels(3, 8), warming=warming)
    times = of.times()
    times[3:5, 1] = np.nan
    shown = page(of, *of.decided(times=times))
    for asked in ({"list": 1.0, "put": 1.0, "read": 2.0}, {"read": 1.0}):
        (found,) = theirs(shown, [asked])
        ours, _ = of.decided({OWN: own(asked), **preset()}, times)
        assert found["lines"] == choice_sentences(ours.choices[0], replace(ours, again=AGAIN))


def test_among_chosen_runners_the_decision_is_of_these() -> None:
    of = CASES["nine runners"]
    shown = page(of, *of.decided())
    for chosen in (["r1", "r2"], ["r3"]):
        (found,) = theirs(shown, [{"read": 1.0, "list": 1.0}], *chosen)
        assert {name for name, *_ in found["spent"]} == {*chosen}
        assert found["lines"][0].startswith(f"Among {' and '.join(chosen)}, for your calls, ")
        assert not {"r0", "r4"} & {*" ".join(found["lines"]).replace(",", "").split()}


def test_a_bracket_holds_rows_of_which_none_is_slower_also_not_through_another() -> None:
    code = (
        "brackets([7, 8, 9], (a, b) =>"
        " new Set(given.map(([one, other]) => `${one},${other}`)).has(`${a},${b}`))"
    )
    assert run(MODULES, code, []) == [[0, 2]]
    assert run(MODULES, code, [[9, 7]]) == [[0, 1], [1, 2]]
    assert run(MODULES, code, [[8, 7], [9, 8], [9, 7]]) == []


def test_quantiles_are_alike() -> None:
    levels_ = [0.95, 0.99, 1 - 0.05 / 300, 1 - 0.05 / 20000]
    freedoms = [1.0, 1.7, 4.25, 7.0, 16.3, 40.0, 120.0]
    given = [[level, f, normal(level)] for level in levels_ for f in freedoms]
    found = run("student", "given.map(([level, f, z]) => studentT(level, f, z))", given)
    expected = np.concatenate([student_t(level, freedoms) for level in levels_])
    assert found == pytest.approx(expected.tolist(), rel=1e-9)


def test_one_operation_alone_says_no_more_than_the_case() -> None:
    of = Run(equal(2) / np.array([1, 1.5]))
    shown = page(of, *of.decided())
    assert "r1 is fastest: " in theirs(shown, [{"list": 1.0}])[0]["lines"][0]
    for pair in shown["weighing"]["pairs"]:
        pair[7] = Verdict.NOT_RESOLVED.letter * len(pair[7])
    alone, both = theirs(shown, [{"list": 1.0}, {"list": 1.0, "read": 1.0}])
    assert "r1 and r0 are tied: " in alone["lines"][0]
    assert "r1 is fastest: " in both["lines"][0]


def test_calls_are_kept_in_the_address_and_others_or_none_at_all_are_no_decision() -> None:
    of = CASES["two runners"]
    shown = page(of, *of.decided())
    shown["weighing"]["presets"] = [{"name": "reading", "calls": {"read": 600}}]
    code = "given[1].map((text) => callsIn(given[0].weighing, text))"
    asked = ["", "reading", "read:30~put:1000", "raed:1", "read:0", "read:1e3", "read", "x"]
    found = run("markup format student weights svg decide", code, [shown, asked])
    first = {"read": 600}
    assert found == [first, first, {"read": 30, "put": 1000}, None, None, None, None, None]
    assert run(MODULES, "callsOf(given, {read: 0})", shown["weighing"]) is None
