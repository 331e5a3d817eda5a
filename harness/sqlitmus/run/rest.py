"""Who used the processor while others had their turns. Pure."""

from collections.abc import Iterable
from statistics import median

from sqlitmus.run.lines import Block

IDLE = 0.01  # the most that a process may use of the processor while it waits for its turn


def restless(blocks: Iterable[Block]) -> dict[str, float]:
    """Runners whose processes used more than that: the median of their blocks, by name."""
    shares: dict[str, list[float]] = {}
    for block in blocks:
        for runner, share in block.idle.items():
            shares.setdefault(runner, []).append(share)
    usual = {runner: median(of_blocks) for runner, of_blocks in shares.items()}
    return {runner: share for runner, share in usual.items() if share > IDLE}
