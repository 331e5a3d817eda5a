"""Files of folders that anyone may have filled: nothing but regular files is opened or replaced."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.machine import plainfiles
from tests.refusals import refused

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes of POSIX")

DEEDS: dict[str, Callable[[Path], object]] = {
    "size": plainfiles.size,
    "read": lambda file: plainfiles.read(file, 100),
    "changeable": plainfiles.changeable,
    "replace": lambda file: plainfiles.replace(file, b"new"),
}


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    file = tmp_path / "diary.txt"
    file.write_text("my diary")
    return file


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder", "device"])
def test_what_is_no_file_is_refused_and_left_alone(
    tmp_path: Path, diary: Path, deed: str, kind: str
) -> None:
    file = tmp_path / "run.sqlite"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        targets = {"link": diary, "dangling link": tmp_path / "new", "device": Path("/dev/zero")}
        file.symlink_to(targets[kind])
    with refused(r"run\.sqlite is a link or no file; give a folder"):
        DEEDS[deed](file)
    assert diary.read_text() == "my diary"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diary.txt", "run.sqlite"]


def test_a_link_that_appears_after_the_look_is_not_followed(
    tmp_path: Path, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.sqlite"
    file.symlink_to(diary)
    monkeypatch.setattr(Path, "lstat", Path.stat)
    with refused("cannot be read: Too many levels of symbolic links"):
        plainfiles.read(file, 100)
    assert diary.read_text() == "my diary"


def test_a_file_with_a_second_name_is_read_not_changed_and_replaced_alone(
    tmp_path: Path, diary: Path
) -> None:
    file = tmp_path / "run.sqlite"
    os.link(diary, file)
    assert plainfiles.read(file, 100) == b"my diary"
    with refused(r"has a second name \(a hard link\), whose file would"):
        plainfiles.changeable(file)
    plainfiles.replace(file, b"new")
    assert (diary.read_text(), file.read_text()) == ("my diary", "new")
    plainfiles.changeable(file)


def test_sizes_are_bounded(tmp_path: Path, diary: Path) -> None:
    assert plainfiles.read(diary, 8) == b"my diary"
    with refused("larger than 0 MB, which no run writes"):
        plainfiles.read(diary, 7)
    assert plainfiles.size(diary) == 8
    assert plainfiles.size(tmp_path / "none") is None
    with pytest.raises(FileNotFoundError):
        plainfiles.read(tmp_path / "none", 1)


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path, diary: Path) -> None:
    diary.chmod(0o640)
    plainfiles.replace(diary, b"new")
    assert (diary.read_bytes(), stat.S_IMODE(diary.stat().st_mode)) == (b"new", 0o640)
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"]
)
def test_what_could_not_be_written_leaves_the_old_file(
    tmp_path: Path, diary: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(type(error)):
        plainfiles.replace(diary, b"new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [
        ("diary.txt", "my diary")
    ]


def test_a_link_under_the_name_of_the_half_written_file_goes(tmp_path: Path, diary: Path) -> None:
    (tmp_path / f".report.html.{os.getpid()}.part").symlink_to(diary)
    plainfiles.replace(tmp_path / "report.html", b"new")
    assert diary.read_text() == "my diary"
    assert (tmp_path / "report.html").read_bytes() == b"new"
