"""The words of all rows together, and why each has its word."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, floor, log

import numpy as np

from sqlitmus.results.claims import Row
from sqlitmus.stats.claim import Decision, Published, Rule, Why, decide, word_of
from sqlitmus.stats.estimate import TrimmedMeans
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.nouns import counted

REASONS: dict[Why, str] = {
    "same size": "",
    "no effect, as published": "no effect, as published",
    "size open": "an effect, but not precise enough to tell its size",
    "smaller": "at most {share} the published effect",
    "larger": "at least {share} the published effect",
    "an effect": "an effect where none was published",
    "no effect": "within the margin of {none}",
    "other side": "the difference is the other way round here",
    "open": "rules out neither {none} nor the published size",
    "neither": "rules out neither an effect nor its absence",
    "few blocks": f"fewer than {MIN_BLOCKS} blocks in which both have a value",
    "no interval": "the same {kind} in most blocks, so no interval can be had",
}
FACTOR = 2  # a share from here on is told as a factor
NS_PER_MS = 1e6
MANY = 1000  # blocks that nobody measures; times that need no digit behind the point


@dataclass(frozen=True, slots=True)
class Asked:
    """A row that a figure was published for: its `guard` is a log ratio of noise, `shows` tells its
    measurement from others. Of a row of differences a log ratio stands for `scale_ns`."""

    row: Row
    published: Published
    guard: float
    shows: Hashable
    scale_ns: float | None = None

    def figures(self, low: float, high: float) -> tuple[float, float]:
        """What two log ratios stand for: ratios, or differences in ns."""
        if self.scale_ns is None:
            return exp(low), exp(high)
        return low * self.scale_ns, high * self.scale_ns


def worded(asked: Sequence[Asked], means: TrimmedMeans, rule: Rule) -> list[Row]:
    """The rows, of which `means` has the log ratios, with their words. All of them are one family,
    in which a measurement counts once."""
    numbers = {of: number for number, of in enumerate(dict.fromkeys(one.shows for one in asked))}
    decisions = decide(
        means,
        [one.published for one in asked],
        np.array([one.guard for one in asked]),
        rule,
        [numbers[one.shows] for one in asked],
    )
    lows, highs = (column.tolist() for column in means.interval())
    return [
        replace(
            one.row,
            verdict=decision.word,
            reason=_reason(one, decision, (low, high), rule),
            same=one.figures(*one.published.same()),
            judged=None if np.isnan(decision.low) else one.figures(decision.low, decision.high),
            guard=one.figures(one.guard, 0)[0],
            needed=decision.needed or None,
        )
        for one, decision, low, high in zip(asked, decisions, lows, highs, strict=True)
    ]


def _reason(of: Asked, decision: Decision, own: tuple[float, float], rule: Rule) -> str:
    """Why this word: by how much, what more blocks would do, what the interval alone would say."""
    none, kind = (1, "ratio") if of.scale_ns is None else (0, "difference")
    parts = [REASONS[decision.why].format(share=_share(of, decision), none=none, kind=kind)]
    if decision.needed > MANY:
        parts.append(f"more than {MANY} blocks would settle it")
    elif decision.needed:
        parts.append(f"about {counted(_rounded(decision.needed), 'block')} would settle it")
    elif decision.why in ("size open", "open", "neither"):
        parts.append("the canary's noise is too large here for more blocks to settle it")
    if not np.isnan(decision.low):
        alone = word_of(of.published, rule.margin, own, own)[0]
        if alone is not decision.word:
            ends = of.figures(decision.low, decision.high)
            low, high = ends if of.scale_ns is None else (end / NS_PER_MS for end in ends)
            parts.append(
                f"{alone} by its own interval, which the correction and the noise draw out to "
                f"[{low:.3g}, {high:.3g}]{'' if of.scale_ns is None else ' ms'}"
            )
    return "; ".join(filter(None, parts))


def _share(of: Asked, decision: Decision) -> str:
    """The end of the interval that bounds the effect, as a share of the published one."""
    published = of.published
    if decision.why not in ("smaller", "larger"):
        return ""
    smaller = decision.why == "smaller"
    end = decision.high if smaller == (published.ratio > 1) else decision.low
    if of.scale_ns is None:
        share = (exp(end) - 1) / (published.ratio - 1)
    else:
        share = end / log(published.ratio)
    rounded = ceil if smaller else floor
    if share < FACTOR:
        return f"{rounded(share * 100)} % of"
    if share < MANY:
        return f"{rounded(share * 10) / 10:g} times"
    return f"{rounded(share):,} times"


def _rounded(blocks: int) -> int:
    """Two digits, upwards: a hint has no more."""
    step = 10 ** max(len(str(blocks)) - 2, 0)
    return -(-blocks // step) * step
