// The filter of the command line (harness/sqlitmus/catalog/plan.py): terms joined by "and", each of them a text
// or key:value, either with a minus before it.

/** Terms of a filter text. */
export function parse(text) {
  return (text.match(/\S+/g) ?? []).map((word) => {
    const not = word.length > 1 && word.startsWith("-");
    const body = (not ? word.slice(1) : word).toLowerCase();
    const keyed = /^([a-z_]+):(.*)$/.exec(body);
    return keyed ? { not, key: keyed[1], value: keyed[2] } : { not, key: null, value: body };
  });
}

/** The facts of a cell that terms may ask for, in lower case. */
export function facts(item, [name, , runtime, driver]) {
  const { scenario, id, group, bound } = item;
  const known = { ...item.axes, scenario, case: id, group, bound, runner: name, runtime, driver };
  const keys = new Map();
  for (const [key, value] of Object.entries(known)) {
    keys.set(key.toLowerCase(), String(value).toLowerCase());
  }
  return { text: `${id}/${name}`.toLowerCase(), keys };
}

/** Whether a cell passes all terms. */
export function matches(terms, cell) {
  return terms.every(({ not, key, value }) => {
    const hit = key === null ? cell.text.includes(value) : cell.keys.get(key) === value;
    return hit !== not;
  });
}

/** Keys that no cell has. */
export function unknownKeys(terms, cells) {
  const asked = terms.map(({ key }) => key).filter((key) => key !== null);
  return asked.filter((key) => !cells.some((row) => row.some((cell) => cell.keys.has(key))));
}
