// Every sentence of a page of a suite holds for what the controls say: each control is flipped, and what
// is then read is held against the numbers that the page embeds. Counted here from them anew.

import { steps } from "./steps.mjs";

const COUNTING = `
const sideOf = { F: "faster", f: "faster", e: "equivalent", s: "slower", S: "slower" };
const opposite = { faster: "slower", slower: "faster" };
const sides = (item, runner, reference) => {
	const [low, high] = [Math.min(runner, reference), Math.max(runner, reference)];
	const stored = item.verdicts[(high * (high - 1)) / 2 + low] ?? " ";
	if (runner === reference || stored === " ") return null;
	const side = sideOf[stored] ?? data.verdicts[stored][0];
	return runner < reference ? opposite[side] ?? side : side;
};
const logOf = (item, runner, reference) => {
	const [low, high] = [Math.min(runner, reference), Math.max(runner, reference)];
	const log = item.pairs[0][(high * (high - 1)) / 2 + low];
	return runner < reference ? -log : log;
};
const read = (node) => (node?.innerText ?? "").replace(/\\s+/g, " ");
const shown = (node) => node && !node.closest("[hidden]") && getComputedStyle(node).display !== "none";
const press = (id, value) => document.querySelector("#" + id + " [value='" + value + "']").click();
// What a number of the page says, in units of one.
const SCALE = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, "/s": 1, "k/s": 1e3, "M/s": 1e6, "G/s": 1e9, "×": 1 };
const number = (text) => {
	const parts = /([\\d.]+)\\s*(ns|µs|ms|[kMG]?\\/s|s|×)/.exec(text);
	return parts && { value: Number(parts[1]) * SCALE[parts[2]], digits: parts[1], scale: SCALE[parts[2]] };
};
const close = (text, exact) => {
	const parsed = number(text);
	if (!parsed) return false;
	const places = (parsed.digits.split(".")[1] ?? "").length;
	return Math.abs(parsed.value - exact) <= parsed.scale * 0.75 * 10 ** -places + exact * 1e-5;
};
const dot = (cell) => {
	const mark = cell.querySelector("path.d, path.o");
	const line = cell.querySelector("path.z");
	if (!mark || !line) return 0;
	const x = (path) => path.getBoundingClientRect().left + path.getBoundingClientRect().width / 2;
	return x(mark) - x(line);
};
`;

