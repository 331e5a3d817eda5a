"""Published claims: their cells, what their words say of their figures, and what they pin."""

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from sqlitmus.catalog import claims
from sqlitmus.catalog.choose import of_claims
from sqlitmus.catalog.published import (
    Claim,
    Evidence,
    Program,
    figure_problems,
    matching,
    uncertainty,
)
from tests.catalog.faulty import FAULTS, faults, plant
from tests.known import KNOWN, ROOT, RUNNERS, case_of, read as read_catalogue
from tests.refusals import refused

TINY: str = FAULTS["a-arrays.toml"]["right"]


@pytest.fixture(scope="module")
def known() -> dict[str, Claim]:
    """The clone's own, whose every figure agrees with its words."""
    return claims.read(ROOT / "scenarios/claims", KNOWN)


def claims_of(folder: Path, text: str = TINY, name: str = "a-arrays.toml") -> dict[str, Claim]:
    (folder / name).write_text(text, "utf-8")
    return claims.read(folder, KNOWN)


def test_a_claim_is_named_by_its_file_and_knows_its_cells(tmp_path: Path) -> None:
    claims_of(tmp_path)
    found = claims_of(tmp_path, name="b-more.toml")
    assert list(found) == ["arrays", "more"]
    cases = [case_of("get-pk").id, case_of("get-pk@shape=array").id]
    compared = [(case, runner) for runner in ("node", "rust") for case in cases]
    assert list(found["arrays"].cells()) == [*compared, ("get-pk", "bun")]
    assert Claim.model_validate_json(found["arrays"].model_dump_json()) == found["arrays"]
    # faults of a claim that is not asked for stop nobody
    (tmp_path / "c-begun.toml").write_text('title = ""\n', "utf-8")
    assert list(claims.read(tmp_path, KNOWN, ["more"])) == ["more"]
    for names in ([], ["begun"], ["arrays", "begun"]):
        with refused(r"c-begun\.toml:1: source: is missing; add it"):
            claims.read(tmp_path, KNOWN, names)
    with refused(r"there is no claim 'arays'; did you mean arrays\?"):
        claims.read(tmp_path, KNOWN, ["arays"])


def test_this_clone_s_own_claims_can_be_measured(known: dict[str, Claim]) -> None:
    assert len(known) >= 6
    for claim in known.values():
        rows = [row for group in claim.groups for row in group.rows]
        assert list(claim.cells()) or all(row.untestable for row in rows), claim.name
        short = claim.with_key_rows()
        assert [row for row in short.rows if row.key] == [row for row in claim.rows if row.key]
        assert all(row.key or row.untestable for row in short.rows)
    few = {cell for claim in known.values() for cell in claim.with_key_rows().cells()}
    many = {cell for claim in known.values() for cell in claim.cells()}
    assert few < many
    assert len(few) < len(many) / 3, "the rows that decide all claims need a third of the cells"


def test_a_claim_without_any_published_figure_or_reason_is_refused(tmp_path: Path) -> None:
    text = TINY.replace("published = 1.2, ", "").replace('untestable = "no such build", ', "")
    with refused() as caught:
        claims_of(tmp_path, text)
    assert ":1: (top level): no row has a published ratio" in str(caught.value)
    assert "no value of get-pk's shape 'no-such'" in str(caught.value), "told at once"


