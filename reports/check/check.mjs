// Opens a report in headless Chromium, light and dark, wide and narrow, with and without its script:
//   node reports/check/check.mjs REPORT.html [FOLDER]
// Fails on a console message, a request, a page wider than its window, or a control that does not do its
// work. With FOLDER it leaves a screenshot of each look there.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { axeSource, violations } from "./axe.mjs";
import { findChromium, launch } from "./chromium.mjs";
import { interactions } from "./interactions.mjs";
import { layout } from "./layout.mjs";

const LOOKS = [
  { name: "light-wide", scheme: "light", width: 1400, script: true },
  { name: "dark-wide", scheme: "dark", width: 1400, script: true },
  { name: "light-narrow", scheme: "light", width: 360, script: true },
  { name: "dark-narrow", scheme: "dark", width: 360, script: true },
  { name: "light-wide-no-script", scheme: "light", width: 1400, script: false },
  { name: "light-narrow-no-script", scheme: "light", width: 360, script: false },
];
const MAX_SHOT = 6000;

const [file, folder] = process.argv.slice(2);
if (!file) {
  console.error("usage: node reports/check/check.mjs REPORT.html [FOLDER]");
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
let failures = 0;

function report(look, problems) {
  failures += problems.length;
  console.log(`${problems.length ? "FAIL" : "ok  "} ${look}`);
  for (const problem of problems) console.log(`     ${problem}`);
}

async function open({ scheme, width, height = 900, script }) {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const problems = [];
  let loaded = () => {};
  browser.on(({ method, params, sessionId: own }) => {
    if (own !== sessionId) return;
    if (method === "Runtime.consoleAPICalled") {
      problems.push(
        `console.${params.type}: ${params.args.map((one) => one.value ?? one.description).join(" ")}`,
      );
    }
    if (method === "Runtime.exceptionThrown") {
      problems.push(
        `exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`,
      );
    }
    if (method === "Log.entryAdded") problems.push(`log: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && !/^(data|blob):/.test(params.request.url)) {
      if (params.request.url.split("#")[0] !== url) problems.push(`request: ${params.request.url}`);
    }
    if (method === "Page.loadEventFired") loaded();
  });
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
  await send("Emulation.setEmulatedMedia", {
    features: [
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ],
  });
  await send("Emulation.setDeviceMetricsOverride", {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: width < 600,
  });
  await send("Emulation.setScriptExecutionDisabled", { value: !script });
  const done = new Promise((go) => {
    loaded = go;
  });
  await send("Page.navigate", { url });
  await done;
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const close = () => browser.send("Target.closeTarget", { targetId });
  // Processor time of the whole browser in s: a loaded machine does not change it.
  const cpu = async () => {
    const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
    return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
  };
  return { send, evaluate, problems, close, cpu };
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
    const ready = await page.evaluate("document.documentElement.dataset.ready === '1'");
    if (!ready) page.problems.push("the page's script did not finish");
    await page.evaluate(
      "for (const d of [...document.querySelectorAll('details.case')].slice(0, 2)) d.open = true",
    );
    await page.evaluate(
      "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))",
    );
  }
  const { cssContentSize, cssLayoutViewport } = await page.send("Page.getLayoutMetrics");
  if (cssContentSize.width > cssLayoutViewport.clientWidth) {
    page.problems.push(
      `page is ${cssContentSize.width} px wide in a window of ${cssLayoutViewport.clientWidth}`,
    );
  }
  await shoot(page, one.name, one.width);
  report(one.name, page.problems);
  await page.close();
}

try {
  for (const one of LOOKS) await look(one);
  const page = await open({ scheme: "light", width: 1400, script: true });
  const kind = await page.evaluate('JSON.parse(document.getElementById("data").textContent).kind');
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
  await page.close();
  const axe = axeSource();
  for (const scheme of ["light", "dark"]) {
    const own = await open({ scheme, width: 1400, script: true });
    const problem = await violations(axe, own.evaluate);
    report(`axe finds nothing against WCAG 2.2 AA, ${scheme}`, problem ? [problem] : []);
    await own.close();
  }
  for (const [name, size, check] of kind === "merged" ? [] : layout) {
    const own = await open({ scheme: "light", ...size, script: true });
    const problem = await check(own);
    report(name, [...own.problems, ...(problem ? [problem] : [])]);
    await own.close();
  }
} finally {
  await browser.close();
}
console.log(failures ? `${failures} problems` : "no problems");
process.exitCode = failures ? 1 : 0;
