"""Recommendations on synthetic runs whose truth is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sqlitmus.analysis import recommendation
from sqlitmus.analysis.pairs import Question, compare_all, comparisons
from sqlitmus.analysis.recommendation import recommend
from sqlitmus.render.document.decision import workload_section, workload_sentences
from sqlitmus.results.recommendation import Recommendation
from sqlitmus.stats.estimate import Array
from tests.analysis import runs
from tests.analysis.runs import WORKLOAD, Case, Cell, Interval, Measure
from tests.analysis.test_choices import blank_case

NAMES = ["node", "bun", "rust"]
CASES = ["read", "list", "write", "mix", "mix@workers=4", "start"]
SHARES = {"read": 0.8, "list": 0.15, "write": 0.05}
GROUPS = ["queries", "queries", "queries", "mix", "mix", "start-up"]
BLOCKS = 12
QUESTION = Question(margin=0.02, correction="bh", sessions=1)


def plan(**limits: float) -> runs.Plan:
    workload = {**WORKLOAD, "shares": SHARES, "workers": 4, **limits}
    asked = {"suite": "workload", "blocks": BLOCKS, "correction": "bh", "workload": workload}
    return runs.Plan.model_validate(runs.plan(NAMES, cases=[], **asked), extra="ignore")


def recommended(
    levels: Array, seed: int = 0, noise: float = 0.01, **limits: float
) -> Recommendation:
    """The recommendation where the time of case c and runner r is `levels[c, r]` in ns."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.05, (len(CASES), 1, BLOCKS))
    times = levels[:, :, None] * np.exp(common + rng.normal(0, noise, (*levels.shape, BLOCKS)))
    pairs = compare_all(times, NAMES, QUESTION)
    cases = [
        case(number, times[number], columns) for number, columns in enumerate(comparisons(pairs))
    ]
    said = recommend(plan(**limits), cases, pairs, times, QUESTION)
    assert said
    return said


def case(number: int, times: Array, columns: Any) -> Case:
    name, _, workers = CASES[number].partition("@workers=")
    measured = {"peak_rss": 50.0 * 2**20, "cpu": 5e3}
    return blank_case(
        id=CASES[number],
        scenario=name,
        group=GROUPS[number],
        axes={"workers": workers or "1"} if name == "mix" else {},
        metric="cold" if name == "start" else "steady",
        unit="query",
        cells=[
            Cell(
                runner,
                "ok",
                time=Interval(float(np.median(times[place])), None, None),
                figures={
                    key: Measure(value * (4 if (runner, key) == ("rust", "peak_rss") else 1))
                    for key, value in measured.items()
                },
            )
            for place, runner in enumerate(NAMES)
        ],
        comparisons=columns,
    )


def levels(**changed: dict[str, float]) -> Array:
    """1,000 ns everywhere, but for what a case's runners take in its place."""
    table = np.full((len(CASES), len(NAMES)), 1000.0)
    for name, of in changed.items():
        for runner, value in of.items():
            table[CASES.index(name.replace("_4", "@workers=4")), NAMES.index(runner)] = value
    return table


def test_equal_runners_are_ranked_in_at_most_one_of_twenty() -> None:
    ranked = [recommended(levels(), seed) for seed in range(200)]
    false = [said for said in ranked if len(said.ranking.front) < 3 or said.ranking.changes]
    assert len(false) <= 10


def test_a_true_tenth_is_named() -> None:
    said = recommended(levels(mix_4={"rust": 900.0}))
    assert said.ranking.front == ["rust"]
    assert {other.runner for other in said.ranking.contrasts} == {"node", "bun"}
    text = " ".join(workload_sentences(said))
    assert text.startswith("For this workload, rust is fastest: ")
    assert " Calls: 80 % read, 15 % list and 5 % write; 4 workers. " in text
    assert said.case == "mix@workers=4"


def test_a_limit_that_the_fastest_exceeds_is_told() -> None:
    said = recommended(levels(mix_4={"rust": 500.0, "bun": 900.0}), memory_mib=100.0)
    assert said.ranking.front == ["bun"]
    assert [out.runner for out in said.ranking.excluded] == ["rust"]
    text = " ".join(workload_sentences(said))
    assert "rust is left out: its memory is 200\u202fMiB, the limit 100\u202fMiB." in text


def test_where_nobody_keeps_to_the_limits_nobody_is_recommended() -> None:
    said = recommended(levels(), start_ms=1e-6)
    assert said.ranking.front == []
    assert "no runner is recommended" in workload_sentences(said)[0]


def test_what_would_change_it_is_told_with_the_share() -> None:
    said = recommended(
        levels(mix_4={"rust": 900.0}, read={"rust": 800.0}, write={"bun": 500.0, "rust": 1000.0})
    )
    (change,) = said.ranking.changes
    assert (change.case, change.runner) == ("write", "bun")
    # others: rust (0.8·800 + 0.15·1000) / 0.95 = 831.6; equal at s·1000 + (1 - s)·831.6 =
    # s·500 + (1 - s)·1000
    assert change.calls
    assert change.calls / (change.calls + 950) == pytest.approx(168.4 / 668.4, abs=0.03)
    rounded = replace(said.ranking, changes=[replace(change, calls=320.0)])
    text = " ".join(workload_sentences(replace(said, ranking=rounded)))
    assert "If more than about 25 % of the calls were write, bun would be ahead of rust" in text


def test_the_mix_is_held_against_the_sum_of_its_parts() -> None:
    said = recommended(levels(mix={"node": 1300.0}))
    composed = {each.runner: each.ratio.value for each in said.composed}
    assert composed["node"] == pytest.approx(1.3, rel=0.05)
    assert composed["rust"] == pytest.approx(1.0, rel=0.05)


def test_a_thousand_queries_are_made_of_what_each_takes_alone_and_all_together() -> None:
    slow = {"read": {"node": 2000.0}, "mix_4": {"rust": 800.0, "bun": 3000.0, "node": 1800.0}}
    said = recommended(levels(**slow), noise=1e-6)
    _, section = workload_section(said)
    (table,) = section.tables()
    rows = {row.head.text: [cell.text for cell in row.cells] for row in table.rows}
    assert [column.title for column in table.columns] == [
        "time",
        *("read, 80 %", "list, 15 %", "write, 5 %", "together: beyond their sum"),
        "most of the difference to rust",
    ]
    assert list(rows) == ["rust", "node", "bun"]
    micros = {name: [amount(text) for text in cells[:5]] for name, cells in rows.items()}
    for name, expected in {
        "rust": [800, 800, 150, 50, -200],
        "node": [1800, 1600, 150, 50, 0],
        "bun": [3000, 800, 150, 50, 2000],
    }.items():
        assert micros[name] == pytest.approx(expected, rel=0.06, abs=40)
    assert [row[5].partition(": ")[0] for row in rows.values()] == ["", "read", "together"]


def amount(text: str) -> float:
    """Microseconds of a time as it is printed."""
    number, unit = text.replace("\u2212", "-").split("\u202f")
    return float(number) * {"ns": 1e-3, "\u00b5s": 1, "ms": 1e3}[unit]


def test_a_run_of_a_suite_has_none() -> None:
    other = plan().model_copy(update={"workload": None})
    assert recommendation.recommend(other, [], None, np.array([]), QUESTION) is None  # type: ignore[arg-type]
