"""Claims as files: what is read, and what is said of a claim that cannot be measured."""

import re
from pathlib import Path

import pytest

from sqlitmus.catalog import claims
from sqlitmus.catalog.choose import of_claims
from sqlitmus.catalog.claims import Claim, figure_problems
from sqlitmus.vocabulary.errors import UsageError
from tests.known import KNOWN, ROOT

TINY = """
title = "A row by its key is faster in the shape array"
source = "A post"
published_on = "8 cores"
hypothesis = "An array is cheaper than an object."

[lessons]
reproduced = "Take arrays."
different = "Take arrays, for less."
unresolved = "It cannot be told."
reversed = "Take objects."
untestable = "Ask elsewhere."

[[groups]]
title = "get(): times as fast"
metric = "steady"
base = { case = "get-pk" }
new = { case = "get-pk@shape={shape}" }
runners = ["node", "rust"]
rows = [
    { name = "array", published = 1.2, said = "20 %", values = { shape = "array" } },
    { name = "elsewhere", untestable = "no such build", values = { shape = "no-such" } },
]

[[tables]]
title = "Both"
metric = "steady"
cases = ["get-pk"]
runners = ["bun"]
"""


def read(folder: Path, text: str = TINY, name: str = "a-arrays.toml") -> dict[str, Claim]:
    (folder / name).write_text(text, "utf-8")
    return claims.read(folder, KNOWN)


def test_a_claim_is_named_by_its_file_and_knows_its_cells(tmp_path: Path) -> None:
    read(tmp_path)
    found = read(tmp_path, name="b-more.toml")
    assert list(found) == ["arrays", "more"]
    assert list(found["arrays"].cells()) == [
        ("get-pk", "node"),
        ("get-pk@shape=array", "node"),
        ("get-pk", "rust"),
        ("get-pk@shape=array", "rust"),
        ("get-pk", "bun"),
    ]


def test_claims_are_chosen_by_name(tmp_path: Path) -> None:
    read(tmp_path)
    assert list(read(tmp_path, name="b-more.toml")) == ["arrays", "more"]
    assert list(claims.read(tmp_path, KNOWN, ["more"])) == ["more"]
    with pytest.raises(UsageError, match=r"there is no claim 'arays'; did you mean arrays\?"):
        claims.read(tmp_path, KNOWN, ["arays"])


def test_a_claim_is_the_same_once_it_was_frozen(tmp_path: Path) -> None:
    claim = read(tmp_path)["arrays"]
    assert Claim.model_validate_json(claim.model_dump_json()) == claim


def test_this_clone_s_own_claims_can_be_measured() -> None:
    found = claims.read(ROOT / "scenarios" / "claims", KNOWN)
    assert len(found) >= 6
    for claim in found.values():
        rows = [row for group in claim.groups for row in group.rows]
        assert list(claim.cells()) or all(row.untestable for row in rows), claim.name


