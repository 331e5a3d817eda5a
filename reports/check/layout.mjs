// What only a browser's keyboard, window and printer show, as [what, window, check]: a check answers "" or
// what went wrong.

// A phone, a desk at its own size and the same magnified twice, in CSS px.
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1440, height: 900 };
const MAGNIFIED = { width: 720, height: 450 };
const MOST_STOPS = 400;
const PRINT = { bytes: 2e6, ms: 5000 };

const KEY = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9, modifiers: 8 };

// Where the focus is, and whether the bar, or anything else that stands over the page, hides all of it.
const FOCUS = `(() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const box = node.getBoundingClientRect();
  const points = [0.02, 0.25, 0.5, 0.75, 0.98].flatMap((x) => [0.02, 0.5, 0.98].map((y) => [box.left + box.width * x, box.top + box.height * y]));
  const seen = points.some(([x, y]) => {
    const top = document.elementFromPoint(x, y);
    return top && (node.contains(top) || top.contains(node));
  });
  return { seen, name: node.id || node.textContent.trim().slice(0, 40) || node.tagName, top: Math.round(box.top) };
})()`;

async function stops({ send, evaluate }) {
  await evaluate("scrollTo(0, document.body.scrollHeight)");
  await evaluate(
    "document.querySelector('.page-foot').setAttribute('tabindex', '-1'); document.querySelector('.page-foot').focus()",
  );
  const hidden = [];
  let count = 0;
  for (; count < MOST_STOPS; count++) {
    await send("Input.dispatchKeyEvent", { type: "keyDown", ...KEY });
    await send("Input.dispatchKeyEvent", { type: "keyUp", ...KEY });
    await evaluate("new Promise((go) => requestAnimationFrame(() => go()))");
    const at = await evaluate(FOCUS);
    if (!at) break;
    if (!at.seen) hidden.push(`${at.name} (at ${at.top})`);
  }
  if (count < 5) return `only ${count} stops`;
  return hidden.length
    ? `${hidden.length} of ${count} stops hidden: ${hidden.slice(0, 4).join("; ")}`
    : "";
}

const LANDING = `(async () => {
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 30)));
  // nobody clicks before a page is drawn, and only then it knows whether its tables fit
  await frame();
  const links = [...document.querySelectorAll("main a[href^='#c-']")].filter((link) => link.checkVisibility());
  for (const link of [links[0], links.at(-1)]) {
    if (!link) continue;
    link.click();
    await frame();
    await frame();
    const details = document.querySelector(link.getAttribute("href")).closest("details");
    const row = details.closest("tr")?.previousElementSibling;
    const title = (row ?? details.querySelector("summary")).getBoundingClientRect();
    const bar = document.querySelector(row ? "#grid thead th" : ".bar");
    const sticks = row || getComputedStyle(bar).position === "sticky";
    const below = sticks ? bar.getBoundingClientRect().bottom : 0;
    if (title.top < below - 1 || title.bottom > innerHeight) return "the title of " + link.textContent + " is at " + title.top + ", the bar ends at " + below;
    details.open = false;
  }
  for (const link of document.querySelectorAll(".toc a")) {
    const head = document.querySelector(link.getAttribute("href") + " h2");
    if (!head) continue;
    link.click();
    await frame();
    await frame();
    const fold = head.closest("details");
    if (fold && !(fold.open && fold.contains(document.activeElement))) return link.textContent + " does not open, or has no focus";
    const bar = document.querySelector(".bar");
    const below = getComputedStyle(bar).position === "sticky" ? bar.getBoundingClientRect().bottom : 0;
    if (head.getBoundingClientRect().top < below - 1) return link.textContent + " lands at " + head.getBoundingClientRect().top + " under a bar that ends at " + below;
  }
  document.getElementById("reset").click();
  return "";
})()`;

