import math
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from html import escape
from itertools import combinations

import pytest

from sqlitmus.render.document import comparison
from sqlitmus.render.html import assets, view
from sqlitmus.render.html import page as html
from sqlitmus.render.html.assets import linked
from sqlitmus.results.report import Fact, Report
from tests.analysis import runs
from tests.analysis.test_notices import WARMING, run
from tests.render import synthetic
from tests.render.printing import HOSTILE, as_html, as_markdown, as_text, cards, parse, poisoned


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("kind", ["small", "ab", "claimed", "merged"])
def test_hostile_texts_never_become_markup(kind: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(kind)
    clean, text = (
        as_html(each) + "".join(cards(each) if isinstance(each, Report) else [])
        for each in (report, poisoned(report))
    )
    page = parse(text)
    assert text.count(escape(HOSTILE[:37])) > 100
    assert not [tag for tag, _ in page.elements if tag in {"img", "iframe"}]
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    scripts = [sum(tag == "script" for tag, _ in one.elements) for one in (page, parse(clean))]
    assert scripts[0] == scripts[1]
    assert "<img" not in text
    assert "49" not in "".join(w for w in page.words if "7*7" in w).replace("{{7*7}}", "")


KINDS = pytest.mark.parametrize("kind", ["small", "ab", "claimed", "merged"])


@KINDS
def test_nothing_refers_to_another_place(kind: str, request: pytest.FixtureRequest) -> None:
    text = as_html(request.getfixturevalue(kind))
    outside = {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"https?://[^\s\"'<)]+", text)) <= outside
    for _, attrs in parse(text).elements:
        for name in ("src", "href", "action"):
            assert (attrs.get(name) or "#").startswith(("#", "data:,"))


@KINDS
def test_every_id_is_unique_and_every_link_arrives(
    kind: str, request: pytest.FixtureRequest
) -> None:
    report = request.getfixturevalue(kind)
    elements = parse(as_html(report)).elements
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {(attrs.get("href") or "#")[1:] for tag, attrs in elements if tag == "a"}
    # the script makes a case or a machine's page when somebody goes there
    cases = {f"c-{place}" for place in range(len(getattr(report, "cases", [])))}
    later = cases | {link for link in links if link.startswith("machine=")} | {""}
    assert links - later <= set(ids)
    assert links & cases or kind == "merged"


def test_the_policy_names_the_scripts_of_the_page(small: Report) -> None:
    page = parse(as_html(small))
    policy = next(a["content"] for _, a in page.elements if "http-equiv" in a)
    assert policy is not None
    assert f"'sha256-{assets.digest(assets.bundle())}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy


def test_tables_are_complete_without_a_script(small: Report) -> None:
    text = as_html(small)
    body = text[text.index('<table id="grid">') : text.index("</table>", text.index('id="grid"'))]
    rows = re.findall(r"<tr data-c=.*?</tr>", body, flags=re.DOTALL)
    assert len(rows) == len(small.cases)
    for row in rows:
        assert len(re.findall(r"<td ", row)) == len(small.runners)
        # Each cell says its verdict or its outcome in words, not by colour alone.
        for cell in re.split(r"<td ", row)[1:]:
            worded = r"<span class=v>[a-z0-9:.]|^class=(na|bad) [^>]*>[a-z]"
            assert re.search(worded, cell, flags=re.IGNORECASE), cell
    for word in ("materially faster", "not installed", "unsupported", "wrong answer", "failed"):
        assert word in body


@pytest.mark.usefixtures("node")
@KINDS
def test_every_table_has_a_caption_and_scoped_heads(
    kind: str, request: pytest.FixtureRequest
) -> None:
    report = request.getfixturevalue(kind)
    text = as_html(report) + "".join(cards(report) if isinstance(report, Report) else [])
    tables = re.findall(r"<table.*?</table>", text, flags=re.DOTALL)
    assert len(tables) > (3 if kind == "merged" else 10)
    for table in tables:
        assert "<caption" in table
        assert not re.search(r"<th(?![^>]*scope=)[ >]", table)


def forest(card: str) -> list[str]:
    """The rows of a case's table."""
    return card.partition("</tbody>")[0].split("<tr class=")[1:]


