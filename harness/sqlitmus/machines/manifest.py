"""`merged.json`, written by `merge`: the origin of each run, and which machines are missing."""

from pathlib import Path

from pydantic import ValidationError

from sqlitmus.machine import plainfiles
from sqlitmus.run.folder import MOST_WHOLE
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.errors import UsageError

NAME = "merged.json"
SOURCES = "sources"
SCHEMA = 1


class Source(Model):
    """A run in `sources/HASH/`, with its files unchanged.

    `hash` is the first 16 hexadecimal digits of SHA-256 over name, length and bytes of each file;
    `label` is the machine's name in the run, `blocks` the number of passes completed.
    """

    hash: str
    run: str
    label: str
    cpu: str
    created: str
    blocks: int
    complete: bool


class MergedMachine(Model):
    """The runs of a machine, which are read as one.

    `name` is unique in the file; `kind` is system and architecture such as `linux-x64`.
    """

    name: str
    kind: str
    label: str
    sources: list[Source]


class RefusedRun(Model):
    """A run that was not merged; `reason` names the file and the place in it."""

    path: str
    reason: str


class Merged(Model):
    """A merged run directory; `expected` are the requested machines that did not arrive."""

    schema_version: int = SCHEMA
    run: str
    created: str
    sqlitmus: str
    machines: list[MergedMachine]
    refused: list[RefusedRun]
    expected: list[str] = []


def is_merged(directory: Path) -> bool:
    """Whether `directory` was written by `merge`."""
    file = directory / NAME
    return file.is_file() and not file.is_symlink()


def read(directory: Path) -> Merged:
    """The manifest of a merged directory; raises UsageError when it is absent or unreadable."""
    file = directory / NAME
    if not is_merged(directory):
        raise UsageError(f"{directory} is no merged directory: it holds no {NAME}")
    try:
        merged = Merged.model_validate_json(plainfiles.read(file, MOST_WHOLE), extra="ignore")
    except (OSError, ValidationError) as error:
        raise UsageError(f"{file}: cannot be read: {error}; merge the runs again") from error
    if merged.schema_version != SCHEMA:
        raise UsageError(
            f"{file}: $.schema_version is {merged.schema_version}, this version reads {SCHEMA}; "
            "merge the runs again"
        )
    return merged
