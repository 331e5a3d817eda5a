"""Which rows a tool can track that follows one number over commits: those with a time from as many
blocks as a verdict needs."""

from collections import Counter
from collections.abc import Sequence

from sqlitmus.export.model import Row
from sqlitmus.results.estimate import Interval
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.nouns import counted


def name(row: Row) -> str:
    """The benchmark's name: machine, case and runner."""
    return f"{row.machine}/{row.case}/{row.runner}"


def time(row: Row) -> Interval | None:
    """The primary time in ns per unit of work; None where there is none, or from too few blocks."""
    steady = row.metric == "steady"
    column = "steady_ns_per_unit" if steady else figures.named(row.metric).column
    value, low, high = (getattr(row, f"{column}{end}") for end in ("", "_low", "_high"))
    if value is None or row.blocks is None or row.blocks < MIN_BLOCKS:
        return None
    return Interval(value, low, high)


def left_out(rows: Sequence[Row]) -> str:
    """ "2 of 40 cells left out: 1 unsupported, 1 from fewer than 10 blocks"; "" where none is."""
    few = f"from fewer than {MIN_BLOCKS} blocks"
    why = Counter(few if r.outcome == "ok" else r.outcome for r in rows if time(r) is None)
    if not why:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in why.items())
    return f"{why.total()} of {counted(len(rows), 'cell')} left out: {reasons}"
