// Measures a plain program's work by each driver as the README of mitata or tinybench says: `peers.js FILE`.
//
// FILE is JSON: the `tool` and the path of its `module`, the plain programs' `task`, and the `sides` in the order of
// measuring. A side has a `driver` and its `database`; every fifth operation of one with a `slow` copy is done there, too.
// Printed are, by driver, `times` in ns (`margin` in % where the tool tells one) and the `answers` of the programs.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { tool, module, task, sides } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const library = await import(pathToFileURL(module).href);

/** A driver's work, by code of its own, as if it were written twice: what V8 learns of one is not mixed with the other. */
async function open(driver, database, copy) {
  const written = await import(`../plain/work.js?${copy}=${driver}`);
  return written.open(driver, { ...task, database });
}

/** Does every fifth operation twice. */
function slowed(work, again) {
  let calls = 0;
  return () => {
    work();
    calls += 1;
    if (calls % 5 === 0) again();
  };
}

const ends = {};
const works = {};
for (const { driver, database, slow } of sides) {
  const { work, end } = await open(driver, database, "first");
  const again = slow && (await open(driver, slow, "second")).work;
  works[driver] = again ? slowed(work, again) : work;
  ends[driver] = end;
}

const measure = {
  async mitata({ bench, run }) {
    for (const driver in works) bench(driver, works[driver]);
    const { benchmarks } = await run({ format: "quiet", throw: true });
    const times = ({ alias, runs: [{ stats }] }) => [alias, { mean: stats.avg, median: stats.p50 }];
    return benchmarks.map(times);
  },

  async tinybench({ Bench }) {
    const bench = new Bench({ throws: true });
    for (const driver in works) bench.add(driver, works[driver], { async: false });
    await bench.run();
    const times = ({ name, result: { latency } }) => {
      const ns = { mean: latency.mean * 1e6, median: latency.p50 * 1e6 };
      return [name, { ...ns, margin: latency.rme }];
    };
    return bench.tasks.map(times);
  },
};

const times = Object.fromEntries(await measure[tool](library));
const answers = Object.fromEntries(Object.entries(ends).map(([driver, end]) => [driver, end()]));
console.log(JSON.stringify({ times, answers }));
