from dataclasses import replace
from itertools import pairwise

import pytest

from sqlitmus.render.document import comparison as changes
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.verdicts import Verdict
from tests.render import synthetic


def test_every_case_has_one_row_in_the_table_of_times(ab: Report) -> None:
    found = changes.tables(ab)[0]
    assert sorted(row.index for row in found.rows + found.folded) == list(range(len(ab.cases)))


def test_wrong_answers_come_first_then_what_is_slower(ab: Report) -> None:
    first, *rest = changes.tables(ab)[0].rows
    assert (first.new, first.verdict) == ("wrong answer", None)
    assert first.said == "row 3, column score: 0.5 instead of 0.25"
    for one, two in pairwise(rest):
        assert one.verdict is not None
        assert two.verdict is not None
        assert one.ratio is not None
        assert two.ratio is not None
        places = [changes.ORDER.index(row.verdict) for row in (one, two) if row.verdict]
        assert places == sorted(places)
        assert places[0] < places[1] or one.ratio.value >= two.ratio.value
    assert {row.verdict for row in rest} == {v for v in Verdict if v.different}


def test_what_is_folded_is_counted_by_verdict(ab: Report) -> None:
    for found in changes.tables(ab):
        assert not any(row.verdict and row.verdict.different for row in found.folded)
    counts = {found.title: found.count() for found in changes.tables(ab)}
    assert counts["Time"] == "5 not resolved"
    assert counts["Peak memory"] == "2 not resolved, 8 equivalent"
    assert changes.Table("Time", [], []).count() == ""


def test_memory_is_more_or_less_and_only_where_both_have_it(ab: Report) -> None:
    tables = {found.title: found for found in changes.tables(ab)}
    memory = tables["Peak memory"]
    assert {row.said for row in memory.rows} >= {"materially more", "materially less", "less"}
    cold = tables["Cold: the whole process"]
    assert all(row.case.metric == "steady" for row in cold.rows + cold.folded)
    without = [
        replace(case, cells=[replace(cell, figures={}) for cell in case.cells]) for case in ab.cases
    ]
    assert "Peak memory" not in {t.title for t in changes.tables(replace(ab, cases=without))}


def test_means_are_of_new_over_base(ab: Report) -> None:
    found = {mean.group: mean for mean in changes.means(ab)}
    assert list(found) == ab.groups
    mine = next(s for s in ab.standings if (s.group, s.runner) == ("reads", synthetic.NEW.name))
    assert found["reads"].ratio == mine.ratio


def test_a_suite_is_no_comparison(small: Report) -> None:
    with pytest.raises(UsageError, match=r"holds 10 runners; make one with `\./just compare"):
        changes.tables(small)
