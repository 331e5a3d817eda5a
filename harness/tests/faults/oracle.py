"""An oracle that is not to be believed, and cells that it cannot answer."""

from collections.abc import Callable

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import cell

Change = tuple[str, str, str]  # file, what is replaced in it, and by what
SCENARIOS = "scenarios/tiny.toml"


def of_oracle(lie: str) -> Change:
    """Let the oracle do `lie` before each job, and no fake, though these are of its sources."""
    run = "    result, code = run(job)\n"
    new = f'    if IDENTITY["runner"] == "python":\n        {lie}\n{run}'
    return "runners/python/main.py", run, new


def broken_oracle(*change: str) -> Callable[[Stage], Seen]:
    """A change to a copy of the oracle, and two honest fakes of two runtimes."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        for name in ("first", "second"):
            clone.runner(name, runtime=name)
        clone.replace(*change)
        return cell(clone.sqlitmus("verify", "--size", "s", "--case", "all"), "all", "first")

    return play


def bad_cell(*changes: Change) -> Callable[[Stage], Seen]:
    """A case that the oracle cannot answer, before one that it can, measured together."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("honest")
        for change in changes:
            clone.replace(*change)
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
        clone.replace(SCENARIOS, old, new)
        done = clone.sqlitmus("verify", "--size", "s", "--case", "insert", "--case", "all")
        if done.code == 2:
            return Seen("refused", done.err.strip())
        return cell(done, "insert", "honest")

    return play


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


INSERT = 'sql = "INSERT INTO sink(a) VALUES (?)"'
DRAWN = '{ type = "integer", generator = "integer", min = 0, max = 9 }'
READBACK = 'sql = "SELECT id, a FROM sink ORDER BY id"'
TERM = (
    "import values; honest = values.term; "
    "values.term = lambda v: honest('wort 3' if v == 'word 3' else 'x' if v == 'wx' else v)"
    " + (v == 'word 3')"
)
VALUES = "runners/python/values.py"
FAULTS = [
    *(
        Fault(f"the oracle {title}", "python", broken_oracle(VALUES, old, new), "refused",
              "the oracle does not reproduce the contract's vector")
        for title, old, new in (
            ("drops the last row", "        for row in rows:\n",
             "        for row in rows[:-1]:\n"),
            ("folds with another factor", "(self._h * 31 + term(value))",
             "(self._h * 33 + term(value))"),
        )
    ),
    Fault("the oracle is wrong where no vector looks", "python", broken_oracle(*of_oracle(TERM)),
          "wrong", "both runners agree with each other against the oracle: suspect the oracle"),
    *(
        Fault(title, "folder", bad_cell(*changes), "failed", message)
        for title, message, changes in (
            ("a transaction begun within a transaction", "the oracle cannot answer",
             ((SCENARIOS, INSERT, 'sql = "BEGIN IMMEDIATE"'),
              (SCENARIOS, f"parameters = [{DRAWN}]\npool = 4\n", ""))),
            ("a read-back that fails", "the oracle cannot answer",
             ((SCENARIOS, READBACK, READBACK.replace("SELECT id, a", "SELECT id, json('{') AS a")),
              )),
            ("an oracle that crashes in one case", "exit code 9",
             (of_oracle("job.cell.startswith('insert/') and os._exit(9)"),)),
            ("parameters that cannot be drawn", "its job cannot be made: min is 9 and max 2",
             ((SCENARIOS, DRAWN, '{ type = "blob", generator = "blob", min = 9, max = 2 }'),)),
        )
    ),
    Fault("a misspelt column in a fixture", "folder", misspelt_fixture, "refused",
          "other.toml:10: SQLite says of its SQL: no such column: wort"),
    *(
        Fault(f"a misspelt {what}", "folder", misspelt(old, new), "refused", message)
        for what, old, new, message in (
            ("column", INSERT, 'sql = "INSERT INTO sink(aa) VALUES (?)"',
             "tiny.toml:53: insert.steps[0].sql: table sink has no column named aa"),
            ("table in the read-back", READBACK, READBACK.replace("sink", "sinks"),
             "tiny.toml:58: insert.readback[0].sql: no such table: sinks"),
        )
    ),
]  # fmt: skip
