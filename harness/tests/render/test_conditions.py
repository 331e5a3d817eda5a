import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.render.document import parts
from sqlitmus.render.document.model import Paragraph
from sqlitmus.render.html import drawings
from sqlitmus.results.notices import Block
from sqlitmus.results.report import Report

shares = st.floats(min_value=0, max_value=1)
blocks = st.builds(
    Block,
    st.integers(0, 99),
    st.none() | st.integers(1, 10**9),
    *[st.none() | shares] * 3,
    st.none() | st.floats(min_value=0, max_value=64),
    st.none() | st.booleans(),
)


@pytest.fixture(scope="module")
def by_title(small: Report) -> dict[str, drawings.Strip]:
    return {strip.title: strip for strip in drawings.strips(small, []).strips}


def test_what_cannot_be_read_says_so(by_title: dict[str, drawings.Strip]) -> None:
    assert (by_title["Throttled"].bars, by_title["Throttled"].said) == ("", "not readable here")
    assert by_title["I/O pressure"].said == "1.0 %; not readable here in 11 blocks"


def test_ranges_are_in_words(by_title: dict[str, drawings.Strip]) -> None:
    assert by_title["CPU stolen"].said == "0.0 % to 12.0 %"
    assert by_title["Load"].said == "0.40 to 1.90"
    assert by_title["Fixed work"].said == "41.0\u202fms to 46.3\u202fms"


def test_a_run_of_which_nothing_was_read_says_so(small: Report) -> None:
    section = parts.conditions_section(replace(small, blocks=[]), ["It finds 2 %."])
    assert (section.lead, section.sections) == (["It finds 2 %."], [])
    assert section.blocks == [
        Paragraph("Nothing was read of the machine between the blocks of this run.")
    ]


@given(st.lists(blocks, min_size=1, max_size=8))
def test_bars_stay_in_the_strip_and_the_table_holds_every_block(
    small: Report, drawn: list[Block]
) -> None:
    for reading, heights in drawings.DRAWN:
        strip = drawings.strip(reading, heights, drawn)
        tall = [float(v) for v in re.findall(r"v-([\d.e-]+)", strip.bars)]
        assert all(0 <= height <= drawings.HEIGHT for height in tall)
        assert (strip.bars == "") == all(reading.read(block) is None for block in drawn)
    assert tuple(reading for reading, _ in drawings.DRAWN) == parts.READINGS
    (table,) = parts.conditions_section(replace(small, blocks=drawn), []).tables()
    assert len(table.rows) == len(drawn)


def test_a_drift_of_the_fixed_work_is_drawn_larger_than_it_is() -> None:
    first, second, none, last = drawings.over_fastest([100.0, 110.0, None, 105.0])
    assert (first, second, none) == (0.0, pytest.approx(1.0), None)
    assert last == pytest.approx(0.5)
    # A quiet machine is not made to look restless.
    assert drawings.over_fastest([100.0, 101.0])[1] == pytest.approx(0.01 / drawings.LEAST_PROBE)
