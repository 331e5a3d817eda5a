/**
 * The hot loop, written as source for one thread's part of a job: property names, column types, shapes and
 * counts are literals, so that the engine compiles one monomorphic function without a dispatch per operation.
 *
 * The text names `db`, `statements`, `sql`, `pools`, `open`, `openFile`, `readFile`, `digest`, `clock` and `record`, and counts
 * in `total`. In a sequence `place` is that of operation `i`, and `turn` how often its group came before; the text
 * names the arrays of its `Order`, too.
 *
 * @typedef {object} Total
 * @property {number} checksum sum of the operations', signed 32-bit while looping
 * @property {number} rows
 * @property {number} affected
 */

import { record } from "./histogram.js";
import { recorded } from "./recording.js";
import { NULL } from "./values.js";

/**
 * @param {import("./parts.js").Part} part
 * @param {import("./drivers/driver.js").Driver} driver
 * @param {object} bound
 * @param {unknown} bound.db
 * @param {unknown[]} bound.statements one per step, null where the step does not hold one
 * @param {{columns: unknown[][], mask: number}[]} bound.pools one per step
 * @param {() => unknown} bound.open opens one more connection
 * @param {(path: string) => unknown} bound.openFile opens one to another database
 * @param {(path: string) => Uint8Array} bound.readFile
 * @param {import("./digest.js").Digest | null} bound.digest present in verify mode
 * @param {import("./clock.js").Clock} bound.clock
 * @returns {(from: number, to: number, total: Total, recording: import("./recording.js").Recording) => void}
 *   performs operations from..to-1 and adds what they return to `total`
 */
export function compileLoop(part, driver, bound) {
  const { pools, digest } = bound;
  const source = loopSource(part, driver.source, pools, digest !== null);
  const sql = part.steps.map((step) => step.sql);
  const { group, nth, planned_us, mine } = part.order ?? {};
  const given = { ...bound, sql, record, group, nth, planned_us, mine };
  return new Function(...Object.keys(given), source)(...Object.values(given));
}

/** The text of the function body that `compileLoop` builds; separate, so that it can be read. */
export function loopSource({ steps, transaction, manner, order }, source, pools, verify) {
  const number = order ? "turn" : "i";
  const each = steps.map((step, index) =>
    stepSource(step, index, pools[index], source, verify, number),
  );
  const work = order ? orderSource(order, each) : each.join("");
  const place = order ? `const place = i % ${order.group.length};` : "";
  const skip = order?.mine.length ? "if (mine[place] === 0) continue;" : "";
  const constants = steps.flatMap((_, index) => [
    `const q${index} = ${textSource(steps[index], index, source)}, s${index} = statements[${index}];`,
    ...pools[index].columns.map((_, c) => `const p${index}_${c} = pools[${index}].columns[${c}];`),
  ]);
  const bracket = transactionSource(transaction, source);
  const surroundings = recorded(manner, source, transaction);
  const setup = [...constants, source.setup(steps), bracket.setup].join("\n");
  if (bracket.call) {
    // The driver's transaction takes a function: counters live in `total` between operations.
    const operation = bracket.call(`(i) => {
  ${place}
  let h = 0, rows = total.rows, affected = total.affected;
  ${work}
  total.checksum = (total.checksum + h) | 0; total.rows = rows; total.affected = affected;
}`);
    const counters = ["total.checksum", "total.rows", "total.affected"];
    return `"use strict"; ${setup}
let total;
const operation = ${operation};
return (from, to, counts, recording) => {
  total = counts;
  ${surroundings.setup}
  for (let i = from; i < to; i++) {${place} ${skip} ${surroundings.wrap("operation(i);", counters)}}
};`;
  }
  const operation = `let h = 0; ${bracket.before} ${work} ${bracket.after} checksum = (checksum + h) | 0;`;
  return `"use strict"; ${setup}
return (from, to, total, recording) => {
  let { checksum, rows, affected } = total;
  ${surroundings.setup}
  for (let i = from; i < to; i++) {${place} ${skip} ${surroundings.wrap(operation, ["rows", "affected"])}
  }
  total.checksum = checksum; total.rows = rows; total.affected = affected;
};`;
}

/** The steps of the group whose turn it is. */
function orderSource({ groups }, each) {
  let end = 0;
  const cases = groups.map((size, number) => {
    end += size;
    return `case ${number}: { ${each.slice(end - size, end).join("")} break; }`;
  });
  return `const turn = nth[place]; switch (group[place]) { ${cases.join("\n")} }`;
}

function transactionSource(transaction, source) {
  if (transaction === "none" || transaction === "read") return { setup: "", before: "", after: "" };
  return source.transaction(transaction);
}

/** What `qN` is: the step's SQL, or the list of its texts. */
function textSource(step, index, source) {
  if (step.texts === 1) return `sql[${index}]`;
  const text = source.text?.(step, "k") ?? `\`\${sql[${index}]} -- \${k}\``;
  return `Array.from({ length: ${step.texts} }, (_, k) => ${text})`;
}

function stepSource(step, index, pool, source, verify, number) {
  const args = argumentSource(
    step,
    pool.columns.map((_, c) => `p${index}_${c}[j]`),
    source,
  );
  const row = args.length === 0 ? "" : `const j = n & ${pool.mask};`;
  const body = row + executionSource(step, index, args, source, verify);
  if (step.repeat === 1) return `{ const n = ${number}; ${body} }`;
  const first = `${number} * ${step.repeat}`;
  return `for (let n = ${first}, end = n + ${step.repeat}; n < end; n++) { ${body} }`;
}

