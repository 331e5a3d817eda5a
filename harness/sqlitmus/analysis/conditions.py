"""What was read of the machine around each block, as the report shows it."""

from sqlitmus.machine.conditions import difference
from sqlitmus.results.report import Block
from sqlitmus.run.store import Block as Recorded


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
