"""A workload's file: what it may say, and where it is wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Parameter
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.workload.file import read

Write = Callable[[str], Path]


def test_parameters_are_a_query_rows_or_generators(write: Write, catalog: Catalog) -> None:
    source = read(
        write(
            """
[query.asked]
sql = "SELECT 1 FROM document WHERE id = ?"
parameters = "SELECT id FROM document"
[query.listed]
sql = "SELECT 1 FROM document WHERE id = ? AND owner = ?"
parameters = [[1, "a"], [2, "b"]]
[query.single]
sql = "SELECT 1 FROM document WHERE id = ?"
parameters = [1, 2]
[query.drawn]
sql = "SELECT 1 FROM document WHERE owner = ?"
parameters = [{ type = "text", generator = "uuid" }]
"""
        ),
        catalog,
    )
    drawn = {name: query.parts()[0].parameters for name, query in source.workload.query.items()}
    assert drawn["asked"] == "SELECT id FROM document"
    assert drawn["listed"] == [[1, "a"], [2, "b"]]
    assert drawn["single"] == [1, 2]
    assert isinstance(drawn["drawn"], list)
    assert isinstance(drawn["drawn"][0], Parameter)
    assert source.database == source.file.parent / "app.db"


def test_a_limit_that_the_profile_keeps_is_taken(write: Write, catalog: Catalog) -> None:
    text = '[limits]\ndurability = "{}"\n[query.a]\nsql = "SELECT 1"\n'
    for durability, profile in (("normal", "normalised"), ("full", "durable")):
        file = write(f'profile = "{profile}"\n{text.format(durability)}')
        assert read(file, catalog).workload.limits.durability == durability


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "my.toml: a workload has queries, or a trace in their place"),
        ('trace = "a"\n[query.a]\nsql = "SELECT 1"\n', "my.toml: a workload has queries, or a "),
        ("workers = 4\n[query.a]\n", "my.toml:3: query.a: a query has either sql or statements"),
        ("[query]\n", "my.toml: a workload has queries, or a trace in their place"),
        ('[query.a]\nsql = ""\n', "my.toml:2: query.a: a query has either sql or statements"),
        (
            '[query.a]\nsql = "SELECT 1"\nweight = 0\n',
            "my.toml:4: query.a.weight: Input should be greater than 0",
        ),
        (
            '[query.a]\nsql = "SELECT 1"\nweight = -1\n',
            "my.toml:4: query.a.weight: Input should be greater than 0",
        ),
        (
            '[query.a]\nsql = "SELECT 1"\nwieght = 2\n',
            "my.toml:4: query.a.wieght: there is no such key; correct its name, or take it out",
        ),
        (
            '[query."A b"]\nsql = "SELECT 1"\n',
            "my.toml:2: query.A b: a query's name has small letters, digits and dashes, 40 at most",
        ),
        (
            'profile = "normalized"\n[query.a]\nsql = "SELECT 1"\n',
            "my.toml:2: profile: there is no profile 'normalized'; did you mean normalised?",
        ),
        (
            'rates = [0]\n[query.a]\nsql = "SELECT 1"\n',
            "my.toml:2: rates[0]: Input should be greater than 0",
        ),
        (
            '[limits]\ndurability = "full"\n[query.a]\nsql = "SELECT 1"\n',
            "it is full, and profile normalised sets synchronous NORMAL, which no runner can then",
        ),
        (
            '[limits]\ndurability = "some"\n[query.a]\nsql = "SELECT 1"\n',
            "my.toml:3: limits.durability: Input should be 'full' or 'normal'",
        ),
        ("query = ", "my.toml: cannot be read as a workload: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    write: Write, catalog: Catalog, text: str, message: str
) -> None:
    with pytest.raises(UsageError) as told:
        read(write(text), catalog)
    assert message in str(told.value)
