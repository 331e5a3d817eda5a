// How long a page takes until it can be used, and until another reference is drawn, in headless Chromium:
//   node reports/check/speed.mjs REPORT.html [ROUNDS]
// Prints the median and the range of the rounds, in ms of wall time.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openTab, startBrowser } from "./tab.mjs";

const [file, rounds = "7"] = process.argv.slice(2);
if (!file) {
  console.error("usage: node reports/check/speed.mjs REPORT.html [ROUNDS]");
  process.exit(2);
}
const browser = startBrowser();

const READY = "performance.now()";
// Two frames later what was changed is on the screen.
const CHANGE = `(async () => {
  const drawn = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  await drawn();
  const chooser = document.getElementById("ref");
  const others = [...chooser.options].map((one) => one.value).filter((value) => value !== chooser.value);
  const begun = performance.now();
  chooser.value = others[0];
  chooser.dispatchEvent(new Event("change", { bubbles: true }));
  await drawn();
  return performance.now() - begun;
})()`;

async function once(url) {
  const tab = await openTab(browser, { width: 1440, height: 900 });
  await tab.go(url);
  await tab.ready();
  const ready = await tab.evaluate(READY);
  const change = await tab.evaluate(CHANGE);
  await tab.close();
  return { ready, change };
}

try {
  const url = pathToFileURL(resolve(file)).href;
  const all = [];
  for (let round = 0; round < Number(rounds); round++) all.push(await once(url));
  for (const what of ["ready", "change"]) {
    const sorted = all.map((one) => one[what]).sort((a, b) => a - b);
    const [least, middle, most] = [0, sorted.length >> 1, sorted.length - 1].map((at) =>
      Math.round(sorted[at]),
    );
    console.log(`${what.padEnd(7)} ${middle} ms [${least}, ${most}]`);
  }
} finally {
  await browser.close();
}