BROKEN = [
    (
        'name = "array", published = 1.2',
        'name = "array", key = true',
        ["groups[0]: ", "row 'array': a key row needs a published ratio"],
    ),
    ("published = 1.2", "published = -1.2", ["groups[0].rows[0].published: ", "-1.2 is no ratio"]),
    ("published = 1.2", "published = 1.0", ["published = 1 is no effect; set expects"]),
    (
        'metric = "steady"\nbase',
        'metric = "steady"\nexpects = "no effect"\nbase',
        ["groups[0]: ", "needs the tolerance that still counts as none"],
    ),
    (
        'metric = "steady"\nbase',
        'metric = "steady"\nexpects = "no effect"\ntolerance = 1.1\ncompare = "difference"\nbase',
        ["groups[0]: ", 'expects = "no effect" is said of ratios'],
    ),
    ('metric = "steady"\nbase', 'metric = "wall"\nper = "row"\nbase', ["wall is the time of a"]),
    ('metric = "steady"\nbase', 'metric = "steddy"\nbase', ["groups[0].metric: "]),
    ('source = "A post"\n', "", [":1: source: is missing; add it"]),
    (
        'title = "get(): times',
        'titel = "get(): times',
        [":15: groups[0].titel: there is no such key"],
    ),
    (
        '"node", "rust"',
        '"node", "rast"',
        ["groups[0].rows[0]: there is no runner 'rast'; did you mean rust"],
    ),
    (
        'base = { case = "get-pk" }',
        'base = { case = "get-pkk" }',
        ["groups[0].rows[0]: there is no scenario 'get-pkk'; did you mean get-pk"],
    ),
    (
        'shape = "array"',
        'shape = "arrray"',
        ["groups[0].rows[0]: there is no value of get-pk's shape 'arrray'; did you mean array?"],
    ),
    (
        'base = { case = "get-pk" }',
        'base = { case = "get-pk@shape=object" }',
        ["groups[0].rows[0]: the case 'get-pk@shape=object' is called 'get-pk'; write that"],
    ),
    (
        'values = { shape = "array" }',
        'values = { form = "array" }',
        ["groups[0].rows[0]: row 'array' has no value for 'shape'"],
    ),
    ('cases = ["get-pk"]', 'cases = ["get-pkk"]', ["tables[0]: there is no scenario 'get-pkk'"]),
    ('runners = ["bun"]', 'runners = ["bum"]', ["tables[0]: there is no runner 'bum'"]),
    ('title = "A row', "title = A row", ["cannot be read as a claim: "]),
    ('source = "A post"', 'source = " "', [":3: source: is empty"]),
    ('reversed = "Take objects."', 'reversed = ""', [":11: lessons.reversed: is empty"]),
    (', said = "20 %"', "", [":21: groups[0].rows[0].published: ", "needs `said`"]),
    ("20 %", "6 against 5", ["published: said = '6 against 5': a figure without a unit"]),
    (
        "20 %",
        "9 ms against 6 ms",
        ["published = 1.2, but '9 ms against 6 ms' gives 1.5 or 0.6667; correct one of them"],
    ),
    ("published = 1.2", "published = nan", [":21: groups[0].rows[0].published: nan is no ratio"]),
    ("published = 1.2", "published = inf", ["inf is no ratio"]),
    (
        'metric = "steady"\nbase',
        'metric = "steady"\ntolerance = inf\nbase',
        [":17: groups[0].tolerance: inf counts almost any size as the same; expected at most 10"],
    ),
    ('metric = "steady"\nbase', 'metric = "steady"\ntolerance = 0.9\nbase', ["tolerance: "]),
    (
        'metric = "steady"\nbase',
        'metric = "steady"\nexpects = "no effect"\ntolerance = 1.1\nbase',
        ["1.2 is an effect by this group's own tolerance, which calls 0.909 to 1.1 none"],
    ),
    (
        'values = { shape = "array" }',
        'values = { shape = "array", rows = "1" }',
        ["groups[0].rows[0].values.rows: no brace of base or new is called {rows}"],
    ),
    (
        'new = { case = "get-pk@shape={shape}" }',
        'new = { case = "get-pk" }',
        ["row 'array' compares get-pk/node with itself"],
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), BROKEN)
def test_what_is_wrong_is_told_with_file_and_place(
    tmp_path: Path, old: str, new: str, said: list[str]
) -> None:
    assert TINY.count(old) == 1
    with pytest.raises(UsageError) as caught:
        read(tmp_path, TINY.replace(old, new))
    for text in said:
        assert text in str(caught.value)
    place = re.escape(str(tmp_path / "a-arrays.toml"))
    for line in str(caught.value).splitlines():
        assert re.match(rf"{place}:(\d+| cannot be read as a claim):", line)


def test_a_claim_without_any_published_figure_or_reason_is_refused(tmp_path: Path) -> None:
    text = TINY.replace("published = 1.2, ", "").replace('untestable = "no such build", ', "")
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert ":1: (top level): no row has a published ratio" in str(caught.value)
    assert "no value of get-pk's shape 'no-such'" in str(caught.value), "told at once"


