"""Stands in for the actions that keep artifacts: files without their permissions, by name."""

import os
import shutil
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any


def keep(store: Path, clone: Path, given: Mapping[str, Any]) -> str:
    """What `actions/upload-artifact` does; says what went wrong, or nothing."""
    lines = str(given["path"]).split()
    out = [line[1:].replace("**", "*") for line in lines if line.startswith("!")]
    kept = 0
    for line in lines:
        if line.startswith("!"):
            continue
        root = clone / line
        for path in _files(root):
            name = path.relative_to(clone).as_posix()
            if not any(fnmatch(name, pattern) for pattern in out):
                _copy(path, store / given["name"] / _below(path, root))
                kept += 1
    if not kept and given.get("if-no-files-found") == "error":
        return f"no files in {' '.join(lines)}"
    return ""


def bring(store: Path, clone: Path, given: Mapping[str, Any]) -> str:
    """What `actions/download-artifact` does; says what went wrong, or nothing."""
    names = sorted(path.name for path in store.iterdir()) if store.is_dir() else []
    if "name" in given:
        if given["name"] not in names:
            return f"there is no artifact {given['name']}"
        _copy_all(store / given["name"], clone / given["path"])
        return ""
    for name in names:
        if fnmatch(name, given["pattern"]):
            _copy_all(store / name, clone / given["path"] / name)
    return ""


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for folder, _, names in os.walk(root, followlinks=True):
        yield from (Path(folder, name) for name in names)


def _below(path: Path, root: Path) -> Path:
    return Path(path.name) if path == root else path.relative_to(root)


def _copy_all(source: Path, target: Path) -> None:
    for path in _files(source):
        _copy(path, target / path.relative_to(source))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
