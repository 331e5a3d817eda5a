"""The catalogue: the clone's own TOML loads, and a fault is told with file and place."""

import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.catalog.toml import Lines, Place
from sqlitmus.vocabulary.contract import PRAGMAS_READ_BACK
from tests.catalog.faulty import FAULTS, faults, plant
from tests.known import KNOWN, ROOT, RUNNERS, read
from tests.refusals import refused


def test_the_clones_catalogue_has_what_the_design_names(snapshot: SnapshotAssertion) -> None:
    axes = {axis for spec in KNOWN.scenarios.values() for axis in spec.axes}
    kinds = {"axes": axes, "fixtures": KNOWN.fixtures, "profiles": KNOWN.profiles}
    kinds |= {"scenarios": KNOWN.scenarios, "suites": KNOWN.suites}
    assert {kind: sorted(names) for kind, names in kinds.items()} == snapshot
    single = {s.role: name for name, s in KNOWN.runners.items() if s.role in ("oracle", "floor")}
    assert single == {"oracle": "python", "floor": "rust-ffi"}


def test_a_variant_is_another_build_of_a_runner_or_has_its_drivers_interface() -> None:
    of_role = {True: set[tuple[str, ...]](), False: set[tuple[str, ...]]()}
    for spec in KNOWN.runners.values():
        of_role[spec.role == "variant"].add((spec.runtime, spec.driver, *spec.sources))
    assert of_role[True]
    of_node = {
        ("Node", name, ".", "../javascript", f"../{name}/package-lock.json")
        for name in ("libsql", "turso")
    }
    # sqlx has the Rust runner's code under it, and a crate of its own
    assert of_role[True] - of_role[False] == of_node | {("Rust", "sqlx", ".")}


def test_each_scenario_says_what_it_asks_in_known_words() -> None:
    for name, spec in KNOWN.scenarios.items():
        assert "?" in spec.question, name
        for step in spec.steps:
            bound = {"prepare": 0, "read-file": 1, "open-file": 1}.get(
                step.operation, step.sql.count("?")
            )
            given = len(step.parameters) * ("{tuples}" not in step.sql)
            assert given == bound, f"{name}: {step.sql}"
            assert set(step.only) <= set(spec.axes)
        for profile in spec.axes.get("profile", []) if "processes" in spec.axes else []:
            first, _ = KNOWN.profiles[profile].pragmas[0]
            assert first == "busy_timeout", f"{name}: who opens a log meanwhile is told SQLITE_BUSY"


def test_profiles_are_made_of_pragmas_that_are_read_back() -> None:
    for name, profile in KNOWN.profiles.items():
        pragmas = [pragma for pragma, _ in profile.pragmas]
        assert {*pragmas} <= {*PRAGMAS_READ_BACK}, name
        assert "foreign_keys" in pragmas or "foreign keys" in profile.summary, name
        assert "busy_timeout" not in pragmas[1:], f"{name}: what opens a database at once waits"


def test_every_runner_starts_from_files_that_are_there() -> None:
    """What JavaScript runners share is among them: else a change there would keep old answers."""
    core = RUNNERS / "javascript"
    for name, spec in KNOWN.runners.items():
        assert re.fullmatch(r"[a-z0-9-]+", name)
        sources = {(KNOWN.folders[name] / source).resolve() for source in spec.sources}
        programs = [word for word in spec.command if word.startswith("{runners}")]
        started = {Path(word.replace("{runners}", str(RUNNERS))) for word in programs}
        assert [file for file in sources | started if not file.exists()] == [], name
        if spec.tool in ("node", "bun", "deno"):
            assert sources & {core.resolve(), *core.resolve().parents}, name


OF_ALL = [file for file in FAULTS if "/" in file]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the clone's scenarios, fixtures and runner.toml files."""
    for name in ("scenarios", "fixtures"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for file in RUNNERS.glob("*/runner.toml"):
        target = tmp_path / "runners" / file.parent.name
        target.mkdir(parents=True)
        shutil.copy(file, target)
    return tmp_path


@pytest.mark.parametrize(("file", "old", "new", "said"), faults(*OF_ALL))
def test_a_fault_is_told_with_its_place(
    copy: Path, file: str, old: str, new: str, said: str
) -> None:
    plant(copy, file, old, new)
    with refused(re.escape(said)) as caught:
        read(copy)
    for line in str(caught.value).splitlines():
        assert line.startswith(f"{copy}/"), "what two files have to do with is told of the later"


def test_a_file_that_is_no_text_or_cannot_be_read_is_told(copy: Path) -> None:
    (copy / "scenarios/extra.toml").write_bytes(b"\xff\xfe")
    with refused(r"extra\.toml: not UTF-8: invalid start byte at byte 0"):
        read(copy)
    (copy / "scenarios/extra.toml").unlink()
    (copy / "scenarios/suites.toml").unlink()
    (copy / "scenarios/suites.toml").mkdir()
    with refused(r"suites\.toml: cannot be read: it is a folder; give"):
        read(copy)


def test_a_runner_of_the_same_name_twice_is_told(copy: Path) -> None:
    shutil.copytree(copy / "runners/node", copy / "runners/node2")
    with refused(r"node2/runner\.toml: runner node is defined twice"):
        read(copy)


TEXT = '''# a comment with "quotes" and [brackets]
a = "one # two"
b.c = 1.5
"d e" = """
  [no.table]
"""
f = [1,
  2, # two
  { g = 'x', h = [ "]" ] },
]

[table]
key = 2026-11-22T10:00:00Z
[[items]]
name = "first"
[[items]]
name = "second"
[items.inner]
deep = true
'''


def test_each_key_and_item_has_its_line_or_that_of_what_it_is_missing_in() -> None:
    lines = Lines(TEXT)
    expected: dict[Place, int] = {
        ("a",): 2,
        ("b", "c"): 3,
        ("d e",): 4,
        ("f", 0): 7,
        ("f", 1): 8,
        ("f", 2, "h", 0): 9,
        ("table", "key"): 13,
        ("items", 0): 14,
        ("items", 1, "name"): 17,
        ("items", 1, "inner", "deep"): 19,
        ("items", 1, "nothing", 3): 16,
        ("nothing",): 1,
    }
    assert {place: lines.of(place) for place in expected} == expected


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        parts = list(value.items())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    elif isinstance(value, list):
        parts = list(enumerate(value))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    else:
        yield place
        return
    for name, part in parts:  # pyright: ignore[reportUnknownVariableType]
        yield from _places(part, (*place, name))  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize("folder", ["claims", "."])
def test_it_sees_every_value_that_tomllib_sees(folder: str) -> None:
    for file in sorted((ROOT / "scenarios" / folder).glob("*.toml")):
        text = file.read_text("utf-8")
        assert set(_places(tomllib.loads(text))) <= set(Lines(text).all), file.name
