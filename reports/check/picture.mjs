// Takes the pictures of the README: the answer of a report and its matrix at a fixed size, light and dark.
//   node reports/check/picture.mjs REPORT.html FOLDER
// Leaves report-light.png and report-dark.png in FOLDER.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openTab, startBrowser } from "./tab.mjs";

const SIZE = { width: 1360, height: 1240 };
const MARGIN = 2;
// where the answer begins, once the page's script has drawn it
const TOP = `new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() =>
  go(document.querySelector("#decision").getBoundingClientRect().top + scrollY))))`;

const [file, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node reports/check/picture.mjs REPORT.html FOLDER");
  process.exit(2);
}
const url = pathToFileURL(resolve(file)).href;
const browser = startBrowser();

async function picture(scheme) {
  const tab = await openTab(browser, { ...SIZE, media: { "prefers-color-scheme": scheme } });
  await tab.go(url);
  await tab.ready();
  const top = await tab.evaluate(TOP);
  const { data } = await tab.send("Page.captureScreenshot", {
    clip: { x: 0, y: Math.round(top) - MARGIN, ...SIZE, scale: 1 },
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
