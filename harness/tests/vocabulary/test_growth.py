"""By how much memory grows while operations are timed."""

from collections.abc import Callable

import pytest

from sqlitmus.vocabulary.contract import Phases, Result
from sqlitmus.vocabulary.detail import LEAST, growth

MIB = 2**20


def result(*, close_ms: float = 0, operations: int = 1000) -> Result:
    """Of two timed iterations of half a second, of so many operations each."""
    return Result.model_construct(
        operations=2 * operations,
        warmup_ns=[],
        iterations_ns=[500_000_000, 500_000_000],
        phases_ns=Phases.model_construct(close=round(close_ms * 1e6)),
    )


def looks(until_ms: int, size: Callable[[float], float]) -> list[tuple[float, int]]:
    """Every 20 ms, and twice after the process has ended."""
    alive = [(float(ms), round(size(ms))) for ms in range(0, until_ms + 1, 20)]
    return [*alive, (until_ms + 20.0, 0), (until_ms + 40.0, 0)]


def test_a_leak_of_so_many_bytes_an_operation_is_found() -> None:
    """2,000 operations in 1,000 ms, each of which keeps 64 bytes."""
    seen = looks(1500, lambda ms: 50 * MIB + 64 * 2 * ms)
    assert growth(seen, result()) == pytest.approx(64e6)


def test_what_grows_before_the_timed_operations_does_not_count() -> None:
    seen = looks(1500, lambda ms: 10 * MIB + min(ms, 500) * 40_000)
    assert growth(seen, result()) == pytest.approx(0, abs=1)


def test_the_time_of_closing_does_not_count() -> None:
    seen = looks(1700, lambda ms: 10 * MIB - max(0, ms - 1500) * 40_000)
    assert growth(seen, result(close_ms=200)) == pytest.approx(0, abs=1)
    included = growth(seen, result())
    assert included is not None
    assert included < -1e6


def test_memory_that_shrinks_grows_by_less_than_nothing() -> None:
    seen = looks(1500, lambda ms: 50 * MIB - 10 * ms)
    assert growth(seen, result()) == pytest.approx(-5e6)


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [(0.0, 0), (20.0, 0)],
        [(20.0 * n, MIB) for n in range(LEAST - 1)],
    ],
)
def test_too_few_looks_say_nothing(seen: list[tuple[float, int]]) -> None:
    assert growth(seen, result()) is None


def test_a_process_without_timed_operations_has_none() -> None:
    untimed = result(operations=0).model_copy(update={"iterations_ns": []})
    assert growth(looks(1500, float), untimed) is None
