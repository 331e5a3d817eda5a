"""Answers that come from a memory, and values that a reader mistakes."""

from collections.abc import Callable

from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, verified

LOOPS = "runners/javascript/loops.js"
ROW = "return `${before} const r = ${call}; if (r)"
ROWS = "return `${before} const rs = ${call};"
VALUE = 'const read = `const v = ${row}[${step.shape === "array" ? index : key}];`;'


def memoised(old: str, kind: str, case: str) -> Callable[[Stage], Seen]:
    """Node asks SQLite once per key, as a cache of queries would."""
    name = "r" if kind == "get" else "rs"
    memo = (
        f"return `${{before}} const memo = (statements.{kind} ??= new Map()), at = `"
        " + `${index} + ':' + ${args.length ? 'j' : '0'};`"
        f" + ` if (!memo.has(at)) memo.set(at, ${{call}}); const {name} = memo.get(at);"
    )

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        clone.replace(LOOPS, old, memo + old.partition("${call};")[2])
        return measured(clone, "node", case=case, size="s")

    return play


def first_counts_again(stage: Stage) -> Seen:
    """Node does one iteration, and gives its counts for all others."""
    clone = stage.real()
    clone.replace(
        "runners/javascript/iterations.js",
        "during(only, () => loop(first.from, first.to, counts, records));",
        "if (part.counts) Object.assign(counts, part.counts); else {"
        "during(only, () => loop(first.from, first.to, counts, records));"
        "part.counts = { ...counts }; }",
    )
    return measured(clone, "node", case="get-pk", size="s")


def value(change: str, case: str = "get-pk") -> Callable[[Stage], Seen]:
    """Node reads each value `v` as `change` says."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        clone.replace(
            LOOPS,
            VALUE,
            VALUE.replace("const v =", "let v =").replace("];`;", f"]; v = {change};`;"),
        )
        return verified(clone, "node", case, size="s")

    return play


def texts_cut_where_measured(stage: Stage) -> Seen:
    """The ends of each text are all that Node's driver returns, but only in a measured process."""
    clone = stage.real()
    clone.replace(
        "runners/javascript/drivers/node-sqlite.js",
        "  const statement = db.prepare(step.sql);\n  if (step.shape",
        "  const statement = db.prepare(step.sql);\n"
        "  if (globalThis.measuring) {\n"
        "    const get = statement.get.bind(statement);\n"
        "    const cut = ([key, v]) => [key, typeof v === 'string' ? v[0] + v.at(-1) : v];\n"
        "    statement.get = (...values) =>\n"
        "      Object.fromEntries(Object.entries(get(...values)).map(cut));\n"
        "  }\n"
        "  if (step.shape",
    )
    clone.replace(
        "runners/javascript/session.js",
        "export function perform(job, driver, meeting, usage, digest) {",
        "export function perform(job, driver, meeting, usage, digest) {\n"
        "  globalThis.measuring = job.mode === 'measure' && !job.measure.changing;",
    )
    return measured(clone, "node", case="get-pk", size="s")


STALE = "stale: another process changed rows, and "

FAULTS = [
    Fault(
        "rows memoised per key",
        "javascript",
        memoised(ROW, "get", "get-pk"),
        "wrong",
        f"{STALE}`get` (prepared, object) returned the old ones",
    ),
    Fault(
        "lists memoised per key",
        "javascript",
        memoised(ROWS, "all", "all"),
        "wrong",
        f"{STALE}`all` (prepared, object) returned the old ones",
        slow=True,
    ),
    Fault(
        "the first iteration's counts for all",
        "javascript",
        first_counts_again,
        "wrong",
        f"{STALE}`get` (prepared, object) returned the old ones",
        slow=True,
    ),
    Fault(
        "bigints rounded to doubles",
        "javascript",
        value("typeof v === 'bigint' ? BigInt(Number(v)) : v", "get-pk@integers=bigint"),
        "wrong",
        "checksum: ",
    ),
    Fault(
        "texts cut to their ends in measured processes",
        "javascript",
        texts_cut_where_measured,
        "wrong",
        "digest: ",
    ),
    Fault(
        "texts cut at U+0000",
        "javascript",
        value("typeof v === 'string' ? v.split(String.fromCharCode(0))[0] : v"),
        "wrong",
        "its rows are not those of the database",
        slow=True,
    ),
    Fault(
        "an empty blob read as NULL",
        "javascript",
        value("v instanceof Uint8Array && v.length === 0 ? null : v"),
        "wrong",
        "its rows are not those of the database",
        slow=True,
    ),
]
