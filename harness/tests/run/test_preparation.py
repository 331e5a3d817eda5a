"""The database that a job finds: the fixture, a copy of it, or none."""

from pathlib import Path

import pytest

from sqlitmus.catalog import cases, definitions
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.fixtures import Fixtures
from sqlitmus.run.preparation import Preparation

KNOWN = definitions.load()
PYTHON = Installed(KNOWN.runners["python"], [], {}, None, None, "")


@pytest.mark.parametrize(
    ("text", "copied"),
    [("get-pk", False), ("insert-autocommit", True), ("foo-get", False), ("foo-insert", False)],
)
def test_only_a_file_that_is_written_to_is_copied_and_looked_at_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, copied: bool
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    case = cases.make_case(*cases.parse_case(text, KNOWN), KNOWN, KNOWN.modes["quick"])
    fixtures = Fixtures(KNOWN, "s", lambda _: None)
    ready = Preparation(KNOWN, fixtures, "s", tmp_path).job(case, PYTHON, "verify")
    assert (ready.source is None) == KNOWN.scenarios[case.scenario].memory
    assert (ready.target is not None) == copied
