import numpy as np

from sqlitmus.stats.relabel import false_sentences, selftest

NOISE = np.random.default_rng(4).normal(0, 0.01, (120, 6))


def test_sentences_on_equal_things_err_in_at_most_5_percent() -> None:
    assert false_sentences(NOISE, 30, 5, 400).value <= 0.05


def test_two_things_are_told_apart_as_often_as_their_comparison_says() -> None:
    alarms = selftest(NOISE, 30, 1, experiments=400).false_alarms
    assert alarms.value > 0
    assert false_sentences(NOISE, 30, 2, 400) == alarms
