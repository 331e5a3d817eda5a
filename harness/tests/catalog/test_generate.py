"""Seeded values: the same seed gives the same, within bounds, in the shape that a pool needs."""

# pyright: reportUnknownArgumentType=false

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog.generate import bound, column, pool
from sqlitmus.catalog.scenario import Generator, Parameter
from sqlitmus.vocabulary.errors import UsageError


def generator(name: str, **given: Any) -> Generator:
    return Generator.model_validate({"generator": name, **given})


def parameter(name: str, kind: str = "integer", **given: Any) -> Parameter:
    return Parameter.model_validate({"generator": name, "type": kind, **given})


@pytest.mark.parametrize(
    ("text", "value"),
    [(5, 5), (0.5, 0.5), ("size", 100), ("size+3", 103), ("size-3", 97), ("size * 2", 200)],
)
def test_a_bound_is_a_number_or_an_expression_of_the_size(text: Any, value: float) -> None:
    assert bound(text, 100) == value


@pytest.mark.parametrize("text", ["sizes", "size/2", "3", "", "size-size"])
def test_another_expression_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no bound; expected a number, size, size\+n"):
        bound(text, 100)


SPECS = [
    generator("permutation", offset=1000, scale=10),
    generator("integer", min=3, max="size"),
    generator("real", min=-1.0, max=1.0),
    generator("text", min=2, max=30, alphabet="aäあ🚀 "),
    generator("blob", min=0, max=9),
    generator("pattern", pattern="user{:03d}"),
    generator("integer", min=0, max=1, nulls=0.5),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.generator)
def test_a_seed_decides_the_values_and_nothing_else_does(spec: Generator) -> None:
    first = list(column(spec, 50, 50, "seed"))
    assert first == list(column(spec, 50, 50, "seed"))
    assert len(first) == 50
    if spec.generator != "pattern":
        assert first != list(column(spec, 50, 50, "other"))


def test_values_of_a_seed_are_pinned() -> None:
    # What other machines and later versions must draw, too: fixtures are named by their definition.
    assert column(generator("integer", min=1, max=1000), 5, 0, "pin") == PINNED["integer"]
    assert column(generator("permutation"), 6, 0, "pin") == PINNED["permutation"]
    assert column(generator("text", min=2, max=9), 3, 0, "pin") == PINNED["text"]
    assert column(generator("blob", min=2, max=4), 2, 0, "pin") == PINNED["blob"]


def test_a_sequence_counts_from_one() -> None:
    assert list(column(generator("sequence"), 3, 3, "")) == [1, 2, 3]
    assert list(column(generator("sequence", offset=10, scale=5), 3, 3, "")) == [15, 20, 25]


def test_a_pattern_counts_or_draws() -> None:
    assert column(generator("pattern", pattern="u{:02d}"), 3, 3, "") == ["u01", "u02", "u03"]
    drawn = column(generator("pattern", pattern="{}", min=5, max=6), 40, 40, "")
    assert set(drawn) == {"5", "6"}


@given(st.integers(-50, 50), st.integers(0, 100), st.text(max_size=5))
def test_integers_stay_within_their_bounds_and_reach_them(low: int, span: int, seed: str) -> None:
    drawn = column(generator("integer", min=low, max=low + span), 30, 0, seed)
    assert all(isinstance(v, int) and low <= v <= low + span for v in drawn)
    if span == 1:
        assert len(set(drawn)) <= 2


@given(st.integers(1, 200), st.text(max_size=5))
def test_a_permutation_is_one(count: int, seed: str) -> None:
    spec = generator("permutation", offset=7, scale=3)
    drawn = column(spec, count, count, seed)
    assert sorted(drawn) == [7 + 3 * k for k in range(count)]  # pyright: ignore[reportArgumentType]


@given(st.integers(2, 40), st.integers(0, 40), st.text(max_size=5))
def test_text_has_its_length_and_ascii_ends(low: int, span: int, seed: str) -> None:
    spec = generator("text", min=low, max=low + span, alphabet="äあ🚀")
    for text in column(spec, 20, 0, seed):
        assert isinstance(text, str)
        assert low <= len(text) <= low + span
        assert text[0].isascii()
        assert text[-1].isascii()
        assert "\0" not in text


def test_text_without_room_for_its_ends_is_refused() -> None:
    with pytest.raises(UsageError, match="text of 1 characters; its min is at least 2"):
        column(generator("text", min=1, max=5), 3, 3, "")


def test_blobs_have_their_length() -> None:
    lengths = {len(b) for b in column(generator("blob", min=0, max=3), 200, 0, "")}  # pyright: ignore[reportArgumentType]
    assert lengths == {0, 1, 2, 3}


def test_nulls_come_in_their_share() -> None:
    drawn = column(generator("integer", min=0, max=1, nulls=0.25), 4000, 0, "share")
    assert 900 < drawn.count(None) < 1100
    assert None not in column(generator("integer", min=0, max=1), 4000, 0, "share")


@given(st.integers(0, 14), st.integers(1, 5000))
def test_a_pool_has_a_power_of_two_of_distinct_keys(power: int, size: int) -> None:
    key = parameter("permutation", min=1, max="size")
    keys = [row[0] for row in pool([key], 1 << power, size, "")]
    length = len(keys)
    assert length & (length - 1) == 0
    assert length <= 1 << power
    assert length == 1 << power or 2 * length > size
    assert len(set(keys)) == length
    assert all(isinstance(k, int) and 1 <= k <= size for k in keys)


def test_a_relative_parameter_follows_an_earlier_one() -> None:
    rows = pool(
        [parameter("integer", min=1, max="size-10"), parameter("relative", position=0, plus=9)],
        64,
        100,
        "",
    )
    assert len(rows) == 64
    assert all(high - low == 9 for low, high in rows)  # pyright: ignore[reportOperatorIssue]
    assert len({low for low, _ in rows}) > 20


def test_a_parameter_relative_to_a_later_one_is_refused() -> None:
    with pytest.raises(UsageError, match="parameter 0 is relative to a later one"):
        pool([parameter("relative", position=0)], 4, 10, "")


PINNED: dict[str, list[Any]] = {
    "integer": [167, 405, 43, 449, 517],
    "permutation": [5, 0, 2, 4, 3, 1],
    "text": ["Nxr5P", "Qgitu7jG", "PX"],
    "blob": [b"\x97g", b"v\x86\x82"],
}
