"""Answers that are not the database's."""

from tests.faults.fault import Fault
from tests.faults.planted import fake_verified, node_measured, node_verified

SKIPPED_WHERE_TIMED = (
    "runners/javascript/loops.js",
    "for (let x = 0; x < m; x++)",
    "for (let x = ${verify ? 0 : 1}; x < m; x++)",
)

DRIVER = "runners/javascript/drivers/node-sqlite.js"
ARRAYS = (
    (DRIVER, 'if (step.shape === "array") statement', "statement"),
    (DRIVER, '...(step.shape === "array" && { returnArrays: true }),', "returnArrays: true,"),
    ("runners/javascript/loops.js", '${step.shape === "array" ? index : key}', "${index}"),
)

FAULTS = [
    Fault(
        "one row fewer",
        "fake",
        fake_verified("one-row-less"),
        "wrong",
        "operation 0: rows 7; the oracle has 8",
    ),
    Fault(
        "a column skipped", "fake", fake_verified("skips-column"), "wrong", "operation 0: checksum "
    ),
    Fault(
        "a row left unread, but only where it is timed",
        "javascript",
        node_measured("all", SKIPPED_WHERE_TIMED, size="m"),
        "wrong",
        "its rows are not those of the database, read by `all` (prepared, object)",
    ),
    Fault(
        "arrays read by place where objects are asked",
        "javascript",
        node_verified("all", *ARRAYS),
        "failed",
        "the row is an array, the job asks for an object",
    ),
]
