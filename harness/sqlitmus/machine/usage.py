"""The share of each processor in use between two moments, from Linux's counters."""

from pathlib import Path

from sqlitmus.machine.kernel import TICKS_BEFORE_GUEST
from sqlitmus.machine.system import ROOT, natural, text

_IDLE = (3, 4, 7)  # columns of /proc/stat: idle, waiting for input and output, stolen

_AWAY = (5, 6, 7)  # interrupts, what they leave for later, stolen

Ticks = dict[str, tuple[int, int]]


def ticks(root: Path = ROOT) -> Ticks:
    """Clock ticks since start-up by processor number: (in use, all); empty where unknown."""
    return {
        number: (sum(counts) - sum(counts[i] for i in _IDLE), sum(counts))
        for number, counts in _counts(root).items()
    }


def away(root: Path = ROOT) -> dict[str, int]:
    """Clock ticks since start-up that interrupts and other guests took, by processor number."""
    return {number: sum(counts[i] for i in _AWAY) for number, counts in _counts(root).items()}


def _counts(root: Path) -> dict[str, list[int]]:
    """The columns of each processor in /proc/stat."""
    by_processor: dict[str, list[int]] = {}
    for line in text(root, "proc/stat").splitlines():
        name, *words = line.split()
        counts = [natural(word) for word in words[:TICKS_BEFORE_GUEST]]
        parsed = [count for count in counts if count is not None]
        number = name.removeprefix("cpu")
        if name != number and number.isdigit() and len(parsed) == TICKS_BEFORE_GUEST:
            by_processor[number] = parsed
    return by_processor


def shares(before: Ticks, after: Ticks) -> dict[str, float]:
    """The share of each processor's time in use, 0 to 1; a processor without a tick is left out.

    A tick is a hundredth of a second, so shares over less than some tenths of a second are coarse.
    """
    both = {n: (before[n], now) for n, now in after.items() if n in before}
    return {
        number: min(1.0, max(0.0, (now[0] - was[0]) / (now[1] - was[1])))
        for number, (was, now) in both.items()
        if now[1] > was[1]
    }
