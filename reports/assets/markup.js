// Markup from templates. What is put into one is escaped, unless it is markup itself or a list of it.

class Markup {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(value) {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(escaped).join("");
  if (value === false) return "";
  return String(value ?? "").replace(/[&<>"']/g, (letter) => ESCAPES[letter]);
}

/** A template's text as markup; what is null or false is left out. */
export function html(parts, ...values) {
  return new Markup(String.raw({ raw: parts }, ...values.map(escaped)));
}
