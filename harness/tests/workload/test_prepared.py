"""A workload before it is measured: whether copies for all that write at once fit on the disk."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from sqlitmus.catalog import fixture
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.workload import scenarios

READS = '[query.a]\nsql = "SELECT id FROM document"\n'
WRITES = '[query.a]\nsql = "INSERT INTO event(document) VALUES (1)"\n'


@pytest.mark.parametrize(
    ("text", "free", "runners", "fits"),
    [(READS, 2, 9, True), (WRITES, 12, 9, True), (WRITES, 11, 9, False), (WRITES, 4, 1, True)],
)
def test_a_workload_that_writes_needs_a_copy_for_each_runner(
    write: Callable[[str], Path],
    database: Path,
    catalog: Catalog,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    free: int,
    runners: int,
    *,
    fits: bool,
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    space = SimpleNamespace(free=free * database.stat().st_size)

    def usage(_: Path) -> SimpleNamespace:
        return space

    monkeypatch.setattr(shutil, "disk_usage", usage)
    file = write(text)
    if fits:
        assert scenarios.read(file, catalog, runners=runners).planned.writing == (
            ["a"] if text == WRITES else []
        )
    else:
        with pytest.raises(NotFit, match="12 copies have to fit on the disk"):
            scenarios.read(file, catalog, runners=runners)
        assert not list(fixture.snapshots().iterdir())
