"""An oracle that is not to be believed, and cells that it cannot answer."""

from collections.abc import Callable

from tests.fakes.clone import Clone
from tests.faults.fault import Fate, Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import cell

# Only in the oracle's own process: fakes are made of the oracle's sources.
ORACLE_ONLY = """
    if IDENTITY["runner"] == "python":
        {lie}
    result, code = run(job)
"""


def patched(clone: Clone, lie: str) -> None:
    """Let the oracle, and no fake, do `lie` before each job."""
    clone.replace(
        "runners/python/main.py", "    result, code = run(job)\n", ORACLE_ONLY.format(lie=lie)[1:]
    )


def broken_oracle(file: str, old: str, new: str) -> Callable[[Stage], Seen]:
    """A change to a copy of the oracle, and two honest fakes of two runtimes."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("first", runtime="A")
        clone.runner("second", runtime="B")
        clone.replace(f"runners/python/{file}", old, new)
        return cell(clone.sqlitmus("verify", "--size", "s", "--case", "all"), "all", "first")

    return play


def wrong_in_one_case(stage: Stage) -> Seen:
    """The oracle takes a word of the fixture for another; no vector has that word."""
    clone = stage.fakes()
    clone.runner("first", runtime="A")
    clone.runner("second", runtime="B")
    patched(
        clone,
        "import values; honest = values.term; "
        "values.term = lambda v: honest('wort 3' if v == 'word 3' else 'x' if v == 'wx' else v)"
        " + (v == 'word 3')",
    )
    return cell(clone.sqlitmus("verify", "--size", "s", "--case", "all"), "all", "first")


def bad_cell(change: Callable[[Clone], None]) -> Callable[[Stage], Seen]:
    """A case that the oracle cannot answer, before one that it can, measured together."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("honest")
        change(clone)
        done = clone.sqlitmus("run", "--size", "s", "--case", "insert", "--case", "all")
        if not (clone.root / "results/latest").exists():
            return Seen("refused", done.err.strip())
        run = clone.latest()
        records = {record.case: record for record in run.verified()}
        measured = {sample.case for sample in run.samples() if sample.outcome == "ok"}
        bad = records["insert"]
        if measured != {"all"} or done.code != 4:
            return Seen(bad.outcome, f"exit {done.code}, measured: {measured}")
        assert not bad.log or (run.path / bad.log).exists()
        return Seen(bad.outcome, bad.reason or "")

    return play


def misspelt(old: str, new: str) -> Callable[[Stage], Seen]:
    """A change to the scenarios, and `verify` of two cases, one of them as it was."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("honest")
        clone.replace("scenarios/tiny.toml", old, new)
        done = clone.sqlitmus("verify", "--size", "s", "--case", "insert", "--case", "all")
        if done.code == 2:
            return Seen("refused", done.err.strip())
        return cell(done, "insert", "honest")

    return play


INSERT = 'sql = "INSERT INTO sink(a) VALUES (?)"'
PARAMETERS = (
    'parameters = [{ type = "integer", generator = "integer", min = 0, max = 9 }]\npool = 4\n'
)
READBACK = 'sql = "SELECT id, a FROM sink ORDER BY id"'


def begins(clone: Clone) -> None:
    """A transaction in a transaction."""
    clone.replace("scenarios/tiny.toml", INSERT, 'sql = "BEGIN IMMEDIATE"')
    clone.replace("scenarios/tiny.toml", PARAMETERS, "")


def reads_back_rubbish(clone: Clone) -> None:
    """SQL that compiles and fails."""
    new = READBACK.replace("SELECT id, a", "SELECT id, json('{') AS a")
    clone.replace("scenarios/tiny.toml", READBACK, new)


def crashes_in_one_case(clone: Clone) -> None:
    """Only what writes."""
    patched(clone, "job.cell.startswith('insert/') and os._exit(9)")


def draws_nothing(clone: Clone) -> None:
    """Bounds in the wrong order."""
    new = '{ type = "blob", generator = "blob", min = 9, max = 2 }'
    clone.replace(
        "scenarios/tiny.toml",
        '{ type = "integer", generator = "integer", min = 0, max = 9 }',
        new,
    )


def misspelt_fixture(stage: Stage) -> Seen:
    """An index that only the second case's fixture has, and wrongly."""
    clone = stage.fakes()
    clone.runner("honest")
    text = (clone.root / "fixtures/tiny.toml").read_text("utf-8")
    clone.write(
        "fixtures/other.toml",
        text.replace("indexes = []", 'indexes = [\n    "CREATE INDEX w ON tiny(wort)",\n]'),
    )
    clone.replace(
        "scenarios/tiny.toml",
        'fixture = "tiny"\nwrites = true',
        'fixture = "other"\nwrites = true',
    )
    done = clone.sqlitmus("verify", "--size", "s", "--case", "all", "--case", "insert")
    seen = cell(done, "insert", "honest")
    built = list((clone.root / "toolchain/cache/fixtures").glob("*.db"))
    return Seen("ok", f"{len(built)} fixtures were built before") if built else seen


def refused(title: str, message: str, old: str, new: str) -> Fault:
    """SQL that SQLite does not compile."""
    return Fault(title, "folder", misspelt(old, new), "refused", message)


def failed(title: str, message: str, change: Callable[[Clone], None]) -> Fault:
    """A case without an answer."""
    fate: Fate = "failed"
    return Fault(title, "folder", bad_cell(change), fate, message)


FAULTS = [
    Fault(
        "the oracle drops the last row",
        "python",
        broken_oracle("values.py", "        for row in rows:\n", "        for row in rows[:-1]:\n"),
        "refused",
        "the oracle does not reproduce the contract's vector",
    ),
    Fault(
        "the oracle folds with another factor",
        "python",
        broken_oracle("values.py", "(self._h * 31 + term(value))", "(self._h * 33 + term(value))"),
        "refused",
        "the oracle does not reproduce the contract's vector",
    ),
    Fault(
        "the oracle is wrong where no vector looks",
        "python",
        wrong_in_one_case,
        "wrong",
        "both runners agree with each other against the oracle: suspect the oracle",
    ),
    failed("a transaction begun within a transaction", "the oracle cannot answer", begins),
    failed("a read-back that fails", "the oracle cannot answer", reads_back_rubbish),
    failed("an oracle that crashes in one case", "exit code 9", crashes_in_one_case),
    failed(
        "parameters that cannot be drawn",
        "its job cannot be made: min is 9 and max 2",
        draws_nothing,
    ),
    Fault(
        "a misspelt column in a fixture",
        "folder",
        misspelt_fixture,
        "refused",
        "other.toml:10: SQLite says of its SQL: no such column: wort",
    ),
    refused(
        "a misspelt column",
        "tiny.toml:53: insert.steps[0].sql: table sink has no column named aa",
        INSERT,
        'sql = "INSERT INTO sink(aa) VALUES (?)"',
    ),
    refused(
        "a misspelt table in the read-back",
        "tiny.toml:58: insert.readback[0].sql: no such table: sinks",
        READBACK,
        READBACK.replace("sink", "sinks"),
    ),
]
