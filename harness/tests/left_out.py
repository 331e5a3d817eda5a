"""Tests that need what set-up provides: how they are marked, and what is said where it is absent.

A test is marked by what it uses, so that none can forget it; one without the mark sees no tool.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NoReturn

import pytest

from sqlitmus.vocabulary import paths

REASON = "not set up: "
# a fixture, or a module that a test's module imports from -> the mark of the tests that use it
MARKS = {
    "hyperfine_program": "runner",
    "node": "runner",
    "sync_counter": "runner",
    "check_page": "browser",
    "tests.contract.started": "runner",
}


def marks(fixtures: Iterable[str], namespace: Mapping[str, object]) -> set[str]:
    """Marks of a test from the names of its fixtures and its module's namespace."""
    modules = {getattr(value, "__module__", None) for value in namespace.values()}
    return {mark for name, mark in MARKS.items() if name in {*fixtures, *modules}}


def tool(name: str) -> str:
    """The path of a tool; skips the test where set-up did not provide it."""
    tools = paths.tools()
    if name not in tools.paths:
        skip(name, tools.missing.get(name, "run ./just setup"))
    return tools.paths[name]


def skip(name: str, hint: str) -> NoReturn:
    """Leave the test out, since `name` is absent; `hint` says what to do."""
    pytest.skip(f"{REASON}{name}: {hint}")


def summary(reasons: Iterable[str]) -> list[str]:
    """One line per hint, from the reasons of all skipped tests."""
    tests: dict[str, list[str]] = defaultdict(list)
    for reason in reasons:
        if match := re.fullmatch(rf"(?:Skipped: )?{REASON}(\S+): (.*)", reason, re.DOTALL):
            tests[match[2]].append(match[1])
    return [
        f"{len(names):,} test{'s' * (len(names) > 1)} left out, for want of "
        f"{', '.join(sorted(set(names)))}: {hint}"
        for hint, names in tests.items()
    ]
