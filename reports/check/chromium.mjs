// A headless Chromium spoken to over its debugging pipe: no package and no port needed.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
const FLAGS = [
  "--headless=new",
  "--remote-debugging-pipe",
  "--no-sandbox",
  "--disable-gpu",
  "--hide-scrollbars",
  "--no-first-run",
  "--disable-background-networking",
  // a check changes the address faster than a reader could
  "--disable-ipc-flooding-protection",
];

/** Path of a Chromium: $CHROMIUM, then PATH; null without one. */
export function findChromium() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return (
    [process.env.CHROMIUM, ...candidates, MAC].find((path) => path && existsSync(path)) ?? null
  );
}

/** Starts `path`; `send(method, params, session)` answers, `on(listener)` hears every event. */
export function launch(path) {
  const profile = mkdtempSync(join(tmpdir(), "sqlitmus-check-"));
  const child = spawn(path, [...FLAGS, `--user-data-dir=${profile}`], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: profile }, // what it leaves when it is killed goes with its profile
  });
  const waiting = new Map();
  const listeners = [];
  let next = 1;
  let rest = "";
  child.stdio[4].setEncoding("utf8");
  child.stdio[4].on("data", (text) => {
    const parts = (rest + text).split("\0");
    rest = parts.pop();
    for (const part of parts) receive(JSON.parse(part));
  });
  child.on("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`Chromium ended (code ${code})`));
  });

  function receive(message) {
    if (message.id === undefined) {
      for (const listener of listeners) listener(message);
      return;
    }
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  return {
    on: (listener) => listeners.push(listener),
    send(method, params = {}, sessionId = undefined) {
      const id = next++;
      child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await ended;
      // its children may still write there
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
