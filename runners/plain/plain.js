// A plain program: `plain.js DRIVER TASK` works as its standard input asks. README.md beside it has the task.

import { Buffer } from "node:buffer";
import { existsSync, readFileSync, readSync, writeSync } from "node:fs";
import { open } from "./work.js";

// To import node:process would make standard input one that does not block.
const [driver, file] = process.argv.slice(2);
const { work, undo, end } = await open(driver, JSON.parse(readFileSync(file, "utf8")));

/** Nanoseconds for which this thread has waited for a processor, where Linux tells. */
function waited() {
  const told = "/proc/thread-self/schedstat";
  return existsSync(told) ? Number(readFileSync(told, "utf8").split(" ")[1]) : 0;
}

/** Works for so many operations, and then until so many seconds have passed: it looks at the clock after every 16th. */
function phase({ operations, seconds, afresh }) {
  if (afresh) undo();
  const before = waited();
  const start = performance.now();
  for (let i = 0; i < operations; i++) work();
  let done = operations;
  let ms = performance.now() - start;
  while (ms < seconds * 1000) {
    for (let i = 0; i < 16; i++) work();
    done += 16;
    ms = performance.now() - start;
  }
  return { operations: done, ns: Math.round(ms * 1e6), waited: waited() - before };
}

/** The lines of standard input, each as soon as it is there. */
function* lines() {
  const bytes = Buffer.alloc(4096);
  let text = "";
  for (let count = readSync(0, bytes); count > 0; count = readSync(0, bytes)) {
    text += bytes.toString("utf8", 0, count);
    const whole = text.split("\n");
    text = whole.pop();
    yield* whole;
  }
}

function print(value) {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

for (const line of lines()) print(phase(JSON.parse(line)));
print(end());