def test_all_that_is_wrong_is_told_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = TINY.replace('"A post"', '""').replace('"20 %"', '"+30 %"')
    text = text.replace('cases = ["get-pk"]', 'cases = ["get-pkk"]')
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    lines = str(caught.value).splitlines()
    numbered = [line.removeprefix(f"{tmp_path / 'a-arrays.toml'}:") for line in lines]
    assert [line.partition(":")[0] for line in numbered] == [
        str(text[: text.index(mark)].count("\n") + 1)
        for mark in ("source =", "published = 1.2", "[[tables]]")
    ]
    assert "3: source: is empty" in numbered[0]
    assert "published = 1.2, but '+30 %' gives 1.3 or 0.7692; correct one" in numbered[1]


def test_faults_of_a_claim_that_is_not_asked_for_stop_nobody(tmp_path: Path) -> None:
    read(tmp_path)
    (tmp_path / "b-begun.toml").write_text('title = ""\n', "utf-8")
    assert list(claims.read(tmp_path, KNOWN, ["arrays"])) == ["arrays"]
    for names in ([], ["begun"], ["arrays", "begun"]):
        with pytest.raises(UsageError, match=r"b-begun\.toml:1: source: is missing; add it"):
            claims.read(tmp_path, KNOWN, names)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(UsageError, match=r"b-arrays\.toml: .*a-arrays\.toml has that name, too"):
        read(tmp_path, name="b-arrays.toml")
    (tmp_path / "b-arrays.toml").unlink()
    with pytest.raises(UsageError, match=r"plain\.toml: a claim is named by what follows"):
        read(tmp_path, name="plain.toml")


def test_contradictory_publications_name_each_other(tmp_path: Path) -> None:
    lead = "contradicts = "
    with pytest.raises(UsageError, match=r"a-arrays\.toml:1: contradicts: there is no claim 'obj"):
        read(tmp_path, f'{lead}"objects"{TINY}')
    with pytest.raises(UsageError, match=r":1: contradicts: objects does not name this one; write"):
        read(tmp_path, name="b-objects.toml")
    found = read(tmp_path, f'{lead}"arrays"{TINY}', name="b-objects.toml")
    assert [claim.contradicts for claim in found.values()] == ["objects", "arrays"]


def test_a_difference_of_one_millisecond_is_an_effect(tmp_path: Path) -> None:
    text = TINY.replace("published = 1.2", "published = 1.0")
    text = text.replace(
        'metric = "steady"\nbase', 'metric = "steady"\ncompare = "difference"\nbase'
    )
    assert read(tmp_path, text)["arrays"].groups[0].rows[0].published == 1.0


def test_the_canary_of_a_case_is_the_runner_that_most_figures_are_about(tmp_path: Path) -> None:
    more = TINY.replace('runners = ["node", "rust"]', 'runners = ["rust"]', 1)
    keyed = more.replace('said = "20 %"', 'said = "20 %", key = true').replace('"rust"', '"bun"', 1)
    both = {"get-pk": ["node", "rust", "bun"], "get-pk@shape=array": ["node", "rust"]}
    first = read(tmp_path)["arrays"]
    assert of_claims([first], both) == {"get-pk": "node", "get-pk@shape=array": ""}, (
        "the first of those alike, once for the scenario"
    )
    second = read(tmp_path, more, name="b-more.toml")["more"]
    assert set(of_claims([first, second], both).values()) == {"rust", ""}
    third = read(tmp_path, keyed, name="c-keyed.toml")["keyed"]
    assert of_claims([first, second, third], both) == {
        "get-pk": "bun",
        "get-pk@shape=array": "rust",
    }, "a key row outweighs others, where its runner is there"
    assert of_claims([third], {"get-pk": ["node"]}) == {}, "nothing is published of it"
    assert of_claims([], both) == {}, "a run without claims has its own"


