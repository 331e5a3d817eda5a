"""Buckets of nanoseconds: the contract's formula, its inverse, and what is read from them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.vocabulary import detail

NS = st.integers(min_value=0, max_value=2**50)


def test_buckets_by_hand() -> None:
    by_hand = {0: 0, 1: 1, 127: 127, 128: 128, 255: 255, 256: 256, 257: 256, 258: 257, 511: 383}
    assert {ns: detail.bucket(ns) for ns in by_hand} == by_hand
    assert detail.bucket(512) == 384
    assert detail.bounds(384) == (512, 515)


@given(NS)
def test_a_bucket_holds_what_is_put_into_it_and_is_narrow(ns: int) -> None:
    low, high = detail.bounds(detail.bucket(ns))
    assert low <= ns <= high
    assert high - low <= low / 128


@given(NS)
def test_the_formula_of_the_contract(ns: int) -> None:
    e = max(0, math.floor(math.log2(ns)) - 7) if ns else 0
    if ns < 2**40:  # beyond, log2 of a float may round up
        assert detail.bucket(ns) == e * 128 + (ns >> e)


@given(st.integers(min_value=0, max_value=7000))
def test_buckets_lie_beside_each_other(number: int) -> None:
    assert detail.bounds(number)[1] + 1 == detail.bounds(number + 1)[0]


@given(st.lists(NS, min_size=1, max_size=300), st.sampled_from([0.5, 0.99, 0.999, 1.0]))
def test_a_quantile_lies_in_the_bucket_of_the_ordered_value(times: list[int], q: float) -> None:
    found = detail.quantile(detail.merged([[(detail.bucket(t), 1)] for t in times]), q)
    exact = sorted(times)[math.ceil(q * len(times)) - 1]
    low, high = detail.bounds(detail.bucket(exact))
    assert found is not None
    assert low <= found <= high


def test_nothing_has_no_quantile_and_no_mean() -> None:
    assert detail.quantile({}, 0.5) is None
    assert detail.mean({}) is None


@given(st.lists(NS, min_size=1, max_size=100))
def test_the_mean_is_as_near_as_the_buckets_are_narrow(times: list[int]) -> None:
    found = detail.mean(detail.merged([[(detail.bucket(t), 1)] for t in times]))
    exact = sum(times) / len(times)
    assert found is not None
    assert abs(found - exact) <= exact / 128 + 1e-9
