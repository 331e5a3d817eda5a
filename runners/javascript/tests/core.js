/**
 * Cases for the parts of the core that need no driver. Each runtime runs them in its own test framework.
 *
 * @typedef {object} Check
 * @property {(actual: unknown, expected: unknown) => void} equal deep and strict
 * @property {(action: () => unknown, message: string) => void} throws an error whose message contains the text
 * @typedef {{name: string, run: (check: Check) => void | Promise<void>}} Case
 */

import { createHash } from "node:crypto";
import { Digest } from "../digest.js";
import { betterSqlite3 } from "../drivers/driver.js";
import { primaryName, resultCode } from "../drivers/result-codes.js";
import { databaseName } from "../drivers/uri.js";
import { eventsOf, faultsOf } from "../events.js";
import { watchHeap } from "../heap.js";
import { usageFor } from "../invocation.js";
import { checkJob } from "../job.js";
import { alone, sharedMeeting, together } from "../meeting.js";
import { partOf } from "../parts.js";
import { peakFrom, peakOf } from "../peak.js";
import { splitPlaceholders } from "../placeholders.js";
import { refusal } from "../refusal.js";
import { fold, NULL, pool, share } from "../values.js";

const bytes = (...values) => Uint8Array.from(values);

/** A small valid job with parts replaced. */
export function job(parts = {}, step = {}) {
  return {
    contract: 2,
    mode: "measure",
    cell: "test",
    database: { path: "unused" },
    steps: [{ operation: "get", sql: "SELECT 1 AS one", ...step }],
    measure: { operations_per_iteration: 1 },
    output: "unused",
    ...parts,
  };
}

const FOLDED = [
  ["integer", 0, 0],
  ["integer", -1, -1],
  ["integer", 2 ** 31, -(2 ** 31)],
  ["integer", 2 ** 53 - 1, -1],
  ["integer", -(2 ** 53) + 1, 1],
  ["integer", 2n ** 63n - 1n, -1],
  ["integer", -(2n ** 63n) + 5n, 5],
  ["real", 1.99, 1],
  ["real", -1.99, -1],
  ["real", 2 ** 32 + 7.5, 7],
  ["real", 1e-300, 0],
  ["text", "", 0],
  ["text", "a", 31 * 97 + 97],
  ["text", "ab", 31 * 97 + 98],
  ["blob", bytes(), 0],
  ["blob", bytes(7), 1 + 31 * 7 + 7],
  ["blob", bytes(255, 1, 254), 3 + 31 * 255 + 254],
  ["text", null, NULL],
];

const POOL = (rows, types = ["integer"]) => ({ types, rows });