@pytest.mark.usefixtures("node")
def test_secondary_figures_say_their_verdict_in_words(small: Report) -> None:
    index = next(i for i, case in enumerate(small.cases) if case.scenario == "get-pk")
    card = cards(small)[index]
    rows = dict(zip([r.name for r in small.runners], forest(card), strict=True))
    assert re.search(r"▲</i> 0\.44\d?×<span class=\"v\"> materially faster \[", rows["rust"])
    assert "materially less" in rows["rust"]
    assert "against the floor: materially slower" in rows["node"]
    # The reference has figures and nothing to compare them with.
    assert "materially faster" not in rows["node"]
    assert rows["node"].count('class="m') == 1


@pytest.mark.usefixtures("node")
def test_what_puts_a_time_in_doubt_stands_out(small: Report) -> None:
    for case, card in zip(small.cases, cards(small), strict=True):
        rows = "".join(forest(card))
        for kind in ("slowdown", "no steady state"):
            there = sum(cell.steadiness == kind for cell in case.cells)
            assert rows.count(f"<b>! {kind}</b>") == there


def test_the_page_says_how_verdicts_were_corrected_and_what_the_self_test_said(
    small: Report, ab: Report
) -> None:
    count = sum(p is not None for case in small.cases for p in case.comparisons.p)
    for report, correction, selftest in (
        (small, f"for {count} comparisons by Benjamini\u2013Hochberg (5 % false among", "yet:"),
        (ab, "for 23 comparisons by Holm (5 % any false alarm)", "passed."),
        (replace(small, correction="none"), "not corrected", "yet:"),
        (replace(ab, selftest=replace(synthetic.SELFTEST, passed=False)), "Holm", "FAILED."),
    ):
        text = as_html(report)
        assert correction in text
        foot = text[text.index("<footer") :]
        assert selftest in foot[: foot.index("</footer>")]


def test_a_comparison_folds_what_does_not_differ_and_counts_it(ab: Report) -> None:
    text = as_html(ab)
    assert 'id="grid"' not in text
    assert 'id="summary"' not in text
    changes = [s for s in comparison.build(ab).sections if "change-" in s.id]
    assert len(changes) > 1
    for section, table in ((section, next(section.tables())) for section in changes):
        place = text.index(f'<h2 id="{section.id}-title"')
        part = text[place : text.index("<h2 ", place + 1)]
        open_, _, folded = part.partition('<details class="fold">')
        rows = table.folded.rows if table.folded else []
        assert open_.count(" data-c=") == len(table.rows)
        assert folded.split("</details>")[0].count(" data-c=") == len(rows)
        assert f"<summary>{table.folded.count if table.folded else ''}: show</summary>" in folded
    assert "Geometric means" in text


def test_a_reference_that_failed_leaves_times_in_its_place(small: Report) -> None:
    report = replace(small, reference="deno")
    failed = next(
        i
        for i, case in enumerate(report.cases)
        for c in case.cells
        if c.runner == "deno" and c.outcome == "failed"
    )
    cases = [one for group in view.group_views(report) for one in group.cases]
    row = next(one for one in cases if one.index == failed)
    assert "not compared" in [entry.words for entry in row.entries]
    assert "failed" in [entry.text for entry in row.entries]


TIMED = r"[\d.]+ [nµm]s"
IN_HTML = rf"data-r=2><b>{TIMED}</b><small>still warming up</small><span class=v>still warmi"


@pytest.mark.parametrize(
    ("form", "marked"),
    [
        (as_markdown, rf"\n\| `mix` \|.* \| {TIMED} \(still warming up\) \|\n"),
        (as_text, rf"\ndotnet +{TIMED} \(still warming up\)\n"),
        (as_html, rf"{IN_HTML}ng up: its second half took 11\.0 % less time than its first"),
    ],
)
def test_the_matrix_marks_who_still_warms_up(form: Callable[[Report], str], marked: str) -> None:
    text = form(runs.analyse(run({"dotnet": WARMING}))).replace("\u202f", " ")
    assert re.search(marked, text)


def test_the_row_of_a_group_has_its_mean_and_that_of_a_single_case_none() -> None:
    report = synthetic.build(cases=9, runners=4, blocks=12, seed=1)
    several, alone = report.groups[:2]
    standings = [replace(s, cases=1 + (s.group != alone)) for s in report.standings]
    groups = {g.name: g.means for g in view.group_views(replace(report, standings=standings))}
    assert groups[alone] == []
    means = {s.runner: s.contrast for s in standings if (s.group, s.reference) == (several, "node")}
    for entry in groups[several]:
        name = report.runners[entry.runner].name
        assert entry.verdict == getattr(means.get(name), "verdict", None)


