"""The search for the highest rung that holds."""

import random

import pytest

from sqlitmus.stats.search import MOST_VOID, Search

RUNGS = 40


def searched(limit: float, start: int, noise: float = 0.0, seed: int = 0) -> tuple[Search, int]:
    """A ladder whose rungs hold below `limit`, within `noise` rungs; and the number of probes."""
    rng = random.Random(seed)
    search, probes = Search.begin(RUNGS, start), 0
    while (rung := search.next) is not None:
        search = search.saw(rung, holds=rung < limit + rng.uniform(-noise, noise))
        probes += 1
        assert probes <= RUNGS
    return search, probes


@pytest.mark.parametrize("start", range(0, RUNGS, 3))
def test_it_finds_the_last_rung_that_holds_wherever_it_starts(start: int) -> None:
    for limit in range(RUNGS + 1):
        search, _ = searched(limit, start)
        assert search.found == limit - 1
        assert search.open_above == (limit == RUNGS)


def test_near_the_answer_a_few_probes_do() -> None:
    assert max(searched(limit, limit)[1] for limit in range(RUNGS)) <= 3
    assert max(searched(limit, 0)[1] for limit in range(RUNGS)) <= 12


def test_with_noise_it_ends_within_the_noise() -> None:
    for seed in range(300):
        search, _ = searched(20, seed % RUNGS, noise=3, seed=seed)
        assert search.found is not None
        assert abs(search.found - 19) <= 4


def test_nobody_holds_the_lowest_rung() -> None:
    search, _ = searched(0, 7)
    assert search.found == -1
    assert not search.open_above


def test_void_probes_change_nothing_and_end_it_when_there_are_too_many() -> None:
    search = Search.begin(RUNGS, 5)
    for number in range(MOST_VOID):
        assert search.next == 5, number
        search = search.saw(5, holds=None)
    assert search.next is None
    assert search.found is None
    again = Search.begin(RUNGS, 5).saw(5, holds=None).saw(5, holds=True)
    assert again.void == 0
    assert again.holds == 5


def test_a_ladder_without_rungs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one rung"):
        Search.begin(0, 0)
