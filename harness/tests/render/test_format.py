import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.render.document import format as fmt
from sqlitmus.results.report import Interval

positive = st.floats(min_value=1e-3, max_value=1e12)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(812.3, 803.0, 821.0), ("812\u202fns", "[803, 821]")),
        (Interval(1_953.0, 1_940.0, 1_966.0), ("1.95\u202fµs", "[1.94, 1.97]")),
        (Interval(38_040_000.0, 37_700_000.0, 38_400_000.0), ("38.0\u202fms", "[37.7, 38.4]")),
        (Interval(2.5e9, None, None), ("2.50\u202fs", "")),
        (Interval(999.7, 999.6, 999.8), ("0.9997\u202fµs", "[0.9996, 0.9998]")),
        (Interval(2_400.0, 900.0, 3_900.0), ("2.4\u202fµs", "[0.9, 3.9]")),
    ],
)
def test_time_shows_what_its_interval_supports(interval: Interval, text: tuple[str, str]) -> None:
    assert fmt.time(interval) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(0.7612, 0.74, 0.79), ("0.76×", "[0.74, 0.79]")),
        (Interval(1.0041, 1.0011, 1.0071), ("1.004×", "[1.001, 1.007]")),
        (Interval(12.31, 9.0, 15.0), ("12×", "[9, 15]")),
        (Interval(1.3, None, None), ("1.30×", "")),
        (Interval(0.37, 0.0, 3810.12), ("0.37×", "[0.00, 3810]")),
    ],
)
def test_ratio(interval: Interval, text: tuple[str, str]) -> None:
    assert fmt.ratio(interval) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(1.042, 1.031, 1.053), ("+4 %", "[+3, +5]")),
        (Interval(1.0421, 1.0391, 1.0451), ("+4.2 %", "[+3.9, +4.5]")),
        (Interval(0.5, 0.4991, 0.5009), ("\u221250.00 %", "[\u221250.09, \u221249.91]")),
        (Interval(1.003, 0.953, 1.053), ("0 %", "[\u22125, +5]")),
        (Interval(3.0, 1.0, 5.0), ("+200 %", "[0, +400]")),
        (Interval(1.5, None, None), ("+50.0 %", "")),
    ],
)
def test_a_change_has_a_sign_and_no_more_digits_than_its_interval_supports(
    interval: Interval, text: tuple[str, str]
) -> None:
    assert fmt.change(interval) == text


def test_differences_carry_their_sign() -> None:
    assert fmt.signed_time(Interval(412.0, 400.0, 424.0))[0] == "+412\u202fns"
    assert fmt.signed_time(Interval(-12.0, -20.0, -4.0)) == (
        "\u221212\u202fns",
        "[\u221220, \u22124]",
    )
    assert fmt.fixed(-0.001, 1) == "0.0"


def test_rates_and_sizes() -> None:
    assert fmt.rate(Interval(1.23e6, 1.21e6, 1.25e6)) == ("1.23\u202fM/s", "[1.21, 1.25]")
    assert fmt.rate_label(200_000.0) == "200\u202fk"
    assert fmt.size(64 * 1024 * 1024.0) == "64.0\u202fMiB"
    assert [fmt.share(x) for x in (0, 0.00123, 0.25)] == ["0 %", "0.123 %", "25.0 %"]
    assert fmt.size(None) == fmt.duration(None) == "unknown"


@given(positive, st.floats(min_value=0, max_value=0.9))
def test_no_number_has_more_than_four_significant_digits_or_fewer_than_two(
    value: float, half: float
) -> None:
    text, bounds = fmt.time(Interval(value, value * (1 - half), value * (1 + half)))
    digits = text.split(fmt.THIN)[0].replace(".", "").lstrip("0")
    whole = text.split(fmt.THIN)[0].split(".")[0]
    assert len(digits) >= 1
    assert len(digits) <= 4 or len(whole) == len(digits)
    assert (bounds == "") == (half is None)


@given(positive)
def test_a_rounded_time_is_near_the_exact_one(value: float) -> None:
    number, unit = fmt.time(Interval(value, None, None))[0].split(fmt.THIN)
    assert float(number) * dict(fmt.UNITS)[unit] == pytest.approx(value, rel=0.006)
