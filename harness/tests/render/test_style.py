"""Contrast of the palette, from the style sheet itself (WCAG 2.2, relative luminance)."""

import re

import pytest

from sqlitmus.render.html import assets

TOKENS = assets.asset("tokens.css")
FILLS = [f"{side}{step}" for side in "fs" for step in range(1, 6)]


def colours(name: str) -> tuple[str, str]:
    """A token's colour in the light and in the dark theme."""
    both = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", TOKENS)
    if both:
        return both[1], both[2]
    one = re.search(rf"--{name}: (#\w{{6}});", TOKENS)
    assert one, name
    return one[1], one[1]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, two: str) -> float:
    bright, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [("ink", g) for g in ("paper", "sheet", "sunk", "warn-fill", *FILLS)]
    + [("dim", g) for g in ("paper", "sheet", "sunk", "hatch")]
    + [("fast-text", "paper"), ("slow-text", "paper"), ("fast-text", "sunk"), ("slow-text", "sunk")]
    + [
        ("warn", "paper"),
        ("warn", "warn-fill"),
        ("warn", "hatch"),
        ("warn", "sheet"),
        ("link", "paper"),
    ],
)
def test_text_reaches_4_5_to_1(text: str, ground: str, theme: int) -> None:
    assert contrast(colours(text)[theme], colours(ground)[theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("hue", ["node", "bun", "deno", "rust", "dotnet", "other", "fast", "slow"])
def test_marks_reach_3_to_1(hue: str, theme: int) -> None:
    assert contrast(colours(hue)[theme], colours("sheet")[theme]) >= 3.0
