"""The oracle is believed for its answers to the vectors, and only as long as nothing changed."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed, environment
from sqlitmus.run.plan.counts import Observed
from sqlitmus.run.verify import context
from sqlitmus.run.verify.context import Memory, difference, key
from sqlitmus.run.verify.judge import OracleAnswer
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.paths import Tools
from tests.known import KNOWN, RUNNERS, case_of
from tests.refusals import unfit

SPEC = KNOWN.runners["python"]
CONTRACT = RUNNERS / "contract" / "vectors"
VECTORS = ("get-hit-and-miss-verify", "types-all-verify")


@pytest.fixture
def runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue's runners with a few vectors, and a memory of its own."""
    folder = tmp_path / "runners"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(RUNNERS / "python", folder / "python", ignore=ignore)
    for name in VECTORS:
        shutil.copytree(CONTRACT / name, folder / "contract" / "vectors" / name)
    monkeypatch.setattr(paths, "OWN_RUNNERS", folder)
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    return folder


def installed(runners: Path, fingerprint: str = "f") -> Installed:
    command = [sys.executable, "-X", "utf8", str(runners / "python" / "main.py")]
    return Installed(SPEC, command, environment(SPEC, Tools({}, {})), None, None, fingerprint)


def prove(runners: Path, fingerprint: str = "f", *, fresh: bool = False) -> None:
    scratch = runners.parent / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    context.prove(installed(runners, fingerprint), scratch, fresh=fresh)


def break_it(runners: Path) -> None:
    file = runners / "python" / "values.py"
    file.write_text(file.read_text("utf-8").replace("h * 31 + term", "h * 33 + term"), "utf-8")


def test_the_clones_oracle_knows_all_that_it_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    context.prove(installed(RUNNERS), tmp_path / "scratch", fresh=False)
    performed = list((tmp_path / "scratch").glob("*/result.json"))
    assert len(performed) > 30


def test_a_broken_oracle_is_refused_with_the_vector_and_the_difference(runners: Path) -> None:
    break_it(runners)
    with unfit() as told:
        prove(runners)
    assert str(told.value).startswith(
        "the oracle does not reproduce the contract's vector get-hit-and-miss-verify (checksum: "
    )
    assert "not 3214193945), so no answer can be checked by it; restore" in str(told.value)


def test_an_oracle_that_crashes_is_told_with_its_last_words(runners: Path) -> None:
    main = runners / "python" / "main.py"
    main.write_text("raise SystemExit('no SQLite here')", "utf-8")
    with unfit(r"\(it wrote no result\)(.|\n)*no SQLite here"):
        prove(runners)


def test_it_is_asked_again_only_when_something_changed(runners: Path) -> None:
    prove(runners)
    break_it(runners)
    prove(runners)  # the fingerprint says that nothing changed
    with unfit():
        prove(runners, "another")
    with unfit():  # and what failed once is not believed on account of the past
        prove(runners)


def test_a_fresh_start_asks_again(runners: Path) -> None:
    prove(runners)
    break_it(runners)
    with unfit():
        prove(runners, fresh=True)


def test_a_changed_vector_asks_again(runners: Path) -> None:
    prove(runners)
    expected = runners / "contract/vectors/types-all-verify/expected.json"
    expected.write_text(expected.read_text("utf-8").replace('"checksum": ', '"checksum": 1'))
    with unfit("vector types-all-verify"):
        prove(runners)


def test_a_catalogue_without_vectors_takes_those_of_the_clone(runners: Path) -> None:
    shutil.rmtree(runners / "contract")
    assert [v.name for v in context.folders()] == sorted(f.name for f in CONTRACT.iterdir())


EXPECTED = {"status": "ok", "rows": 2, "checksum": 3, "digest": "ab"}


