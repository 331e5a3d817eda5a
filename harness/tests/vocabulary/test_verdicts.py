"""One enumeration of verdicts: codes are places, sides exchange, every symbol is told apart."""

import json

import pytest

from sqlitmus.vocabulary.verdicts import Verdict


def test_codes_are_the_places_that_stored_columns_hold() -> None:
    assert [verdict.code for verdict in Verdict] == list(range(len(Verdict)))
    assert Verdict.MATERIALLY_FASTER.code == 0
    assert Verdict.NOT_TESTABLE.code == 6


@pytest.mark.parametrize("verdict", Verdict)
def test_exchanging_the_runners_exchanges_the_sides(verdict: Verdict) -> None:
    exchanged = {"faster": "slower", "slower": "faster"}
    assert verdict.opposite.side == exchanged.get(verdict.side, verdict.side)
    assert verdict.opposite.material == verdict.material
    assert verdict.opposite.opposite is verdict


@pytest.mark.parametrize("shown", ["letter", "symbol", "ascii", "meaning", "rank"])
def test_verdicts_are_told_apart(shown: str) -> None:
    values = [getattr(verdict, shown) for verdict in Verdict]
    assert len(set(values)) == len(values)


def test_what_is_decided_comes_before_what_is_not_and_losses_before_gains() -> None:
    ordered = sorted(Verdict, key=lambda verdict: verdict.rank)
    assert [v.different for v in ordered] == [True] * 4 + [False] * 3
    assert [v.side for v in ordered[:4]] == ["slower", "slower", "faster", "faster"]


def test_a_verdict_is_its_words_in_json_and_text() -> None:
    assert json.dumps([Verdict.SLOWER]) == '["slower"]'
    assert f"{Verdict.MATERIALLY_FASTER}" == "materially faster"
    assert Verdict("equivalent") is Verdict.EQUIVALENT
