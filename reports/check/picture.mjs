// Takes the pictures of the README: the summary of a report at a fixed size, light and dark.
//   node reports/check/picture.mjs REPORT.html FOLDER
// Leaves report-light.png and report-dark.png in FOLDER.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findChromium, launch } from "./chromium.mjs";

const SIZE = { width: 1000, height: 870 };
const MARGIN = 12;
// where the summary begins, once the page's script has drawn it
const TOP = `new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() =>
  go(document.querySelector("#summary").getBoundingClientRect().top + scrollY))))`;

const [file, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node reports/check/picture.mjs REPORT.html FOLDER");
  process.exit(2);
}
const chromium = findChromium();
if (!chromium) {
  console.error(
    "no Chromium found: install it (Debian: apt-get install chromium) or set CHROMIUM to its path",
  );
  process.exit(3);
}
const url = pathToFileURL(resolve(file)).href;
const browser = launch(chromium);

async function picture(scheme) {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const loaded = new Promise((go) => {
    browser.on((event) => {
      if (event.sessionId === sessionId && event.method === "Page.loadEventFired") go();
    });
  });
  await send("Page.enable");
  await send("Emulation.setEmulatedMedia", {
    features: [{ name: "prefers-color-scheme", value: scheme }],
  });
  await send("Emulation.setDeviceMetricsOverride", {
    ...SIZE,
    deviceScaleFactor: 1,
    mobile: false,
  });
  await send("Page.navigate", { url });
  await loaded;
  const { result } = await send("Runtime.evaluate", {
    expression: TOP,
    awaitPromise: true,
    returnByValue: true,
  });
  const { data } = await send("Page.captureScreenshot", {
    clip: { x: 0, y: Math.round(result.value) - MARGIN, ...SIZE, scale: 1 },
    captureBeyondViewport: true,
  });
  const target = join(folder, `report-${scheme}.png`);
  writeFileSync(target, Buffer.from(data, "base64"));
  console.log(target);
}

try {
  for (const scheme of ["light", "dark"]) await picture(scheme);
} finally {
  await browser.close();
}