def test_an_empty_report_renders(small: Report) -> None:
    lists = [f.name for f in fields(small) if isinstance(getattr(small, f.name), list)]
    empty = replace(small, machine={}, floor=None, canary=None, **{n: list[str]() for n in lists})
    assert "This run holds no comparison." in as_html(empty)


def test_a_page_of_2000_cells_stays_under_its_size() -> None:
    text = html.render(synthetic.build(cases=200, runners=10, blocks=30))
    assert len(text.encode()) < 1_200_000


@pytest.mark.parametrize("name", assets.SCRIPTS)
def test_the_bundle_keeps_no_import_or_export(name: str) -> None:
    assert (assets.REPORTS / "assets" / f"{name}.js").exists()
    assert not re.search(r"^(import|export)\b", assets.bundle(), flags=re.MULTILINE)


def test_names_at_the_top_of_the_modules_are_unique() -> None:
    # They share one scope in the page.
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
    assert linked(text) == (
        "“2×” &lt;b&gt; ("
        '<a href="https://github.com/a/b/pull/1" rel="noreferrer noopener">'
        "https://github.com/a/b/pull/1</a>, "
        '<a href="https://c.org/x-y.html" rel="noreferrer noopener">https://c.org/x-y.html</a>).'
    )
    for plain in ("", "no address", "javascript:alert(1)", 'https://"onload=1'):
        assert "<a" not in linked(plain)


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


def sumprod(one: Sequence[float], two: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, two, strict=True))


def linear(colour: str) -> list[float]:
    """Red, green and blue as shares of light."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def contrast(one: str, two: str) -> float:
    dark, bright = sorted(sumprod(linear(each), (0.2126, 0.7152, 0.0722)) for each in (one, two))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [("ink", g) for g in ("paper", "sheet", "sunk", "warn-fill", *FILLS)]
    + [("dim", g) for g in ("paper", "sheet", "sunk", "hatch")]
    + [(f"{side}-text", g) for g in ("paper", "sunk") for side in ("fast", "slow")]
    + [("warn", g) for g in ("paper", "warn-fill", "hatch", "sheet")]
    + [("link", "paper")],
)
def test_text_reaches_4_5_to_1(text: str, ground: str, theme: int) -> None:
    assert contrast(colours(text)[theme], colours(ground)[theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("hue", ["node", "bun", "deno", "rust", "dotnet", "other", "fast", "slow"])
def test_marks_reach_3_to_1(hue: str, theme: int) -> None:
    assert contrast(colours(hue)[theme], colours("sheet")[theme]) >= 3.0


DEUTERANOPIA = (  # Machado, Oliveira and Fernandes 2009, on linear RGB
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)


def seen_by_deuteranopes(colour: str) -> tuple[float, float, float]:
    """The colour in CIE Lab, as it is seen without the pigment for green."""

    seen = [min(1.0, max(0.0, sumprod(row, linear(colour)))) for row in DEUTERANOPIA]
    x, y, z = (
        share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116
        for share in (sumprod(row, seen) / white for row, white in zip(XYZ, WHITE, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_hues_of_runtimes_stay_apart_without_green() -> None:
    hues = ["node", "bun", "deno", "rust", "dotnet"]
    labs = {hue: seen_by_deuteranopes(colours(hue)[0]) for hue in hues}
    near = {
        (one, two): round(math.dist(labs[one], labs[two]))
        for one, two in combinations(hues, 2)
        if math.dist(labs[one], labs[two]) < 25
    }
    assert near == {}


def test_a_browser_without_light_dark_has_every_colour() -> None:
    fallback = assets.styles().partition("@supports not (color:light-dark(")[2]
    light, _, dark = fallback.partition("@media screen and (prefers-color-scheme:dark)")
    for name in re.findall(r"^  (--[\w-]+): light-dark", TOKENS, re.MULTILINE):
        for theme, text in enumerate((light, dark)):
            assert f"{name}:{colours(name[2:])[theme]};" in text
