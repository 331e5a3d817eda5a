/**
 * The name to open: the path itself, or a `file:` URI where parameters are asked for. The path is
 * absolute then, as the harness gives it.
 */
export function databaseName({ path, uri }) {
  const parameters = new URLSearchParams(uri).toString();
  if (parameters === "") return path;
  if (path === ":memory:") return `file::memory:?${parameters}`;
  const url = new URL("file:///");
  // The setter escapes what ends a path, but takes `%` for an escape that is already there.
  url.pathname = path.replaceAll("%", "%25");
  url.search = parameters;
  return url.href;
}