const SHARE = `(() => {
  scrollTo(0, document.querySelector("main").getBoundingClientRect().top + innerHeight);
  const box = document.querySelector(".bar").getBoundingClientRect();
  const seen = Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(0, box.top));
  scrollTo(0, 0);
  return seen > innerHeight / 5 ? "the bar covers " + Math.round(seen) + " of " + innerHeight + " px" : "";
})()`;

// Words that reach over the words beside them.
const OVERPRINTS = `(() => {
  const boxes = [];
  for (const table of document.querySelectorAll("main table, .decision table")) {
    for (const row of table.rows) {
      if (!row.checkVisibility()) continue;
      const cells = [...row.cells].filter((cell) => cell.checkVisibility());
      const right = (cell) => {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        let most = 0;
        while (texts.nextNode()) {
          const node = texts.currentNode;
          if (node.parentElement.closest(".v, svg, [hidden]")) continue;
          const range = document.createRange();
          range.selectNodeContents(node);
          most = Math.max(most, ...[...range.getClientRects()].map((box) => box.right));
        }
        return most;
      };
      for (const [at, cell] of cells.entries()) {
        const next = cells[at + 1];
        // what sticks lies over the others on purpose
        if (next && getComputedStyle(next).position === "sticky") continue;
        if (next && right(cell) > next.getBoundingClientRect().right - next.getBoundingClientRect().width + 2 && cell.getBoundingClientRect().top === next.getBoundingClientRect().top)
          boxes.push((table.caption?.textContent.trim().slice(0, 30) ?? "") + ": " + cell.textContent.trim().slice(0, 40) + " over " + next.textContent.trim().slice(0, 20));
      }
    }
  }
  return boxes.length ? boxes.length + " cells overprint: " + boxes.slice(0, 4).join("; ") : "";
})()`;

// A table wider than its box fades where it goes on, and no longer does at its end.
const FADES = `(async () => {
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 60)));
  for (const box of document.querySelectorAll(".scroll")) {
    if (!box.checkVisibility()) continue;
    const wide = box.scrollWidth - box.clientWidth > 2;
    // a loaded machine may take long to tell the page of a size
    for (let i = 0; i < 100 && box.classList.contains("more") !== wide; i++) await frame();
    if (box.classList.contains("more") !== wide) return (box.getAttribute("aria-label") ?? "a table") + " is " + box.scrollWidth + " wide in " + box.clientWidth + " and " + (wide ? "does not fade" : "fades");
    if (!wide) continue;
    box.scrollLeft = box.scrollWidth;
    await frame();
    if (box.classList.contains("more")) return "a table fades at its end";
    box.scrollLeft = 0;
    await frame();
  }
  return "";
})()`;

// The first screen says its finding in one sentence and shows figures: a matrix that leads, or else those of
// the answer. Its words count outside of tables and the footer; those of the page before anything is opened
// count with their numbers. Words of pictures and of lists to choose from do not count.
const MOST = { sentence: 25, first: 120, words: 900, top: 520, height: 4000 };
const FIRST = `(() => {
  const answer = document.querySelector(":is(.decision, .answering) .answer");
  const leads = document.querySelector("main > section, main > details")?.id === "matrix";
  const figures = document.querySelectorAll(leads ? "#grid td[data-r]" : ":is(.decision, .answering) :is(tbody td, svg use)");
  const figure = [...figures].find((one) => one.checkVisibility());
  const picture = document.querySelector(".decision figure");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let first = 0;
  let words = 0;
  while (texts.nextNode()) {
    const { parentElement: holder, textContent } = texts.currentNode;
    if (holder.closest("script, style, noscript, svg, select, .v, .skip") || !holder.checkVisibility()) continue;
    const count = (part) => textContent.split(/[ \\n\\t]+/).filter((word) => part.test(word)).length;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    words += count(/[\\p{L}\\p{N}]/u);
    if (range.getBoundingClientRect().top < innerHeight && !holder.closest("table, footer")) first += count(/\\p{L}{2}/u);
  }
  return {
    sentence: answer?.textContent.trim().split(/\\s+/).length ?? 0,
    first,
    words,
    top: figure ? Math.round(figure.getBoundingClientRect().top) : Infinity,
    height: document.documentElement.scrollHeight,
    cut: Boolean(picture) && picture.getBoundingClientRect().bottom >= innerHeight,
  };
})()`;

