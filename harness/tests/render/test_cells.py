from dataclasses import replace

import pytest

from sqlitmus.render.document import symbols
from sqlitmus.render.html.embed import page_data
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Standing
from sqlitmus.vocabulary.verdicts import Verdict
from tests.render import synthetic


@pytest.mark.parametrize(
    ("verdict", "style"),
    [
        (Verdict.MATERIALLY_FASTER, "f"),
        (Verdict.SLOWER, "s"),
        (Verdict.EQUIVALENT, "un"),
        (Verdict.NOT_RESOLVED, "un"),
        (None, "un"),
    ],
)
def test_a_groups_mean_is_coloured_by_its_verdict_and_not_by_its_interval(
    verdict: Verdict | None, style: str
) -> None:
    beyond = Interval(1.2, 1.1, 1.3)  # of a noisy group, or of a case that says less
    standing = Standing("bun", "node", "reads", beyond, 1, 0, 1, 0, 0, 0, verdict)
    assert symbols.mean(standing).style == style
    assert symbols.mean(replace(standing, ratio=None)) == symbols.mean(None) == symbols.NONE


def test_the_page_has_the_verdict_of_each_standing() -> None:
    report = synthetic.build(cases=9, runners=4, blocks=12, seed=1)
    rows = page_data(report)["standings"]
    assert [row[7] for row in rows] == [s.verdict and s.verdict.letter for s in report.standings]


def test_the_ratio_of_the_times_shown_is_told_where_the_interval_excludes_it() -> None:
    report = synthetic.build(cases=1, runners=2, blocks=12, seed=1)
    old, new = report.cases[0].cells
    old = replace(old, time=Interval(46_000.0, None, None))
    new = replace(new, time=Interval(70_000.0, None, None))
    quotient = symbols.of_medians(new, old, Interval(1.31, 1.22, 1.41))
    assert quotient is not None
    assert quotient.value == pytest.approx(70 / 46)
    assert symbols.of_medians(new, old, Interval(1.5, 1.4, 1.6)) is None
    assert symbols.of_medians(None, old, Interval(1.31, 1.22, 1.41)) is None
