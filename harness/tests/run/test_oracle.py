"""The oracle is believed for its answers to the vectors, and only as long as nothing changed."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.run.verify import context
from sqlitmus.run.verify.context import Memory, difference, key
from sqlitmus.vocabulary import paths
from tests.known import KNOWN, RUNNERS, case_of
from tests.refusals import unfit
from tests.run import made

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


def prove(runners: Path, scratch: Path, fingerprint: str = "f", *, fresh: bool = False) -> None:
    shutil.rmtree(scratch, ignore_errors=True)
    command = [sys.executable, "-X", "utf8", str(runners / "python" / "main.py")]
    oracle = replace(made.PYTHON, command=command, environment=dict(os.environ))
    context.prove(replace(oracle, fingerprint=fingerprint), scratch, fresh=fresh)


def break_it(runners: Path) -> None:
    file = runners / "python" / "values.py"
    file.write_text(file.read_text("utf-8").replace("h * 31 + term", "h * 33 + term"), "utf-8")


def test_the_clones_oracle_knows_all_that_it_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    prove(RUNNERS, tmp_path / "scratch")
    performed = list((tmp_path / "scratch").glob("*/result.json"))
    assert len(performed) > 30


def test_it_is_asked_again_only_when_something_changed(runners: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    prove(runners, scratch)
    break_it(runners)
    prove(runners, scratch)  # the fingerprint says that nothing changed
    with unfit() as told:
        prove(runners, scratch, "another")
    assert str(told.value).startswith(
        "the oracle does not reproduce the contract's vector get-hit-and-miss-verify (checksum: "
    )
    assert "not 3214193945), so no answer can be checked by it; restore" in str(told.value)
    with unfit():  # and what failed once is not believed on account of the past
        prove(runners, scratch)
    main = runners / "python" / "main.py"
    main.write_text("raise SystemExit('no SQLite here')", "utf-8")
    with unfit(r"\(it wrote no result\)(.|\n)*no SQLite here"):
        prove(runners, scratch)


def test_a_fresh_start_and_a_changed_vector_ask_again(runners: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    prove(runners, scratch)
    expected = runners / "contract/vectors/types-all-verify/expected.json"
    right = expected.read_text("utf-8")
    expected.write_text(right.replace('"checksum": ', '"checksum": 1'))
    with unfit("vector types-all-verify"):
        prove(runners, scratch)
    expected.write_text(right)
    prove(runners, scratch)
    break_it(runners)
    with unfit():
        prove(runners, scratch, fresh=True)


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


SEEN, RESULT = made.planned(), made.result()
Seen, Kept = type(SEEN), type(RESULT)


def test_what_is_kept_comes_back_after_saving(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    first = Memory(file)
    for name, value in (("k", made.result(rows=1)), ("n", RESULT), ("k", RESULT), ("k", SEEN)):
        first.keep(name, value)
    first.save()
    again = Memory(file)
    assert (again.get("k", Kept), again.get("n", Kept)) == (RESULT, RESULT)
    assert again.get("k", Seen) == SEEN
    assert again.get("other", Kept) is None
    assert again.get("n", Seen) is None
    assert [f.name for f in tmp_path.iterdir()] == ["cells.json"]
    assert Memory(file, fresh=True).get("k", Seen) is None


WITH = '{"k": {"Counts": %s}}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", '{"k": 3}', '{"k": {"Result": 1}}', '{"k": {"Result": {}}}'),
        *(WITH % value for value in ('"soon"', "0", "{}", '{"operations": -1}', "null")),
    ],
)
def test_a_broken_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cells.json"
    file.write_text(text, "utf-8")
    memory = Memory(file)
    assert (memory.get("k", Kept), memory.get("k", Seen)) == (None, None)
    memory.keep("k", SEEN)
    memory.save()
    assert Memory(file).get("k", Seen) == SEEN


def test_a_memory_is_written_where_there_is_something_new_and_a_place(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    memory = Memory(file)
    for value, written in ((SEEN, True), (SEEN, False), (RESULT, True)):
        memory.keep("k", value)
        memory.save()
        assert file.exists() == written
        file.unlink(missing_ok=True)
    nowhere = Memory(tmp_path / "gone" / "cells.json")
    nowhere.keep("k", SEEN)
    nowhere.save()
    assert nowhere.get("k", Seen) == SEEN


def make_key(
    case_id: str = "get-pk",
    *,
    known: Any = KNOWN,
    size: str = "s",
    runner: str = "node",
    built: tuple[str, str] = ("f", "f"),
) -> str:
    both = zip((runner, "python"), built, strict=True)
    each = (replace(made.PYTHON, spec=KNOWN.runners[name], fingerprint=of) for name, of in both)
    return key(case_of(case_id, known), known, size, *each)


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