async function firstScreen({ evaluate }) {
  const { cut, ...sizes } = await evaluate(FIRST);
  const { sentence, first, words, top, height } = sizes;
  console.log(
    `     ${first} words on the first screen, ${words} before anything is opened; ${height} px, figures from ${top} px`,
  );
  const beyond = Object.keys(MOST).filter((name) => !(sizes[name] <= MOST[name]));
  return [
    sentence ? "" : "no answer",
    cut ? "the picture ends below the window" : "",
    ...beyond.map((name) => `${name}: ${sizes[name]}, at most ${MOST[name]}`),
  ]
    .filter(Boolean)
    .join("; ");
}

// Without script, too: the answer, its figures, and a matrix where the page has one.
export const STANDS = `(() => {
  const seen = (nodes) => [...document.querySelectorAll(nodes)].some((one) => one.checkVisibility() && (one.textContent.trim() || one.matches("use")));
  const parts = { "answer": ".answer" };
  const ranks = document.querySelector(":is(.answering :is(table, svg), .decision option:not([disabled]))");
  if (ranks) parts["figure beside the answer"] = ":is(.decision, .answering) :is(tbody td, svg use)";
  if (document.querySelector("#grid")?.closest("details") === null) parts["cell of the matrix"] = "#grid td[data-r]";
  return Object.entries(parts).filter(([, nodes]) => !seen(nodes)).map(([what]) => "no " + what + " without script");
})()`;

// The visual viewport stays as wide as the window; the layout grows with what is too wide.
const SIDEWAYS = `(() => {
  const wide = [...document.querySelectorAll("body *")].filter((node) =>
    node.checkVisibility() && !node.closest(".scroll, .toc, .machines, .v, .skip, svg, .litmus, dialog, pre") && node.getBoundingClientRect().right > visualViewport.width + 1);
  const [first] = wide;
  return wide.length ? wide.length + " parts end beyond " + visualViewport.width + " px: " + first.tagName + " " + first.className + " " + first.textContent.trim().slice(0, 60) : "";
})()`;

async function sheet({ send, evaluate }) {
  const open = "document.getElementById('more').open = true";
  const still = "document.getElementById('more').open";
  const key = { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 };
  await evaluate(open);
  await send("Input.dispatchKeyEvent", { type: "keyDown", ...key });
  await send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
  if (await evaluate(still)) return "Esc leaves it open";
  await evaluate(`scrollTo(0, 0); ${open}`);
  const at = { x: 30, y: 30, button: "left", clickCount: 1 };
  await send("Input.dispatchMouseEvent", { type: "mousePressed", ...at });
  await send("Input.dispatchMouseEvent", { type: "mouseReleased", ...at });
  return (await evaluate(still)) ? "a click outside leaves it open" : "";
}

// Without the tree of tags that is for screen readers: that grows with the words, not with what is drawn.
async function printed({ send, cpu }) {
  const from = await cpu();
  const { stream } = await send("Page.printToPDF", {
    transferMode: "ReturnAsStream",
    preferCSSPageSize: true,
    printBackground: true,
    generateTaggedPDF: false,
  });
  const ms = 1000 * ((await cpu()) - from);
  let bytes = 0;
  for (let end = false; !end; ) {
    const { data, eof, base64Encoded } = await send("IO.read", { handle: stream, size: 1 << 20 });
    bytes += Buffer.from(data, base64Encoded ? "base64" : "utf8").length;
    end = eof;
  }
  await send("IO.close", { handle: stream });
  console.log(
    `     printed: ${Math.round(bytes / 1000)} kB in ${Math.round(ms)} ms of processor time`,
  );
  if (bytes > PRINT.bytes) return `the print is ${Math.round(bytes / 1e6)} MB`;
  return ms > PRINT.ms ? `printing took ${Math.round(ms)} ms of processor time` : "";
}

