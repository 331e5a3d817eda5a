"""The rooms of `harness/sqlitmus`: each imports what it says, and there are no circles."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from benchmarks.house import nodes, size

HOUSE = Path(__file__).parents[1] / "sqlitmus"
DOOR = {"__init__.py", "__main__.py"}
FOLDERS = sorted(file.parent for file in HOUSE.rglob("__init__.py"))
ROOMS = sorted(folder.name for folder in HOUSE.iterdir() if (folder / "__init__.py").exists())
ROOMS_OF_RUN = sorted(file.parent.name for file in (HOUSE / "run").glob("*/__init__.py"))


def declared(room: str) -> set[str]:
    """The rooms after `Imports:` in the docstring of the room's `__init__`."""
    doc = ast.get_docstring(ast.parse((HOUSE / room / "__init__.py").read_text("utf-8"))) or ""
    line = re.search(r"^Imports: ((?:.|\n)+?)\.$", doc, re.MULTILINE)
    assert line, f"{room}/__init__.py does not end with `Imports: … .`"
    names = set(re.split(r",\s+", line[1]))
    return set() if names == {"nothing"} else names


def imports(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Line and path of each import from the house, lazy ones included."""
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            paths = [[*module, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
        else:
            continue
        yield from ((node.lineno, path[1:]) for path in paths if path[0] == "sqlitmus")


def imported(file: Path) -> Iterator[tuple[int, str]]:
    """Line and room of each import from the house."""
    yield from ((line, path[0]) for line, path in imports(file) if path[0] in ROOMS)


def test_only_the_door_stands_at_the_top() -> None:
    assert {file.name for file in HOUSE.glob("*.py")} == DOOR


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_it_says(room: str) -> None:
    allowed = declared(room) | {room}
    strangers = [
        f"{file.relative_to(HOUSE)}:{line} imports {name}"
        for file in sorted((HOUSE / room).rglob("*.py"))
        for line, name in imported(file)
        if name not in allowed
    ]
    assert not strangers
    used = {name for file in (HOUSE / room).rglob("*.py") for _, name in imported(file)}
    assert declared(room) <= used, "the docstring names rooms that are not imported"


def test_no_room_imports_itself_in_a_circle() -> None:
    order = list(TopologicalSorter({room: declared(room) for room in ROOMS}).static_order())
    assert sorted(order) == ROOMS


@pytest.mark.parametrize("room", ROOMS_OF_RUN)
def test_a_room_of_run_imports_what_it_says(room: str) -> None:
    used = {
        f"{path[1]}.py" if path[1] not in ROOMS_OF_RUN else path[1]
        for file in (HOUSE / "run" / room).glob("*.py")
        for _, path in imports(file)
        if path[0] == "run"
    }
    assert used - {room} == declared(f"run/{room}")


def test_no_room_of_run_imports_another_in_a_circle() -> None:
    said = {room: declared(f"run/{room}") for room in ROOMS_OF_RUN}
    assert sorted(TopologicalSorter(said).static_order()) == ROOMS_OF_RUN


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_folder_says_in_a_sentence_what_lives_there(folder: Path) -> None:
    doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    assert re.match(r"[A-Z].+\.$", doc.splitlines()[0])


VAGUE = {"found", "one", "known", "wanted", "said", "own", "kept", "asked", "there", "told"}


def vague(room: str) -> list[str]:
    """File and line of the room's functions that have a parameter or a local of a vague name."""
    return [
        f"{file.relative_to(HOUSE)}:{function.lineno}"
        for file in sorted((HOUSE / room).rglob("*.py"))
        for function in nodes(file)
        if isinstance(function, ast.FunctionDef) and VAGUE & set(locals_of(function))
    ]


def locals_of(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@pytest.mark.parametrize("room", ROOMS)
def test_local_names_say_what_the_value_is(room: str) -> None:
    assert not vague(room)


# The house as `./just bench-house` counts it; a commit that lets it grow says what for.
AT_MOST = {
    "modules": 146,
    "lines": 38_054,
    "lines of a module, most": 600,
    "longest chain of imports": 17,
    "modules with one importer": 28,
    "import lines, % of code": 7.0,
    "imports from tests": 296,
    "lines of tests": 32_920,
}


def test_the_house_does_not_grow() -> None:
    counted = size()
    larger = {name: counted[name] for name, most in AT_MOST.items() if counted[name] > most}
    assert not larger
