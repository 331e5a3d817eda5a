"""Rounds of the mix that are timed one by one: at which rates, and how many of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.workload.database import snapshot
from sqlitmus.workload.file import read
from sqlitmus.workload.parts import LEAST, at_rate
from sqlitmus.workload.scenarios import catalogue
from tests.workload.test_scenarios import SERVICE, Write

Made = Callable[[str], Catalog]


@pytest.fixture
def made(write: Write, catalog: Catalog, database: Path) -> Made:
    folder = database.parent / "copies"
    folder.mkdir()
    copy = snapshot(database, folder)
    return lambda text: catalogue(read(write(text), catalog), copy, catalog)


def test_the_mix_is_timed_at_each_rate_by_all_workers(made: Made) -> None:
    whole = made(f"rates = [2000, 50_000]{SERVICE}").scenarios
    assert list(whole) == ["read", "list", "add", "start", "mix", "at-2000", "at-50000"]
    slow, fast, mix = whole["at-2000"], whole["at-50000"], whole["mix"]
    assert (slow.group, slow.latencies, slow.fixed) == ("keeping up", True, True)
    assert slow.steps == mix.steps
    assert slow.axes["workers"] == ["4"]
    # a round has 20 queries, and each of 4 workers does a quarter of them
    assert [slow.rate, fast.rate] == [2000 / 20 / 4, 50_000 / 20 / 4]
    assert mix.rate is None
    assert not mix.latencies


def test_without_a_rate_a_limit_has_rounds_timed_one_after_the_other(made: Made) -> None:
    whole = made(SERVICE.replace("workers = 4", "workers = 4\n[limits]\np99_ms = 5")).scenarios
    assert list(whole)[-1] == "latency"
    latency = whole["latency"]
    assert (latency.group, latency.rate) == ("timed rounds", None)
    assert latency.iterations
    assert latency.operations * latency.iterations >= LEAST


def test_a_single_query_is_a_mix_of_its_own(made: Made) -> None:
    text = 'rates = [100]\n[query.only]\nsql = "SELECT id FROM document LIMIT 3"\n'
    assert list(made(text).scenarios) == ["only", "start", "at-100"]


@pytest.mark.parametrize(("rounds", "most"), [(20, None), (333, 4), (2500, None), (90_000, 64)])
def test_a_process_times_enough_rounds(rounds: float, most: int | None) -> None:
    counts = at_rate(rounds, 4, most)
    assert counts.operations * counts.iterations >= max(LEAST, rounds / 2)
    assert counts.operations <= (most or 2048)
    seconds = counts.operations * counts.iterations / rounds
    assert seconds < 5.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"rates = [2000, 300]{SERVICE}",
            "my.toml:2: rates[1]: 300 queries a second are 15 rounds of the mix, which has 20",
        ),
        (
            f"rates = [2000]{SERVICE.replace('query.read', 'query.at-2000')}",
            "query.at-2000: at-2000 is the name of a case that is made by itself",
        ),
    ],
)
def test_what_cannot_be_timed_is_told(made: Made, text: str, message: str) -> None:
    with pytest.raises(UsageError) as told:
        made(text)
    assert message in str(told.value)