const REJECTED = [
  [job({ contract: 1 }), "$.contract: expected one of 2, got 1"],
  [job({ extra: true }), "$.extra: expected no such key (known: contract, mode,"],
  [job({ cell: undefined }), "$.cell: expected a string, got nothing"],
  [job({ database: null }), "$.database: expected a database, because there are steps, got null"],
  [
    job({ measure: { operations_per_iteration: -1 } }),
    "$.measure.operations_per_iteration: expected",
  ],
  [job({ reset: ["x", 1] }), "$.reset[1]: expected a string, got 1"],
  [job({ reset: ["x"] }), "$.reset_every: expected after how many operations reset runs again"],
  [job({ reset: ["x"], reset_every: 0 }), "$.reset_every: expected an integer of at least 1"],
  [
    job({ reset_every: 6, measure: { operations_per_iteration: 4 } }),
    "$.reset_every: expected a multiple of an iteration's 4 operations, got 6",
  ],
  ...["changing", "mixed"].map((key) => [
    job({ measure: { operations_per_iteration: 1, [key]: true } }),
    `$.measure.${key}: expected no such key`,
  ]),
  [
    job({ measure: { operations_per_iteration: 1, digest: true } }),
    "$.measure.digest: expected an integer of at least 0, got true",
  ],
  [job({ inspect: 1 }), "$.inspect: expected true or false, got 1"],
  [job({ connection: { pragmas: [["a"]] } }), "$.connection.pragmas[0]: expected a pair"],
  [job({}, { shape: "tuple" }), '$.steps[0].shape: expected one of "object", "array", "typed"'],
  [job({}, { repeat: 1.5 }), "$.steps[0].repeat: expected an integer of at least 1, got 1.5"],
  [job({}, { columns: [{ name: "a" }] }), "$.steps[0].columns[0].type: expected one of"],
  [job({}, { sql: "" }), '$.steps[0].sql: expected SQL for get, got ""'],
  [
    job({}, { parameters: POOL([[1]]), names: ["a"] }),
    '$.steps[0].names: expected names of letters, digits and _ after one of :, @ and $, got "a"',
  ],
  [
    job({}, { parameters: POOL([[1]]), names: [":a", ":b"] }),
    "$.steps[0].names: expected 1, one for each parameter",
  ],
  [job({}, { operation: "in-transaction" }), "$.steps[0].sql: expected no SQL for in-transaction"],
  [job({}, { operation: "read-file" }), "$.steps[0].sql: expected no SQL for read-file"],
  [
    job({}, { operation: "read-file", sql: "", parameters: POOL([[1]]) }),
    "$.steps[0].parameters: expected one text, the path of the file",
  ],
  [
    job({}, { operation: "read-file", sql: "", parameters: POOL([["a"]], ["text"]), columns: [] }),
    "$.steps[0].columns: expected one blob that cannot be NULL, the file",
  ],
  [
    job({}, { operation: "execute", parameters: POOL([[1]]) }),
    "$.steps[0].parameters: expected none for execute",
  ],
  [
    job({}, { operation: "execute", columns: [{ name: "a", type: "integer" }] }),
    "$.steps[0].columns: expected none for execute",
  ],
  [
    job({ transaction: "read" }, { operation: "execute" }),
    '$.transaction: expected none beside execute, which can begin one itself, got "read"',
  ],
  [
    job({
      writer: {
        steps: [{ operation: "execute", sql: "x" }],
        transaction: "deferred",
        operations: 1,
      },
    }),
    "$.writer.transaction: expected none beside execute",
  ],
  [job({}, { fails: 19 }), "$.steps[0].fails: expected a result code only where the operation is"],
  [
    job({ database: { path: "p", flags: ["x"] } }),
    '$.database.flags[0]: expected one of "no-mutex"',
  ],
  [job({ connection: { setup: "x" } }), '$.connection.setup: expected a list, got "x"'],
  [job({ writer: { steps: [], operations: 1 } }), "$.writer.steps: expected at least one step"],
  [
    job({ writer: { steps: [{ operation: "get", sql: "x", y: 1 }], operations: 1 } }),
    "$.writer.steps[0].y: expected no such key",
  ],
  [
    job({ measure: { operations_per_iteration: 1, rate: 0 } }),
    "$.measure.rate: expected a number above 0, got 0",
  ],
  [
    job({ measure: { operations_per_iteration: 1, workers: 2, share: { first: 2, of: 3 } } }),
    "$.measure.share: expected first + 2 workers to be at most of",
  ],
  [
    job({}, { parameters: POOL([[1], [2], [3]]) }),
    "$.steps[0].parameters.rows: expected a power of two",
  ],
  [
    job({}, { parameters: POOL([[1], [1, 2]]) }),
    "$.steps[0].parameters.rows[1]: expected 1 values",
  ],
  [job({}, { parameters: POOL([["x"]]) }), "$.steps[0].parameters.rows[0][0]: expected an integer"],
  [
    job({}, { parameters: POOL([["AB"]], ["blob"]) }),
    "rows[0][0]: expected lower-case hexadecimal",
  ],
];

