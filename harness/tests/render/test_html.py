"""The page: what holds of each, what it shows, and the colours of its styles."""

import math
import re
from dataclasses import fields, replace
from html import escape
from itertools import combinations

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.html import embed
from tests.render import synthetic
from tests.render.printing import HOSTILE, MergedReport, Page, as_html, assets, cards, poisoned
from tests.render.synthetic import Cell, Fact, Interval, Measure, Report


def drawn(report: Report | MergedReport) -> str:
    """The page, and the cases as its script draws them."""
    return as_html(report) + "".join(cards(report) if isinstance(report, Report) else [])


def test_nothing_refers_to_another_place_and_every_link_arrives(
    each: Report | MergedReport,
) -> None:
    text = as_html(each)
    assert set(re.findall(r"https?://[^\s\"'<)]+", text)) <= {"http://www.w3.org/2000/svg"}
    elements = Page(text).elements
    for _, attrs in elements:
        for name in ("src", "href", "action"):
            assert (attrs.get(name) or "#").startswith(("#", "data:,"))
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {(attrs.get("href") or "#")[1:] for tag, attrs in elements if tag == "a"}
    # the script makes a case or a machine's page when somebody goes there
    cases = {f"c-{place}" for place in range(len(getattr(each, "cases", [])))}
    later = cases | {link for link in links if link.startswith("machine=")} | {""}
    assert links - later <= set(ids)
    assert links & cases or isinstance(each, MergedReport)


@pytest.mark.usefixtures("node")
def test_tables_are_named_and_hostile_texts_never_become_markup(
    each: Report | MergedReport,
) -> None:
    clean, text = drawn(each), drawn(poisoned(each))
    tables = re.findall(r"<table.*?</table>", clean, flags=re.DOTALL)
    assert len(tables) > (3 if isinstance(each, MergedReport) else 10)
    for table in tables:
        assert "<caption" in table
        assert not re.search(r"<th(?![^>]*scope=)[ >]", table)
    page = Page(text)
    assert text.count(escape(HOSTILE[:37])) > 100
    assert not [tag for tag, _ in page.elements if tag in {"img", "iframe"}]
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    scripts = [sum(tag == "script" for tag, _ in one.elements) for one in (page, Page(clean))]
    assert scripts[0] == scripts[1]
    assert "<img" not in text
    assert "49" not in "".join(w for w in page.words if "7*7" in w).replace("{{7*7}}", "")


def test_a_matrix_golden(small: Report, snapshot: SnapshotAssertion) -> None:
    """Complete without a script; words say a verdict or an outcome, and not colour alone."""
    cases = [small.cases[number] for number in (4, 5, 7)]
    page = as_html(replace(small, cases=cases, reference="deno"))
    rows = re.findall(r"<tr data-c=.*?</tr>", page, flags=re.DOTALL)
    assert "\n".join(rows).replace("<td", "\n<td") == snapshot


@pytest.mark.usefixtures("node")
def test_a_case_golden(small: Report, snapshot: SnapshotAssertion) -> None:
    """Words say a verdict, and what puts a time in doubt; the reference is compared with none."""
    table, _, _ = cards(small)[5].partition("</tbody>")
    rows = re.findall("<tr.*?</tr>", table, re.DOTALL)
    assert "\n".join(re.sub(r"(<[^>]*>|\s)+", " ", row) for row in rows) == snapshot


def test_an_empty_report_renders(small: Report) -> None:
    lists = [f.name for f in fields(small) if isinstance(getattr(small, f.name), list)]
    empty = replace(small, machine={}, floor=None, canary=None, **{n: list[str]() for n in lists})
    assert "This run holds no comparison." in as_html(empty)


def test_the_modules_share_one_scope_without_a_name_twice() -> None:
    assert not re.search(r"^(import|export)\b", assets.bundle(), flags=re.MULTILINE)
    names = re.findall(
        r"^(?:export )?(?:async )?(?:function\*?|const|let) +(\w+)",
        "\n".join(assets.asset(f"{name}.js") for name in assets.SCRIPTS),
        flags=re.MULTILINE,
    )
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))


def test_facts_that_differ_are_folded_where_they_are_many(small: Report) -> None:
    facts = [
        Fact("compile options", f"OPTION_{n}", {"node": str(n)}, differs=True) for n in range(30)
    ]
    few, many = (as_html(replace(small, provenance=facts[:count])) for count in (3, 30))
    assert "<h3>Compile options: 3 differences</h3>" in few
    assert '<summary><span class="h3">Compile options: 30 differences</span></summary>' in many


def test_an_address_is_a_link_that_loads_nothing_and_tells_nobody() -> None:
    text = "“2×” <b> (https://github.com/a/b/pull/1, https://c.org/x-y.html)."
    assert assets.linked(text) == (
        "“2×” &lt;b&gt; ("
        '<a href="https://github.com/a/b/pull/1" rel="noreferrer noopener">'
        "https://github.com/a/b/pull/1</a>, "
        '<a href="https://c.org/x-y.html" rel="noreferrer noopener">https://c.org/x-y.html</a>).'
    )
    for plain in ("", "no address", "javascript:alert(1)", 'https://"onload=1'):
        assert "<a" not in assets.linked(plain)


# What the script finds ---------------------------------------------------------------------------


def test_samples_and_positions_come_back(small: Report) -> None:
    stored = embed.page_data(small)["cases"]
    for case, columns in zip(small.cases, stored, strict=True):
        timed = [cell for cell in case.cells if cell.outcome == "ok"]
        scales = [10**exponent for exponent in columns["exponents"]]
        for cell, scale, samples, steps in zip(
            timed, scales, columns["samples"], columns["positions"], strict=True
        ):
            assert [x * scale for x in samples] == pytest.approx(cell.samples, rel=1e-4)
            assert [*np.cumsum(steps)] == cell.positions