@pytest.mark.parametrize(
    ("published", "said"),
    [
        (155.0, "6.0 µs against 930 µs"),
        (1.587, "0.121 s against 0.192 s"),
        (2.40, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms"),
        (1.745, "5,454.5 reads/s against 3,125 reads/s"),
        (2.8, "7,553,000 against 2,701,000 rows/s"),
        (1.5, "900 µs against 0.6 ms"),
        (1.186, "+18.6 %"),
        (0.995, "−0.5 %"),
        (1.14, "1.14 times (issue 271)"),
        (1.63, "1.63 ± 0.05 times as fast"),
        (143.85, "2.66, 154.8 and 312.3 ms against 1.4 to 2.2 ms"),
        (1.0, "without effect"),
        (2.0, "less than half the CPU cycles"),
        (3.0, "12 MB against 4 ms"),
    ],
)
def test_words_that_agree_or_say_no_ratio_pass(published: float, said: str) -> None:
    assert list(figure_problems(published, said)) == []


@pytest.mark.parametrize(
    ("published", "said", "problem"),
    [
        (1.5, "", "needs `said`"),
        (1.5, "3 against 2", "a figure without a unit"),
        (1.5, "see issue 271", "a figure without a unit"),
        (1.5, "312.3 ms against 2.171 ms", "gives 143.9 or 0.006952"),
        (1.5, "900 ms against 0.6 ms", "gives 1500 or"),
        (1.5, "+15 %", "gives 1.15 or"),
        (1.5, "5 times", "gives 5 or 0.2"),
    ],
)
def test_words_that_say_another_figure_or_none_are_refused(
    published: float, said: str, problem: str
) -> None:
    (text,) = figure_problems(published, said)
    assert problem in text


def test_what_a_row_saves_is_held_against_a_difference() -> None:
    words = "312.3 ms against 2.2 ms"
    assert list(figure_problems(310.1, words, saves=True)) == []
    (text,) = figure_problems(143.85, words, saves=True)
    assert text == "published = 143.85, but '312.3 ms against 2.2 ms' saves 310.1 ms; correct one"
    assert (
        list(figure_problems(153.0, "154.8 ms, the second of three, against 2 ms", saves=True))
        == []
    )


FILLED = {
    'base = { case = "" }': 'base = { case = "get-pk" }',
    'new = { case = "" }': 'new = { case = "get-pk@shape=array" }',
    'said = ""': 'said = "+20 %"',
    'name = ""': 'name = "an array"',
}


def test_each_blank_of_an_unfilled_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a-mine.toml").write_text(claims.TEXT, "utf-8")
    with pytest.raises(UsageError) as caught:
        claims.read(tmp_path, KNOWN)
    named = {line.split(":")[1] for line in str(caught.value).splitlines()}
    blanks = [
        str(number)
        for number, line in enumerate(claims.TEXT.splitlines(), 1)
        if '= ""' in line and not line.startswith("#")
    ]
    assert named == set(blanks)
    assert len(blanks) >= 10


def test_a_filled_file_is_a_claim(tmp_path: Path) -> None:
    text = claims.TEXT
    for blank, filled in FILLED.items():
        assert text.count(blank) == 1
        text = text.replace(blank, filled)
    (tmp_path / "a-mine.toml").write_text(text.replace('= ""', '= "A sentence."'), "utf-8")
    (claim,) = claims.read(tmp_path, KNOWN).values()
    assert claim.name == "mine"
    assert list(claim.cells()) == [("get-pk", "node"), ("get-pk@shape=array", "node")]


@pytest.mark.parametrize(
    ("files", "file"),
    [
        ([], "a-mine.toml"),
        (["a-threading.toml", "b-keys.toml", "b-processes.toml"], "c-mine.toml"),
        (["z-last.toml"], "z-mine.toml"),
        (["10-numbered.toml"], "a-mine.toml"),
    ],
)
def test_a_new_file_comes_after_the_others(files: list[str], file: str) -> None:
    assert claims.file_name("mine", files) == file


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("new", "cannot name a claim"),
        ("", "cannot name a claim"),
        ("../up", "cannot name a claim"),
        ("Mine", "cannot name a claim"),
        ("keys", "b-keys.toml is the claim keys already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        claims.file_name(name, ["b-keys.toml"])
