"""The file to begin with is one that can be measured."""

import tomllib
from pathlib import Path

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.workload.database import snapshot, template
from sqlitmus.workload.file import read
from sqlitmus.workload.scenarios import catalogue


def test_what_init_writes_can_be_measured(tmp_path: Path, database: Path, catalog: Catalog) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    copy = snapshot(database, folder)
    text = template(copy.file, "app.db", "my.toml", copy.about.name)
    assert "#   document (100 rows): id INTEGER, owner TEXT, title TEXT" in text
    file = tmp_path / "my.toml"
    file.write_text(text, "utf-8")
    made = catalogue(read(file, catalog), copy, catalog)
    assert list(made.scenarios) == ["by-key", "list", "start", "mix"]


def test_what_it_leaves_out_is_a_query_too(tmp_path: Path, database: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    text = template(snapshot(database, folder).file, "app.db", "my.toml", "app.db")
    whole = text.replace("# [query.add]", "[query.add]").replace("\n# ", "\n")
    begin = whole.index("[query.add]")
    assert tomllib.loads(whole[begin:])["query"]["add"]["transaction"] == "immediate"
