// What axe finds against WCAG 2.2 AA, which needs its source: that of the set-up, or the file in $AXE.
import { existsSync, readFileSync } from "node:fs";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const MOST = 4;

/** Its source. */
export function axeSource() {
  const paths = process.env.SQLITMUS_PATHS;
  const file = process.env.AXE ?? (paths && JSON.parse(readFileSync(paths, "utf8")).axe?.path);
  if (!file || !existsSync(file)) {
    throw new Error("no axe found: run ./just check-report, or set AXE to the path of axe.min.js");
  }
  return readFileSync(file, "utf8");
}

/** What it finds on an opened page, a line for each rule; "" for nothing. A page differs by scheme in its
 * colours only: in the dark it is asked for their contrast. */
export async function violations(source, evaluate, scheme) {
  const rules = scheme === "dark" ? ["color-contrast"] : null;
  const runOnly = rules ? { type: "rule", values: rules } : { type: "tag", values: TAGS };
  await evaluate(`${source};""`);
  const found = await evaluate(`(async () => {
    for (const link of [...document.querySelectorAll("#grid a[href^='#c-']")].slice(0, 2)) link.click();
    const closed = () => document.querySelectorAll("details:not([open])");
    // a fold may hold others
    while (closed().length) {
      for (const details of closed()) details.open = true;
      await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    }
    const { violations } = await axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ["violations"] });
    return violations.map(({ id, help, nodes }) => [id, help, nodes.length, nodes[0].target.join(" ")]);
  })()`);
  return found
    .slice(0, MOST)
    .map(([id, help, count, where]) => `${id} (${help}): ${count} times, first at ${where}`)
    .join("; ");
}
