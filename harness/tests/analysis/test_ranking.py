"""Who is ahead by given contrasts, and the one way in which it is said."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis.ranking import Table, rank
from sqlitmus.render.document.ranking import Amounts, say
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.vocabulary.verdicts import Verdict

MARGIN = 0.02
OPEN, SLOWER = (Verdict.NOT_RESOLVED, 1.03, 0.05), (Verdict.SLOWER, 1.5, 0.1)
SAME, NEAR = (Verdict.EQUIVALENT, 1.001, 0.005), (Verdict.SLOWER, 1.01, 0.005)
Told = tuple[Verdict, float, float]
MS = Amounts({name: f"{number} ms" for number, name in enumerate("abcd", 1)}, " a query")


def table(told: dict[tuple[str, str], Told]) -> Table:
    both: dict[tuple[str, str], Contrast] = {}
    for (runner, reference), (verdict, value, half) in told.items():
        low, high = value - half, value + half
        both[runner, reference] = Contrast(runner, reference, Interval(value, low, high), verdict)
        back = Interval(1 / value, 1 / high, 1 / low)
        both[reference, runner] = Contrast(reference, runner, back, verdict.opposite)
    return both


def said(told: dict[tuple[str, str], Told], names: str = "abc", **how: str) -> str:
    return " ".join(say(rank(table(told), list(names), margin=MARGIN, **how)))  # type: ignore[arg-type]


def test_a_ratio_that_is_not_resolved_is_never_told() -> None:
    """c is behind b alone: of a, which is named first, no ratio is known."""
    told = {("b", "a"): OPEN, ("c", "a"): OPEN, ("c", "b"): SLOWER, ("d", "a"): SLOWER,
            ("d", "b"): SLOWER, ("d", "c"): OPEN}  # fmt: skip
    assert said(told, "abcd") == (
        "a and b are not told apart. d takes 1.5× [1.4, 1.6] as long as a. c takes 1.5× "
        "[1.4, 1.6] as long as b."
    )
    assert said(told, "abcd", reference="a") == (
        "a and b are not told apart. d takes 1.5× [1.4, 1.6] as long as a. c is not told apart "
        "from a."
    )


def test_what_follows_from_two_contrasts_is_told_without_a_ratio() -> None:
    told = {("b", "a"): SLOWER, ("c", "b"): SLOWER, ("c", "a"): OPEN}
    expected = (
        "a is fastest. b takes 1.5× [1.4, 1.6] as long as a. c is slower than a, by how much is "
        "not resolved."
    )
    assert said(told) == said(told, reference="a") == expected
    assert said(told, reference="c") == (
        "a is fastest. b takes 0.67× [0.63, 0.71] as long as c. a is faster than c, by how much "
        "is not resolved."
    )


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (
            {("b", "a"): SLOWER, ("c", "a"): SLOWER, ("c", "b"): OPEN},
            (
                "a is fastest: 1 ms a query. b takes 2 ms (1.5× [1.4, 1.6] as long as a) and c "
                "3 ms (1.5× [1.4, 1.6])."
            ),
        ),
        (
            {("b", "a"): OPEN, ("c", "a"): SLOWER, ("c", "b"): SLOWER},
            (
                "a and b are not told apart: a takes 1 ms and b 2 ms a query. c takes 3 ms (1.5× "
                "[1.4, 1.6] as long as a)."
            ),
        ),
        (
            {("b", "a"): SAME, ("c", "a"): SLOWER, ("c", "b"): OPEN},
            (
                "a and b are equivalent (within 2 %): a takes 1 ms and b 2 ms a query. c takes "
                "3 ms (1.5× [1.4, 1.6] as long as a)."
            ),
        ),
        (
            {("b", "a"): NEAR, ("c", "a"): OPEN, ("c", "b"): SLOWER},
            (
                "a is fastest: 1 ms a query. b (2 ms) is within 2 % of a. c (3 ms) is slower than "
                "a, by how much is not resolved."
            ),
        ),
    ],
)
def test_amounts_stand_beside_the_ratios(told: dict[tuple[str, str], Told], text: str) -> None:
    assert " ".join(say(rank(table(told), list("abc"), margin=MARGIN), MS)) == text


def test_of_one_alone_nothing_is_compared() -> None:
    assert said({}, "a") == "a alone is left, and there is nobody to compare it with."
    assert said({}, "") == "nobody is recommended: no runner completed all of these."


@given(
    st.lists(st.sampled_from([SLOWER, OPEN, SAME, NEAR]), min_size=6, max_size=6),
    st.permutations("abcd"),
    st.sampled_from([None, *"abcd"]),
)
def test_the_order_of_runners_changes_nothing_and_each_is_named(
    verdicts: list[Told], names: list[str], reference: str | None
) -> None:
    pairs = table(dict(zip(combinations("abcd", 2), verdicts, strict=True)))
    first, again = (
        rank(pairs, order, reference=reference, margin=MARGIN) for order in ("abcd", names)
    )
    assert sorted(first.front) == sorted(again.front)
    assert (first.equivalent, bool(first.close)) == (again.equivalent, bool(again.close))
    for order in (first, again):
        resolved = [each for each in order.contrasts if each.verdict.different]
        for sentence in say(order):
            assert sentence.endswith(".")
            assert sentence.count("×") <= len(resolved)
        if first.front:
            assert all(name in " ".join(say(order)) for name in "abcd")
