"""Checksum and digest of rows that the harness itself knows, as the contract defines them. Pure."""

import hashlib
import struct
from collections.abc import Iterable, Sequence

Value = int | str | bytes | None

_NULL = 0x9E3779B9
_MODULUS = 2**32


def checksum(executions: Iterable[Sequence[Sequence[Value]]]) -> int:
    """The checksum of the rows of these executions, one after the other."""
    h = 0
    for rows in executions:
        for row in rows:
            for value in row:
                h = (h * 31 + _term(value)) % _MODULUS
    return h


def digest(executions: Iterable[Sequence[Sequence[Value]]]) -> str:
    """Their SHA-256 in lower-case hexadecimal, as in verify mode."""
    sha = hashlib.sha256()
    for rows in executions:
        for row in rows:
            for value in row:
                tag, payload = _canonical(value)
                sha.update(tag + struct.pack("<I", len(payload)) + payload)
        sha.update(b"E" + struct.pack("<I", len(rows)))
    return sha.hexdigest()


def _term(value: Value) -> int:
    match value:
        case None:
            return _NULL
        case int():
            return value
        case "" | b"":
            return 0
        case str():
            return 31 * ord(value[0]) + ord(value[-1])
        case bytes():
            return len(value) + 31 * value[0] + value[-1]


def _canonical(value: Value) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"n", b""
        case int():
            return b"i", str(value).encode()
        case str():
            return b"t", value.encode()
        case bytes():
            return b"b", value