/** What a call takes: the values, or an object of them by name, made anew as its user does. */
function argumentSource({ names }, values, source) {
  if (names.length === 0) return values;
  return [`{ ${names.map((name, c) => `${source.key(name)}: ${values[c]}`).join(", ")} }`];
}

function executionSource(step, index, args, source, verify) {
  const q = `q${index}`;
  const closes = (count) => (verify ? `digest.execution(${count});` : "");
  const read = (row) => rowSource(step, row, source, verify);
  if (step.operation === "prepare") {
    return `const s = ${source.compile(step, q)}; ${source.finalize("s")} ${closes("0")}`;
  }
  if (step.operation === "open" || step.operation === "open-file") {
    const [opened, bound] =
      step.operation === "open" ? ["open()", args] : [`openFile(${args[0]})`, []];
    return `const c = ${opened}; const s = ${source.compile(step, q, "c")};
      const r = ${source.call({ ...step, operation: "get" }, "s", bound)};
      ${source.finalize("s")} c.close();
      if (r) { rows++; ${read("r")} } ${closes("r ? 1 : 0")}`;
  }
  if (step.operation === "in-transaction") {
    const keeps = verify ? `digest.value("integer", a, "${step.operation}");` : "";
    return `const a = ${source.inTransaction} ? 1 : 0; h = (Math.imul(h, 31) + a) | 0; ${keeps} ${closes("0")}`;
  }
  if (step.operation === "read-file") {
    const row = { ...step, shape: "array" };
    return `const r = [readFile(${args[0]})]; rows++; ${rowSource(row, "r", source, verify)} ${closes("1")}`;
  }
  const { before, call, after } = statementSource(step, index, args, source);
  if (step.fails !== null) {
    const keeps = verify ? `digest.value("integer", ${step.fails}, "result code");` : "";
    return `let failed = false;
      try { ${before} try { ${call}; } finally { ${after} } } catch (error) {
        if (!(${source.failedWith("error", step.fails)})) throw error;
        failed = true;
      }
      if (!failed) throw new Error("the statement succeeded, but must fail with result code ${step.fails}");
      h = (Math.imul(h, 31) + ${step.fails}) | 0; ${keeps} ${closes("0")}`;
  }
  switch (step.operation) {
    case "get":
      return `${before} const r = ${call}; if (r) { rows++; ${read("r")} } ${after} ${closes("r ? 1 : 0")}`;
    case "all":
      return `${before} const rs = ${call}; const m = rs.length; rows += m;
        ${read("r") && `for (let x = 0; x < m; x++) { const r = rs[x]; ${read("r")} }`}
        ${after} ${closes("m")}`;
    case "iterate":
      return `${before} const was = rows;
        for (const r of ${call}) { rows++; ${read("r")} } ${after} ${closes("rows - was")}`;
    case "execute":
      return `${before} ${call}; ${after} ${closes("0")}`;
    default:
      return `${before} const a = ${call}; affected += a; h = (Math.imul(h, 31) + a) | 0; ${after} ${closes("a")}`;
  }
}

function statementSource(step, index, args, source) {
  const q = step.texts === 1 ? `q${index}` : `q${index}[n & ${step.texts - 1}]`;
  if (step.statement === "cached") {
    return { before: "", call: source.cached(step, q, args), after: "" };
  }
  if (step.statement === "prepared") {
    return { before: "", call: source.call(step, `s${index}`, args), after: "" };
  }
  // A statement that nothing holds may be collected under its iterator, which then just ends.
  const [hold, release] =
    step.operation === "iterate"
      ? [`statements[${index}] = s;`, `statements[${index}] = null;`]
      : ["", ""];
  return {
    before: `const s = ${source.compile(step, q)}; ${hold}`,
    call: source.call(step, "s", args),
    after: `${source.finalize("s")} ${release}`,
  };
}

function rowSource(step, row, source, verify) {
  const unread = step.values === "unread";
  if (unread && !verify) return "";
  const columns = step.columns.map((column, index) => {
    const key = JSON.stringify(column.name);
    const value = `${row}[${step.shape === "array" ? index : key}]`;
    const read = `const v = ${source.value?.(value, column, step.shape) ?? value};`;
    // A column that cannot be NULL is read as its user would read it: without asking.
    const asks = column.nullable ? `v === null ? ${NULL} : ` : "";
    const folds = `h = (Math.imul(h, 31) + (${asks}${valueSource(step, column)})) | 0;`;
    const keeps = verify ? `digest.value("${column.type}", v, ${key}, ${column.nullable});` : "";
    return `{ ${read} ${keeps} ${unread ? "" : folds} }`;
  });
  const names = JSON.stringify(step.columns.map(({ name }) => name));
  const whole = step.shape === "object" ? (source.row?.(row) ?? row) : row;
  const shaped = verify ? `digest.row(${whole}, ${names}, "${step.shape}");` : "";
  return shaped + columns.join("\n");
}

function valueSource(step, column) {
  switch (column.type) {
    case "integer":
      return step.integers === "bigint" ? "Number(BigInt.asIntN(32, v))" : "(v | 0)";
    case "real":
      return "(v | 0)";
    case "text":
      return "v.length === 0 ? 0 : 31 * v.charCodeAt(0) + v.charCodeAt(v.length - 1)";
    default:
      return "v.length === 0 ? 0 : v.length + 31 * v[0] + v[v.length - 1]";
  }
}
