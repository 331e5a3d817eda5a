"""Hashes of a clone's files: the inputs of what is built from them."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, or `absent`."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return "absent"


def tree_digest(root: Path, paths: Iterable[Path]) -> str:
    """SHA-256 over names (relative to `root`) and contents, in the order of the names."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in paths):
        digest.update(f"{name}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()
