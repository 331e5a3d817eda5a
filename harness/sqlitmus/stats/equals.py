"""How often a sentence on all of several equal things tells two of them apart."""

import numpy as np

from sqlitmus.stats.estimate import Array
from sqlitmus.stats.groups import group_means, together
from sqlitmus.stats.relabel import EXPERIMENTS, Rate, rate, shuffled
from sqlitmus.vocabulary.verdicts import Verdict

_APART = [verdict for verdict in Verdict if verdict.different]


def false_sentences(
    logs: Array, blocks: int, labels: int, experiments: int = EXPERIMENTS, seed: int = 1
) -> Rate:
    """The share of experiments in which a report's sentence would err; see `relabel` for `logs`.

    `labels` runners of one case make one group, whose pairs are one family. A sentence can only
    tell two apart whose interval there lies beyond 0, so this is the most that it can err.
    """
    first, second = np.triu_indices(labels, 1)
    apart: list[bool] = []
    for _, values in shuffled(logs, blocks, labels, experiments, seed):
        pairs = (values[:, first] - values[:, second]).T
        verdicts = together(group_means(pairs[None]), margin=0.02).verdicts
        apart.append(bool(verdicts.are(*_APART).any()))
    return rate(np.array(apart, dtype=np.float64), experiments)
