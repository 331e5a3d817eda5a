"""The file of a new claim: refused line by line until it is filled, and then a claim."""

from pathlib import Path

import pytest

from sqlitmus.catalog import claims, definitions
from sqlitmus.vocabulary.errors import UsageError

FILLED = {
    'base = { case = "" }': 'base = { case = "get-pk" }',
    'new = { case = "" }': 'new = { case = "get-pk@shape=array" }',
    'said = ""': 'said = "+20 %"',
    'name = ""': 'name = "an array"',
}


def test_each_blank_of_an_unfilled_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a-mine.toml").write_text(claims.TEXT, "utf-8")
    with pytest.raises(UsageError) as caught:
        claims.read(tmp_path, definitions.load())
    named = {line.split(":")[1] for line in str(caught.value).splitlines()}
    blanks = [
        str(number)
        for number, line in enumerate(claims.TEXT.splitlines(), 1)
        if '= ""' in line and not line.startswith("#")
    ]
    assert named == set(blanks)
    assert len(blanks) >= 10


def test_a_filled_file_is_a_claim(tmp_path: Path) -> None:
    text = claims.TEXT
    for blank, filled in FILLED.items():
        assert text.count(blank) == 1
        text = text.replace(blank, filled)
    (tmp_path / "a-mine.toml").write_text(text.replace('= ""', '= "A sentence."'), "utf-8")
    (claim,) = claims.read(tmp_path, definitions.load()).values()
    assert claim.name == "mine"
    assert list(claim.cells()) == [("get-pk", "node"), ("get-pk@shape=array", "node")]


@pytest.mark.parametrize(
    ("files", "file"),
    [
        ([], "a-mine.toml"),
        (["a-threading.toml", "b-keys.toml", "b-processes.toml"], "c-mine.toml"),
        (["z-last.toml"], "z-mine.toml"),
        (["10-numbered.toml"], "a-mine.toml"),
    ],
)
def test_a_new_file_comes_after_the_others(files: list[str], file: str) -> None:
    assert claims.file_name("mine", files) == file


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("new", "cannot name a claim"),
        ("", "cannot name a claim"),
        ("../up", "cannot name a claim"),
        ("Mine", "cannot name a claim"),
        ("keys", "b-keys.toml is the claim keys already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        claims.file_name(name, ["b-keys.toml"])
