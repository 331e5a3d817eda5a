"""Answers that come from a memory, and values that a reader mistakes."""

from tests.faults.fault import Fault
from tests.faults.planted import Change, Play, node_measured, node_verified

LOOPS = "runners/javascript/loops.js"
ROW = "return `${before} const r = ${call}; if (r)"
ROWS = "return `${before} const rs = ${call};"
VALUE = "const read = `const v = ${source.value?.(value, column, step.shape) ?? value};`;"


def memoised(old: str, kind: str, case: str) -> Play:
    """Node asks SQLite once per key, as a cache of queries would."""
    name = "r" if kind == "get" else "rs"
    memo = (
        f"return `${{before}} const memo = (statements.{kind} ??= new Map()), at = `"
        " + `${index} + ':' + ${args.length ? 'j' : '0'};`"
        f" + ` if (!memo.has(at)) memo.set(at, ${{call}}); const {name} = memo.get(at);"
    )
    return node_measured(case, (LOOPS, old, memo + old.partition("${call};")[2]))


def value(change: str, case: str = "get-pk") -> Play:
    """Node reads each value `v` as `change` says."""
    new = VALUE.replace("const v =", "let v =").replace("value};`;", f"value}}; v = {change};`;")
    return node_verified(case, (LOOPS, VALUE, new))


# One iteration is done, and its counts are given for all others.
FIRST_COUNTS_AGAIN = (
    "runners/javascript/iterations.js",
    "during(only, () => loop(from, to, counts, records));",
    (
        "if (part.counts) Object.assign(counts, part.counts); else {"
        "during(only, () => loop(from, to, counts, records));"
        "part.counts = { ...counts }; }"
    ),
)
# The ends of each text are all that Node's driver returns, but only in a measured process.
TEXTS_CUT = (
    "runners/javascript/drivers/node-sqlite.js",
    "  const statement = db.prepare(step.sql);\n  if (step.shape",
    (
        "  const statement = db.prepare(step.sql);\n"
        "  if (globalThis.measuring) {\n"
        "    const get = statement.get.bind(statement);\n"
        "    const cut = ([key, v]) => [key, typeof v === 'string' ? v[0] + v.at(-1) : v];\n"
        "    statement.get = (...values) =>\n"
        "      Object.fromEntries(Object.entries(get(...values)).map(cut));\n"
        "  }\n"
        "  if (step.shape"
    ),
)
WHERE_MEASURED = (
    "runners/javascript/session.js",
    "export function perform(job, driver, meeting, usage, digest) {",
    (
        "export function perform(job, driver, meeting, usage, digest) {\n"
        "  globalThis.measuring = job.mode === 'measure' && job.cell !== 'freshness';"
    ),
)
STALE = "stale: another process changed rows, and "
WITHIN = STALE.replace("rows", "rows within an iteration") + "`get` (prepared, object) returned the"
BEFORE = "  let { checksum, rows, affected } = total;\n  ${surroundings.setup}"
AFTER = "  total.checksum = checksum; total.rows = rows; total.affected = affected;"


def around_iterations(before: str, after: str) -> list[Change]:
    """What is done before and after each measured iteration."""
    return [
        (LOOPS, BEFORE, f"{BEFORE} if (!${{verify}}) {{ {before} }}"),
        (LOOPS, AFTER, f"{AFTER} if (!${{verify}}) {{ {after} }}"),
    ]


VERSION = 'statements.now = db.prepare("PRAGMA data_version").get().data_version;'
ROWS_UNTIL_CHANGED = around_iterations(
    f"{VERSION} if (statements.now !== statements.then) statements.rows = new Map();",
    "statements.then = statements.now;",
)
GET_FROM_ROWS = (
    LOOPS,
    ROW,
    (
        "return `${before} const memo = statements.rows ??= new Map(), at = `"
        " + `${index} + ':' + ${args.length ? 'j' : '0'};`"
        " + ` if (!memo.has(at)) memo.set(at, ${call}); const r = memo.get(at); if (r)"
    ),
)
COUNTS_UNTIL_CHANGED = around_iterations(
    f"{VERSION} if (statements.now === statements.then) {{"
    "  total.checksum = (checksum + statements.sum) | 0; total.rows = rows + statements.rows;"
    "  return; } statements.sum = -checksum; statements.rows = -rows;",
    "statements.then = statements.now; statements.sum += checksum; statements.rows += rows;",
)
IN_A_TRANSACTION = around_iterations('db.exec("BEGIN");', 'db.exec("COMMIT");')
# a map of statements by their SQL, as many drivers have one
KEPT = (
    (
        LOOPS,
        "before: `const s = ${source.compile(step, q)}; ${hold}`,",
        (
            "before: `const kept = (statements.kept ??= new Map());"
            " const s = kept.get(${q}) ?? ${source.compile(step, q)}; kept.set(${q}, s);`,"
        ),
    ),
    (LOOPS, 'after: `${source.finalize("s")} ${release}`,', 'after: "",'),
)

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
        node_measured("get-pk", FIRST_COUNTS_AGAIN),
        "wrong",
        "that is the answer to the first iteration",
        slow=True,
    ),
    Fault(
        "bigints rounded to doubles",
        "javascript",
        value("typeof v === 'bigint' ? BigInt(Number(v)) : v", "get-pk@integers=bigint"),
        "wrong",
        "operation 0: checksum ",
    ),
    Fault(
        "texts cut to their ends in measured processes",
        "javascript",
        node_measured("get-pk", TEXTS_CUT, WHERE_MEASURED),
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
    Fault(
        "rows kept until data_version changes, looked at once an iteration",
        "javascript",
        node_measured("get-pk", *ROWS_UNTIL_CHANGED, GET_FROM_ROWS),
        "wrong",
        WITHIN,
    ),
    Fault(
        "a read transaction held through an iteration in autocommit",
        "javascript",
        node_measured("get-pk", *IN_A_TRANSACTION),
        "wrong",
        WITHIN,
    ),
    Fault(
        "a statement kept where it is to be compiled at each execution",
        "javascript",
        node_measured("get-pk@transaction=read,statement=adhoc", *KEPT),
        "wrong",
        "not compiled at each execution: the statement of `get` (adhoc, object)",
    ),
]
