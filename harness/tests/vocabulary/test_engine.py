"""The engine options are those of the contract, and a misspelt value is told before it is asked."""

import re

import pytest

from sqlitmus.vocabulary import contract, paths


def test_the_contract_has_the_same_options_and_values() -> None:
    text = (paths.RUNNERS / "contract" / "CONTRACT.md").read_text("utf-8")
    section = text.partition("### Engine options\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE)
    assert {option: re.findall(r"[\w-]+", values) for option, values in rows} == {
        option: [str(value) for value in values] for option, values in contract.VALUES.items()
    }


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("threading", "multi-thread", ""),
        ("memstatus", 0, ""),
        ("a runner's own", "anything", ""),
        ("memstatus", "0", "memstatus is 0 or 1, not '0'; did you mean 0?"),
        ("threading", 1, "threading is serialized, multi-thread or single-thread, not 1"),
    ],
)
def test_what_an_option_cannot_be(option: str, value: str | int, text: str) -> None:
    assert contract.problem(option, value) == text