def test_a_case_that_compares_other_runners_is_refused(small: Report) -> None:
    first = small.cases[0]
    strangers = replace(first.comparisons, runners=["other", *first.comparisons.runners[1:]])
    with pytest.raises(ValueError, match="other runners"):
        as_html(replace(small, cases=[replace(first, comparisons=strangers)]))


def test_a_number_that_is_none_stays_none() -> None:
    assert embed.logarithms([0.0, math.inf, None, 1.0]) == [[None, None, None, 0]]
    values = [math.nan, 812.34567, 99_999.97, 123_456.7, None]
    assert [*map(embed.short, values)] == [None, 812.346, 100_000.0, 123_457, None]
    assert embed.differences([]) == []


def test_a_drift_stays_within_its_bounds_and_ignores_zeros() -> None:
    def drift(*samples: float | None) -> float:
        time = Interval(100.0, 99.0, 101.0)
        return embed.drift([Cell("node", "ok", time=time, samples=[*samples])])

    assert drift(100.0, 110.0, None, 0.0) == pytest.approx(0.1)
    assert drift(80.0, 110.0) == pytest.approx(0.2)
    assert drift(100.0) == embed.drift([]) == embed.DRIFT_FLOOR
    assert drift(900.0) == embed.DRIFT_CEILING


def asked() -> set[str]:
    """The names that scripts and style sheets look up."""
    names = {figure.name for figure in synthetic.figures.FIGURES} | {"over"}
    for path in (assets.REPORTS / "assets").iterdir():
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"""\[data-f=["'](\w+)["']\]""", text))
        names |= set(re.findall(r"\bby\.(\w+)", text))
    return names


@pytest.mark.usefixtures("node")
def test_a_script_finds_cells_by_names_that_they_have_and_not_by_their_places(
    small: Report, ab: Report, claimed: Report, made: tuple[MergedReport, list[bytes]]
) -> None:
    loaded = synthetic.build(cases=1, blocks=10)
    case = loaded.cases[0]
    measured = {figure.name: Measure(1e6) for figure in synthetic.figures.FIGURES}
    case = replace(case, cells=[replace(cell, figures=measured) for cell in case.cells])
    reports = (small, ab, replace(loaded, cases=[case]), claimed, made[0])
    text = "".join(map(drawn, reports))
    # A document's own tables name all their columns.
    worked = re.findall(r'<table (?!class="doc").*?</table>', text, flags=re.DOTALL)
    assert set(re.findall(r'data-f="([^"]*)"', "".join(worked))) <= asked()
    assert asked() <= set(re.findall(r'data-f="([^"]*)"', text))
    for script in ("cases", "matrix", "visible", "merged", "main"):
        places = r"\.cells\[|cellIndex|rowIndex|= row\.cells|nth-child"
        assert not re.search(places, assets.asset(f"{script}.js"))


# Colours -----------------------------------------------------------------------------------------

TOKENS = assets.asset("tokens.css")
HUES = ["node", "bun", "deno", "rust", "dotnet"]
# Red, green and blue as Machado, Oliveira and Fernandes 2009 have them of deuteranopes; as XYZ.
DEUTERANOPIA = np.array(
    [
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ]
)
XYZ = np.array(
    [
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    ]
)
WHITE = np.array((0.95047, 1.0, 1.08883))


def colours(name: str) -> tuple[str, str]:
    """A token's colour in the light and in the dark theme."""
    both = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", TOKENS)
    if both:
        return both[1], both[2]
    one = re.search(rf"--{name}: (#\w{{6}});", TOKENS)
    assert one, name
    return one[1], one[1]


def linear(colour: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Red, green and blue as shares of light."""
    parts = np.array([*bytes.fromhex(colour[1:])]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, two: str) -> float:
    dark, bright = sorted(float(XYZ[1] @ linear(each)) for each in (one, two))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("least", "names", "grounds"),
    [
        (4.5, "ink", "paper sheet sunk warn-fill f1 f2 f3 f4 f5 s1 s2 s3 s4 s5"),
        (4.5, "dim", "paper sheet sunk hatch"),
        (4.5, "fast-text slow-text", "paper sunk"),
        (4.5, "warn", "paper warn-fill hatch sheet"),
        (4.5, "link", "paper"),
        (3.0, "node bun deno rust dotnet other fast slow", "sheet"),
    ],
)
def test_texts_and_marks_stand_out(least: float, names: str, grounds: str) -> None:
    pairs = [(name, ground) for name in names.split() for ground in grounds.split()]
    for name, ground in pairs:
        found = map(contrast, colours(name), colours(ground))
        assert min(found) >= least, (name, ground)


def seen_by_deuteranopes(colour: str) -> tuple[float, float, float]:
    """The colour in CIE Lab, as it is seen without the pigment for green."""
    shares = XYZ @ np.clip(DEUTERANOPIA @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(shares > 0.008856, np.cbrt(shares), 7.787 * shares + 16 / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_hues_of_runtimes_stay_apart_without_green() -> None:
    seen = {hue: seen_by_deuteranopes(colours(hue)[0]) for hue in HUES}
    assert not [
        (one, two) for one, two in combinations(HUES, 2) if math.dist(seen[one], seen[two]) < 25
    ]


def test_a_browser_without_light_dark_has_every_colour() -> None:
    fallback = assets.styles().partition("@supports not (color:light-dark(")[2]
    light, _, dark = fallback.partition("@media screen and (prefers-color-scheme:dark)")
    for name in re.findall(r"^  (--[\w-]+): light-dark", TOKENS, re.MULTILINE):
        for theme, text in enumerate((light, dark)):
            assert f"{name}:{colours(name[2:])[theme]};" in text
