"""Seals: the content of a file decides, and is read only when the file was touched."""

import os
from pathlib import Path

import pytest

from sqlitmus.catalog import fixture


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A sealed file."""
    made = tmp_path / "some.db"
    made.write_bytes(b"pages")
    fixture.put(made)
    return made


def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files whose content is read from now on."""
    read: list[Path] = []
    digest = fixture.digest

    def counted(file: Path) -> str:
        read.append(file)
        return digest(file)

    monkeypatch.setattr(fixture, "digest", counted)
    return read


def test_an_untouched_file_is_not_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = reads(monkeypatch)
    assert fixture.seal_damage(file) is None
    assert read == []


def test_a_touched_file_is_read_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(file, ns=(1, 1))
    read = reads(monkeypatch)
    assert [fixture.seal_damage(file), fixture.seal_damage(file)] == [None, None]
    assert read == [file]


def test_other_content_of_the_same_size_and_age_is_damage(file: Path) -> None:
    before = file.stat()
    file.write_bytes(b"pagez")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert fixture.seal_damage(file) == "changed"
    file.write_bytes(b"pages")
    assert fixture.seal_damage(file) is None


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_bytes_in_a_log_are_damage_and_an_empty_one_is_none(file: Path, suffix: str) -> None:
    log = file.with_name(file.name + suffix)
    log.touch()
    assert fixture.seal_damage(file) is None
    log.write_bytes(b"a page")
    assert fixture.seal_damage(file) == "changed"


def test_a_file_that_is_gone_or_was_never_sealed(file: Path) -> None:
    fixture.beside(file).write_text("{", "utf-8")
    assert fixture.seal_damage(file) == "unsealed"
    file.unlink()
    assert fixture.seal_damage(file) == "absent"


def test_a_seal_is_of_the_content_that_is_told(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"others")
    fixture.put(file, of=other)
    assert fixture.seal_damage(file) == "changed"
    other.replace(file)
    assert fixture.seal_damage(file) is None
