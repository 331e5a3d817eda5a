"""How a result differs from what a vector expects."""

from typing import Any

import pytest

from sqlitmus.run.verify.oracle import difference

EXPECTED = {"status": "ok", "rows": 2, "checksum": 3, "digest": "ab"}


@pytest.mark.parametrize(
    ("changes", "digested", "told"),
    [
        ({}, True, None),
        ({"affected": 7, "cell": "x"}, True, None),
        ({"checksum": 4}, False, "checksum: 4, not 3"),
        ({"checksum": None}, True, "checksum: None, not 3"),
        ({"digest": "cd"}, True, "digest: cd, not ab"),
        ({"digest": None}, False, None),
        ({"status": "failed"}, True, "status: failed, not ok"),
    ],
)
def test_only_what_is_expected_is_compared(
    changes: dict[str, Any], digested: bool, told: str | None
) -> None:
    assert difference({**EXPECTED, **changes}, EXPECTED, digested=digested) == told


def test_of_what_must_fail_the_status_is_all() -> None:
    failed = {"status": "failed", "rows": 1}
    assert difference({"status": "failed"}, failed, digested=True) is None
    assert (
        difference({"status": "ok", "rows": 1}, failed, digested=True) == "status: ok, not failed"
    )
