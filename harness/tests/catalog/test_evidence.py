"""What a claim pins: whose files fit, and what their programs print."""

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from sqlitmus.catalog import claims, definitions
from sqlitmus.catalog.jobs import work
from sqlitmus.catalog.published import Evidence, Fact, Program, matching
from sqlitmus.vocabulary import paths
from tests.known import KNOWN
from tests.refusals import refused

CLAIMS = claims.read(paths.SCENARIOS / "claims", KNOWN)


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


def test_the_rows_that_decide_all_claims_need_a_third_of_the_cells() -> None:
    for claim in CLAIMS.values():
        short = claim.with_key_rows()
        assert [row for row in short.rows if row.key] == [row for row in claim.rows if row.key]
        assert all(row.key or row.untestable for row in short.rows)
    few, many = (
        {cell for claim in some for cell in claim.cells()}
        for some in ([claim.with_key_rows() for claim in CLAIMS.values()], CLAIMS.values())
    )
    assert few < many
    assert len(few) < len(many) / 3


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


def test_the_claims_that_pin_evidence_run_all_of_its_programs() -> None:
    pinned = {
        name: claim for name, claim in CLAIMS.items() if claim.evidence and claim.evidence.programs
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
        shutil.copytree(paths.CLONE / folder, tmp_path / folder)
    text, planted = re.subn(pattern, instead, (tmp_path / file).read_text("utf-8"))
    assert planted == 1
    (tmp_path / file).write_text(text, "utf-8")
    folders = (tmp_path / "scenarios", tmp_path / "fixtures", paths.RUNNERS)
    with refused() as caught:
        claims.read(tmp_path / "scenarios/claims", definitions.read(*folders))
    assert str(caught.value) == f"{tmp_path}/scenarios/claims/{at}: {problem}; mend the case"


def test_a_fact_of_what_no_case_has_names_what_there_is() -> None:
    fact = Fact(said="two tables", case="get-pk", holds={"tables": 2})
    ((name, problem),) = fact.differences(work(fact.case, KNOWN))
    assert name == "tables"
    assert problem.startswith("get-pk has no such thing; expected binding, columns, database, exec")


# What these state is nothing that a case could be held to, or is among their `differences`.
SILENT = {"jsonb", "bundled", "releases-node"}


def test_a_claim_without_the_authors_programs_states_two_facts_at_least() -> None:
    stated = {name: sum(len(fact.holds) for fact in c.facts) for name, c in CLAIMS.items()}
    assert {n for n, c in CLAIMS.items() if stated[n] < 2 and not c.evidence} == SILENT
