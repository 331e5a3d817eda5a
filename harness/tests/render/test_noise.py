import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.render.html import noise
from sqlitmus.results.conditions import Block
from sqlitmus.results.report import Report

shares = st.floats(min_value=0, max_value=1)
blocks = st.builds(
    Block,
    st.integers(0, 99),
    st.booleans(),
    st.none() | st.integers(1, 10**9),
    *[st.none() | shares] * 3,
    st.none() | st.floats(min_value=0, max_value=64),
    st.none() | st.booleans(),
)


def with_blocks(report: Report, found: list[Block]) -> noise.NoiseView:
    return noise.noise(replace(report, blocks=found))


@pytest.fixture(scope="module")
def by_title(small: Report) -> dict[str, noise.Strip]:
    return {strip.title: strip for strip in noise.noise(small).strips}


def test_what_cannot_be_read_says_so(by_title: dict[str, noise.Strip]) -> None:
    assert (by_title["Throttled"].bars, by_title["Throttled"].said) == ("", "not readable here")
    assert by_title["I/O pressure"].said == "1.0 %; not readable here in 12 blocks"


def test_ranges_are_in_words(by_title: dict[str, noise.Strip]) -> None:
    assert by_title["CPU stolen"].said == "0.0 % to 12.0 %"
    assert by_title["Load"].said == "0.40 to 1.90"
    assert by_title["Fixed work"].said == "41.0\u202fms to 46.3\u202fms"


def test_a_repeated_block_is_marked_named_and_keeps_its_place(small: Report) -> None:
    found = noise.noise(small)
    assert found.marks.startswith("M30 0")
    assert "Block 4 was disturbed" in found.repeated
    assert [number for number, _, _ in found.rows][2:6] == [3, 4, 4, 5]
    assert [again for _, _, again in found.rows][2:6] == [False, True, False, False]


def test_a_run_without_disturbance_says_so(small: Report) -> None:
    calm = with_blocks(small, [block for block in small.blocks if not block.repeated])
    assert (calm.marks, calm.repeated) == ("", "No block was disturbed.")


@given(st.lists(blocks, max_size=8))
def test_bars_stay_in_the_strip_and_the_table_holds_every_block(found: list[Block]) -> None:
    columns = [[fact.read(block) for block in found] for fact in noise.FACTS]
    for fact, column in zip(noise.FACTS, columns, strict=True):
        strip = noise.strip(fact, column)
        tall = [float(v) for v in re.findall(r"v-([\d.e-]+)", strip.bars)]
        assert all(0 <= height <= noise.HEIGHT - noise.MARK for height in tall)
        assert (strip.bars == "") == all(value is None for value in column)


def test_a_drift_of_the_fixed_work_is_drawn_larger_than_it_is() -> None:
    first, second, none, last = noise.over_fastest([100.0, 110.0, None, 105.0])
    assert (first, second, none) == (0.0, pytest.approx(1.0), None)
    assert last == pytest.approx(0.5)
    # A quiet machine is not made to look restless.
    assert noise.over_fastest([100.0, 101.0])[1] == pytest.approx(0.01 / noise.LEAST_PROBE)
