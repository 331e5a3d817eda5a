"""Fixtures of a session: whoever changes one is told, and the next to read it finds it whole."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.catalog import cases, definitions
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.run.processes.copies import Fixtures

KNOWN = definitions.load()


@pytest.fixture
def told() -> list[str]:
    """What the user hears."""
    return []


@pytest.fixture
def fixtures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]) -> Fixtures:
    """Those of the clone at size s, in a folder of their own."""
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    return Fixtures(KNOWN, "s", told.append)


def case(text: str) -> PlannedCase:
    return cases.make_case(*cases.parse_case(text, KNOWN), KNOWN, KNOWN.modes["quick"])


USERS, SHIPPED = case("get-pk"), case("get-pk@profile=shipped")


def file_of(fixtures: Fixtures, of: PlannedCase = USERS) -> Path:
    file = fixtures.of(of)
    assert file
    return file


def append(file: Path) -> None:
    with file.open("ab") as stream:
        stream.write(b"x")


DAMAGES: list[tuple[Callable[[Path], None], str]] = [(append, "changed"), (Path.unlink, "vanished")]


@pytest.mark.parametrize(("damage", "word"), DAMAGES, ids=["changed", "vanished"])
def test_harm_is_told_once_and_mended_for_the_next(
    fixtures: Fixtures, damage: Callable[[Path], None], word: str
) -> None:
    file = file_of(fixtures)
    content = file.read_bytes()
    assert fixtures.whole(file)
    damage(file)
    assert not fixtures.whole(file)
    harm = f"the fixture {file.name} {word} while it ran; a runner must only read it"
    assert [fixtures.harm(), fixtures.harm()] == [harm, None]
    assert not fixtures.whole(file)
    assert file_of(fixtures).read_bytes() == content
    assert fixtures.whole(file)


def test_what_is_built_again_is_told_unless_it_was_gone(
    fixtures: Fixtures, told: list[str]
) -> None:
    file = file_of(fixtures)
    file.unlink()
    file_of(fixtures)
    assert told == []
    append(file)
    file_of(fixtures)
    assert told == [f"{file}: this fixture has changed since it was built; it is built again"]


def test_all_files_given_out_are_watched(fixtures: Fixtures) -> None:
    files = [file_of(fixtures, USERS), file_of(fixtures, SHIPPED)]
    for file in files:
        append(file)
    first, second = (file.name for file in files)
    assert fixtures.harm() == (
        f"the fixture {first} changed while it ran, and the fixture {second} changed while it ran; "
        "a runner must only read it"
    )


def test_a_touched_file_with_the_same_content_is_no_harm(fixtures: Fixtures) -> None:
    file = file_of(fixtures)
    os.utime(file, ns=(1, 1))
    assert not fixtures.whole(file)
    assert fixtures.harm() is None
    assert fixtures.whole(file)


def test_a_case_without_a_fixture(fixtures: Fixtures) -> None:
    assert fixtures.of(case("startup-noop")) is None
    assert fixtures.harm() is None
