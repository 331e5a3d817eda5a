"""A small database as a user might have, in a folder of its own."""

from pathlib import Path

import pytest

from tests.workload import making
from tests.workload.making import DOCUMENTS, Service


def make(file: Path, rows: int = 100) -> Path:
    """The database; every tenth size is NULL."""
    return making.make(file.parent, DOCUMENTS.format(rows=rows), file.name)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make(tmp_path / "app.db")


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path)


@pytest.fixture
def heard(service: Service) -> list[str]:
    return service.heard