@pytest.mark.parametrize(("file", "old", "new", "said"), faults("a-arrays.toml"))
def test_a_fault_is_told_with_its_place(
    tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    target = plant(tmp_path, file, old, new)
    with refused(re.escape(said)) as caught:
        claims.read(tmp_path, KNOWN)
    for line in str(caught.value).splitlines():
        assert re.match(rf"{re.escape(str(target))}:(\d+| not TOML):", line)


def test_all_that_is_wrong_is_told_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = TINY.replace('"A post"', '""').replace('"20 %"', '"+30 %"')
    text = text.replace('cases = ["get-pk"]', 'cases = ["get-pkk"]')
    with refused() as caught:
        claims_of(tmp_path, text)
    lines = str(caught.value).splitlines()
    numbered = [line.removeprefix(f"{tmp_path / 'a-arrays.toml'}:") for line in lines]
    assert [line.partition(":")[0] for line in numbered] == [
        str(text[: text.index(mark)].count("\n") + 1)
        for mark in ("source =", "published = 1.2", "[[tables]]")
    ]
    assert "3: source: is empty" in numbered[0]
    assert "published = 1.2, but '+30 %' gives 1.3 or 0.7692; correct one" in numbered[1]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    claims_of(tmp_path)
    with refused(r"b-arrays\.toml: .*a-arrays\.toml has that name, too"):
        claims_of(tmp_path, name="b-arrays.toml")
    (tmp_path / "b-arrays.toml").unlink()
    with refused(r"plain\.toml: a claim is named by what follows"):
        claims_of(tmp_path, name="plain.toml")


def test_contradictory_publications_name_each_other(tmp_path: Path) -> None:
    lead = "contradicts = "
    with refused(r"a-arrays\.toml:1: contradicts: there is no claim 'obj"):
        claims_of(tmp_path, f'{lead}"objects"{TINY}')
    with refused(r":1: contradicts: objects does not name this one; write"):
        claims_of(tmp_path, name="b-objects.toml")
    found = claims_of(tmp_path, f'{lead}"arrays"{TINY}', name="b-objects.toml")
    assert [claim.contradicts for claim in found.values()] == ["objects", "arrays"]


def test_a_difference_of_one_millisecond_is_an_effect(tmp_path: Path) -> None:
    text = TINY.replace("published = 1.2", "published = 1.0")
    text = text.replace("base =", 'compare = "difference"\nbase =')
    assert claims_of(tmp_path, text)["arrays"].groups[0].rows[0].published == 1.0


def test_the_canary_of_a_case_is_the_runner_that_most_figures_are_about(tmp_path: Path) -> None:
    more = TINY.replace('runners = ["node", "rust"]', 'runners = ["rust"]', 1)
    keyed = more.replace('said = "20 %"', 'said = "20 %", key = true').replace('"rust"', '"bun"', 1)
    both = {"get-pk": ["node", "rust", "bun"], "get-pk@shape=array": ["node", "rust"]}
    first = claims_of(tmp_path)["arrays"]
    assert of_claims([first], both) == {"get-pk": "node", "get-pk@shape=array": ""}, (
        "the first of those alike, once for the scenario"
    )
    second = claims_of(tmp_path, more, name="b-more.toml")["more"]
    assert set(of_claims([first, second], both).values()) == {"rust", ""}
    third = claims_of(tmp_path, keyed, name="c-keyed.toml")["keyed"]
    assert of_claims([first, second, third], both) == {
        "get-pk": "bun",
        "get-pk@shape=array": "rust",
    }, "a key row outweighs others, where its runner is there"
    assert of_claims([third], {"get-pk": ["node"]}) == {}, "nothing is published of it"
    assert of_claims([], both) == {}, "a run without claims has its own"


@pytest.mark.parametrize(
    ("published", "said", "problem"),
    [
        (1.587, "0.121 s against 0.192 s", ""),
        (2.40, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms", ""),
        (2.8, "7,553,000 against 2,701,000 rows/s", ""),
        (1.5, "900 µs against 0.6 ms", ""),
        (0.995, "−0.5 %", ""),
        (1.14, "1.14 times (issue 271)", ""),
        (143.85, "2.66, 154.8 and 312.3 ms against 1.4 to 2.2 ms", ""),
        (2.0, "less than half the CPU cycles", ""),
        (3.0, "12 MB against 4 ms", ""),
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
    problems = list(figure_problems(published, said))
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)


UNCERTAIN: list[tuple[float, str, tuple[float, float]]] = [
    (1.2424, "+24.24 ± 1.1 %", (1.2314, 1.2534)),
    (0.993, "−0.69 ± 6.17 %", (0.9314, 1.0548)),
    (1.186, "+18.6 %", (1.1855, 1.1865)),
    (1.63, "1.63 ± 0.05 times as fast", (1.58, 1.68)),
    # independent errors in squares: hyperfine calls this 2.40 ± 0.08
    (2.40, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms", (2.32, 2.4784)),
    (0.417, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms", (0.4035, 0.4310)),
    # a spread of 25 runs is 2.5 times that of their mean
    (2.0, "50 ± 5 ms of 25 runs against 100 ± 0 ms of 4 runs", (2 / 1.04, 2.08)),
    (1.603, "36,904 ± 10 % ops/s against 23,015 ± 0 % ops/s", (1.603 / 1.1, 1.603 * 1.1)),
    # digits, which both may round the same way
    (155.0, "6 ms against 930 ms", (929.5 / 6.5, 930.5 / 5.5)),
    (2.0, "less than half", (1.95, 2.05)),
    (5e-7, "an image", (4.5e-7, 5.5e-7)),
]


@pytest.mark.parametrize(("published", "words", "ends"), UNCERTAIN)
def test_a_published_figure_has_ends(published: float, words: str, ends: tuple[float, ...]) -> None:
    assert uncertainty(published, words) == pytest.approx(ends, rel=1e-3)


def test_what_a_row_saves_is_held_against_a_difference() -> None:
    words = "312.3 ms against 2.2 ms"
    assert list(figure_problems(310.1, words, saves=True)) == []
    (text,) = figure_problems(143.85, words, saves=True)
    assert text == "published = 143.85, but '312.3 ms against 2.2 ms' saves 310.1 ms; correct one"
    of_three = "154.8 ms, the second of three, against 2 ms"
    assert list(figure_problems(153.0, of_three, saves=True)) == []
    assert uncertainty(310.1, words, saves=True) == pytest.approx((310.0, 310.2))
    spread = uncertainty(310.1, "312.3 ± 3 ms against 2.2 ± 4 ms", saves=True)
    assert spread == pytest.approx((305.1, 315.1))


FILLED = {
    'base = { case = "" }': 'base = { case = "get-pk" }',
    'new = { case = "" }': 'new = { case = "get-pk@shape=array" }',
    'said = ""': 'said = "+20 %"',
    'name = ""': 'name = "an array"',
}


def test_each_blank_of_an_unfilled_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a-mine.toml").write_text(claims.TEXT, "utf-8")
    with refused() as caught:
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


@pytest.mark.parametrize("name", ["new", "", "../up", "Mine", "keys"])
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    words = "b-keys.toml is the claim keys already" if name == "keys" else "cannot name a claim"
    with refused(words):
        claims.file_name(name, ["b-keys.toml"])


def evidence(text: str, *files: str, needs: tuple[str, ...] = ()) -> Evidence:
    """Evidence whose `files` all hold `text`."""
    pinned = dict.fromkeys(files, hashlib.sha256(text.encode()).hexdigest())
    facts = {"repository": "https://example.org/bench", "commit": "ab" * 20, "licence": "MIT"}
    more = {"files": pinned, "needs": needs, "hint": "in it, run npm install"}
    return Evidence.model_validate({**facts, **more})


def test_a_folder_is_for_the_claims_whose_files_it_holds(tmp_path: Path) -> None:
    (tmp_path / "bench.js").write_text("one", "utf-8")
    pinned = {
        "same": evidence("one", "bench.js"),
        "again": evidence("one", "bench.js"),
        "other": evidence("two", "bench.js"),
    }
    assert matching(pinned, [tmp_path]) == {"same": tmp_path, "again": tmp_path}
    assert matching(pinned, []) == {}


def test_a_folder_of_another_revision_is_refused_with_what_differs(tmp_path: Path) -> None:
    (tmp_path / "bench.js").write_text("one", "utf-8")
    pinned = {
        "far": evidence("two", "bench.js", "a.js", "b.js"),
        "near": evidence("two", "bench.js", needs=("node_modules/mark",)),
    }
    with refused() as caught:
        matching(pinned, [tmp_path])
    assert str(caught.value) == (
        f"--source {tmp_path} is not what the claim near was published with: bench.js is another "
        "than that of abababa; node_modules/mark is missing: in it, run npm install. Expected "
        "https://example.org/bench at abababa"
    )
    assert [*pinned["far"].differences(tmp_path)][1:] == [
        "a.js: No such file or directory",
        "b.js: No such file or directory",
    ]
    with refused("no claim of these names programs"):
        matching({}, [tmp_path])


def test_a_program_s_own_figure_is_read_off_its_output() -> None:
    rate = Program(command=["run"], prints=r"x (?P<figure>[\d,]+) ops/sec", rate=True)
    assert rate.figure("small x 2,000,000 ops/sec \u00b10.1%") == pytest.approx(500)
    time = Program(command=["run"], prints=r"(?P<figure>[\d.]+) ns")
    assert time.figure("took 12.5 ns") == pytest.approx(12.5)
    assert Program(command=["run"], prints="50000 rows").figure("read 50000 rows") is None


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("read 25000 rows", "it printed 'read 25000 rows', not what matches"),
        ("", "it printed 'nothing', not"),
        ("0 ns", "it printed the figure 0, which is no time"),
    ],
)
def test_a_program_that_did_other_work_has_no_figure(output: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Program(command=["run"], prints=r"50000 rows|(?P<figure>\d+) ns").figure(output)


def test_the_claims_that_pin_evidence_run_all_of_its_programs(known: dict[str, Claim]) -> None:
    pinned = {
        name: claim for name, claim in known.items() if claim.evidence and claim.evidence.programs
    }
    assert {"encoding", "better-sqlite3"} <= pinned.keys()
    for claim in pinned.values():
        assert claim.evidence
        used = {name for row in claim.rows for name in row.theirs or ()}
        assert used == claim.evidence.programs.keys()
        assert claim.evidence.licence


OTHER_BINDING = '(100 inserts .+ case = "insert-transaction)@[a-z=]+'


@pytest.mark.parametrize(
    ("file", "pattern", "instead", "at", "problem"),
    [
        pytest.param(
            "fixtures/people.toml", r"(This is a longer .+\\\n){5}", "",
            "d-encoding.toml:16: facts[0].holds.length of users.description",
            "published: 2440, but people-process has 1077", id="half the text",
        ),
        pytest.param(
            "scenarios/claims/v-libsql.toml", OTHER_BINDING, r"\1",
            "v-libsql.toml:13: facts[1].holds.binding",
            "published: named, but insert-transaction has positional", id="another binding",
        ),
    ],
)  # fmt: skip
def test_a_wrong_transcription_is_refused_by_what_the_publication_states(
    tmp_path: Path, file: str, pattern: str, instead: str, at: str, problem: str
) -> None:
    for folder in ("fixtures", "scenarios"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    text, planted = re.subn(pattern, instead, (tmp_path / file).read_text("utf-8"))
    assert planted == 1
    (tmp_path / file).write_text(text, "utf-8")
    (tmp_path / "runners").symlink_to(RUNNERS)
    with refused() as caught:
        claims.read(tmp_path / "scenarios/claims", read_catalogue(tmp_path))
    assert str(caught.value) == f"{tmp_path}/scenarios/claims/{at}: {problem}; mend the case"


def test_a_fact_of_what_no_case_has_names_what_there_is(tmp_path: Path) -> None:
    fact = 'facts = [{ said = "two tables", case = "get-pk", holds = { tables = 2 } }]'
    words = "get-pk has no such thing; expected binding, columns, database, exec"
    with refused(rf":2: facts\[0\]\.holds\.tables: .*{words}"):
        claims_of(tmp_path, f"\n{fact}{TINY}")


# What these state is nothing that a case could be held to, or is among their `differences`.
SILENT = {"jsonb", "bundled", "releases-node"}


def test_a_claim_without_the_authors_programs_states_two_facts_at_least(
    known: dict[str, Claim],
) -> None:
    stated = {name: sum(len(fact.holds) for fact in c.facts) for name, c in known.items()}
    assert {n for n, c in known.items() if stated[n] < 2 and not c.evidence} == SILENT
