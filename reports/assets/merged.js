// The merged page: filters the table, and shows a machine's own page in a frame. The address holds
// the machine, and with it the view that its page keeps there (see address.js).

import { unpacked } from "./packed.js";

const $ = (id) => document.getElementById(id);
const { machines, words } = JSON.parse(await unpacked($("data")));
// The comparisons, each with the rank of its word.
const rows = [...document.querySelectorAll("main tr[data-c]:has([data-f='holds'])")];
const wordOf = (row) => words[Number(row.dataset.rank ?? 0)];
let shown = "";

function unpack(name) {
  const pages = [...document.querySelectorAll("script[data-of]")];
  return unpacked(pages.find((one) => one.dataset.of === name));
}

/** Shows the page of machine `name`, or the front for "". A new frame leaves no entry in the history. */
async function show(name) {
  shown = name;
  document.body.classList.toggle("framed", name !== "");
  $("front").hidden = name !== "";
  $("own").hidden = name === "";
  $("own").replaceChildren();
  for (const link of document.querySelectorAll("#selector a")) {
    if (link.dataset.machine === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!name) return;
  const text = await unpack(name);
  if (shown !== name) return;
  const frame = document.createElement("iframe");
  frame.title = `Report of ${name}`;
  frame.dataset.address = "";
  frame.srcdoc = text;
  $("own").replaceChildren(frame);
}

async function fromAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const wanted = parts.get("machine") ?? "";
  const known = machines.find((one) => one.name === wanted);
  $("count").textContent = "";
  if (wanted && !known?.here) {
    const why = known ? "its page is not in this file" : "there is no such machine here";
    $("count").textContent = `${wanted}: ${why}.`;
  }
  const name = known?.here ? wanted : "";
  if (name !== shown) await show(name);
  // the frame's own page reads the rest of the address
  else if (name) $("own").firstElementChild?.contentWindow.dispatchEvent(new Event("popstate"));
  if (name) return;
  $("q").value = parts.get("q") ?? "";
  $("word").value = parts.get("word") ?? "";
  filter();
}

function filter() {
  const terms = $("q").value.toLowerCase().split(/\s+/).filter(Boolean);
  const word = $("word").value;
  let hidden = 0;
  for (const row of rows) {
    const title = row.querySelector('[data-f="case"]').textContent;
    const runner = row.querySelector('[data-f="runner"]').textContent;
    const text = `${row.dataset.c} ${title} ${runner}`.toLowerCase();
    row.hidden =
      (word !== "" && wordOf(row) !== word) || !terms.every((term) => text.includes(term));
    hidden += row.hidden;
  }
  if (word || terms.length) {
    for (const fold of document.querySelectorAll("main .fold")) {
      fold.open = [...fold.querySelectorAll("tbody tr")].some((row) => !row.hidden);
    }
  }
  $("hidden-note").textContent = hidden
    ? `${rows.length - hidden} of ${rows.length} comparisons.`
    : "";
}

function keepFilter() {
  const parts = new URLSearchParams();
  for (const id of ["q", "word"]) if ($(id).value) parts.set(id, $(id).value);
  const text = parts.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  filter();
}

$("q").addEventListener("input", keepFilter);
$("word").addEventListener("change", keepFilter);
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("controls").hidden = false;
$("selector").hidden = false;
addEventListener("hashchange", fromAddress);
addEventListener("popstate", fromAddress);
await fromAddress();
document.documentElement.dataset.ready = "1";