/** @type {Case[]} */
export const coreCases = [
  {
    name: "the heap tells what V8 allocates, and in Node how often it collects",
    async run({ equal }) {
      const kept = [];
      const OBJECTS = 1_000_000;
      const end = watchHeap();
      for (let i = 0; i < OBJECTS; i++) kept[i % 8] = { i, more: [i] };
      const { allocated_bytes, collections } = end();
      const [bun, deno] = [process.versions.bun, process.versions.deno].map(Boolean);
      equal(allocated_bytes > 50 * OBJECTS && allocated_bytes < 500 * OBJECTS, !bun);
      const count = await collections();
      equal([count > 0, count === null], [!bun && !deno, bun || deno]);
    },
  },
  {
    name: "the peak of memory is in bytes, whatever unit it was told in",
    run({ equal }) {
      equal(peakOf("VmPeak:\t 9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1000 kB\n"), 1234 * 1024);
      equal(peakOf("Name:\tnode\n"), null);
      const mebibyte = 2 ** 20;
      for (const [peak, now] of [
        [40, 40],
        [900, 50],
        [30, 31],
      ]) {
        equal(peakFrom(peak * mebibyte, now * mebibyte), peak * mebibyte);
        equal(peakFrom(peak * 1024, now * mebibyte), peak * mebibyte);
      }
    },
  },
  {
    name: "the checksum of each type is the contract's",
    run({ equal }) {
      for (const [type, value, expected] of FOLDED) {
        equal([type, value, fold(0, type, value)], [type, value, expected]);
      }
      equal(fold(fold(0, "integer", 3), "integer", 4), 3 * 31 + 4);
      equal(NULL >>> 0, 0x9e3779b9);
    },
  },
  {
    name: "the digest is SHA-256 over tag, length and bytes, with a mark after each execution",
    run({ equal, throws }) {
      const digest = new Digest();
      digest.value("integer", -12, "i");
      digest.value("integer", 9007199254740993n, "i");
      digest.value("real", 1.5, "r");
      digest.value("text", "aé", "t");
      digest.value("blob", bytes(0, 255), "b");
      digest.value("text", null, "t", true);
      digest.execution(258);
      const hash = createHash("sha256");
      hash.update("i\x03\0\0\0-12i\x10\0\0\x009007199254740993", "latin1");
      hash.update(bytes(0x72, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f));
      hash.update(bytes(0x74, 3, 0, 0, 0, 0x61, 0xc3, 0xa9));
      hash.update(bytes(0x62, 2, 0, 0, 0, 0, 255));
      hash.update(bytes(0x6e, 0, 0, 0, 0, 0x45, 2, 1, 0, 0));
      equal(digest.hex(), hash.digest("hex"));
      throws(
        () => digest.value("integer", "1", "n"),
        "column n: declared integer, the driver returned string 1",
      );
      throws(
        () => digest.value("text", null, "n"),
        "column n: declared text and not nullable, the driver returned NULL",
      );
      throws(() => digest.value("integer", 1.5, "n"), "declared integer");
      throws(() => digest.value("text", undefined, "n"), "returned nothing");
      const row = (given, names, shape) => throws.bind(null, () => digest.row(given, names, shape));
      row({ a: 1 }, ["a", "b"], "object")("the row holds 1 columns, the job declares 2");
      row([1], ["a", "b"], "array")("the row holds 1 columns, the job declares 2");
      row([1], ["a"], "object")("the row is an array, the job asks for an object");
      row({ a: 1 }, ["a"], "array")("the row is an object, the job asks for an array");
      row({ 0: 1 }, ["a"], "object")("the row has no column a");
      digest.row({ a: 1 }, ["a"], "object");
      digest.row([1], ["a"], "array");
    },
  },
  {
    name: "placeholders in strings, names and comments do not count",
    run({ equal }) {
      equal(splitPlaceholders("a = ? AND b = ?"), ["a = ", " AND b = ", ""]);
      equal(splitPlaceholders("'?''?' \"?\" `?` [?] -- ?\n/* ? */ ?"), [
        "'?''?' \"?\" `?` [?] -- ?\n/* ? */ ",
        "",
      ]);
    },
  },
  {
    name: "shares split the operations without gap or overlap",
    run({ equal }) {
      const bounds = (n, k) => Array.from({ length: k }, (_, w) => share(n, w, k));
      equal(bounds(10, 3), [
        { from: 0, to: 3 },
        { from: 3, to: 6 },
        { from: 6, to: 10 },
      ]);
      equal(
        bounds(2, 4).map(({ from, to }) => to - from),
        [0, 1, 0, 1],
      );
      equal(share(7980038478943611, 8, 10), { from: 6384030783154888, to: 7182034631049249 });
    },
  },
  {
    name: "a part goes on over the iterations, and in verify mode over the operations",
    run({ equal }) {
      const measure = { operations_per_iteration: 10, workers: 2, share: { first: 1, of: 3 } };
      const writer = { steps: [{ operation: "execute", sql: "x" }], operations: 4 };
      const ranges = (mode, thread) => {
        const { range, extent } = partOf(checkJob(job({ mode, measure, writer })), thread);
        return [extent.iterations, ...[0, 2].map(range).map(({ from, to }) => [from, to])];
      };
      equal(ranges("measure", 0), [1, [3, 6], [23, 26]]);
      equal(ranges("measure", 1), [1, [6, 10], [26, 30]]);
      equal(ranges("measure", 2), [1, [0, 4], [8, 12]]);
      equal(ranges("verify", 0), [7, [3, 4], [5, 6]]);
      equal(ranges("verify", 2), [4, [0, 1], [2, 3]]);
    },
  },
  {
    name: "a job that breaks the schema is rejected with its place and what belongs there",
    run({ equal, throws }) {
      for (const [value, message] of REJECTED) throws(() => checkJob(value), message);
      const checked = checkJob(job());
      equal(
        [checked.transaction, checked.steps[0].shape, checked.measure.workers],
        ["none", "object", 1],
      );
      const measure = { operations_per_iteration: 4 };
      const reset = { reset: ["x"], reset_every: 6, measure };
      equal(checkJob(job({ mode: "verify", ...reset })).reset_every, 6);
    },
  },
  {
    name: "parameters become the driver's types, by column",
    run({ equal }) {
      const parameters = {
        types: ["integer", "blob", "text"],
        rows: [
          [1, "00ff", "a"],
          ["9007199254740993", null, ""],
        ],
      };
      equal(
        pool({ parameters, integers: "number" }, (blob) => blob),
        {
          columns: [
            [1, 9007199254740993n],
            [bytes(0, 255), null],
            ["a", ""],
          ],
          mask: 1,
        },
      );
      equal(pool({ parameters, integers: "bigint" }, (blob) => blob).columns[0][0], 1n);
      equal(
        pool({ parameters: null, integers: "number" }, (blob) => blob),
        { columns: [], mask: 0 },
      );
    },
  },
  {
    name: "result codes are found by name, extended ones too",
    run({ equal }) {
      equal(resultCode("SQLITE_BUSY"), 5);
      equal(resultCode("SQLITE_CONSTRAINT_UNIQUE"), 2067);
      equal(resultCode("SQLITE_IOERR_IN_PAGE"), 10 | (34 << 8));
      equal(resultCode("SQLITE_CONSTRAINT_NEW"), 19);
      equal(resultCode("ERR_OTHER"), null);
      equal(resultCode(undefined), null);
      equal([primaryName(19), primaryName(99)], ["SQLITE_CONSTRAINT", null]);
    },
  },
  {
    name: "better-sqlite3 is the one beside the runners, or the one whose folder is named",
    run({ equal }) {
      const { env } = process;
      const before = env.SQLITMUS_BETTER_SQLITE3;
      try {
        delete env.SQLITMUS_BETTER_SQLITE3;
        const own = new URL("../../node_modules/better-sqlite3/lib/index.js", import.meta.url);
        equal(betterSqlite3("lib/index.js").href, own.href);
        env.SQLITMUS_BETTER_SQLITE3 = "file:///a%20b/built/";
        equal(betterSqlite3("package.json").href, "file:///a%20b/built/package.json");
      } finally {
        if (before === undefined) delete env.SQLITMUS_BETTER_SQLITE3;
        else env.SQLITMUS_BETTER_SQLITE3 = before;
      }
    },
  },
  {
    name: "what a driver lacks is refused in one sentence",
    run({ equal }) {
      const features = {
        operations: ["get", "run"],
        shapes: ["object"],
        integers: ["number"],
        statements: ["prepared"],
        engine: [],
        flags: ["no-mutex"],
      };
      const driver = { features, uri: false, refuse: () => null };
      const reason = (parts, step) => refusal(checkJob(job(parts, step)), driver, "x");
      equal(reason(), null);
      equal(reason({}, { shape: "typed" }), 'x has no shape "typed"');
      equal(reason({}, { integers: "bigint" }), 'x has no integers "bigint"');
      equal(reason({}, { statement: "cached" }), 'x has no statement kind "cached"');
      equal(
        reason({ connection: { engine: { memstatus: 0 } } }),
        'x has no engine option "memstatus"',
      );
      equal(
        reason({ database: { path: "p", uri: { immutable: "1" } } }),
        'x has no URI parameters such as "immutable"',
      );
      const flagged = (...flags) => reason({ database: { path: "p", flags } });
      equal(
        [flagged("no-mutex"), flagged("no-mutex", "shared-cache")],
        [null, 'x has no open flag "shared-cache"'],
      );
      const asking = { operation: "in-transaction", sql: "" };
      equal(reason({}, asking), 'x has no operation "in-transaction"');
      equal(
        reason({ writer: { steps: [asking], operations: 1 } }),
        'x has no operation "in-transaction"',
      );
      equal(
        reason({ connection: { per_operation: true } }),
        "x has no connection pool (connection.per_operation): its users keep connections",
      );
    },
  },
  {
    name: "a single thread waits for nobody and its clock runs forward",
    run({ equal }) {
      const meeting = alone();
      const start = meeting.now();
      meeting.meet();
      equal(meeting.now() >= start, true);
      equal([meeting.finish(1000.4, 3000.6, 7), meeting.latest(7)], [2000, 7]);
    },
  },
  {
    name: "a meeting that was aborted lets nobody wait",
    run({ throws }) {
      const memory = sharedMeeting(2);
      const meeting = together(memory, 0, 2, performance.timeOrigin);
      together(memory, -1, 2, performance.timeOrigin).abort();
      throws(meeting.meet, "another thread failed");
    },
  },
  {
    name: "context switches and page faults are told in the contract's words",
    run({ equal }) {
      const used = {
        voluntaryContextSwitches: 1,
        involuntaryContextSwitches: 2,
        minorPageFault: 3,
        majorPageFault: 4,
      };
      equal(eventsOf(used), {
        switches: { voluntary: 1, involuntary: 2 },
        page_faults: { minor: 3, major: 4 },
      });
      const stat = "42 (a b) c) R 1 42 42 0 -1 4194304 107 5 9 6 0 0 0 0 20 0 1 0 57586";
      equal(faultsOf(stat), { minor: 107, major: 9 });
    },
  },
  {
    name: "usage that is asked often is told the cheap way, and in a single iteration the light one",
    async run({ equal }) {
      const usage = { cpu: () => 0, events: () => "light", eventsOften: () => "cheap" };
      const of = async (mode, measure) => (await usageFor({ mode, measure }, { usage })).events();
      equal(await of("measure", { iterations: 2, digest: 0 }), "cheap");
      equal(await of("measure", { iterations: 1, digest: 0 }), "light");
      equal(await of("verify", { iterations: 1, digest: 0 }), "light");
    },
  },
  {
    name: "a name with URI parameters escapes a path, and leaves a database in memory one",
    run({ equal }) {
      equal(databaseName({ path: ":memory:", uri: {} }), ":memory:");
      equal(
        databaseName({ path: ":memory:", uri: { cache: "private" } }),
        "file::memory:?cache=private",
      );
      equal(
        databaseName({ path: "/a?b%", uri: { immutable: "1" } }),
        "file:///a%3Fb%25?immutable=1",
      );
    },
  },
];
