"""The speed-up that a ratio of times says."""

import pytest

from sqlitmus.results.estimate import Interval, Speedup, speedup


@pytest.mark.parametrize(
    ("ratio", "faster"),
    [
        (Interval(0.5, 0.4, 0.8), Speedup(2.0, 1.25, 2.5)),
        (Interval(2.0, None, None), Speedup(0.5, None, None)),
    ],
)
def test_half_the_time_is_twice_as_fast(ratio: Interval, faster: Speedup) -> None:
    assert speedup(ratio) == faster
