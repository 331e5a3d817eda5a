"""What the interval of a log ratio allows to be said."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .estimate import LEVEL, TrimmedMeans

MIN_BLOCKS = 10
VERDICTS = (
    "materially faster",
    "faster",
    "equivalent",
    "slower",
    "materially slower",
    "not resolved",
    "not testable",
)
_NAMES = np.array(VERDICTS, dtype=np.object_)
_MIRROR = np.array([4, 3, 2, 1, 0, 5, 6], dtype=np.int8)

Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Per row a code: the index of its words in `VERDICTS`."""

    code: Codes

    def mirrored(self) -> "Verdicts":
        """The verdicts of the same pairs with runner and reference exchanged."""
        return Verdicts(_MIRROR[self.code])

    def names(self) -> NDArray[np.object_]:
        """The verdict of each row in words."""
        return _NAMES[self.code]


def decide(logs: TrimmedMeans, margin: float) -> Verdicts:
    """Verdicts on trimmed means of log ratios; `margin` is a share of the time, 0.02 for 2 %.

    faster, slower: the 95 % interval excludes 0; materially: all of it lies beyond the margin;
    equivalent: the 90 % interval lies within the margin, which is two one-sided tests at 5 %
    (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680). Difference is asked first: a small
    but resolved one is called faster or slower. The margin is ln(1 + margin) to both sides, so
    exchanging the two runners mirrors the verdict. Fewer than `MIN_BLOCKS` blocks, or no interval:
    not testable.
    """
    if not margin > 0:
        raise ValueError(f"the margin must be above 0, got {margin}")
    bound = np.log1p(margin)
    low, high = logs.interval(LEVEL)
    inner_low, inner_high = logs.interval(2 * LEVEL - 1)
    testable = (logs.count >= MIN_BLOCKS) & ~np.isnan(logs.error)
    code = np.select(
        [
            ~testable,
            high < -bound,
            high < 0,
            low > bound,
            low > 0,
            (inner_low > -bound) & (inner_high < bound),
        ],
        [np.int8(6), np.int8(0), np.int8(1), np.int8(4), np.int8(3), np.int8(2)],
        default=np.int8(5),
    )
    return Verdicts(code.astype(np.int8))
