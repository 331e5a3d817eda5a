"""Which differences a run is foretold to resolve."""

import numpy as np
import pytest

from sqlitmus.run.plan.budget import Forecast, forecast
from sqlitmus.vocabulary.verdicts import Correction
from tests.run.planned import planned

CELLS = {f"case-{n}": ["a", "b", "c"] for n in range(10)}


def made(
    blocks: int = 30,
    correction: Correction = "bh",
    deviation: float | None = 0.01,
    other: float | None = 0.01,
    times: tuple[float, float, float] | None = None,
    sessions: int = 1,
    factor: float = 1.0,
) -> Forecast:
    a, b, c = times or (None, None, None)
    counts = {
        name: {"a": planned(deviation, a), "b": planned(other, b), "c": planned(other, c)}
        for name in CELLS
    }
    foretold = forecast(counts, CELLS, blocks, correction, sessions, factor)
    assert foretold is not None
    return foretold


def test_nothing_is_foretold_of_a_run_that_gives_no_verdict() -> None:
    counts = {name: dict.fromkeys(CELLS[name], planned()) for name in CELLS}
    assert forecast(counts, CELLS, 9, "bh") is None
    assert forecast(counts, CELLS, 10, "bh") is not None


def test_nothing_is_foretold_without_a_pilot_or_of_a_runner_alone() -> None:
    counts = {name: dict.fromkeys(CELLS[name], planned(None)) for name in CELLS}
    assert forecast(counts, CELLS, 30, "bh") is None
    known = {name: dict.fromkeys(CELLS[name], planned()) for name in CELLS}
    assert forecast(known, {"case-0": ["a"]}, 30, "bh") is None


def test_more_blocks_tell_smaller_differences() -> None:
    few, some, many = (made(blocks).half for blocks in (10, 30, 120))
    assert few > some > many > 0
    assert some / many == pytest.approx(2, rel=0.1)


def test_the_correction_that_decides_is_in_it() -> None:
    plain, explored, decided = (made(correction=c).half for c in ("none", "bh", "holm"))
    assert plain < explored < decided
    assert made(factor=2.3).half > explored


def test_the_more_differ_in_the_pilot_the_less_strict_is_the_correction() -> None:
    apart, equal, half = made(times=(1, 2, 4)), made(times=(1, 1, 1)), made()
    assert (apart.differing, apart.comparisons) == (30, 30)
    assert (equal.differing, half.differing) == (0, 15)
    assert apart.half < half.half < equal.half


def test_a_difference_too_small_to_be_resolved_does_not_help_the_others() -> None:
    assert made(times=(1, 1.0001, 1.0002)).half == made(times=(1, 1, 1)).half


def test_few_sessions_promise_little() -> None:
    assert made(135, sessions=3).half > 2 * made(126, sessions=9).half
    assert made(126, sessions=9).half > made(126).half


def test_a_forecast_is_of_half_and_of_nine_in_ten() -> None:
    counts = {
        f"case-{n}": {"a": planned(0.01), "b": planned(0.01 if n < 6 else 0.2)} for n in range(10)
    }
    foretold = forecast(counts, {name: ["a", "b"] for name in counts}, 30, "bh")
    assert foretold is not None
    assert foretold.most > 1.5 * foretold.half


def test_a_runner_tried_too_rarely_varies_like_the_others() -> None:
    assert made(other=None).half == pytest.approx(made(other=0.01).half)
    assert made(other=0.03).half > made().half


def test_one_lucky_pilot_promises_nothing_grand() -> None:
    deviations = np.random.default_rng(2).chisquare(2, 10) ** 0.5 / 2**0.5 * 0.02
    counts = {
        name: {"a": planned(deviation), "b": planned(None)}
        for name, deviation in zip(CELLS, deviations.tolist(), strict=True)
    }
    foretold = forecast(counts, {name: ["a", "b"] for name in CELLS}, 30, "none")
    assert foretold is not None
    assert foretold.most < 2 * foretold.half