@pytest.mark.parametrize(
    ("changes", "expected", "digested", "told"),
    [
        ({}, {}, True, None),
        ({"affected": 7, "cell": "x"}, {}, True, None),
        ({"checksum": 4}, {}, False, "checksum: 4, not 3"),
        ({"checksum": None}, {}, True, "checksum: None, not 3"),
        ({"digest": "cd"}, {}, True, "digest: cd, not ab"),
        ({"digest": None}, {}, False, None),
        ({"status": "failed"}, {}, True, "status: failed, not ok"),
        ({"status": "failed", "rows": 9}, {"status": "failed"}, True, None),
        ({}, {"status": "failed"}, True, "status: ok, not failed"),
    ],
)
def test_only_what_is_expected_is_compared_and_of_what_must_fail_the_status(
    changes: dict[str, Any], expected: dict[str, Any], digested: bool, told: str | None
) -> None:
    given, right = {**EXPECTED, **changes}, {**EXPECTED, **expected}
    assert difference(given, right, digested=digested) == told


WANT = OracleAnswer(operations=1, rows=2, affected=0, checksum=3, readback=None, digest="x")


SEEN = Observed(seconds=0.25, processes=1, window_ms=150)


def record(outcome: Any = "ok") -> Verified:
    return Verified(case="a", runner="b", outcome=outcome)


def make_key(
    case_id: str = "get-pk",
    *,
    known: Catalog = KNOWN,
    size: str = "s",
    runner: str = "node",
    built: tuple[str, str] = ("f", "f"),
) -> str:
    both = zip((KNOWN.runners[runner], SPEC), built, strict=True)
    each = (Installed(spec, [], {}, None, None, fingerprint) for spec, fingerprint in both)
    return key(case_of(case_id, known), known, size, *each)


def test_what_is_kept_comes_back_after_saving(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    first = Memory(file)
    first.keep("k", record())
    first.keep("n", record("unsupported"))
    first.keep("k", SEEN)
    first.keep("k", WANT)
    first.save()
    again = Memory(file)
    assert again.get("k", Verified) == record()
    assert again.get("n", Verified) == record("unsupported")
    assert again.get("k", Observed) == SEEN
    assert again.get("k", OracleAnswer) == WANT
    assert again.get("other", Verified) is None
    assert again.get("n", Observed) is None
    assert [f.name for f in tmp_path.iterdir()] == ["cells.json"]
    assert Memory(file, fresh=True).get("k", Observed) is None


WITH = '{"k": {"Observed": %s}}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", '{"k": 3}', '{"k": {"Verified": 1}}', '{"k": {"Verified": {}}}'),
        *(WITH % value for value in ('"soon"', "0", "{}", '{"seconds": -1}', "null")),
    ],
)
def test_a_broken_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cells.json"
    file.write_text(text, "utf-8")
    memory = Memory(file)
    assert memory.get("k", Verified) is None
    assert memory.get("k", Observed) is None
    memory.keep("k", SEEN)
    memory.save()
    assert Memory(file).get("k", Observed) == SEEN


def test_a_memory_is_written_where_there_is_something_new(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    memory = Memory(file)
    for value, written in ((SEEN, True), (SEEN, False), (record(), True)):
        memory.keep("k", value)
        memory.save()
        assert file.exists() == written
        file.unlink(missing_ok=True)


def test_a_memory_that_cannot_be_saved_costs_nothing_else(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "gone" / "cells.json")
    memory.keep("k", SEEN)
    memory.save()
    assert memory.get("k", Observed) == SEEN


def test_a_key_changes_with_all_that_could_change_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    users = KNOWN.fixtures["users"].model_copy(update={"seed": 99})
    other_fixture = KNOWN.model_copy(update={"fixtures": {**KNOWN.fixtures, "users": users}})
    spec = KNOWN.scenarios["get-pk"].model_copy(update={"reset": ["SELECT 1"]})
    other_scenario = KNOWN.model_copy(update={"scenarios": {**KNOWN.scenarios, "get-pk": spec}})
    keys = [
        make_key(),
        make_key("get-pk@profile=shipped"),
        make_key(size="m"),
        make_key(known=other_fixture),
        make_key(known=other_scenario),
        make_key(runner="bun"),
        make_key(built=("rebuilt", "f")),
        make_key(built=("f", "rebuilt")),
    ]
    assert make_key() == keys[0]
    monkeypatch.setattr(context, "JUDGED_BY", context.JUDGED_BY + 1)
    keys.append(make_key())
    assert len(set(keys)) == len(keys)
