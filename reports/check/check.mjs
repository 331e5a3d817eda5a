// Opens a report in headless Chromium, light and dark, wide and narrow, with and without its script:
//   node reports/check/check.mjs REPORT.html [FOLDER] [--only=looks,interactions,axe,layout]
// Fails on a console message, a request, a page wider than its window, or a control that does not do its
// work. With FOLDER it leaves a screenshot of each look there.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { axeSource, violations } from "./axe.mjs";
import { interactions } from "./interactions.mjs";
import { everywhere, layout, STANDS } from "./layout.mjs";
import { CELLS_TEXT, steps } from "./steps.mjs";
import { openTab, startBrowser } from "./tab.mjs";

const LOOKS = [
  { name: "light-wide", scheme: "light", width: 1400, script: true },
  { name: "dark-wide", scheme: "dark", width: 1400, script: true },
  { name: "light-narrow", scheme: "light", width: 360, script: true },
  { name: "dark-narrow", scheme: "dark", width: 360, script: true },
  { name: "light-wide-no-script", scheme: "light", width: 1400, script: false },
  { name: "light-narrow-no-script", scheme: "light", width: 360, script: false },
];
const MAX_SHOT = 6000;
const [, firstTwo] = steps(
  "the first two cases are open",
  `for (const index of [0, 1]) {
    if (data.cases?.[index]) await opened(index);
  }`,
);

const words = process.argv.slice(2);
const [file, folder] = words.filter((word) => !word.startsWith("--"));
const only = words
  .find((word) => word.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",");
if (!file) {
  console.error("usage: node reports/check/check.mjs REPORT.html [FOLDER] [--only=PART,PART]");
  process.exit(2);
}
const url = pathToFileURL(resolve(file)).href;
const browser = startBrowser();
let failures = 0;

function report(look, problems) {
  failures += problems.length;
  console.log(`${problems.length ? "FAIL" : "ok  "} ${look}`);
  for (const problem of problems) console.log(`     ${problem}`);
}

/** What an event of the page says against it. */
function complaints({ method, params }) {
  if (method === "Runtime.consoleAPICalled") {
    const words = params.args.map((one) => one.value ?? one.description);
    return [`console.${params.type}: ${words.join(" ")}`];
  }
  if (method === "Runtime.exceptionThrown") {
    const { exception, text } = params.exceptionDetails;
    return [`exception: ${exception?.description ?? text}`];
  }
  if (method === "Log.entryAdded") return [`log: ${params.entry.text}`];
  if (method === "Network.requestWillBeSent" && !/^(data|blob):/.test(params.request.url)) {
    const { url: asked } = params.request;
    return asked.split("#")[0] === url ? [] : [`request: ${asked}`];
  }
  return [];
}

async function open({ scheme, width, height = 900, script, hash = "" }) {
  const problems = [];
  const media = { "prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce" };
  const hear = (event) => problems.push(...complaints(event));
  const tab = await openTab(browser, { width, height, media, hear });
  for (const domain of ["Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
  await tab.send("Emulation.setScriptExecutionDisabled", { value: !script });
  await tab.go(url + hash);
  if (script && !(await tab.ready())) problems.push("the page's script did not finish");
  // Processor time of the whole browser in s: a loaded machine does not change it.
  const cpu = async () => {
    const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
    return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
  };
  return { ...tab, problems, cpu };
}

async function shoot(page, name, width) {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const { cssContentSize } = await page.send("Page.getLayoutMetrics");
  const height = Math.min(MAX_SHOT, Math.ceil(cssContentSize.height));
  const clip = { x: 0, y: 0, width, height, scale: 1 };
  const { data } = await page.send("Page.captureScreenshot", { clip, captureBeyondViewport: true });
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
}

async function look(one) {
  const page = await open(one);
  if (one.script) {
    await page.evaluate(firstTwo);
    await page.evaluate(
      "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))",
    );
  } else {
    page.problems.push(...(await page.evaluate(STANDS)));
  }
  const { cssContentSize, cssLayoutViewport } = await page.send("Page.getLayoutMetrics");
  if (cssContentSize.width > cssLayoutViewport.clientWidth) {
    page.problems.push(
      `page is ${cssContentSize.width} px wide in a window of ${cssLayoutViewport.clientWidth}`,
    );
  }
  await shoot(page, one.name, one.width);
  report(one.name, page.problems);
  await page.leave();
}

async function interact(kind) {
  const bare = await open({ scheme: "light", width: 1400, script: false });
  const rendered = await bare.evaluate(CELLS_TEXT);
  await bare.leave();
  const page = await open({ scheme: "light", width: 1400, script: true });
  await page.evaluate(`globalThis.rendered = ${JSON.stringify(rendered)}; ""`);
  for (const [name, expression] of interactions[kind]) {
    const before = page.problems.length;
    try {
      const said = await page.evaluate(expression);
      if (said) page.problems.push(said);
    } catch (error) {
      page.problems.push(error.message);
    }
    report(name, page.problems.slice(before));
    await page.evaluate("document.getElementById('reset')?.click()");
  }
  await page.leave();
  await arriveByLink();
}

/** Whoever comes by a link to a part of the page sees the same first screen. */
async function arriveByLink() {
  const rows = "document.querySelectorAll('#decision figure tbody tr').length";
  const counts = [];
  for (const hash of ["", "#method"]) {
    const page = await open({ scheme: "light", width: 1400, script: true, hash });
    counts.push(await page.evaluate(rows));
    await page.leave();
  }
  const [all, some] = counts;
  const problem = `the picture of the decision has ${some} of ${all} rows`;
  report("a link to a part leaves the first screen whole", all === some ? [] : [problem]);
}

async function askAxe() {
  const axe = axeSource();
  for (const scheme of ["light", "dark"]) {
    const own = await open({ scheme, width: 1400, script: true });
    const problem = await violations(axe, own.evaluate, scheme);
    report(`axe finds nothing against WCAG 2.2 AA, ${scheme}`, problem ? [problem] : []);
    await own.leave();
  }
}

async function layOut(kind) {
  for (const [name, size, check] of kind === "merged" ? everywhere : layout) {
    const own = await open({ scheme: "light", ...size, script: true });
    const problem = await check(own);
    report(name, [...own.problems, ...(problem ? [problem] : [])]);
    await own.leave();
  }
}

async function lookAll() {
  for (const one of LOOKS) await look(one);
}

/** The kind of page that the file is, as its data says. */
function kindOf() {
  return /<script [^>]*id="data" data-kind="(\w+)"/.exec(readFileSync(file, "utf8"))[1];
}

const PARTS = { looks: lookAll, interactions: interact, axe: askAxe, layout: layOut };

try {
  const kind = kindOf();
  for (const [name, part] of Object.entries(PARTS))
    if (only?.includes(name) ?? true) await part(kind);
} finally {
  await browser.close();
}
console.log(failures ? `${failures} problems` : "no problems");
process.exitCode = failures ? 1 : 0;
