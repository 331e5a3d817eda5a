/** The SQL between its `?` placeholders; those in strings, quoted names and comments do not count. */
export function splitPlaceholders(sql) {
  const pieces = [""];
  const tokens =
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[\s\S]/g;
  for (const [token] of sql.matchAll(tokens)) {
    if (token === "?") pieces.push("");
    else pieces[pieces.length - 1] += token;
  }
  return pieces;
}
