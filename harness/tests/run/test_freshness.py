"""What a runner is asked while its rows change, and what is made of its answers; its files."""

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

from sqlitmus.catalog import fixture
from sqlitmus.catalog.fixture import BLOCK, Copies, Fixtures
from sqlitmus.run.measure import blocks
from sqlitmus.run.verify import freshness
from sqlitmus.run.verify.freshness import Gate, Manner, Question
from sqlitmus.run.verify.invocations import Preparation
from sqlitmus.run.verify.prober import Life
from sqlitmus.vocabulary.contract import Counts, Features, Job, levels
from tests.fakes.clone import Clone, long_enough
from tests.known import KNOWN, case_of
from tests.refusals import unfit
from tests.run.made import PYTHON, ended

GET = Manner("object", "number", "prepared", "get")
ALL = Manner("object", "number", "prepared", "all")
QUESTION = Question((ALL, GET), wide=True, nul=True, engine={})
ANEW = replace(QUESTION, manners=(GET._replace(statement="adhoc"), GET))
LOSSY = Features(levels=["core", "extras"], integers=["number", "bigint"])


def counts(changed: int, *stale: int, of: Question = QUESTION, **more: bool) -> Counts:
    """The answer after the rows of so many steps were changed, in the last of which some are
    `stale`; the right one if none is."""
    rows, checksum = freshness.right(of, changed, stale, **more)
    return rows, 0, checksum


def asked(question: Question = QUESTION, problem: str | None = None, **changes: Any) -> str:
    """The verdict on right answers with `changes`."""
    answers = [counts(changed, of=question) for changed in range(question.iterations)]
    right = {"answers": answers, "digest": freshness.right_digest(question)}
    process = ended(**right | changes)
    if problem:
        process = replace(process, result=None, problem=problem)
    outcome, reason = question.judged(process, Life(0, 0, []))
    return f"{outcome}: {reason}" if reason else str(outcome)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("nul", [True, False])
@pytest.mark.parametrize("gated", [True, False])
def test_right_answers_are_ok(wide: bool, nul: bool, gated: bool) -> None:
    assert asked(replace(QUESTION, wide=wide, nul=nul, gated=gated)) == "ok"


BY_ALL, BY_GET = "`all` (prepared, object)", "`get` (prepared, object)"
BOTH = f"{BY_ALL}, {BY_GET}"
OLD, OLDER, NEWER, NEW = map(counts, range(4))
OTHER = (*OLDER[:2], OLDER[2] ^ 1)
STALE = "wrong: stale: another process changed rows{}, and {} returned the old ones"
NEITHER = "wrong: another process changed rows{}, and {} returned neither old nor new ones"
WITHIN = " within an iteration"


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        # the manner that returned old rows is named
        ([OLD, OLD, NEWER, NEW], STALE.format("", BY_ALL)),
        ([OLD, OLDER, OLDER, NEW], STALE.format("", BY_GET)),
        ([OLD, OLD, OLD, OLD], STALE.format("", BY_ALL)),
        ([OLD, OLDER, NEWER, counts(3, 0)], STALE.format(WITHIN, BY_ALL)),
        ([OLD, OLDER, NEWER, counts(3, 1)], STALE.format(WITHIN, BY_GET)),
        ([OLD, OLDER, NEWER, counts(3, 0, 1)], STALE.format(WITHIN, BOTH)),
        # rows that never were
        ([OTHER, OLDER, NEWER, NEW],
         f"wrong: its rows are not those of the database, read by {BOTH}"),
        ([OLD, OTHER, NEWER, NEW], NEITHER.format("", BY_ALL)),
        ([OLD, OLDER, NEWER, OTHER], NEITHER.format(WITHIN, BOTH)),
        ([], "failed: its result has 0 answers to 4 iterations"),
    ],
)  # fmt: skip
def test_other_answers_are_wrong(answers: list[Counts], told: str) -> None:
    assert asked(answers=answers) == told


