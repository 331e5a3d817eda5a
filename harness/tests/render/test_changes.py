"""Rows of an A/B comparison: their order, and what is folded."""

from dataclasses import replace

import pytest

from sqlitmus.render.document import comparison
from sqlitmus.render.document.model import Table
from sqlitmus.results.ranking import Interval
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.verdicts import Verdict
from tests.render import synthetic


def tables(report: Report) -> dict[str, Table]:
    return {table.title: table for table in comparison.build(report).tables() if table.title}


def verdicts(table: Table) -> list[str]:
    return [table.cell(row, "verdict").text for row in table.rows]


def test_every_case_has_one_row_in_the_table_of_times(ab: Report) -> None:
    keys = sorted(int(row.key) for row in tables(ab)["Time"].every_row)
    assert keys == list(range(len(ab.cases)))


def test_wrong_answers_come_first_then_what_is_slower(ab: Report) -> None:
    time = tables(ab)["Time"]
    assert time.cell(time.rows[0], "new").text == "wrong answer"
    first, *rest = verdicts(time)
    assert first == "row 3, column score: 0.5 instead of 0.25"
    ranks = [Verdict(word).rank for word in rest]
    assert ranks == sorted(ranks)
    assert {Verdict(word) for word in rest} == {v for v in Verdict if v.different}
    changes = [time.cell(row, "change").value for row in time.rows[1:]]
    ratios = [change.value for change in changes if isinstance(change, Interval)]
    assert len(ratios) == len(rest)
    order = [(rank, -ratio) for rank, ratio in zip(ranks, ratios, strict=True)]
    assert order == sorted(order)


def test_what_is_folded_is_counted_by_verdict(ab: Report) -> None:
    found = tables(ab)
    for table in found.values():
        words = {table.cell(row, "verdict").text for row in table.every_row[len(table.rows) :]}
        assert words <= {"not resolved", "equivalent"}
    counts = {title: table.folded and table.folded.count for title, table in found.items()}
    assert counts["Time"] == "5 not resolved"
    assert counts["Peak memory"] == "2 not resolved, 8 equivalent"


def test_memory_is_more_or_less_and_only_where_both_have_it(ab: Report) -> None:
    assert set(verdicts(tables(ab)["Peak memory"])) >= {
        "materially more", "materially less", "less"
    }  # fmt: skip
    cold = tables(ab)["Cold: the whole process"]
    assert all(ab.cases[int(row.key)].metric == "steady" for row in cold.every_row)
    without = [
        replace(case, cells=[replace(cell, figures={}) for cell in case.cells]) for case in ab.cases
    ]
    assert "Peak memory" not in tables(replace(ab, cases=without))


def test_means_are_of_new_over_base(ab: Report) -> None:
    (means,) = (t for t in comparison.build(ab).tables() if t.id == "means")
    assert [row.head.name for row in means.rows] == ab.groups
    mine = next(s for s in ab.standings if (s.group, s.runner) == ("reads", synthetic.NEW.name))
    (reads,) = (row for row in means.rows if row.head.name == "reads")
    assert means.cell(reads, "change").value == mine.ratio


def test_a_suite_is_no_comparison(small: Report) -> None:
    with pytest.raises(UsageError, match=r"holds 10 runners; make one with `\./just compare"):
        comparison.build(small)
