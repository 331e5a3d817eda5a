// A step of a check: what it is called, and an expression that answers "" or what went wrong.
import { readFileSync } from "node:fs";

const asset = (name) => readFileSync(new URL(`../assets/${name}.js`, import.meta.url), "utf8");
const UNPACKING = `${asset("packed")}${asset("data")}`.replace(/^export /gm, "");

/** `body` as a step, with the names below in scope. */
export function steps(what, body) {
  return [what, `(async () => {${COMMON}${body}\nreturn "";})()`];
}

/** An expression: the text of all cells of the matrix. */
export const CELLS_TEXT = `[...document.querySelectorAll("#grid > tbody > tr:not(.opened) > td")].map((c) => c.textContent.trim()).join("|")`;

const COMMON = `
const { unpacked, spreadOut } = (() => {
${UNPACKING}
return { unpacked, spreadOut };
})();
const $ = (id) => document.getElementById(id);
const data = JSON.parse(await unpacked($("data")));
if (data.cases) spreadOut(data);
const cellsText = () => ${CELLS_TEXT};
const set = (id, value, kind = "change") => { $(id).value = value; $(id).dispatchEvent(new Event(kind, { bubbles: true })); };
const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 20)));
// A loaded machine may take long to deliver an event.
const until = async (holds) => { for (let i = 0; i < 100 && !holds(); i++) await frame(); return holds(); };
// The embedded numbers are rounded, so a repainted one may differ by one in its last place.
const alike = (a, b) => {
	const parts = (text) => text.split(/(\\d+(?:\\.\\d+)?)/);
	const [one, two] = [parts(a), parts(b)];
	return one.length === two.length && one.every((x, i) => {
		if (i % 2 === 0) return x === two[i];
		const places = (x.split(".")[1] ?? "").length;
		return places === (two[i].split(".")[1] ?? "").length && Math.abs(x - two[i]) < 1.5 * 10 ** -places;
	});
};
// As a reader does: in the matrix, where there is one.
const opened = async (index = 0) => {
	const details = () => document.querySelector("details.case[data-c='" + index + "']");
	const link = document.querySelector("#grid a[href='#c-" + index + "']");
	if (!details()?.open) link ? link.click() : (details().open = true);
	await frame();
	return details();
};
// What is in a closed fold has no text of its own.
for (let fold = $("grid")?.closest("details:not([open])"); fold; fold = fold.closest("details:not([open])")) {
	fold.open = true;
	await frame();
}
const rows = () => [...document.querySelectorAll("#grid tr[data-c]")];
`;