def test_what_else_is_wrong_or_not_answered() -> None:
    once = [counts(changed, of=ANEW, compiled_once=True) for changed in range(4)]
    compiled = "wrong: not compiled at each execution: the statement of `get` (adhoc, object)"
    assert (asked(ANEW, answers=once), asked(ANEW)) == (compiled, "ok")
    values = f"wrong: its values are not those of the database, read by {BOTH}"
    assert asked(digest="ab" * 32) == values  # which the checksum does not see
    assert asked(digest=None) == "failed: its result has no digest, which was asked for"
    assert asked(status="unsupported", reason="no barrier") == "unsupported: no barrier"
    assert asked(status="failed", error={"message": "locked"}) == "failed: locked"
    asks = "failed: asked whether it answers from the database: "
    assert asked(problem="ended with exit code 2") == f"{asks}ended with exit code 2"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with closing(Gate(tmp_path / "rows.db")) as made:
        yield made


def test_who_stands_at_the_gate_goes_through_after_the_change_or_after_it_opened_without(
    gate: Gate, tmp_path: Path
) -> None:
    job = QUESTION.job(str(tmp_path / "rows.db"), "")
    changes: list[str] = []
    with closing(sqlite3.connect(":memory:", timeout=60)) as runner:
        for sql in job.connection.setup:
            runner.execute(sql)
        through = job.steps[-1].sql
        gate.shut(lambda: changes.append("rows"))
        gate.open()  # nobody came
        assert (runner.execute(through).fetchall(), changes) == ([(1,)], [])
        gate.shut(lambda: changes.append("rows"))
        for _ in range(2):
            assert (runner.execute(through).fetchall(), changes) == ([(1,)], ["rows"])


def test_who_keeps_a_statement_open_cannot_be_held_up(gate: Gate, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "rows.db.gate")) as connection:
        kept = connection.execute("SELECT id FROM door UNION ALL SELECT id FROM door")
        assert kept.fetchone() == (1,)
        gate.shut(lambda: pytest.fail("nobody stands there"))
        gate.open()
        assert kept.fetchone() == (1,)


def test_a_run_asks_in_the_manners_of_its_cases() -> None:
    cases = [*map(case_of, ("get-pk@shape=array", "all"))]
    manners = freshness.manners_of(cases, KNOWN)
    array = Manner("array", "number", "prepared", "get")
    assert manners == {ALL, array}
    # A driver may have one shape for all statements of a connection.
    spec = KNOWN.runners["node"]
    assert [q.manners for q in freshness.questions(manners, LOSSY, spec)] == [(array,), (ALL,)]


def test_a_runner_is_asked_for_what_it_can_say() -> None:
    bigint, node = GET._replace(integers="bigint"), KNOWN.runners["node"]
    lossy = freshness.questions([GET, bigint], LOSSY, node)
    assert {q.manners: q.wide for q in lossy} == {(GET,): False, (bigint,): True}
    held = [row[-1] for row in QUESTION.stored(0, 0)]
    assert all(isinstance(value, int) and int(float(value)) != value for value in held)
    # one of the core meets no gate
    for features, setups in (Features(), 0), (LOSSY, 2):
        (question,) = freshness.questions([GET], features, node)
        job = question.job("rows.db", "")
        assert len(job.connection.setup) == setups
        assert levels(job) == ["core", *["extras"] * question.gated]
    for name in ("node", "deno"):
        (question,) = freshness.questions([GET], Features(), KNOWN.runners[name])
        texts = [row[3] for row in question.stored(0, 1)]
        assert question.wide
        assert ["\0" in str(text) for text in texts] == [name == "node"] * 3


def test_a_runner_with_a_memory_is_wrong_in_every_cell_and_the_others_are_measured(
    clone: Clone,
) -> None:
    clone.runner("remembers", "remembers")
    clone.runner("honest")
    done = clone.sqlitmus("run", "--size", "s", "--blocks", "1", "--case", "get", "--case", "all")
    assert done.code == 5
    assert clone.outcomes() == {"honest": "ok", "remembers": "wrong"}
    reasons = {record.reason for record in clone.latest().verified() if record.runner != "honest"}
    assert reasons == {STALE.format("", BY_ALL).removeprefix("wrong: ")}
    assert {sample.runner for sample in clone.samples()} == {"honest"}
    assert "freshness.remembers.job.json" in clone.evidence()


