"""How many blocks a planned look gives to the cases that go on. Pure."""

from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.run.store import MOST_EXTENDED, extended

SECONDS = st.floats(0.001, 1000)


def test_the_time_saved_becomes_pairs_of_blocks() -> None:
    assert extended(30, 30, 15, saved_s=3.0, block_s=3.0) == 44
    assert extended(30, 30, 15, saved_s=1.0, block_s=3.0) == 34
    assert extended(30, 30, 15, saved_s=0.0, block_s=3.0) == 30


def test_nobody_goes_on_where_nothing_is_open() -> None:
    assert extended(30, 30, 15, saved_s=3.0, block_s=0.0) == 15


@given(st.integers(20, 1000), SECONDS, SECONDS)
def test_a_run_takes_no_longer_than_planned(planned: int, saved_s: float, block_s: float) -> None:
    blocks = planned // 2
    until = extended(planned, planned, blocks, saved_s, block_s)
    assert planned <= until <= MOST_EXTENDED * planned
    whole = (planned - blocks) * (saved_s + block_s)
    assert (until - blocks) * block_s <= whole * (1 + 1e-9)