const HOLDS = `
const holds = (ref, as, view) => {
	const at = data.runners.findIndex(([name]) => name === ref);
	const rate = as === "rate";
	const where = "with reference " + ref + (rate ? ", ops/s" : ", time") + (view ? ", absolute: " : ": ");
	for (const row of document.querySelectorAll("#grid tr.group")) {
		const group = row.parentElement.dataset.group;
		const whole = !row.parentElement.querySelector("tr[data-c][hidden]");
		for (const cell of row.querySelectorAll("td[data-r]:not([hidden])")) {
			const [of, runner] = [data.groups.indexOf(group), Number(cell.dataset.r)];
			const mean = data.standings.find(([a, b, c]) => a === of && b === runner && c === at);
			const text = shown(row.parentElement) ? read(cell.querySelector("b")) : "";
			const what = where + group + " of " + data.runners[runner][0] + ": " + text;
			if (!mean || mean[6] == null || view || !whole) {
				if (text) return what + ", and there is no mean";
				continue;
			}
			if (!shown(row.parentElement)) continue;
			const exact = Math.exp(mean[3] / 1e6);
			if (!close(text, rate ? 1 / exact : exact)) return what + " for " + exact;
			const side = sideOf[mean[6]], way = Math.sign(dot(cell)) * (rate ? -1 : 1);
			if ((side === "faster" && way > 0) || (side === "slower" && way < 0)) return what + ": a dot on the wrong side";
		}
	}
	const reading = read($("reading"));
	if (!reading.startsWith(rate ? "Rate" : "Time") || !reading.includes(ref)) return where + reading;
	if (!view && !reading.includes(rate ? "More is faster" : "Less is faster")) return where + reading;
	const caption = document.querySelector("#grid caption");
	if (!read(caption).includes(ref) || !read(caption).includes(rate ? "rate" : "time")) return where + "caption: " + read(caption);
	for (const figure of document.querySelectorAll("#matrix .legend figure")) {
		if (!shown(figure)) continue;
		const text = figure.textContent;
		if (text.includes("operations per second") !== rate) return where + "legend: " + text;
		if (text.indexOf("faster") < text.indexOf("slower") !== !rate) return where + "legend: " + text;
	}
	for (const row of rows()) {
		if (row.hidden) continue;
		const item = data.cases[row.dataset.c];
		const counts = {};
		for (const cell of row.querySelectorAll("td[data-r]:not([hidden], .off)")) {
			const runner = Number(cell.dataset.r);
			const side = sides(item, runner, at);
			if (side) counts[side] = (counts[side] ?? 0) + 1;
			if (item.outcomes[runner] !== "k") continue;
			const words = cell.querySelector(".v").textContent;
			if (side && !words.includes(side)) return where + item.id + " of " + data.runners[runner][0] + " is " + side + ", and is read as " + words;
			const absolute = view || runner === at || !side;
			const time = item.time[0][runner] / 1e9;
			const ratio = Math.exp(logOf(item, runner, at) / 1e6);
			const exact = absolute ? (rate ? 1 / time : time) : rate ? 1 / ratio : ratio;
			if (!close(read(cell.querySelector("b")), exact)) return where + item.id + " of " + data.runners[runner][0] + ": " + read(cell) + " for " + exact;
			const way = Math.sign(dot(cell)) * (rate ? -1 : 1);
			if ((side === "faster" && way > 0) || (side === "slower" && way < 0)) return where + item.id + ": a dot on the wrong side";
		}
		const details = document.querySelector("details.case[data-c='" + row.dataset.c + "']");
		if (!details) continue;
		const tally = details.querySelector("summary .tally").textContent;
		const told = Object.fromEntries(tally.split(", ").filter(Boolean).map((part) => [part.slice(part.indexOf(" ") + 1), parseInt(part)]));
		if (Object.keys({ ...told, ...counts }).some((kind) => told[kind] !== counts[kind]))
			return where + item.id + ": the title says " + tally + ", the matrix " + JSON.stringify(counts);
		if (!details.open) continue;
		const table = details.querySelector(".forest");
		if (!table.caption.textContent.includes("their ratio to " + ref)) return where + "caption: " + table.caption.textContent;
		if (read(table.caption).includes("rates") !== rate) return where + "caption: " + read(table.caption);
		const head = table.tHead.querySelector("[data-f='time']").textContent;
		if (head.includes("per second") !== rate) return where + "head: " + head;
	}
	const column = document.querySelector("#grid [aria-sort]");
	if (column) {
		const up = column.getAttribute("aria-sort") === "ascending" ? 1 : -1;
		for (const body of document.querySelectorAll("#grid tbody")) {
			const values = [...body.querySelectorAll("tr[data-c]")].map((row) => row.querySelector("td[data-r='" + column.dataset.r + "']"))
				.filter((cell) => !cell.matches(".na, .bad") && !cell.classList.contains("base"))
				.map((cell) => read(cell.querySelector("b"))).filter((text) => view || text.includes("×")).map(number).filter((one) => one);
			// half a unit of the last digit that is shown
			const slack = (one) => one.value / Number(one.digits) / 2 / 10 ** (one.digits.split(".")[1] ?? "").length;
			for (const [i, one] of values.slice(1).entries())
				if (up * (one.value - values[i].value) < -Math.max(0.01 * one.value, slack(one) + slack(values[i]))) return where + "sorted " + column.getAttribute("aria-sort") + ", but " + values[i].digits + " stands before " + one.digits;
		}
	}
	return "";
};
`;

export const follow = steps(
  "every sentence, tally, caption and head follows the controls",
  `${COUNTING}${HOLDS}
		for (const index of [0, 1]) if (data.cases[index]) await opened(index);
		for (const details of document.querySelectorAll("#matrix .legend")) details.open = true;
		await frame();
		const own = $("ref").value;
		const references = [...$("ref").options].map((one) => one.value);
		const filters = ["", "runner:" + references.at(-1), "-scenario:" + data.cases[0].scenario];
		const timed = data.runners.findIndex((r, i) => i !== data.reference && data.cases.some((c) => c.outcomes[i] === "k"));
		document.querySelector("#grid thead th[data-r='" + timed + "'] button").click();
		for (const ref of [own, ...references.filter((one) => one !== own).slice(0, 3)]) {
			set("ref", ref);
			for (const as of ["", "rate"]) for (const view of ["", "absolute"]) for (const filter of filters) {
				press("as", as); press("view", view); set("q", filter, "input");
				await frame();
				const wrong = holds(ref, as, view);
				if (wrong) return wrong + (filter && " (filter " + filter + ")");
			}
		}
		$("reset").click();
		for (const chip of document.querySelectorAll("#chips-group button, #chips-runner button")) {
			chip.click();
			const wrong = holds(own, "", "");
			if (wrong) return wrong + " (" + chip.value + " chosen)";
			chip.click();
		}
		$("reset").click();
		const left = holds(own, "", "");
		for (const details of document.querySelectorAll("details[open]")) details.open = false;
		return left;`,
);
