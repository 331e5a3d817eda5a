"""How npm is started."""

from pathlib import Path

import pytest

from bootstrap.context import Context, Settings
from sqlitmus.compare import subject
from sqlitmus.vocabulary.errors import NotFit


def context(folder: Path, *files: str) -> Context:
    """One whose PATH is `folder`, which holds `files`."""
    for name in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
        file.chmod(0o755)
    return Context(folder, folder, Settings.load(), {"PATH": str(folder)})


def test_npm_is_started_by_its_own_file(tmp_path: Path) -> None:
    assert subject.program(context(tmp_path, "npm", "node")) == [str(tmp_path / "npm")]


def test_without_npm_the_hint_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFit, match="versions are fetched with npm: npm not found"):
        subject.program(context(tmp_path))


def test_the_batch_file_of_windows_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = context(tmp_path, "npm.CMD", "node", "node_modules/npm/bin/npm-cli.js")
    found = {"npm": tmp_path / "npm.CMD", "node": tmp_path / "node"}
    monkeypatch.setattr(Context, "find", lambda _self, tool: found.get(tool))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    script = tmp_path / "node_modules" / "npm" / "bin" / "npm-cli.js"
    assert subject.program(here) == [str(tmp_path / "node"), str(script)]
    script.unlink()
    assert subject.program(here) == [str(tmp_path / "npm.CMD")]
