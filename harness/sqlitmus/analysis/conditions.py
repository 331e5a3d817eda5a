"""What was read of the machine around each block, as the report shows it."""

from collections.abc import Sequence
from statistics import median

import numpy as np

from sqlitmus.analysis.samples import Samples
from sqlitmus.catalog.plan import Plan
from sqlitmus.machine.conditions import difference
from sqlitmus.results.conditions import Block, Taken
from sqlitmus.run.lines import Block as Recorded


def block_seconds(blocks: Sequence[Recorded], plan: Plan) -> float | None:
    """How long a block of all cases took that was not disturbed, the median; None where nobody
    looked. Blocks after the first case has ended have fewer."""
    whole = min(plan.ended.values(), default=plan.blocks)
    lasted = [
        (block.after.monotonic_ns - block.before.monotonic_ns) / 1e9
        for block in blocks
        if not block.disturbed and block.block < whole
    ]
    return median(lasted) if lasted else None


def passed(block: Recorded) -> Block:
    """One pass over all cells."""
    rates = difference(block.before, block.after)
    probes = [look.probe_ns for look in (block.before, block.after) if look.probe_ns is not None]
    return Block(
        number=block.block,
        repeated=block.repeated,
        probe_ns=max(probes, default=None),
        steal=rates.steal,
        cpu_pressure=rates.cpu_pressure,
        io_pressure=rates.io_pressure,
        load=rates.load_average,
        throttled=rates.throttled,
    )


def taken(samples: Samples) -> Taken | None:
    """What others took from all processes of which that is known."""
    lost, left_out = samples.figures["lost"], samples.figures["left_out"]
    shares, looked = lost[np.isfinite(lost)], np.isfinite(left_out)
    if not shares.size:
        return None
    # all processes of a set have the same
    rounds = np.where(looked, left_out, 0).max(axis=1)[looked.any(axis=1)]
    return Taken(float(np.median(shares)), float(shares.max()), float(rounds.mean()))