def test_a_runner_that_does_not_change_is_asked_once(clone: Clone) -> None:
    clone.runner("honest")
    pids = [0]
    for _ in range(2):
        done = clone.sqlitmus("run", "--size", "s", "--blocks", "1")
        assert done.code == 0, done.err
        pids.append(len(clone.pids()))
    # In the second run it is neither verified nor asked: a process for each invocation.
    many = len(clone.samples())
    assert (pids[1], pids[2] - pids[1]) == (many + 2, many)


def test_a_runner_that_hangs_when_asked_or_cannot_be_asked_is_failed(clone: Clone) -> None:
    clone.runner("hangs", "hangs-when-asked")
    clone.runner("old", "knows-contract-1")

    def attempt(timeout_s: float) -> tuple[float, Any] | None:
        done = clone.sqlitmus("verify", "--size", "s", "--timeout", f"{timeout_s:g}")
        return (timeout_s, done) if done.out.count("asked whether") == 2 else None

    timeout_s, done = long_enough(attempt, 1)
    asks = "asked whether it answers from the database: "
    assert done.out.splitlines() == [
        f"failed       get/hangs: {asks}no end within {timeout_s:g} s; killed",
        f"failed       get/old: {asks}ended with exit code 2 and wrote no result",
    ]
    assert (done.code, clone.alive()) == (4, [])


NODE: Any = SimpleNamespace(spec=KNOWN.runners["node"], description=None)


def preparation(
    folder: Path, file: str = "fixture.db", known: Any = KNOWN, size: str = "s"
) -> Preparation:
    """One whose fixtures are always this file."""

    def of(case: Any) -> Path | None:
        return folder / file if case.fixture else None

    fixtures: Any = SimpleNamespace(of=of)
    return Preparation(known, fixtures, Copies(), size, folder)


@pytest.mark.parametrize(
    ("text", "mode", "digest", "facts"),
    [
        ("get-pk", "verify", False, "fixture"),
        ("foo-get", "verify", False, ""),
        ("insert-autocommit", "verify", False, "fixture, copy, asked, read"),
        ("commit", "verify", False, "fixture, copy, asked, read"),
        ("foo-insert", "verify", False, "asked, read"),  # into memory
        ("bulk-insert", "verify", False, "asked, read"),
        # a timed process reads back only what the harness cannot
        ("insert-transaction", "measure", False, "fixture, copy, read, left open"),
        ("insert-transaction", "measure", True, "fixture, copy, asked, read"),
        ("service-writers", "measure", False, "fixture, copy, asked, read"),
        ("foo-insert", "measure", False, "asked, read"),
    ],
)
def test_what_is_written_to_is_copied_and_looked_at_afterwards(
    tmp_path: Path, text: str, mode: Any, digest: bool, facts: str
) -> None:
    ready = preparation(tmp_path).job(case_of(text), PYTHON, mode, digest=digest)
    found = {
        "fixture": ready.source,
        "copy": ready.target,
        "asked": Job.model_validate_json(ready.file.read_bytes()).readback,
        "read": ready.readback,
        "left open": "readback" in ready.required.left_open,
    }
    assert ", ".join(name for name, value in found.items() if value) == facts


