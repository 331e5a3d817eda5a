"""What is remembered between runs, and that nothing stale or broken ever is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import cases, definitions
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.plan.counts import Observed
from sqlitmus.run.verify import context
from sqlitmus.run.verify.context import Memory, key
from sqlitmus.run.verify.judge import OracleAnswer
from sqlitmus.store.file import Verified

KNOWN = definitions.load()
WANT = OracleAnswer(operations=1, rows=2, affected=0, checksum=3, readback=None, digest="x")


def installed(name: str, fingerprint: str = "f") -> Installed:
    return Installed(KNOWN.runners[name], [], {}, None, None, fingerprint)


SEEN = Observed(seconds=0.25, processes=1, window_ms=150)


def record(outcome: Any = "ok") -> Verified:
    return Verified(case="a", runner="b", outcome=outcome)


def make_key(
    case_id: str = "get-pk", *, known: Catalog = KNOWN, size: str = "s", **runners: Installed
) -> str:
    name, axes = cases.parse_case(case_id, known)
    case = cases.make_case(name, axes, known, known.modes["quick"])
    runner = runners.get("runner", installed("node"))
    return key(case, known, size, runner, runners.get("oracle", installed("python")))


def test_what_was_judged_by_other_rules_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_key()
    monkeypatch.setattr(context, "JUDGED_BY", context.JUDGED_BY + 1)
    assert make_key() != before


def test_what_is_kept_comes_back_after_saving(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    first = Memory(file)
    first.keep("k", record())
    first.keep("n", record("unsupported"))
    first.keep("k", SEEN)
    first.save()
    again = Memory(file)
    assert again.get("k", Verified) == record()
    assert again.get("n", Verified) == record("unsupported")
    assert again.get("k", Observed) == SEEN
    assert again.get("other", Verified) is None
    assert again.get("n", Observed) is None
    assert [f.name for f in tmp_path.iterdir()] == ["cells.json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"k": 3}', '{"k": {"Verified": 1}}', '{"k": {"Verified": {}}}'],
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


@pytest.mark.parametrize("value", ['"soon"', "0", "{}", '{"seconds": -1}', "null"])
def test_a_senseless_observation_is_none(tmp_path: Path, value: str) -> None:
    file = tmp_path / "cells.json"
    file.write_text(f'{{"k": {{"Observed": {value}}}}}', "utf-8")
    assert Memory(file).get("k", Observed) is None


def test_the_oracles_answer_is_kept_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    first = Memory(file)
    first.keep("k", WANT)
    first.save()
    assert Memory(file).get("k", OracleAnswer) == WANT
    assert Memory(file).get("k", Verified) is None


def test_fresh_forgets(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    first = Memory(file)
    first.keep("k", SEEN)
    first.save()
    assert Memory(file, fresh=True).get("k", Observed) is None


def test_a_memory_that_cannot_be_saved_costs_nothing_else(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "gone" / "cells.json")
    memory.keep("k", SEEN)
    memory.save()
    assert memory.get("k", Observed) == SEEN


def test_a_key_changes_with_all_that_could_change_the_answer() -> None:
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
        make_key(runner=installed("bun")),
        make_key(runner=installed("node", "rebuilt")),
        make_key(oracle=installed("python", "rebuilt")),
    ]
    assert len(set(keys)) == len(keys)
    assert make_key() == keys[0]
    assert replace(installed("node"), missing="x").fingerprint == "f"
