"""A planned look at a run: which cases are settled, and who gets their time. Pure."""

from sqlitmus.vocabulary.contract.model import Model

MOST_EXTENDED = 2  # times the planned blocks: beyond, a case is better measured in a run of its own


class Look(Model):
    """A look after so many `blocks`: the cases `settled` end there, the others go on `until` they
    have so many."""

    blocks: int
    settled: list[str]
    until: int


def extended(planned: int, until: int, blocks: int, saved_s: float, block_s: float) -> int:
    """Until how many blocks the cases go on that need `block_s` seconds for each.

    Those that ended after `blocks` of `until` save `saved_s` seconds in each block to come. Blocks
    are added in pairs, since every second one mirrors the one before it.
    """
    if not block_s:
        return blocks
    pairs = int((until - blocks) * saved_s / block_s / 2)
    return max(min(until + 2 * pairs, MOST_EXTENDED * planned), until)
