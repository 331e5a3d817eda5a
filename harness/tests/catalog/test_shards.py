"""The division of a suite among machines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog import definitions, shards
from sqlitmus.catalog.choose import choose, mode_of
from sqlitmus.catalog.planned import Cells, PlannedCase
from sqlitmus.vocabulary.errors import UsageError

KNOWN = definitions.load()
NAME, MODE = mode_of(KNOWN, "full", None)


def full(filters: list[str] | None = None) -> tuple[list[PlannedCase], Cells]:
    return choose(KNOWN, "full", MODE, [], [], filters or [], None)


def part(number: int, count: int, asked: object = "full") -> tuple[list[PlannedCase], shards.Shard]:
    cases, cells = full()
    mine, own, shard = shards.take((number, count), cases, cells, KNOWN, asked)
    assert own == {case.id: cells[case.id] for case in mine}
    return mine, shard


@pytest.mark.parametrize("count", range(1, 9))
def test_shards_of_full_differ_by_less_than_15_percent_of_an_equal_share(count: int) -> None:
    _, cells = full()
    times = [
        sum(shards.predicted(c, len(cells[c.id]), KNOWN) for c in part(k, count)[0])
        for k in range(1, count + 1)
    ]
    equal = sum(times) / count
    assert all(abs(time / equal - 1) <= 0.15 for time in times), [t / equal for t in times]


@pytest.mark.parametrize("count", [1, 2, 5, 24])
def test_each_scenario_is_whole_in_one_shard(count: int) -> None:
    cases, _ = full()
    parts = [part(k, count) for k in range(1, count + 1)]
    assert sorted(c.id for mine, _ in parts for c in mine) == sorted(c.id for c in cases)
    scenarios = [{case.scenario for case in mine} for mine, _ in parts]
    assert sum(map(len, scenarios)) == len({case.scenario for case in cases})
    assert [(s.number, s.of) for _, s in parts] == [(k, count) for k in range(1, count + 1)]
    assert len({shard.whole for _, shard in parts}) == 1


def test_another_whole_has_another_name() -> None:
    names = {part(1, 2)[1].whole, part(1, 3)[1].whole, part(1, 2, "size s")[1].whole}
    cases, cells = full(["-runner:bun"])
    names.add(shards.take((1, 2), cases, cells, KNOWN, "full")[2].whole)
    assert len(names) == 4


@given(st.permutations(full()[0]))
def test_the_order_of_cases_does_not_matter(cases: list[PlannedCase]) -> None:
    _, cells = full()
    for count in (2, 7):
        same = shards.divide(full()[0], cells, KNOWN, count)
        assert shards.divide(list(cases), cells, KNOWN, count) == same


def test_more_shards_than_scenarios_are_refused() -> None:
    with pytest.raises(UsageError, match="25 scenarios cannot be divided into 26 shards"):
        part(1, 26)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "", "-1/2", "1/2/3"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match="expected K/N"):
        shards.parse(text)
    assert shards.parse(" 2/6 ") == (2, 6)
