import json
import re
from collections.abc import Callable
from dataclasses import replace
from math import exp, inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse
from sqlitmus.render.document import symbols
from sqlitmus.render.html import assets, embed, page
from sqlitmus.render.html import page as html
from sqlitmus.results.machines import Answer, MergedReport, Row
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Cell, Measure, Report
from sqlitmus.vocabulary.figures import FIGURES
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.claims.claim_runs import make
from tests.render import synthetic
from tests.render.printing import as_html, cards

TIME = Interval(100.0, 99.0, 101.0)


def timed(data: dict[str, Any], case: dict[str, Any]) -> list[str]:
    """The runners of which a case has columns."""
    pairs = zip(data["runners"], case["outcomes"], strict=True)
    return [row[0] for row, code in pairs if code == "k"]


def pair_of(
    data: dict[str, Any], case: dict[str, Any], runner: str, reference: str
) -> tuple[str, list[float | None]]:
    """A comparison as the page's script finds it."""
    names = timed(data, case)
    one, two = names.index(runner), names.index(reference)
    turned = one < two
    high, low = max(one, two), min(one, two)
    place = high * (high - 1) // 2 + low
    logs = [column[place] for column in case["pairs"]]
    code = case["verdicts"][place]
    if turned:
        logs = [None if x is None else -x for x in (logs[0], logs[2], logs[1])]
        code = data["verdicts"][code][3]
    return data["verdicts"][code][0], [None if x is None else exp(x / 1e6) for x in logs]


def test_every_ordered_pair_can_be_read_back(small: Report) -> None:
    data = json.loads(json.dumps(embed.page_data(small)))
    seen = 0
    for case, stored in zip(small.cases, data["cases"], strict=True):
        for c in case.comparisons:
            verdict, ratio = pair_of(data, stored, c.runner, c.reference)
            assert verdict == c.verdict
            own = (c.ratio.value, c.ratio.low, c.ratio.high)
            # The synthetic intervals are symmetric in logarithms, as the real ones are.
            assert ratio == pytest.approx(own, rel=2e-6)
            seen += 1
    assert seen > 500


def test_a_case_that_compares_other_runners_is_refused(small: Report) -> None:
    first = small.cases[0]
    strangers = replace(first.comparisons, runners=["other", *first.comparisons.runners[1:]])
    broken = replace(small, cases=[replace(first, comparisons=strangers)])
    with pytest.raises(ValueError, match="other runners"):
        embed.page_data(broken)


def test_samples_and_positions_come_back(small: Report) -> None:
    data = embed.page_data(small)
    for case, stored in zip(small.cases, data["cases"], strict=True):
        names = timed(data, stored)
        assert len(stored["samples"]) == len(names)
        for cell in case.cells:
            assert (cell.runner in names) == (cell.outcome == "ok")
            if cell.outcome != "ok":
                continue
            place = names.index(cell.runner)
            scale = 10 ** stored["exponents"][place]
            values = [x * scale for x in stored["samples"][place]]
            assert values == pytest.approx(cell.samples, rel=1e-4)
            steps = stored["positions"][place]
            assert [sum(steps[: i + 1]) for i in range(len(steps))] == cell.positions


def test_codes_are_unique_and_opposites_mutual() -> None:
    letters = [verdict.letter for verdict in Verdict]
    assert len(set(letters)) == len(letters)
    assert all(verdict.opposite.opposite is verdict for verdict in Verdict)
    outcomes = [word.code for word in (*symbols.OUTCOMES.values(), symbols.ABSENT)]
    assert len(set(outcomes)) == len(outcomes)


def test_a_number_that_is_none_stays_none() -> None:
    assert embed.logarithms([0.0, inf, None, 1.0]) == [[None, None, None, 0]]
    assert [*map(embed.short, [nan, 812.34567, 123456.7, None])] == [None, 812.346, 123457, None]
    assert embed.differences([]) == []


@given(st.floats(min_value=1e-3, max_value=1e12))
def test_numbers_round_as_their_units_say(value: float) -> None:
    logarithm, short = embed.logarithm(value), embed.short(value)
    assert logarithm is not None
    assert exp(logarithm / embed.LOG_UNIT) == pytest.approx(value, rel=1e-6)
    if value < embed.WHOLE:
        assert short == pytest.approx(value, rel=5.1e-6)
    else:
        assert short == pytest.approx(value, abs=0.51)
    assert isinstance(short, int) == (value >= embed.WHOLE)


def test_a_drift_stays_within_its_bounds_and_ignores_zeros() -> None:
    def drift(*samples: float | None) -> float:
        return embed.drift([Cell("node", "ok", time=TIME, samples=[*samples])])

    assert drift(100.0, 110.0, None, 0.0) == pytest.approx(0.1)
    assert drift(80.0, 110.0) == pytest.approx(0.2)
    assert drift(100.0) == embed.drift([]) == embed.DRIFT_FLOOR
    assert drift(900.0) == embed.DRIFT_CEILING


ANSWER = Answer(Contrast("bun", "node", Interval(0.8, 0.7, 0.9), Verdict.MATERIALLY_FASTER))
ROW = Row(
    "get-pk", "get-pk", "One row", "reads", {}, "bun", "on one machine only",
    Verdict.MATERIALLY_FASTER, "on one machine only", "", [ANSWER], [],
)  # fmt: skip
MERGED = MergedReport(
    1, "Merged", "run", "2026-01-01", "0.1.0", "node", [], [], [], [], ["reads"], [ROW]
)


def asked() -> set[str]:
    """The names that scripts and style sheets look up."""
    names = {figure.name for figure in FIGURES} | {"over"}
    for path in (assets.REPORTS / "assets").iterdir():
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"""\[data-f=["'](\w+)["']\]""", text))
        names |= set(re.findall(r"\bby\.(\w+)", text))
    return names


@pytest.mark.usefixtures("node")
def test_cells_have_the_names_that_are_asked_for(small: Report, ab: Report) -> None:
    loaded = synthetic.build(cases=1, blocks=10)
    case = loaded.cases[0]
    measured = {figure.name: Measure(1e6) for figure in FIGURES}
    case = replace(case, cells=[replace(cell, figures=measured) for cell in case.cells])
    reports = (small, ab, replace(loaded, cases=[case]), analyse(make()))
    pages = [as_html(report) for report in reports]
    pages.append(page.render_merged(MERGED, []))
    text = "".join([*pages, *(card for report in reports for card in cards(report))])
    # A document's own tables name all their columns.
    worked = re.findall(r'<table (?!class="doc").*?</table>', text, flags=re.DOTALL)
    assert set(re.findall(r'data-f="([^"]*)"', "".join(worked))) <= asked()
    assert asked() <= set(re.findall(r'data-f="([^"]*)"', text))


@pytest.mark.parametrize("script", ["cases", "matrix", "visible", "merged", "main"])
def test_no_script_finds_a_cell_by_its_place(script: str) -> None:
    text = assets.asset(f"{script}.js")
    assert not re.search(r"\.cells\[|cellIndex|rowIndex|= row\.cells|nth-child", text)


def test_a_further_column_breaks_nothing(check_page: Callable[..., str]) -> None:
    text = html.render(synthetic.build(cases=3, blocks=8, runners=3))
    # before each cell that a script writes into
    text, count = re.subn(r"(<t[hd][^>]* data-r=\"?0)", r'<td class="further"></td>\1', text)
    assert count
    printed = check_page(text, "--only=interactions")
    assert "ok   repainting the default view gives the text that was rendered" in printed
    assert "no problems" in printed
