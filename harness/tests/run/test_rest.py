"""Who is told to have used the processor between turns."""

import pytest

from sqlitmus.machine.conditions import Conditions
from sqlitmus.run.blocks import restless
from sqlitmus.run.store import Block


def block(number: int, **idle: float) -> Block:
    look = Conditions(monotonic_ns=0)
    return Block(
        block=number,
        take=0,
        before=look,
        after=look,
        disturbed=False,
        repeated=False,
        idle=idle,
    )


@pytest.mark.parametrize(
    ("shares", "busy"),
    [
        ([0.0, 0.0, 0.0], None),
        ([0.01, 0.01, 0.01], None),  # as much as is allowed
        ([0.0, 0.009, 0.5], None),  # once, for whatever reason
        ([0.0, 0.02, 0.5], 0.02),
    ],
)
def test_the_usual_share_of_a_runners_blocks_counts(
    shares: list[float], busy: float | None
) -> None:
    blocks = [block(n, quiet=0.0, other=share) for n, share in enumerate(shares)]
    assert restless(blocks) == ({} if busy is None else {"other": busy})


def test_blocks_in_which_nobody_waited_say_nothing() -> None:
    assert restless([]) == {}
    assert restless([block(0), block(1, other=0.3), block(2)]) == {"other": 0.3}
