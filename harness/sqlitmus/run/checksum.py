"""Checksum and digest of rows that the harness itself reads, as the contract defines them. Pure."""

import hashlib
import struct
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any

Value = int | str | bytes | None

NULL = 0x9E3779B9
TERMS: dict[type, Callable[[Any], int]] = {
    int: lambda value: value,
    float: lambda value: int(value) if isfinite(value) else 0,
    str: lambda value: 31 * ord(value[0]) + ord(value[-1]) if value else 0,
    bytes: lambda value: len(value) + 31 * value[0] + value[-1] if value else 0,
    type(None): lambda _value: NULL,
}
"""What a value of each type adds to a checksum."""
_MODULUS = 2**32


def checksum(executions: Iterable[Sequence[Sequence[Value]]]) -> int:
    """The checksum of the rows of these executions, one after the other."""
    h = 0
    for rows in executions:
        for row in rows:
            for value in row:
                h = (h * 31 + TERMS[type(value)](value)) % _MODULUS
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
