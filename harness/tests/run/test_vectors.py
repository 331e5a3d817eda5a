"""How a result differs from what a vector expects."""

from typing import Any

import pytest

from sqlitmus.run.vectors import difference

EXPECTED = {"status": "ok", "rows": 2, "checksum": 3, "digest": "ab"}


@pytest.mark.parametrize(
    ("changes", "mode", "told"),
    [
        ({}, "verify", None),
        ({"affected": 7, "cell": "x"}, "verify", None),
        ({"checksum": 4}, "measure", "checksum: 4, not 3"),
        ({"checksum": None}, "verify", "checksum: None, not 3"),
        ({"digest": "cd"}, "verify", "digest: cd, not ab"),
        ({"digest": None}, "measure", None),
        ({"status": "failed"}, "verify", "status: failed, not ok"),
    ],
)
def test_only_what_is_expected_is_compared(
    changes: dict[str, Any], mode: str, told: str | None
) -> None:
    assert difference({**EXPECTED, **changes}, EXPECTED, mode) == told


def test_of_what_must_fail_the_status_is_all() -> None:
    failed = {"status": "failed", "rows": 1}
    assert difference({"status": "failed"}, failed, "verify") is None
    assert difference({"status": "ok", "rows": 1}, failed, "verify") == "status: ok, not failed"
