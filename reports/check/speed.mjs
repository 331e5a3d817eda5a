// How long a page takes until it can be used, and until another reference is drawn, in headless Chromium:
//   node reports/check/speed.mjs REPORT.html [ROUNDS]
// Prints the median and the range of the rounds, in ms of wall time.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findChromium, launch } from "./chromium.mjs";

const [file, rounds = "7"] = process.argv.slice(2);
if (!file) {
  console.error("usage: node reports/check/speed.mjs REPORT.html [ROUNDS]");
  process.exit(2);
}
const chromium = findChromium();
if (!chromium) {
  console.error(
    "no Chromium found: install it (Debian: apt-get install chromium) or set CHROMIUM to its path",
  );
  process.exit(3);
}
const browser = launch(chromium);

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
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const value = async (expression) =>
    (await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result
      .value;
  const loaded = new Promise((go) => {
    browser.on((event) => {
      if (event.sessionId === sessionId && event.method === "Page.loadEventFired") go();
    });
  });
  await send("Page.enable");
  await send("Emulation.setDeviceMetricsOverride", {
    width: 1440,
    height: 900,
    deviceScaleFactor: 1,
    mobile: false,
  });
  await send("Page.navigate", { url });
  await loaded;
  const ready = await value("performance.timing.loadEventEnd - performance.timing.navigationStart");
  const change = await value(CHANGE);
  await browser.send("Target.closeTarget", { targetId });
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
