// A tab of a headless Chromium: opened at a size, led to a page, asked for values.
import { findChromium, launch } from "./chromium.mjs";

// How often and how many ms apart a page is asked whether it is ready.
const MOST_TURNS = 1000;
const TURN = 10;

/** A running browser; without a Chromium it says what to install and ends the program with 3. */
export function startBrowser() {
  const chromium = findChromium();
  if (chromium) return launch(chromium);
  console.error(
    "no Chromium found: install it (Debian: apt-get install chromium) or set CHROMIUM to its path",
  );
  process.exit(3);
}

/** A tab of `width` x `height` px; `media` are emulated media features, `hear` gets its events. It is one that
 * was left, if there is any: each new one starts a process. */
export async function openTab(browser, { width, height, media = {}, hear = () => {} }) {
  const tab = left.pop() ?? (await newTab(browser));
  tab.hear = hear;
  await tab.send("Emulation.setEmulatedMedia", {
    media: "",
    features: Object.entries(media).map(([name, value]) => ({ name, value })),
  });
  await tab.send("Emulation.setDeviceMetricsOverride", {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: width < 600,
  });
  return tab;
}

const left = [];

async function newTab(browser) {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  let loaded = () => {};
  const tab = {
    send,
    hear: () => {},
    /** Resolves once `url` has loaded. */
    async go(url) {
      const done = new Promise((resolve) => {
        loaded = resolve;
      });
      await send("Page.navigate", { url });
      await done;
    },
    /** Whether the page's script finishes, after it has unpacked the page's data. */
    async ready() {
      const done = "document.documentElement.dataset.ready === '1'";
      for (let turn = 0; turn < MOST_TURNS; turn++) {
        if (await tab.evaluate(done)) return true;
        await new Promise((go) => setTimeout(go, TURN));
      }
      return false;
    },
    /** The value of a JavaScript expression, awaited; throws what it throws. */
    async evaluate(expression) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails)
        throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    /** Lets the next `openTab` have it, without the page. */
    async leave() {
      tab.hear = () => {};
      await tab.go("about:blank");
      left.push(tab);
    },
    close: () => browser.send("Target.closeTarget", { targetId }),
  };
  browser.on((event) => {
    if (event.sessionId !== sessionId) return;
    if (event.method === "Page.loadEventFired") loaded();
    tab.hear(event);
  });
  await send("Page.enable");
  return tab;
}
