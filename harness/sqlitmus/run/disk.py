"""Whether results and copies of databases fit on the disk."""

import shutil
import time
from pathlib import Path

from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit

FREE_BYTES_NEEDED = 256 * 2**20


def check(results: Path) -> None:
    """Raise NotFit when the results or the copies of databases would not fit on the disk."""
    for place, hint in ((results, "--out"), (paths.toolchain(), "SQLITMUS_TOOLCHAIN")):
        try:
            place.mkdir(parents=True, exist_ok=True)
            probe = place / f".write-probe-{time.monotonic_ns()}"
            probe.write_bytes(b"x")
            probe.unlink()
            free = shutil.disk_usage(place).free
        except OSError as error:
            raise NotFit(
                f"{place}: cannot be written: {error.strerror}; choose another with {hint}"
            ) from error
        if free < FREE_BYTES_NEEDED:
            raise NotFit(
                f"{place}: only {free >> 20} MB free, {FREE_BYTES_NEEDED >> 20} MB are needed; "
                f"free some or choose another folder with {hint}"
            )
