/**
 * What an expert in each driver would write by hand for three workloads: SQL, columns and types are in
 * the source. The runner's generated loops are measured against these; the two share no code but the
 * barrier, which stands off the clock.
 *
 * From the job come only the path, pragmas, parameters, counts, `reset`, the barrier and the output.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { barrier } from "../barrier.js";
import { system } from "../system.js";

const option = (name) => {
  const { argv } = process;
  const index = argv.findIndex((argument) => argument === name || argument.startsWith(`${name}=`));
  if (index < 0) throw new Error(`${name} is missing: handwritten.js --driver=NAME --job FILE`);
  return argv[index] === name ? argv[index + 1] : argv[index].slice(name.length + 1);
};

const name = option("--driver");
const driver = await import(`./${name}.js`);
const job = JSON.parse(readFileSync(option("--job"), "utf8"));

const db = driver.open(job.database.path);
for (const [pragma, value] of job.connection.pragmas) db.exec(`PRAGMA ${pragma} = ${value}`);

const { rows } = job.steps[0].parameters;
const workloads = {
  "get-pk": () =>
    driver.getPk(
      db,
      rows.map(([id]) => id),
    ),
  all: () =>
    driver.all(
      db,
      rows.map(([id]) => id),
    ),
  "insert-transaction": () =>
    driver.insertTransaction(
      db,
      rows.map(([a, b, c, d]) => [a, b, c, driver.blob(d)]),
      "names" in job.steps[0],
    ),
};
const scenario = job.cell.split(/[@/]/)[0];
const workload = workloads[scenario]?.();
if (workload === undefined) throw new Error(`nothing is written by hand for ${scenario}`);

const { operations_per_iteration, warmup_iterations, warmup_ns, iterations } = job.measure;
const released = job.measure.share ? barrier(system) : () => {};
const warmup = [];
const measured = [];
const answers = [];
let warm = 0;
while (measured.length < iterations) {
  const from = answers.length * operations_per_iteration;
  if (from % job.reset_every === 0) for (const sql of job.reset) db.exec(sql);
  workload.before();
  released();
  const start = performance.now();
  const answer = workload.iteration(from, from + operations_per_iteration);
  const elapsed = Math.round((performance.now() - start) * 1e6);
  workload.after();
  answers.push(answer);
  if (warmup.length < warmup_iterations || warm < warmup_ns) {
    warm += elapsed;
    warmup.push(elapsed);
  } else {
    measured.push(elapsed);
  }
}
db.close();

const sum = (index) => answers.reduce((total, answer) => total + answer[index], 0);
const unknown = { name: "handwritten", version: "0" };
const result = {
  contract: 2,
  cell: job.cell,
  status: "ok",
  identity: {
    runner: `handwritten-${name}`,
    runtime: unknown,
    driver: unknown,
    architecture: process.arch,
  },
  operations: operations_per_iteration * answers.length,
  rows: sum(0),
  affected: sum(1),
  checksum: sum(2) % 2 ** 32,
  answers,
  warmup_ns: warmup,
  iterations_ns: measured,
};
writeFileSync(`${job.output}.tmp`, JSON.stringify(result));
renameSync(`${job.output}.tmp`, job.output);
