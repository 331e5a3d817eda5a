"""A result is of the cell that was asked for, and of the runner as it described itself."""

from typing import Any

import pytest

from sqlitmus.run.verify.judge import identity
from sqlitmus.vocabulary.contract import Description, Result
from tests.run.test_hyperfine import RESULT

ANEW = ", and is asked anew by the next run"
IDENTITY: dict[str, Any] = RESULT["identity"]  # pyright: ignore[reportAssignmentType]
DESCRIPTION = Description.model_validate(
    {
        "contract": 2,
        "identity": {**IDENTITY, "flags": ["gc=workstation"]},
        "sqlite": {"version": "3.50.4", "source_id": "x", "compile_options": []},
        "features": {
            "operations": [],
            "shapes": [],
            "integers": [],
            "statements": [],
            "transactions": [],
        },
    }
)


def result(**changes: Any) -> Result:
    return Result.model_validate({**RESULT, **changes})


def test_the_runners_own_result_of_its_cell() -> None:
    # flags may differ: a process whose iterations are timed has settings of its own
    assert identity(result(sqlite_version="3.50.4"), "a/b", DESCRIPTION) is None
    assert identity(result(), "a/b", DESCRIPTION) is None  # a start needs no SQLite


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cell": "get/x"}, "its result is of get/x; it was asked for a/b"),
        (
            {"identity": {**IDENTITY, "runner": "node"}},
            f"its result is of the runner node; its `describe` says x{ANEW}",
        ),
        (
            {"identity": {**IDENTITY, "runtime": {"name": "x", "version": "2"}}},
            f"its result is of the runtime x 2; its `describe` says x 1{ANEW}",
        ),
        (
            {"identity": {**IDENTITY, "architecture": "arm64"}},
            f"its result is of the architecture arm64; its `describe` says x86_64{ANEW}",
        ),
        (
            {"sqlite_version": "3.7.0"},
            f"its result is of the SQLite version 3.7.0; its `describe` says 3.50.4{ANEW}",
        ),
        ({"cell": "a" * 99}, f"its result is of {'a' * 57}…; it was asked for a/b"),
    ],
)
def test_another_result(changes: dict[str, Any], reason: str) -> None:
    assert identity(result(**changes), "a/b", DESCRIPTION) == reason
