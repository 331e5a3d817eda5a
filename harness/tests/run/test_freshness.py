"""What a runner is asked while its rows change, and what is made of its answers."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus.catalog import choose, fixture
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.measure import blocks
from sqlitmus.run.processes.copies import BLOCK, Copies, Fixtures
from sqlitmus.run.processes.process import Invocation
from sqlitmus.run.verify import freshness
from sqlitmus.run.verify.freshness import Gate, Manner, Question
from sqlitmus.run.verify.invocations import Preparation
from sqlitmus.run.verify.prober import Life, Verdict
from sqlitmus.vocabulary.contract import Counts, Features, Job, Result, levels
from tests.fakes.clone import Clone, long_enough
from tests.known import KNOWN, case_of
from tests.refusals import unfit
from tests.run.test_hyperfine import RESULT

GET = Manner("object", "number", "prepared", "get")
ALL = Manner("object", "number", "prepared", "all")
QUESTION = Question((ALL, GET), wide=True, nul=True, engine={})
LOSSY = Features(levels=["core", "extras"], integers=["number", "bigint"])


def counts(question: Question, changed: int) -> Counts:
    """The right answer after the rows of so many steps were changed."""
    rows, checksum = freshness.right(question, changed)
    return rows, 0, checksum


def asked(question: Question = QUESTION, **changes: Any) -> Verdict:
    """The verdict on right answers with `changes`."""
    answers = [counts(question, changed) for changed in range(question.iterations)]
    right = {"answers": answers, "digest": freshness.right_digest(question)}
    result = Result.model_validate({**RESULT, **right, **changes})
    return question.judged(Invocation(None, result, None), Life(0, 0, []))


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("nul", [True, False])
@pytest.mark.parametrize("gated", [True, False])
def test_right_answers_are_ok(wide: bool, nul: bool, gated: bool) -> None:
    assert asked(replace(QUESTION, wide=wide, nul=nul, gated=gated)) == ("ok", None)


STALE = "stale: another process changed rows{}, and {} returned the old ones"
BY_ALL, BY_GET = "`all` (prepared, object)", "`get` (prepared, object)"


def test_the_manner_that_returned_old_rows_is_named() -> None:
    first, second, third, last = (counts(QUESTION, changed) for changed in range(4))
    for answers, name in (
        ([first, first, third, last], BY_ALL),
        ([first, second, second, last], BY_GET),
        ([first, first, first, first], BY_ALL),
    ):
        assert asked(answers=answers) == ("wrong", STALE.format("", name))


@pytest.mark.parametrize(
    ("stale", "names"), [([0], BY_ALL), ([1], BY_GET), ([0, 1], f"{BY_ALL}, {BY_GET}")]
)
def test_rows_that_changed_within_an_iteration_are_new_ones(stale: list[int], names: str) -> None:
    *before, _ = (counts(QUESTION, changed) for changed in range(4))
    rows, checksum = freshness.right(QUESTION, 3, stale)
    answers = [*before, (rows, 0, checksum)]
    assert asked(answers=answers) == ("wrong", STALE.format(" within an iteration", names))


ANEW = replace(QUESTION, manners=(GET._replace(statement="adhoc"), GET))


def test_a_statement_that_was_compiled_once_is_named() -> None:
    answers = [freshness.right(ANEW, changed, compiled_once=True) for changed in range(4)]
    assert asked(ANEW, answers=[(rows, 0, checksum) for rows, checksum in answers]) == (
        "wrong",
        "not compiled at each execution: the statement of `get` (adhoc, object)",
    )
    assert asked(ANEW) == ("ok", None)


def test_rows_that_never_were_are_wrong() -> None:
    first, second, third, last = (counts(QUESTION, changed) for changed in range(4))
    other = (*second[:2], second[2] ^ 1)
    names = f"{BY_ALL}, {BY_GET}"
    reason = f"its values are not those of the database, read by {names}"
    assert asked(digest="ab" * 32) == ("wrong", reason)  # which the checksum does not see
    reason = f"its rows are not those of the database, read by {names}"
    assert asked(answers=[other, second, third, last]) == ("wrong", reason)
    neither = "another process changed rows{}, and {} returned neither old nor new ones"
    reason = neither.format("", BY_ALL)
    assert asked(answers=[first, other, third, last]) == ("wrong", reason)
    reason = neither.format(" within an iteration", names)
    assert asked(answers=[first, second, third, other]) == ("wrong", reason)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with closing(Gate(tmp_path / "rows.db")) as made:
        yield made


@pytest.fixture
def through(gate: Gate, tmp_path: Path) -> Iterator[Callable[[], list[tuple[int]]]]:
    """Goes through the gate as a runner does, and waits where it is shut."""
    job = QUESTION.job(str(tmp_path / "rows.db"), "")
    with closing(sqlite3.connect(":memory:", timeout=60)) as connection:
        gate.open()
        for sql in job.connection.setup:
            connection.execute(sql)
        yield lambda: connection.execute(job.steps[-1].sql).fetchall()


def test_who_stands_at_the_gate_goes_through_after_the_change_or_after_it_opened_without(
    gate: Gate, through: Callable[[], list[tuple[int]]]
) -> None:
    changes: list[str] = []
    gate.shut(lambda: changes.append("rows"))
    gate.open()  # nobody came
    assert (through(), changes) == ([(1,)], [])
    gate.shut(lambda: changes.append("rows"))
    for _ in range(2):
        assert (through(), changes) == ([(1,)], ["rows"])


def test_who_keeps_a_statement_open_cannot_be_held_up(gate: Gate, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "rows.db.gate")) as connection:
        kept = connection.execute("SELECT id FROM door UNION ALL SELECT id FROM door")
        assert kept.fetchone() == (1,)
        gate.shut(lambda: pytest.fail("nobody stands there"))
        gate.open()
        assert kept.fetchone() == (1,)


def test_what_was_not_answered_is_failed() -> None:
    assert asked(answers=[]) == ("failed", "its result has 0 answers to 4 iterations")
    assert asked(digest=None) == ("failed", "its result has no digest, which was asked for")
    assert asked(status="unsupported", reason="no barrier") == ("unsupported", "no barrier")
    assert asked(status="failed", error={"message": "locked"}) == ("failed", "locked")
    ended = Invocation(None, None, "ended with exit code 2")
    assert QUESTION.judged(ended, Life(0, 0, [])) == (
        "failed",
        "asked whether it answers from the database: ended with exit code 2",
    )


def test_a_run_asks_in_the_manners_of_its_cases() -> None:
    cases, _ = choose.choose(
        KNOWN, "quick", KNOWN.modes["quick"], ["get-pk@shape=array", "all"], [], [], None
    )
    manners = freshness.manners_of(cases, KNOWN)
    assert manners == {ALL, Manner("array", "number", "prepared", "get")}
    # A driver may have one shape for all statements of a connection.
    spec = KNOWN.runners["node"]
    assert [q.manners for q in freshness.questions(manners, LOSSY, spec)] == [
        (Manner("array", "number", "prepared", "get"),),
        (ALL,),
    ]


def test_integers_beyond_doubles_are_read_where_they_can_be() -> None:
    bigint = GET._replace(integers="bigint")
    node, rust = KNOWN.runners["node"], KNOWN.runners["rust"]
    lossy = freshness.questions([GET, bigint], LOSSY, node)
    assert {q.manners: q.wide for q in lossy} == {(GET,): False, (bigint,): True}
    assert [q.wide for q in freshness.questions([GET], Features(), rust)] == [True]
    held = [row[-1] for row in QUESTION.stored(0, 0)]
    assert all(isinstance(value, int) and int(float(value)) != value for value in held)


def test_a_runner_of_the_core_meets_no_gate_and_its_texts_hold_what_it_says() -> None:
    spec = KNOWN.runners["node"]
    for features, setups in (Features(), 0), (LOSSY, 2):
        (question,) = freshness.questions([GET], features, spec)
        job = question.job("rows.db", "")
        assert len(job.connection.setup) == setups
        assert levels(job) == ["core", *["extras"] * question.gated]
    for name in ("node", "deno"):
        (question,) = freshness.questions([GET], Features(), KNOWN.runners[name])
        texts = [row[3] for row in question.stored(0, 1)]
        assert ["\0" in str(text) for text in texts] == [name == "node"] * 3


def test_a_runner_with_a_memory_is_wrong_in_every_cell_and_the_others_are_measured(
    clone: Clone,
) -> None:
    clone.runner("remembers", "remembers")
    clone.runner("honest")
    done = clone.sqlitmus("run", "--size", "s", "--blocks", "2", "--case", "get", "--case", "all")
    assert done.code == 5
    assert clone.outcomes() == {"honest": "ok", "remembers": "wrong"}
    reasons = {record.reason for record in clone.latest().verified() if record.runner != "honest"}
    assert reasons == {
        "stale: another process changed rows, and `all` (prepared, object) returned the old ones"
    }
    assert {sample.runner for sample in clone.samples()} == {"honest"}
    assert "freshness.remembers.job.json" in clone.evidence()


def test_a_runner_that_does_not_change_is_asked_once(clone: Clone) -> None:
    clone.runner("honest")
    asked: list[int] = []
    for _ in range(2):
        done = clone.sqlitmus("run", "--size", "s", "--blocks", "2")
        assert done.code == 0, done.err
        asked.append(len(clone.pids()))
    # In the second run it is neither verified nor asked: a process for each invocation.
    assert asked[1] - asked[0] == len(clone.samples())
    assert asked[0] - len(clone.samples()) == 2


def test_a_runner_that_hangs_when_asked_is_killed(clone: Clone) -> None:
    clone.runner("hangs", "hangs-when-asked")

    def attempt(timeout_s: float) -> tuple[float, str] | None:
        done = clone.sqlitmus("verify", "--size", "s", "--timeout", f"{timeout_s:g}")
        return (timeout_s, done.out) if "asked whether" in done.out else None

    timeout_s, out = long_enough(attempt, 1)
    reason = f"asked whether it answers from the database: no end within {timeout_s:g} s; killed"
    assert out == f"failed       get/hangs: {reason}\n"
    assert clone.alive() == []


def test_a_runner_that_cannot_be_asked_is_failed(clone: Clone) -> None:
    clone.runner("old", "knows-contract-1")
    done = clone.sqlitmus("verify", "--size", "s")
    words = "ended with exit code 2 and wrote no result"
    assert (
        done.out == f"failed       get/old: asked whether it answers from the database: {words}\n"
    )
    assert done.code == 4


PYTHON = Installed(KNOWN.runners["python"], [], {}, None, None, "")


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        *(("get-pk", False), ("foo-get", False)),
        *(("insert-autocommit", True), ("commit", True)),
        *(("foo-insert", False), ("bulk-insert", False)),  # into memory
    ],
)
def test_only_a_file_that_is_written_to_is_copied_and_looked_at_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, copied: bool
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    case = case_of(text)
    fixtures = Fixtures(KNOWN, "s", lambda _: None)
    ready = Preparation(KNOWN, fixtures, Copies(), "s", tmp_path).job(case, PYTHON, "verify")
    assert (ready.source is None) == KNOWN.scenarios[case.scenario].memory
    assert (ready.target is not None) == copied
    assert "readback" not in ready.required.left_open
    assert bool(ready.readback) == KNOWN.scenarios[case.scenario].writes


def preparation(
    folder: Path, file: str | None = "fixture.db", known: Any = KNOWN, size: str = "s"
) -> Preparation:
    """One whose fixtures are always this file."""

    def of(_: PlannedCase) -> Path | None:
        return folder / file if file else None

    fixtures: Any = SimpleNamespace(of=of)
    return Preparation(known, fixtures, Copies(), size, folder)


NODE: Any = SimpleNamespace(spec=KNOWN.runners["node"], description=None)


@pytest.mark.parametrize(
    ("text", "mode", "digest", "asked"),
    [
        ("insert-transaction", "verify", False, True),
        ("insert-transaction", "measure", False, False),
        ("insert-transaction", "measure", True, True),
        ("service-writers", "measure", False, True),
        ("foo-insert", "measure", False, True),
    ],
)
def test_a_timed_process_reads_back_only_what_the_harness_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, mode: Any, digest: bool, asked: bool
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    case = case_of(text)
    preparation = Preparation(KNOWN, Fixtures(KNOWN, "s", print), Copies(), "s", tmp_path)
    ready = preparation.job(case, PYTHON, mode, digest=digest)
    assert bool(Job.model_validate_json(ready.file.read_bytes()).readback) is asked
    assert ("readback" in ready.required.left_open) is not asked
    assert ready.readback, "the harness reads the file in either case"


def test_the_oracle_is_asked_for_the_same_rows_in_a_storage_that_it_knows(tmp_path: Path) -> None:
    made, case = preparation(tmp_path, None), case_of("json@store=jsonb")
    its, plain = (
        made.job(case, NODE, "verify", plain=plain).file.read_text("utf-8")
        for plain in (False, True)
    )
    assert "jsonb(json_object(" in its
    assert "jsonb(json_object(" not in plain
    assert "json(json_object(" in plain


def test_processes_that_are_alive_at_once_have_a_copy_each_and_later_ones_the_same(
    tmp_path: Path,
) -> None:
    made = preparation(tmp_path)
    targets: dict[str | None, set[Path | None]] = {None: set(), "node": set(), "canary": set()}
    for text in ("insert-autocommit", "update-pk"):
        for seat, files in targets.items():
            files.add(made.job(case_of(text), NODE, "measure", seat=seat).target)
    assert [len(files) for files in targets.values()] == [1, 1, 1]
    assert len({file for files in targets.values() for file in files}) == 3


class Enough(Exception):
    """All is known that the test asks for."""


@pytest.mark.parametrize(
    ("asked", "files"), [(["insert-autocommit"] * 2, 1), (["insert-autocommit", "upsert"], 2)]
)
def test_processes_of_several_cases_that_are_alive_at_once_have_a_file_each(
    tmp_path: Path, asked: list[str], files: int
) -> None:
    """A runner has the same seat in each of the cases that are compared with each other."""
    made = preparation(tmp_path)
    targets: list[Path | None] = []

    def begin(*cell: Any, **more: Any) -> Any:
        targets.append(made.job(*cell, **more).target)
        if len(targets) == len(asked):
            raise Enough
        return SimpleNamespace()

    seat = {"runner": NODE, "digest": False, "label": "node"}
    seatings: Any = [SimpleNamespace(case=case_of(text), **seat) for text in asked]
    invocations: Any = SimpleNamespace(begin=begin)
    relay: Any = None
    with pytest.raises(Enough):
        blocks.play(invocations, relay, seatings, "1", lambda: False)
    assert None not in targets
    assert len(set(targets)) == files


def question(tmp_path: Path, text: str, *, known: Any = KNOWN, size: str = "s") -> str:
    """What the oracle is asked by the case `text`, as a hash."""
    made = preparation(tmp_path, f"{text.partition('=')[2]}.db", known, size)
    return made.job(case_of(text, known).verified(), PYTHON, "verify", plain=True).question


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


@pytest.fixture
def told() -> list[str]:
    """What the user hears."""
    return []


@pytest.fixture
def fixtures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]) -> Fixtures:
    """Those of the clone at size s, in a folder of their own."""
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    return Fixtures(KNOWN, "s", told.append)


USERS, SHIPPED = case_of("get-pk"), case_of("get-pk@profile=shipped")


def file_of(fixtures: Fixtures, of: PlannedCase = USERS) -> Path:
    file = fixtures.of(of)
    assert file
    return file


@pytest.mark.parametrize(("free", "times"), [(None, 3), (2, 0)])
def test_a_database_is_read_before_a_process_has_it_and_again_after_a_pause(
    tmp_path: Path, fixtures: Fixtures, monkeypatch: pytest.MonkeyPatch, free: Any, times: int
) -> None:
    read: list[Path] = []
    opened: Any = Path.open

    def noted(file: Path, *how: Any, **more: Any) -> Any:
        read.extend([file] * (more.get("buffering") == 0))
        return opened(file, *how, **more)

    monkeypatch.setattr(Path, "open", noted)
    monkeypatch.setattr(fixture.system, "free_memory", lambda: free)
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    made = Preparation(KNOWN, fixtures, Copies(), "s", tmp_path)
    for case in (USERS, case_of("insert-autocommit")):
        ready = made.job(case, PYTHON, "measure")
        for seconds in (0, 30, 30, 60):
            clock[0] += seconds
            made.supply(case, ready)
        assert read == [ready.target or ready.source] * times
        read.clear()


def append(file: Path) -> None:
    with file.open("ab") as stream:
        stream.write(b"x")


DAMAGES: list[tuple[Callable[[Path], None], str]] = [(append, "changed"), (Path.unlink, "vanished")]


@pytest.mark.parametrize(("damage", "word"), DAMAGES, ids=["changed", "vanished"])
def test_harm_is_told_once_and_mended_for_the_next(
    fixtures: Fixtures, damage: Callable[[Path], None], word: str
) -> None:
    file = file_of(fixtures)
    content = file.read_bytes()
    assert fixtures.whole(file)
    damage(file)
    assert not fixtures.whole(file)
    harm = f"the fixture {file.name} {word} while it ran; a runner must only read it"
    assert [fixtures.harm(), fixtures.harm()] == [harm, None]
    assert not fixtures.whole(file)
    assert file_of(fixtures).read_bytes() == content
    assert fixtures.whole(file)


def test_what_is_built_again_is_told_unless_it_was_gone(
    fixtures: Fixtures, told: list[str]
) -> None:
    file = file_of(fixtures)
    file.unlink()
    file_of(fixtures)
    assert told == []
    append(file)
    file_of(fixtures)
    assert told == [f"{file}: this fixture has changed since it was built; it is built again"]


def test_all_files_given_out_are_watched(fixtures: Fixtures) -> None:
    files = [file_of(fixtures, USERS), file_of(fixtures, SHIPPED)]
    for file in files:
        append(file)
    first, second = (file.name for file in files)
    assert fixtures.harm() == (
        f"the fixture {first} changed while it ran, and the fixture {second} changed while it ran; "
        "a runner must only read it"
    )


def test_no_file_and_a_touched_one_with_the_same_content_are_no_harm(fixtures: Fixtures) -> None:
    assert fixtures.of(case_of("startup-noop")) is None
    file = file_of(fixtures)
    os.utime(file, ns=(1, 1))
    assert not fixtures.whole(file)
    assert fixtures.harm() is None
    assert fixtures.whole(file)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    file = tmp_path / "fixture.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x" * 900) for n in range(4000)])
        connection.commit()
    return file


@pytest.fixture
def copy(tmp_path: Path, origin: Path) -> Path:
    file = tmp_path / "copy.db"
    Copies().supply(origin, file)
    return file


def write(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for sql in statements:
            connection.execute(sql)


def never(*_: object) -> None:
    raise AssertionError


@pytest.mark.parametrize("seen", [False, True], ids=["unseen", "seen"])
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET text = 'y' WHERE id IN (7, 3900)",
        "INSERT INTO t SELECT NULL, hex(zeroblob(3000)) FROM t LIMIT 800",
        "DELETE FROM t",
        "PRAGMA journal_mode = WAL",
    ],
    ids=["changed", "longer", "emptied", "header"],
)
def test_only_what_a_writer_changed_is_written_again(
    origin: Path, copy: Path, monkeypatch: pytest.MonkeyPatch, sql: str, *, seen: bool
) -> None:
    copies = Copies()
    write(copy, sql)
    assert copy.read_bytes() != origin.read_bytes()
    if seen:
        copies.difference(copy, origin)
    copy.with_name("copy.db-wal").write_bytes(b"left behind")
    monkeypatch.setattr(fixture, "fresh_copy", never)
    copies.supply(origin, copy)
    assert copy.read_bytes() == origin.read_bytes()
    assert not copy.with_name("copy.db-wal").exists()


def test_a_block_that_changed_is_told_and_no_other(origin: Path, copy: Path) -> None:
    assert Copies().difference(copy, origin).blocks == []
    content = bytearray(copy.read_bytes())
    for number in (3, 400):
        content[number * BLOCK + 17] ^= 1
    copy.write_bytes(content + b"more")
    assert Copies().difference(copy, origin).blocks == [3, 400, len(content) // BLOCK]
    whole = [*range(len(content) // BLOCK + 1)]
    assert Copies().difference(copy, None).blocks == whole


def test_a_shorter_file_is_copied_as_a_whole(origin: Path, copy: Path) -> None:
    write(copy, "DELETE FROM t", "VACUUM")
    Copies().supply(origin, copy)
    assert copy.read_bytes() == origin.read_bytes()


@pytest.mark.parametrize("kind", ["symlink_to", "hardlink_to"])
def test_nothing_is_written_through_a_link(
    tmp_path: Path, origin: Path, copy: Path, kind: str
) -> None:
    other = tmp_path / "other.db"
    copy.rename(other)
    write(other, "DELETE FROM t")
    before = other.read_bytes()
    getattr(copy, kind)(other)
    Copies().supply(origin, copy)
    assert copy.read_bytes() == origin.read_bytes()
    assert other.read_bytes() == before


def test_files_that_hold_the_same_have_one_image(origin: Path, copy: Path) -> None:
    images: list[bytes] = []
    for more in ((), ("UPDATE t SET text = 'z' WHERE id = 9",) * 2, ("DELETE FROM t",)):
        Copies().supply(origin, copy)
        # the change counter moves with each transaction
        write(copy, *more, "UPDATE t SET text = 'y' WHERE id = 9")
        images.append(Copies().difference(copy, origin).image)
    assert images[0] == images[1] != images[2]


def test_what_cannot_be_made_whole_is_told(tmp_path: Path, origin: Path) -> None:
    (tmp_path / "folder").mkdir()
    with unfit("folder: cannot be made the fixture again: "):
        Copies().supply(origin, tmp_path / "folder")