/** What holds of every kind of page. */
export const everywhere = [
  ["the first screen has the finding and figures in few words", DESK, firstScreen],
  ...[320, 360, 768, 1366, 1920].map((width) => [
    `nothing reaches beyond ${width} px`,
    { width, height: 800 },
    ({ evaluate }) => evaluate(SIDEWAYS),
  ]),
];

// On paper: heads of the matrix that are repeated, with a name in each; no control; no text below 7 pt,
// which is what an SVG's scale leaves of it.
const PAPER = { width: 1032, height: 703 }; // A4 across without its margins
const LEAST_PT = 7;
const ON_PAPER = `(() => {
  const seen = (node) => node.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const problems = [];
  for (const head of document.querySelectorAll("#grid > thead")) {
    if (getComputedStyle(head).display !== "table-header-group") problems.push("the heads are not repeated");
    for (const cell of head.querySelectorAll("th")) if (seen(cell) && !cell.innerText.trim()) problems.push("a head without a name");
    // a button that is a box is not painted in heads that are repeated
    for (const button of head.querySelectorAll("button")) if (getComputedStyle(button).display !== "contents") problems.push("a head in a box: " + button.textContent);
    if (head.getBoundingClientRect().height > ${PAPER.height} / 4) problems.push("heads too high to be repeated");
  }
  const controls = [...document.querySelectorAll("select, input, textarea, button:not(th button)")].filter(seen);
  if (controls.length) problems.push(controls.length + " controls: " + (controls[0].id || controls[0].textContent.trim().slice(0, 40)));
  const small = new Map();
  for (const node of document.body.querySelectorAll("*")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || !seen(node)) continue;
    const scale = node.getScreenCTM?.().a ?? 1;
    if (node.closest(".v, script, style") || !scale) continue;
    const pt = parseFloat(getComputedStyle(node).fontSize) * scale * 72 / 96;
    if (pt < ${LEAST_PT} - 0.01) small.set(node.closest("table, figure, section, svg")?.id + " " + node.tagName + "." + (node.getAttribute("class") ?? "") + " in " + (node.closest("svg")?.getAttribute("class") ?? node.parentNode.tagName), pt.toFixed(1));
  }
  for (const [where, pt] of [...small].slice(0, 6)) problems.push(pt + " pt: " + where);
  return problems.join("; ");
})()`;

async function paper({ send, evaluate }) {
  await evaluate(`(async () => {
    for (const link of [...document.querySelectorAll("#grid th a")].slice(0, 2)) link.click();
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  })()`);
  await send("Emulation.setEmulatedMedia", { media: "print" });
  return evaluate(ON_PAPER);
}

export const layout = [
  ...everywhere,
  ["on a phone the bar takes no window", PHONE, ({ evaluate }) => evaluate(SHARE)],
  ["magnified twice the bar takes no window", MAGNIFIED, ({ evaluate }) => evaluate(SHARE)],
  ["Shift+Tab on a phone: each stop is seen", PHONE, stops],
  ["Shift+Tab magnified twice: each stop is seen", MAGNIFIED, stops],
  ["links land below the bar, a case's on its title", DESK, ({ evaluate }) => evaluate(LANDING)],
  ["the same on a phone", PHONE, ({ evaluate }) => evaluate(LANDING)],
  ["no cell prints over the next on a phone", PHONE, ({ evaluate }) => evaluate(OVERPRINTS)],
  ["no cell prints over the next", DESK, ({ evaluate }) => evaluate(OVERPRINTS)],
  ["wide tables show that they go on", PHONE, ({ evaluate }) => evaluate(FADES)],
  ["the sheet closes with Esc and a click outside", DESK, sheet],
  ["the print is small and quick", DESK, printed],
  ["on paper heads are repeated, and all can be read", PAPER, paper],
];
