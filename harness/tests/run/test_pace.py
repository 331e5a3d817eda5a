"""Whether the machine is still as it was when a pilot saw it."""

import pytest

from sqlitmus.run.plan.counts import Pace, pace


def test_the_same_pace_agrees_with_itself() -> None:
    now = pace()
    assert now.agrees(now)


@pytest.mark.parametrize(
    ("level", "spread", "agrees"),
    [
        (1.05, 0.02, True),
        (0.95, 0.06, True),
        (1.2, 0.02, False),  # another clock
        (0.8, 0.02, False),
        (1.0, 0.1, False),  # it became noisy
        (1.0, 0.004, False),  # it became quiet
    ],
)
def test_another_level_or_another_noise_is_another_pace(
    level: float, spread: float, agrees: bool
) -> None:
    earlier = Pace(level_ns=30e6, spread=0.022)
    assert Pace(level_ns=level * 30e6, spread=spread).agrees(earlier) == agrees


def test_two_quiet_machines_agree_whatever_their_rest_of_noise() -> None:
    assert Pace(level_ns=1, spread=0.0).agrees(Pace(level_ns=1, spread=0.001))
