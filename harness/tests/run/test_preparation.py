"""The database that a job finds and leaves behind: the fixture, a copy of it, or none."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus.catalog import cases, definitions
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.measure import blocks
from sqlitmus.run.processes.copies import Copies, Fixtures
from sqlitmus.run.verify.invocations import Preparation

KNOWN = definitions.load()
PYTHON = Installed(KNOWN.runners["python"], [], {}, None, None, "")


@pytest.mark.parametrize(
    ("text", "copied"),
    [("get-pk", False), ("insert-autocommit", True), ("foo-get", False), ("foo-insert", False)],
)
def test_only_a_file_that_is_written_to_is_copied_and_looked_at_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, copied: bool
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    case = cases.make_case(*cases.parse_case(text, KNOWN), KNOWN, KNOWN.modes["quick"])
    fixtures = Fixtures(KNOWN, "s", lambda _: None)
    ready = Preparation(KNOWN, fixtures, Copies(), "s", tmp_path).job(case, PYTHON, "verify")
    assert (ready.source is None) == KNOWN.scenarios[case.scenario].memory
    assert (ready.target is not None) == copied


def source(file: Path | None) -> Callable[[PlannedCase], Path | None]:
    """Fixtures whose file is always this one."""

    def of(_: PlannedCase) -> Path | None:
        return file

    return of


@pytest.mark.parametrize(
    ("name", "leaves"), [("commit", True), ("bulk-insert", False), ("foo-insert", False)]
)
def test_what_is_written_into_memory_leaves_no_file_to_look_into(
    tmp_path: Path, name: str, leaves: bool
) -> None:
    fixture: Any = SimpleNamespace(of=source(tmp_path / "fixture.db"))
    runner: Any = SimpleNamespace(spec=KNOWN.runners["node"])
    spec, axes = cases.parse_case(name, KNOWN)
    case = cases.make_case(spec, axes, KNOWN, KNOWN.modes["quick"])
    ready = Preparation(KNOWN, fixture, Copies(), "s", tmp_path).job(case, runner, "measure")
    assert (ready.target is not None) == leaves
    assert ready.readback, "the runner reads back in either case"


def test_the_oracle_is_asked_for_the_same_rows_in_a_storage_that_it_knows(tmp_path: Path) -> None:
    fixture: Any = SimpleNamespace(of=source(None))
    runner: Any = SimpleNamespace(spec=KNOWN.runners["node"])
    case = cases.make_case(
        *cases.parse_case("json@store=jsonb", KNOWN), KNOWN, KNOWN.modes["quick"]
    )
    preparation = Preparation(KNOWN, fixture, Copies(), "s", tmp_path)
    texts = {
        plain: preparation.job(case, runner, "verify", plain=plain).file.read_text("utf-8")
        for plain in (False, True)
    }
    assert "jsonb(json_object(" in texts[False]
    assert "jsonb(json_object(" not in texts[True]
    assert "json(json_object(" in texts[True]


def test_processes_that_are_alive_at_once_have_a_copy_each_and_later_ones_the_same(
    tmp_path: Path,
) -> None:
    fixture: Any = SimpleNamespace(of=source(tmp_path / "fixture.db"))
    runner: Any = SimpleNamespace(spec=KNOWN.runners["node"])
    preparation = Preparation(KNOWN, fixture, Copies(), "s", tmp_path)
    targets: dict[str | None, set[Path | None]] = {None: set(), "node": set(), "canary": set()}
    for text in ("insert-autocommit", "update-pk"):
        case = cases.make_case(*cases.parse_case(text, KNOWN), KNOWN, KNOWN.modes["quick"])
        for seat, files in targets.items():
            files.add(preparation.job(case, runner, "measure", seat=seat).target)
    assert [len(files) for files in targets.values()] == [1, 1, 1]
    assert len({file for files in targets.values() for file in files}) == 3


class Enough(Exception):
    """All is known that the test asks for."""


@pytest.mark.parametrize(
    ("asked", "files"),
    [
        (["insert-autocommit", "insert-autocommit"], 1),
        (["insert-autocommit", "upsert"], 2),
    ],
)
def test_processes_of_several_cases_that_are_alive_at_once_have_a_file_each(
    tmp_path: Path, asked: list[str], files: int
) -> None:
    """A runner has the same seat in each of the cases that are compared with each other."""
    fixture: Any = SimpleNamespace(of=source(tmp_path / "fixture.db"))
    preparation = Preparation(KNOWN, fixture, Copies(), "s", tmp_path)
    runner: Any = SimpleNamespace(spec=KNOWN.runners["node"])
    targets: list[Path | None] = []

    def begin(case: PlannedCase, runner: Any, mode: Any, **more: Any) -> Any:
        targets.append(preparation.job(case, runner, mode, **more).target)
        if len(targets) == len(asked):
            raise Enough
        return SimpleNamespace()

    seatings: Any = [
        SimpleNamespace(
            case=cases.make_case(*cases.parse_case(text, KNOWN), KNOWN, KNOWN.modes["quick"]),
            runner=runner,
            digest=False,
            label="node",
        )
        for text in asked
    ]
    invocations: Any = SimpleNamespace(begin=begin)
    relay: Any = None
    with pytest.raises(Enough):
        blocks.play(invocations, relay, seatings, "1", lambda: False)
    assert None not in targets
    assert len(set(targets)) == files


def question(tmp_path: Path, text: str, *, known: Any = KNOWN, size: str = "s") -> str:
    """What the oracle is asked by the case `text`, as a hash."""
    fixture: Any = SimpleNamespace(of=source(tmp_path / f"{text.partition('=')[2]}.db"))
    case = cases.make_case(*cases.parse_case(text, known), known, known.modes["quick"])
    preparation = Preparation(known, fixture, Copies(), size, tmp_path)
    return preparation.job(case.verified(), PYTHON, "verify", plain=True).question


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("get-pk", "get-pk@profile=shipped"),  # in another file, of another journal
        ("get-pk", "get-pk@shape=array"),
        ("threads", "threads@option=small-cache"),
        ("threads", "threads@workers=2,option=query-only"),
        ("threads", "threads@option=readonly"),
    ],
)
def test_the_oracle_is_asked_once_what_storage_and_shape_do_not_change(
    tmp_path: Path, text: str, other: str
) -> None:
    assert question(tmp_path, text) == question(tmp_path, other)


def test_the_oracle_is_asked_again_for_whatever_could_change_an_answer(tmp_path: Path) -> None:
    users = KNOWN.fixtures["users"].model_copy(update={"seed": 99})
    other_rows = KNOWN.model_copy(update={"fixtures": {**KNOWN.fixtures, "users": users}})
    profile = KNOWN.profiles["normalised"]
    pragmas = [*profile.pragmas, ("reverse_unordered_selects", "ON")]
    changed = profile.model_copy(update={"pragmas": pragmas})
    other_pragma = KNOWN.model_copy(update={"profiles": {**KNOWN.profiles, "normalised": changed}})
    asked = [
        question(tmp_path, "get-pk"),
        question(tmp_path, "get-index"),
        question(tmp_path, "get-pk", size="m"),
        question(tmp_path, "get-pk", known=other_rows),
        question(tmp_path, "get-pk", known=other_pragma),
        question(tmp_path, "insert-autocommit"),
        question(tmp_path, "insert-autocommit@profile=shipped"),  # its file is looked into
    ]
    assert len({*asked}) == len(asked)
