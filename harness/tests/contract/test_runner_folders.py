"""What a reader is told of the runners: where the timed loop is, where each concept is."""

import re
from pathlib import Path

import pytest

from sqlitmus.catalog import definitions
from sqlitmus.vocabulary import paths

CONTRACT = paths.RUNNERS / "contract" / "CONTRACT.md"
KNOWN = definitions.load()
FOLDERS = sorted(
    {
        folder.relative_to(paths.RUNNERS).as_posix()
        for name, spec in KNOWN.runners.items()
        for source in [".", *spec.sources]
        if (folder := (KNOWN.folders[name] / source).resolve()).is_dir()
    }
)
BEGINNING = "The loop that is timed is here: "


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_readme_begins_with_where_the_timed_loop_is(folder: str) -> None:
    readme = paths.RUNNERS / folder / "README.md"
    lines = [line for line in readme.read_text("utf-8").splitlines() if line]
    assert len(lines) <= 40
    assert lines[0].startswith("# ")
    assert lines[1].startswith(BEGINNING)
    named = re.findall(r"`([^` ]+\.\w+)`, `(\w+)`", "\n".join(lines))
    assert named
    for file, function in named:
        text = (readme.parent / file).read_text("utf-8")
        assert re.search(rf"(function|fn|def|void) {function}\(", text), f"{file}: {function}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_that_a_readme_names_exist(folder: str) -> None:
    readme = paths.RUNNERS / folder / "README.md"
    text = readme.read_text("utf-8")
    named = re.findall(r"`([\w./-]+\.(?:js|rs|cs|py|toml|md))`", text)
    asked = re.findall(r"(?<= )(runners/\S+)", text)
    for file in named:
        assert (readme.parent / file).is_file(), file
    for file in asked:
        assert (paths.ROOT / file).is_file(), file


def concepts() -> tuple[list[str], list[list[str]]]:
    """The folders of the columns of the contract's table of concepts, and its rows: their cells."""
    _, _, text = CONTRACT.read_text("utf-8").partition("## Where each concept is")
    before, *table = text.rstrip().split("\n|")
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return re.findall(r"`runners/([^`]+)`", before), rows[2:]


def test_the_table_of_concepts_names_files_that_exist() -> None:
    sources, rows = concepts()
    assert len(rows) > 20
    for concept, *cells in rows:
        assert len(cells) == len(sources) > 3, concept
        for source, cell in zip(sources, cells, strict=True):
            for file in re.findall(r"`([^`]+)`", cell):
                assert (paths.RUNNERS / source / file).is_file(), f"{concept}: {source}/{file}"


def imported(file: Path) -> set[Path]:
    """The files of its own folder and below that a JavaScript file imports, at once or later."""
    text = re.sub(r"/\*.*?\*/", "", file.read_text("utf-8"), flags=re.DOTALL)
    names = re.findall(r"""(?:from|import\()\s*"(\.[^"]+\.js)\"""", text)
    return {(file.parent / name).resolve() for name in names}


def test_no_javascript_file_imports_itself_through_others() -> None:
    folder = paths.RUNNERS / "javascript"
    files = {f.resolve() for f in [*folder.glob("*.js"), *folder.glob("drivers/*.js")]}
    graph = {file: imported(file) & files for file in files}
    assert sum(map(len, graph.values())) > 40
    while leaves := {file for file, targets in graph.items() if not targets & graph.keys()}:
        graph = {file: targets for file, targets in graph.items() if file not in leaves}
    assert not graph, sorted(str(file.relative_to(folder)) for file in graph)