def test_the_oracle_is_asked_for_the_same_rows_in_a_storage_that_it_knows(tmp_path: Path) -> None:
    made, case = preparation(tmp_path), case_of("json@store=jsonb")
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
    """A runner has the same seat in each of the cases that are compared with each other."""
    made = preparation(tmp_path)

    def targets(*texts: str) -> list[Path | None]:
        begun: list[Path | None] = []

        def begin(*cell: Any, **more: Any) -> Any:
            begun.append(made.job(*cell, **more).target)
            return SimpleNamespace()

        seat = {"runner": NODE, "digest": False}
        seatings: Any = [
            SimpleNamespace(case=case_of(text), label=label, **seat)
            for text in texts
            for label in ("node", "canary")
        ]
        invocations: Any = SimpleNamespace(begin=begin)
        relay: Any = None
        with pytest.raises(AttributeError):  # all is known that this test asks for
            blocks.play(invocations, relay, seatings, "1", lambda: False)
        return begun

    alone = made.job(case_of("insert-autocommit"), NODE, "measure").target
    turns = targets("insert-autocommit")
    assert turns == targets("update-pk")
    assert len({alone, *turns, *targets("insert-autocommit", "upsert"), None}) == 1 + 2 + 4 + 1


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


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose fixtures are built once, or again after they were harmed."""
    return tmp_path_factory.mktemp("toolchain")


@pytest.fixture
def fixtures(toolchain: Path, monkeypatch: pytest.MonkeyPatch) -> Fixtures:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(toolchain))
    return Fixtures(KNOWN, "s", print)


def file_of(fixtures: Fixtures, text: str = "get-pk") -> Path:
    file = fixtures.of(case_of(text))
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
    for case in map(case_of, ("get-pk", "insert-autocommit")):
        ready = made.job(case, PYTHON, "measure")
        for seconds in (0, 30, 30, 60):
            clock[0] += seconds
            made.supply(case, ready)
        assert read == [ready.target or ready.source] * times
        read.clear()


def append(file: Path) -> None:
    with file.open("ab") as stream:
        stream.write(b"x")


@pytest.mark.parametrize(("damage", "word"), [(append, "changed"), (Path.unlink, "vanished")])
def test_harm_is_told_once_and_mended_for_the_next(
    fixtures: Fixtures,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    word: str,
) -> None:
    file = file_of(fixtures)
    content = file.read_bytes()
    capsys.readouterr()
    assert fixtures.whole(file)
    damage(file)
    assert not fixtures.whole(file)
    harm = f"the fixture {file.name} {word} while it ran; a runner must only read it"
    assert [fixtures.harm(), fixtures.harm()] == [harm, None]
    assert not fixtures.whole(file)
    assert file_of(fixtures).read_bytes() == content
    assert fixtures.whole(file)
    again = f"{file}: this fixture has changed since it was built; it is built again\n"
    assert capsys.readouterr().out == again * (word == "changed")


def test_all_files_given_out_are_watched_but_to_touch_one_is_no_harm(fixtures: Fixtures) -> None:
    assert fixtures.of(case_of("startup-noop")) is None
    files = [file_of(fixtures), file_of(fixtures, "get-pk@profile=shipped")]
    os.utime(files[0], ns=(1, 1))
    assert not fixtures.whole(files[0])
    assert fixtures.harm() is None
    assert fixtures.whole(files[0])
    for file in files:
        append(file)
    first, second = (file.name for file in files)
    assert fixtures.harm() == (
        f"the fixture {first} changed while it ran, and the fixture {second} changed while it ran; "
        "a runner must only read it"
    )


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    file = tmp_path / "fixture.db"
    write(file, "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)", FILL)
    return file


@pytest.fixture
def copy(tmp_path: Path, origin: Path) -> Path:
    file = tmp_path / "copy.db"
    Copies().supply(origin, file)
    return file


FILL = (
    "INSERT INTO t(text) WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 4000) "
    "SELECT printf('%.900c', 'x') FROM n"
)


def write(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for sql in statements:
            connection.execute(sql)


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET text = 'y' WHERE id IN (7, 3900)",
        "INSERT INTO t SELECT NULL, hex(zeroblob(3000)) FROM t LIMIT 800",
        "DELETE FROM t",
        "PRAGMA journal_mode = WAL",
    ],
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
    monkeypatch.setattr(fixture, "fresh_copy", None)  # not as a whole
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


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_a_shorter_file_or_a_link_is_replaced_and_nothing_is_written_through_it(
    tmp_path: Path, origin: Path, copy: Path, link: str | None
) -> None:
    write(copy, "DELETE FROM t", *["VACUUM"] * (link is None))
    before = copy.read_bytes()
    other = copy.rename(tmp_path / "other.db")
    if link:
        getattr(copy, link)(other)
    else:
        copy.write_bytes(before)
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
