"""How large the house is: `./just bench-house` prints modules, lines, imports and tests.

With `--set` it measures a case of Python's runner, and also prints how many files and functions of
the house run for one set of turns, from its begin until it is on the disk.

Counted in `harness/sqlitmus` from the source alone. A chain of imports counts modules; those of a
circle count as one. A module with one importer is one that a single other module of the house
imports.
"""

import ast
import contextlib
import io
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median
from types import FrameType

HARNESS = Path(__file__).parents[1]
HOUSE = HARNESS / "sqlitmus"
Graph = Mapping[str, set[str]]  # by module, what it imports


def modules() -> dict[str, Path]:
    """The files of the house by the name under which they are imported."""
    return {
        ".".join(file.relative_to(HARNESS).with_suffix("").parts).removesuffix(".__init__"): file
        for file in sorted(HOUSE.rglob("*.py"))
    }


def imports(files: Mapping[str, Path]) -> Graph:
    """Which modules of the house each module imports, lazy imports included."""
    return {name: set(_imports(file, files)) - {name} for name, file in files.items()}


@lru_cache(maxsize=200)  # the house; tests are read once
def nodes(file: Path) -> list[ast.AST]:
    """All nodes of the syntax of `file`, its module first."""
    return [*ast.walk(ast.parse(file.read_text("utf-8")))]


def _imports(file: Path, files: Mapping[str, Path]) -> Iterator[str]:
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in files else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def circles(graph: Graph) -> list[set[str]]:
    """Modules that import each other, directly or not; each in one set."""
    reached = {name: _reached(graph, name) for name in graph}
    groups: dict[frozenset[str], set[str]] = {}
    for name in graph:
        group = frozenset({name} | {other for other in reached[name] if name in reached[other]})
        groups[group] = set(group)
    return list(groups.values())


def _reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    left = [start]
    while left:
        more = graph.get(left.pop(), set()) & graph.keys()
        left += more - seen
        seen |= more
    return seen - {start}


def longest_chain(graph: Graph) -> int:
    """How many modules stand in the longest chain of imports."""
    group_of = {name: place for place, group in enumerate(circles(graph)) for name in group}
    between: dict[int, set[int]] = {place: set() for place in group_of.values()}
    for name, others in graph.items():
        between[group_of[name]] |= {group_of[o] for o in others & graph.keys()}
    length: dict[int, int] = {}
    for place in TopologicalSorter({p: o - {p} for p, o in between.items()}).static_order():
        length[place] = 1 + max((length[o] for o in between[place] - {place}), default=0)
    return max(length.values())


def import_share(files: Mapping[str, Path]) -> float:
    """Lines of import statements over lines that hold code, docstrings and comments left out."""
    importing = code = 0
    for file in files.values():
        lines: set[int] = set()
        documented = {
            id(node.body[0])
            for node in nodes(file)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        }
        for node in nodes(file):
            if isinstance(node, ast.stmt) and id(node) not in documented:
                lines |= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
            if isinstance(node, ast.Import | ast.ImportFrom):
                importing += (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes(file):
            if id(node) in documented and isinstance(node, ast.stmt):
                lines -= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        text = file.read_text("utf-8").splitlines()
        code += sum(bool(text[n - 1].strip()) and text[n - 1].strip()[0] != "#" for n in lines)
    return importing / code


def size() -> dict[str, float]:
    """The figures of the house by name."""
    files = modules()
    graph = imports(files)
    importers = Counter(other for others in graph.values() for other in others)
    lines = {name: len(file.read_text("utf-8").splitlines()) for name, file in files.items()}
    tests = list((HARNESS / "tests").rglob("*.py"))
    return {
        "modules": len(files),
        "lines": sum(lines.values()),
        "lines of a module, median": median(lines.values()),
        "lines of a module, most": max(lines.values()),
        "longest chain of imports": longest_chain(graph),
        "modules with one importer": sum(importers[name] == 1 for name in files),
        "import lines, % of code": round(100 * import_share(files), 1),
        "imports from tests": sum(len(set(_imports(file, files)) & files.keys()) for file in tests),
        "lines of tests": sum(len(file.read_text("utf-8").splitlines()) for file in tests),
    }


def of_a_set() -> dict[str, float]:
    """Files and functions of the house that run for one set of turns, by name."""
    from sqlitmus import cli
    from sqlitmus.run.measure.blocks import Measuring

    called: set[tuple[str, str]] = set()
    perform = Measuring.perform

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOUSE)):
            called.add((code.co_filename, code.co_qualname))

    def watched(*given: object) -> bool:
        called.clear()
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            return perform(*given)  # pyright: ignore[reportArgumentType]
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    Measuring.perform = watched  # pyright: ignore[reportAttributeAccessIssue]
    with tempfile.TemporaryDirectory() as folder:
        words = ["--case", "insert-transaction", "-r", "python", "--scheme", "relay"]
        words += ["--mode", "quick", "--blocks", "2", "--quiet", "--out", folder]
        sys.argv = ["sqlitmus", "run", *words]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            cli.main()
    if not called:
        sys.exit("no set of turns was played; ./just run says why")
    return {
        "files for a set of turns": len({file for file, _ in called}),
        "functions for a set of turns": len(called),
    }


if __name__ == "__main__":
    figures = size()
    if "--set" in sys.argv:
        figures |= of_a_set()
    for name, value in figures.items():
        print(f"{name:30}{value:>10,g}")
